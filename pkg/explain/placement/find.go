// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/workload"
)

// Placed returns the workloads that a policy places, by namespace, kind and name; and how many
// others a policy selects although their pods use another scheduler.
func (s *State) Placed() (placed []Workload, unserved int) {
	placed = []Workload{}
	for _, o := range s.observe() {
		policy, _, err := s.inForce(o)
		switch {
		case policy == nil && err == nil:
		case !o.Asks(s.Schedulers):
			unserved++
		case err != nil:
			placed = append(placed, s.missingPolicy(o))
		default:
			placed = append(placed, s.assess(o, policy))
		}
	}
	return placed, unserved
}

// missingPolicy is a workload whose pods ask for a policy that does not exist.
func (s *State) missingPolicy(o *workload.Observed) Workload {
	w := reference(o)
	w.Policy, w.Pending, w.Clusters = o.Request, o.Pending(false), s.count(o).rest()
	w.Notes = []string{fmt.Sprintf("the pods ask for policy %q, which does not exist, so they wait", o.Request)}
	return w
}

// Name is what a user calls a workload: a name, or kind/name.
type Name struct{ group, kind, name string }

// maxName bounds a kind with its group and a name, in bytes.
const maxName = 600

// ParseName reads "nginx", "deployment/nginx", "deploy/nginx" or "deployment.apps/nginx".
func ParseName(text string) (Name, error) {
	if len(text) > maxName {
		return Name{}, fmt.Errorf("%.64q... is too long for the name of a workload", text)
	}
	full, name, found := strings.Cut(text, "/")
	if !found {
		full, name = "", text
	}
	kind, group, grouped := strings.Cut(strings.ToLower(full), ".")
	wrong := len(validation.IsDNS1123Subdomain(name)) > 0 ||
		found && len(validation.IsDNS1123Label(kind)) > 0 ||
		grouped && len(validation.IsDNS1123Subdomain(group)) > 0
	if wrong {
		return Name{}, fmt.Errorf("%q is no workload: write NAME or KIND/NAME, for instance deployment/nginx", text)
	}
	return Name{group: group, kind: workload.LongName(kind), name: name}, nil
}

// String is the name as kind/name, as far as it is known.
func (n Name) String() string {
	switch {
	case n.kind == "":
		return fmt.Sprintf("workload %q", n.name)
	case n.group == "":
		return n.kind + "/" + n.name
	default:
		return n.kind + "." + n.group + "/" + n.name
	}
}

// Matches reports whether a workload, of whatever namespace, has the name.
func (n Name) Matches(o *workload.Observed) bool {
	kind := strings.ToLower(o.Kind)
	group, _, grouped := strings.Cut(o.APIVersion, "/")
	if !grouped {
		group = ""
	}
	return o.Name == n.name && (n.kind == "" || n.kind == kind || n.kind == kind+"s") && (n.group == "" || n.group == group)
}

// Find returns the placed workloads of a namespace that have the name. It fails if there is none,
// and says why.
func (s *State) Find(namespace string, name Name) ([]Workload, error) {
	found := []Workload{}
	var notPlaced []string
	for _, o := range s.observe() {
		if o.Namespace != namespace || !name.Matches(o) {
			continue
		}
		policy, _, err := s.inForce(o)
		switch reason := s.reasonNotPlaced(o, policy, err); {
		case reason != "":
			notPlaced = append(notPlaced, Title(o.Kind, o.Name)+" is not placed by Berth: "+reason)
		case err != nil:
			found = append(found, s.missingPolicy(o))
		default:
			found = append(found, s.assess(o, policy))
		}
	}
	switch {
	case len(found) > 0:
		return found, nil
	case len(notPlaced) > 0:
		return nil, errors.New(strings.Join(notPlaced, "; "))
	default:
		return nil, fmt.Errorf("%s not found in namespace %q", name, namespace)
	}
}

// reasonNotPlaced says why Berth does not place a workload, empty if it does.
func (s *State) reasonNotPlaced(o *workload.Observed, policy *berthv1alpha1.PropagationPolicy, err error) string {
	switch {
	case err == nil && policy == nil && o.Request == berthv1alpha1.PolicyNone:
		return fmt.Sprintf("its pods carry the annotation %s: %s", berthv1alpha1.PolicyAnnotation, berthv1alpha1.PolicyNone)
	case err == nil && policy == nil:
		return fmt.Sprintf("no PropagationPolicy of namespace %q selects it", o.Namespace)
	case !o.Asks(s.Schedulers):
		return s.otherScheduler(o.Scheduler)
	default:
		return ""
	}
}

// otherScheduler says that the pods of a workload use another scheduler, and what to do about it.
func (s *State) otherScheduler(scheduler string) string {
	if scheduler == "" {
		scheduler = corev1.DefaultSchedulerName
	}
	return fmt.Sprintf("its pods use schedulerName %q, set it to %q in their template",
		scheduler, strings.Join(s.Schedulers, `" or "`))
}
