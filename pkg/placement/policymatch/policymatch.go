// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package policymatch decides which PropagationPolicy is in force for a workload. An explicit
// request by annotation comes first; then a policy that selects what is above the workload, the
// topmost first; then a policy that names the workload beats one that selects
// it by labels, and that beats one that names only the kind; then the policy that an Application
// controls beats the one of a Subscription, and that beats all others; then the older policy wins,
// then the smaller name. A policy that is being deleted is in force no longer. The policies of
// ClusterPropagationPolicies come after all others, by the same rules but for the age.
//
// A selector fits a workload of the same group and kind, in the policy's own namespace. The version
// does not count: the same object can be read in each version of its group.
package policymatch

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// Workload is what a policy selects. The pod's own workload is the object a user scales, for
// instance the Deployment.
type Workload struct {
	// APIVersion and Kind of the workload. Only the group of the APIVersion counts.
	APIVersion, Kind string
	// Namespace and Name of the workload.
	Namespace, Name string
	// Labels of the workload.
	Labels map[string]string
	// Above is what controls the workload, nil if nothing does: a policy that selects it comes first.
	Above *Workload
	// LabelsUnknown says that nobody has read the labels. Then no selector by labels selects the
	// workload, not even one that asks for the absence of a label.
	LabelsUnknown bool
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
	kinds      map[schema.GroupKind]bool
}

type namespace struct {
	byName map[string]*berthv1alpha1.PropagationPolicy
	// own are the claims of the policies of the namespace, clusterWide those of
	// ClusterPropagationPolicies.
	own, clusterWide kinds
}

// kinds are claims by what they are about.
type kinds map[schema.GroupKind]*claims

// claims are the claims on workloads of one group and kind, strongest first.
type claims struct {
	byName map[string][]claim // those by the name of a workload
	others []claim
}

type claim struct {
	policy   *berthv1alpha1.PropagationPolicy
	by       By
	selector labels.Selector // of claims by labels
}

// NewIndex returns an index of the policies, which must not be changed afterwards. Selectors that
// cannot be used, as Problems tells them, select nothing; the other selectors of the policy still
// do.
func NewIndex(policies []*berthv1alpha1.PropagationPolicy) *Index {
	sorted := slices.Clone(policies)
	slices.SortFunc(sorted, compare)
	index := &Index{namespaces: map[string]*namespace{}, kinds: map[schema.GroupKind]bool{}}
	for _, policy := range sorted {
		if policy.DeletionTimestamp != nil {
			continue
		}
		ns := index.namespaces[policy.Namespace]
		if ns == nil {
			ns = &namespace{byName: map[string]*berthv1alpha1.PropagationPolicy{}, own: kinds{}, clusterWide: kinds{}}
			index.namespaces[policy.Namespace] = ns
		}
		ns.add(policy)
	}
	for _, ns := range index.namespaces {
		for _, claimed := range []kinds{ns.own, ns.clusterWide} {
			for kind, c := range claimed {
				index.kinds[kind] = true
				// The sort is stable: among equal sorts of claims the order of the policies remains.
				slices.SortStableFunc(c.others, func(a, b claim) int { return cmp.Compare(a.by, b.by) })
			}
		}
	}
	return index
}

func (ns *namespace) add(policy *berthv1alpha1.PropagationPolicy) {
	ns.byName[policy.Name] = policy
	claimed := ns.own
	if master(policy) == clusterWide {
		claimed = ns.clusterWide
	}
	for i := range policy.Spec.ResourceSelectors {
		selector := &policy.Spec.ResourceSelectors[i]
		c, err := newClaim(policy, selector)
		if err != nil {
			continue // Problems tells
		}
		key := schema.FromAPIVersionAndKind(selector.APIVersion, selector.Kind).GroupKind()
		of := claimed[key]
		if of == nil {
			of = &claims{byName: map[string][]claim{}}
			claimed[key] = of
		}
		if c.by == ByName {
			of.byName[selector.Name] = append(of.byName[selector.Name], c)
		} else {
			of.others = append(of.others, c)
		}
	}
}

// Names reports whether a selector of some policy is about the kind.
func (x *Index) Names(kind schema.GroupKind) bool { return x.kinds[kind] }

// Any reports whether the namespace has any policy. It does not allocate.
func (x *Index) Any(namespace string) bool {
	return x.namespaces[namespace] != nil
}

// Match returns the policy in force for a workload and how it came to be, nil if there is none. The
// request is the value of the pod's policy annotation: empty, PolicyNone or the name of a policy.
// The error is ErrNotFound if the requested policy does not exist.
func (x *Index) Match(w *Workload, request string) (*berthv1alpha1.PropagationPolicy, By, error) {
	switch request {
	case "":
	case berthv1alpha1.PolicyNone:
		return nil, 0, nil
	default:
		ns := x.namespaces[w.Namespace]
		if ns == nil || ns.byName[request] == nil {
			return nil, 0, ErrNotFound
		}
		return ns.byName[request], ByAnnotation, nil
	}
	for c := range x.claimsOn(w) {
		return c.policy, c.by, nil
	}
	return nil, 0, nil
}

// Claimants returns all policies that select the workload by name, labels or kind, the strongest
// first, each once.
func (x *Index) Claimants(w *Workload) []*berthv1alpha1.PropagationPolicy {
	var policies []*berthv1alpha1.PropagationPolicy
	for c := range x.claimsOn(w) {
		if !slices.Contains(policies, c.policy) {
			policies = append(policies, c.policy)
		}
	}
	return policies
}

// claimsOn yields the claims that select the workload or what is above it, the strongest first.
func (x *Index) claimsOn(w *Workload) iter.Seq[*claim] {
	return func(yield func(*claim) bool) {
		if ns := x.namespaces[w.Namespace]; ns != nil && ns.own.claimsOnChain(w, yield) && len(ns.clusterWide) > 0 {
			ns.clusterWide.claimsOnChain(w, yield)
		}
	}
}

// claimsOnChain yields the claims on what is above a workload, and then on itself. It reports
// whether all have been yielded.
func (k kinds) claimsOnChain(w *Workload, yield func(*claim) bool) bool {
	if w.Above != nil && !k.claimsOnChain(w.Above, yield) {
		return false
	}
	return k[w.groupKind()].on(w, yield)
}

func (w *Workload) groupKind() schema.GroupKind {
	return schema.FromAPIVersionAndKind(w.APIVersion, w.Kind).GroupKind()
}

// on yields the claims of a kind that select a workload, and reports whether all have been yielded.
// The claims may be nil.
func (c *claims) on(w *Workload, yield func(*claim) bool) bool {
	if c == nil {
		return true
	}
	named := c.byName[w.Name]
	for i := range named {
		if !yield(&named[i]) {
			return false
		}
	}
	for i := range c.others {
		if other := &c.others[i]; other.selects(w) && !yield(other) {
			return false
		}
	}
	return true
}

// SelectorProblem says why a selector of a policy selects nothing.
type SelectorProblem struct {
	// Selector is the index in spec.resourceSelectors.
	Selector int
	// Reason is ReasonForeignNamespace or ReasonInvalidSelector.
	Reason string
	// Message tells the user what is wrong.
	Message string
}

// Problems returns what is wrong with the selectors of a policy.
func Problems(policy *berthv1alpha1.PropagationPolicy) []SelectorProblem {
	var problems []SelectorProblem
	for i := range policy.Spec.ResourceSelectors {
		if _, err := newClaim(policy, &policy.Spec.ResourceSelectors[i]); err != nil {
			reason := berthv1alpha1.ReasonInvalidSelector
			if errors.Is(err, errForeignNamespace) {
				reason = berthv1alpha1.ReasonForeignNamespace
			}
			problems = append(problems, SelectorProblem{
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
	if s.Name != "" {
		return claim{policy: policy, by: ByName}, nil
	}
	if s.LabelSelector == nil {
		return claim{policy: policy, by: ByKind}, nil
	}
	selector, err := metav1.LabelSelectorAsSelector(s.LabelSelector)
	if err != nil {
		return claim{}, fmt.Errorf("labelSelector: %w", err)
	}
	if selector.Empty() {
		// It asks for nothing, so it says no more than the kind.
		return claim{policy: policy, by: ByKind}, nil
	}
	return claim{policy: policy, by: ByLabels, selector: selector}, nil
}

// selects reports whether a claim by labels or by kind selects a workload of the kind.
func (c *claim) selects(w *Workload) bool {
	return c.by == ByKind || !w.LabelsUnknown && c.selector.Matches(labels.Set(w.Labels))
}

func compare(a, b *berthv1alpha1.PropagationPolicy) int {
	if order := cmp.Compare(master(a), master(b)); order != 0 {
		return order
	}
	if order := a.CreationTimestamp.Compare(b.CreationTimestamp.Time); order != 0 && master(a) != clusterWide {
		return order
	}
	return strings.Compare(a.Name, b.Name)
}

// ClusterWide is the kind that controls the policies which come after all others.
const ClusterWide = "ClusterPropagationPolicy"

// Masters of policies, the stronger first: an Application beats a Subscription, that beats a policy
// of its own, and that beats a ClusterPropagationPolicy.
const (
	ofApplication = iota
	ofSubscription
	ofItsOwn
	clusterWide
)

// master returns whose a policy is.
func master(policy *berthv1alpha1.PropagationPolicy) int {
	owner := metav1.GetControllerOfNoCopy(policy)
	if owner == nil || schema.FromAPIVersionAndKind(owner.APIVersion, owner.Kind).Group != berthv1alpha1.SchemeGroupVersion.Group {
		return ofItsOwn
	}
	switch owner.Kind {
	case "Application":
		return ofApplication
	case "Subscription":
		return ofSubscription
	case ClusterWide:
		return clusterWide
	}
	return ofItsOwn
}
