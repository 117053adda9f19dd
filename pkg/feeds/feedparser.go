// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package feeds

import (
	"errors"
	"fmt"
	"regexp"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
)

// FeedParser is a rule: it says for one kind of object where the number of replicas and the pod template lie.
type FeedParser struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`

	// Spec is the rule.
	Spec FeedParserSpec `json:"spec"`
	// Status is what a cluster tells of the rule. It does not matter here.
	Status any `json:"status,omitempty"`
}

// FeedParserSpec says how to read objects of one kind. At least one of replicas and podTemplate is set.
type FeedParserSpec struct {
	// Group and Kind say which objects the rule reads, in any version of the group.
	Group string `json:"group"`
	Kind  string `json:"kind"`

	// Replicas says how many replicas an object wants. Objects of a kind that has no such number are copied whole.
	Replicas *ReplicasRule `json:"replicas,omitempty"`

	// PodTemplate says what a replica needs. Without it a replica needs nothing.
	PodTemplate *PodTemplateRule `json:"podTemplate,omitempty"`
}

// ReplicasRule says where the number of replicas lies.
type ReplicasRule struct {
	// Path is a JSON pointer to the field that holds the number, such as /spec/replicas.
	Path string `json:"path"`

	// Default is the number for objects that leave the field out. Without it such objects are refused.
	Default *int32 `json:"default,omitempty"`

	// Expression is a CEL expression for the number, if it is not simply what stands at the path. It knows the object by
	// the name object.
	Expression string `json:"expression,omitempty"`
}

// PodTemplateRule says where the pod template lies. Exactly one of its fields is set.
type PodTemplateRule struct {
	// Path is a JSON pointer to a pod template: a map that has a pod's spec in its field spec.
	Path string `json:"path,omitempty"`

	// Expression is a CEL expression for a pod template. It knows the object by the name object.
	Expression string `json:"expression,omitempty"`
}

const (
	feedParserAPIVersion = "berth.dev/v1alpha1"
	feedParserKind       = "FeedParser"
)

var kindSyntax = regexp.MustCompile(`^[A-Z][A-Za-z0-9]{0,62}$`)

func (s *FeedParserSpec) groupKind() schema.GroupKind {
	return schema.GroupKind{Group: s.Group, Kind: s.Kind}
}

// check finds what cannot be right whatever the object looks like, apart from paths and expressions.
func (s *FeedParserSpec) check() error {
	switch {
	case !kindSyntax.MatchString(s.Kind):
		return fmt.Errorf("spec.kind: must be a kind such as CloneSet, not %.64q", s.Kind)
	case s.Group != "" && len(validation.IsDNS1123Subdomain(s.Group)) > 0:
		return fmt.Errorf("spec.group: must be a group such as apps.kruise.io, not %.64q", s.Group)
	case s.Replicas == nil && s.PodTemplate == nil:
		return errors.New("spec: must have replicas, podTemplate or both")
	}
	if err := s.Replicas.check(); err != nil {
		return err
	}
	if t := s.PodTemplate; t != nil && (t.Path == "") == (t.Expression == "") {
		return errors.New("spec.podTemplate: must have either path or expression")
	}
	return nil
}

func (r *ReplicasRule) check() error {
	switch {
	case r == nil || r.Default == nil:
		return nil
	case *r.Default < 0:
		return fmt.Errorf("spec.replicas.default: must not be negative, as %d is", *r.Default)
	case r.Expression != "":
		return errors.New("spec.replicas: must not have a default beside an expression, which can have its own")
	}
	return nil
}
