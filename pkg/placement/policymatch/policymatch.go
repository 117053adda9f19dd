// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package policymatch decides which PropagationPolicy is in force for a workload. An explicit request by annotation comes
// first; then a policy that names the workload beats one that selects it by labels, and that beats one that names only the
// kind; then the older policy wins, then the smaller name.
package policymatch

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// Workload is what a policy selects. The pod's own workload is the object a user scales, for instance the Deployment.
type Workload struct {
	// APIVersion and Kind of the workload. Only the group of the APIVersion counts.
	APIVersion, Kind string
	// Namespace and Name of the workload.
	Namespace, Name string
	// Labels of the workload, nil if they are not known; then a selector by labels selects it only if it is empty.
	Labels map[string]string
}

// By tells how a policy came to select a workload; a smaller value is a stronger claim.
type By int

const (
	// ByAnnotation means that the pod asks for the policy.
	ByAnnotation By = iota
	// ByName means that a selector names the workload.
	ByName
	// ByLabels means that a selector selects the labels of the workload.
	ByLabels
	// ByKind means that a selector names only the kind.
	ByKind
)

// String returns "annotation", "name", "labels" or "kind".
func (b By) String() string {
	return [...]string{"annotation", "name", "labels", "kind"}[b]
}

// ErrNotFound says that a pod asks for a policy that does not exist.
var ErrNotFound = errors.New("the requested policy does not exist")

// Index finds the policy in force. It is immutable and safe for concurrent use.
type Index struct {
	namespaces map[string]*namespace
}

type namespace struct {
	byName map[string]*berthv1alpha1.PropagationPolicy
	// claims of one group and kind, strongest first.
	claims map[groupKind][]claim
}

type groupKind struct{ group, kind string }

type claim struct {
	policy   *berthv1alpha1.PropagationPolicy
	by       By
	name     string
	selector labels.Selector
}

// NewIndex returns an index of the policies, which must not be changed afterwards. Selectors that cannot be used, as Problems
// tells them, select nothing; the other selectors of the policy still do.
func NewIndex(policies []*berthv1alpha1.PropagationPolicy) *Index {
	index := &Index{namespaces: map[string]*namespace{}}
	for _, policy := range policies {
		ns := index.namespaces[policy.Namespace]
		if ns == nil {
			ns = &namespace{
				byName: map[string]*berthv1alpha1.PropagationPolicy{}, claims: map[groupKind][]claim{},
			}
			index.namespaces[policy.Namespace] = ns
		}
		ns.byName[policy.Name] = policy
		for i := range policy.Spec.ResourceSelectors {
			selector := &policy.Spec.ResourceSelectors[i]
			if c, err := newClaim(policy, selector); err == nil {
				key := groupKind{group: groupOf(selector.APIVersion), kind: selector.Kind}
				ns.claims[key] = append(ns.claims[key], c)
			}
		}
	}
	for _, ns := range index.namespaces {
		for _, claims := range ns.claims {
			slices.SortFunc(claims, compareClaims)
		}
	}
	return index
}

// Any reports whether the namespace has any policy.
func (x *Index) Any(namespace string) bool {
	return x.namespaces[namespace] != nil
}

// Match returns the policy in force for a workload and how it came to be, nil if there is none. The request is the value of
// the pod's policy annotation: empty, PolicyNone or the name of a policy. The error is ErrNotFound if the requested policy
// does not exist.
func (x *Index) Match(w *Workload, request string) (*berthv1alpha1.PropagationPolicy, By, error) {
	ns := x.namespaces[w.Namespace]
	switch request {
	case "":
	case berthv1alpha1.PolicyNone:
		return nil, 0, nil
	default:
		if ns == nil || ns.byName[request] == nil {
			return nil, 0, ErrNotFound
		}
		return ns.byName[request], ByAnnotation, nil
	}
	if ns == nil {
		return nil, 0, nil
	}
	claims := ns.claims[groupKind{group: groupOf(w.APIVersion), kind: w.Kind}]
	for i := range claims {
		if claims[i].selects(w) {
			return claims[i].policy, claims[i].by, nil
		}
	}
	return nil, 0, nil
}

// Claimants returns all policies that select the workload by name, labels or kind, the one in force first, each once.
func (x *Index) Claimants(w *Workload) []*berthv1alpha1.PropagationPolicy {
	ns := x.namespaces[w.Namespace]
	if ns == nil {
		return nil
	}
	var policies []*berthv1alpha1.PropagationPolicy
	for _, c := range ns.claims[groupKind{group: groupOf(w.APIVersion), kind: w.Kind}] {
		if c.selects(w) && !slices.Contains(policies, c.policy) {
			policies = append(policies, c.policy)
		}
	}
	return policies
}

// Problem says why a selector of a policy selects nothing.
type Problem struct {
	// Selector is the index in spec.resourceSelectors.
	Selector int
	// Reason is ReasonForeignNamespace or ReasonInvalidSelector.
	Reason string
	// Message tells the user what is wrong.
	Message string
}

// Problems returns what is wrong with the selectors of a policy.
func Problems(policy *berthv1alpha1.PropagationPolicy) []Problem {
	var problems []Problem
	for i := range policy.Spec.ResourceSelectors {
		if _, err := newClaim(policy, &policy.Spec.ResourceSelectors[i]); err != nil {
			reason := berthv1alpha1.ReasonInvalidSelector
			if errors.Is(err, errForeignNamespace) {
				reason = berthv1alpha1.ReasonForeignNamespace
			}
			problems = append(problems, Problem{
				Selector: i, Reason: reason, Message: fmt.Sprintf("spec.resourceSelectors[%d]: %v", i, err),
			})
		}
	}
	return problems
}

var errForeignNamespace = errors.New("a policy selects in its own namespace only")

func newClaim(policy *berthv1alpha1.PropagationPolicy, s *berthv1alpha1.ResourceSelector) (claim, error) {
	if s.Namespace != "" && s.Namespace != policy.Namespace {
		return claim{}, fmt.Errorf("namespace %q: %w", s.Namespace, errForeignNamespace)
	}
	switch {
	case s.Name != "":
		return claim{policy: policy, by: ByName, name: s.Name}, nil
	case s.LabelSelector != nil:
		selector, err := metav1.LabelSelectorAsSelector(s.LabelSelector)
		if err != nil {
			return claim{}, fmt.Errorf("labelSelector: %w", err)
		}
		return claim{policy: policy, by: ByLabels, selector: selector}, nil
	default:
		return claim{policy: policy, by: ByKind}, nil
	}
}

func (c *claim) selects(w *Workload) bool {
	switch c.by {
	case ByName:
		return c.name == w.Name
	case ByLabels:
		return c.selector.Matches(labels.Set(w.Labels))
	default:
		return true
	}
}

func compareClaims(a, b claim) int {
	return cmp.Or(
		cmp.Compare(a.by, b.by),
		a.policy.CreationTimestamp.Compare(b.policy.CreationTimestamp.Time),
		strings.Compare(a.policy.Name, b.policy.Name),
	)
}

func groupOf(apiVersion string) string {
	group, _, found := strings.Cut(apiVersion, "/")
	if !found {
		return ""
	}
	return group
}

