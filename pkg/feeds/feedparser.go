// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package feeds

import (
	"errors"
	"fmt"
	"regexp"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// maxComponents bounds the parts of an object.
const maxComponents = 16

var kindSyntax = regexp.MustCompile(`^[A-Z][A-Za-z0-9]{0,62}$`)

func groupKindOf(rule *berthv1alpha1.FeedParser) schema.GroupKind {
	return schema.GroupKind{Group: rule.Spec.Group, Kind: rule.Spec.Kind}
}

// checkSpec finds what cannot be right whatever the object looks like, apart from paths and
// expressions. The API server has found it already where the rule comes from there.
func checkSpec(s *berthv1alpha1.FeedParserSpec) error {
	switch {
	case !kindSyntax.MatchString(s.Kind):
		return fmt.Errorf("spec.kind: must be a kind such as CloneSet, not %.64q", s.Kind)
	case s.Group != "" && len(validation.IsDNS1123Subdomain(s.Group)) > 0:
		return fmt.Errorf("spec.group: must be a group such as apps.kruise.io, not %.64q", s.Group)
	case s.Replicas == nil && s.PodTemplate == nil && len(s.Components) == 0:
		return errors.New("spec: must have at least one of replicas, podTemplate and components")
	case len(s.Components) > 0 && (s.Replicas != nil || s.PodTemplate != nil):
		return errors.New("spec: must not have components beside replicas and podTemplate")
	}
	return checkComponents(s.Components)
}

func checkComponents(components []berthv1alpha1.ComponentRule) error {
	if len(components) > maxComponents {
		return fmt.Errorf("spec.components: must have at most %d entries, not %d", maxComponents, len(components))
	}
	seen := map[string]bool{}
	for i := range components {
		name := components[i].Name
		if len(validation.IsDNS1123Label(name)) > 0 {
			return fmt.Errorf("spec.components[%d].name: must be a name such as worker, not %.64q", i, name)
		}
		if seen[name] {
			return fmt.Errorf("spec.components[%d].name: %q is there twice", i, name)
		}
		seen[name] = true
	}
	return nil
}

func checkReplicas(r *berthv1alpha1.ReplicasRule) error {
	switch {
	case r.Default == nil:
		return nil
	case *r.Default < 0:
		return fmt.Errorf(".default: must not be negative, as %d is", *r.Default)
	case r.Expression != "":
		return errors.New(": must not have a default beside an expression, which can have its own")
	}
	return nil
}

func checkTemplate(t *berthv1alpha1.PodTemplateRule) error {
	if (t.Path == "") == (t.Expression == "") {
		return errors.New(": must have either path or expression")
	}
	return nil
}
