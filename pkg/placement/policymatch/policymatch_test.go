// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package policymatch_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/placement/policymatch"
)

type (
	policyObject = berthv1alpha1.PropagationPolicy
	selector     = berthv1alpha1.ResourceSelector
)

const namespace = "shop"

var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// policy returns a policy of the namespace; the age is in hours.
func policy(name string, age int, selectors ...selector) *policyObject {
	return &policyObject{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: name, CreationTimestamp: metav1.NewTime(epoch.Add(-time.Duration(age) * time.Hour)),
		},
		Spec: berthv1alpha1.PropagationPolicySpec{ResourceSelectors: selectors},
	}
}

func byKind() selector            { return selector{APIVersion: "apps/v1", Kind: "Deployment"} }
func byName(name string) selector { s := byKind(); s.Name = name; return s }
func byLabel(value string) selector {
	s := byKind()
	s.LabelSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": value}}
	return s
}

// with returns the value with a change.
func with[T any](value T, change func(*T)) T {
	change(&value)
	return value
}

func requirement(operator metav1.LabelSelectorOperator) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "canary", Operator: operator}}}
}

func deployment(name string) policymatch.Workload {
	return policymatch.Workload{
		APIVersion: "apps/v1", Kind: "Deployment", Namespace: namespace, Name: name, Labels: map[string]string{"app": name},
	}
}

// matchCases are cases of Match.
type matchCases map[string]struct {
	policies []*policyObject
	workload policymatch.Workload
	request  string
	want     string // name of the policy, empty for none
	wantBy   policymatch.By
	wantErr  error
}

func (tests matchCases) run(t *testing.T) {
	t.Helper()
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, by, err := policymatch.NewIndex(tc.policies).Match(&tc.workload, tc.request)
			if !errors.Is(err, tc.wantErr) {
				t.Errorf("error %v, want %v", err, tc.wantErr)
			}
			if nameOf(got) != tc.want {
				t.Errorf("policy %q, want %q", nameOf(got), tc.want)
			}
			if got != nil && by != tc.wantBy {
				t.Errorf("by %s, want by %s", by, tc.wantBy)
			}
		})
	}
}

// elsewhere returns a policy of another namespace.
func elsewhere() *policyObject {
	p := policy("p", 1, byKind())
	p.Namespace = "other"
	return p
}

// deleted returns a policy that is being deleted.
func deleted() *policyObject {
	p := policy("p", 9, byName("nginx"))
	p.DeletionTimestamp = &metav1.Time{Time: epoch}
	return p
}

func TestMatchByKind(t *testing.T) {
	matchCases{
		"no policies": {workload: deployment("nginx")},
		"by kind": {
			policies: []*policyObject{policy("p", 1, byKind())},
			workload: deployment("nginx"), want: "p", wantBy: policymatch.ByKind,
		},
		"another kind of the same group": {
			policies: []*policyObject{policy("p", 1, with(byKind(), func(s *selector) { s.Kind = "StatefulSet" }))},
			workload: deployment("nginx"),
		},
		"the kind in other letters": {
			policies: []*policyObject{policy("p", 1, with(byKind(), func(s *selector) { s.Kind = "deployment" }))},
			workload: deployment("nginx"),
		},
		"the same kind of another group": {
			policies: []*policyObject{policy("p", 1, with(byKind(), func(s *selector) { s.APIVersion = "example.com/v1" }))},
			workload: deployment("nginx"),
		},
		"another version of the group": {
			policies: []*policyObject{policy("p", 1, with(byKind(), func(s *selector) { s.APIVersion = "apps/v1beta2" }))},
			workload: deployment("nginx"), want: "p", wantBy: policymatch.ByKind,
		},
		"a kind of the core group": {
			policies: []*policyObject{policy("p", 1, selector{APIVersion: "v1", Kind: "Pod", Name: "web"})},
			workload: policymatch.Workload{APIVersion: "v1", Kind: "Pod", Namespace: namespace, Name: "web"},
			want:     "p", wantBy: policymatch.ByName,
		},
		"a policy of another namespace": {
			policies: []*policyObject{elsewhere()},
			workload: deployment("nginx"),
		},
	}.run(t)
}

func TestMatchPrefersTheStrongerClaim(t *testing.T) {
	matchCases{
		"by name beats by labels and by kind, however old": {
			policies: []*policyObject{policy("a", 9, byKind()), policy("b", 8, byLabel("nginx")), policy("c", 1, byName("nginx"))},
			workload: deployment("nginx"), want: "c", wantBy: policymatch.ByName,
		},
		"by labels beats by kind, however old": {
			policies: []*policyObject{policy("a", 9, byKind()), policy("b", 1, byLabel("nginx"))},
			workload: deployment("nginx"), want: "b", wantBy: policymatch.ByLabels,
		},
		"the older of two by name": {
			policies: []*policyObject{policy("a", 1, byName("nginx")), policy("b", 9, byName("nginx"))},
			workload: deployment("nginx"), want: "b", wantBy: policymatch.ByName,
		},
		"the older of two by kind": {
			policies: []*policyObject{policy("a", 1, byKind()), policy("b", 9, byKind())},
			workload: deployment("nginx"), want: "b", wantBy: policymatch.ByKind,
		},
		"of equally old policies the smaller name": {
			policies: []*policyObject{policy("b", 1, byKind()), policy("a", 1, byKind())},
			workload: deployment("nginx"), want: "a", wantBy: policymatch.ByKind,
		},
		"the strongest selector of a policy counts": {
			policies: []*policyObject{policy("a", 1, byKind(), byName("nginx")), policy("b", 9, byName("redis"), byKind())},
			workload: deployment("nginx"), want: "a", wantBy: policymatch.ByName,
		},
	}.run(t)
}

func TestMatchByNameAndLabels(t *testing.T) {
	matchCases{
		"labels are ignored when a name is given": {
			policies: []*policyObject{policy("p", 1, with(byLabel("redis"), func(s *selector) { s.Name = "nginx" }))},
			workload: deployment("nginx"), want: "p", wantBy: policymatch.ByName,
		},
		"a name that does not fit is not made up for by labels": {
			policies: []*policyObject{policy("p", 1, with(byLabel("nginx"), func(s *selector) { s.Name = "redis" }))},
			workload: deployment("nginx"),
		},
		"labels that do not fit": {
			policies: []*policyObject{policy("p", 1, byLabel("redis"))},
			workload: deployment("nginx"),
		},
		"an empty label selector says no more than the kind": {
			policies: []*policyObject{
				policy("a", 1, with(byKind(), func(s *selector) { s.LabelSelector = &metav1.LabelSelector{} })),
				policy("b", 9, byKind()),
			},
			workload: deployment("nginx"), want: "b", wantBy: policymatch.ByKind,
		},
		"a workload without labels lacks each label": {
			policies: []*policyObject{policy("p", 1, with(byKind(), func(s *selector) {
				s.LabelSelector = requirement(metav1.LabelSelectorOpDoesNotExist)
			}))},
			workload: with(deployment("nginx"), func(w *policymatch.Workload) { w.Labels = nil }),
			want:     "p", wantBy: policymatch.ByLabels,
		},
		"of a workload whose labels are unknown nothing is guessed": {
			policies: []*policyObject{policy("p", 1, with(byKind(), func(s *selector) {
				s.LabelSelector = requirement(metav1.LabelSelectorOpDoesNotExist)
			}))},
			workload: with(deployment("nginx"), func(w *policymatch.Workload) { w.Labels, w.LabelsUnknown = nil, true }),
		},
	}.run(t)
}

func TestMatchLeavesOutWhatIsRefused(t *testing.T) {
	matchCases{
		"the policy's own namespace may be given": {
			policies: []*policyObject{policy("p", 1, with(byKind(), func(s *selector) { s.Namespace = namespace }))},
			workload: deployment("nginx"), want: "p", wantBy: policymatch.ByKind,
		},
		"a selector of another namespace selects nothing, here or there": {
			policies: []*policyObject{policy("p", 1, with(byKind(), func(s *selector) { s.Namespace = "other" }))},
			workload: with(deployment("nginx"), func(w *policymatch.Workload) { w.Namespace = "other" }),
		},
		"the other selectors of a policy still work": {
			policies: []*policyObject{policy("p", 1,
				with(byName("nginx"), func(s *selector) { s.Namespace = "other" }),
				with(byKind(), func(s *selector) { s.LabelSelector = requirement("Near") }),
				byLabel("nginx"),
			)},
			workload: deployment("nginx"), want: "p", wantBy: policymatch.ByLabels,
		},
		"a policy that is being deleted": {
			policies: []*policyObject{deleted(), policy("q", 1, byKind())},
			workload: deployment("nginx"), want: "q", wantBy: policymatch.ByKind,
		},
	}.run(t)
}

func TestMatchObeysTheRequest(t *testing.T) {
	matchCases{
		"the pod asks for a policy": {
			policies: []*policyObject{policy("a", 9, byName("nginx")), policy("b", 1, byName("redis"))},
			workload: deployment("nginx"), request: "b", want: "b", wantBy: policymatch.ByAnnotation,
		},
		"the pod asks for no policy": {
			policies: []*policyObject{policy("a", 9, byName("nginx"))},
			workload: deployment("nginx"), request: berthv1alpha1.PolicyNone,
		},
		"the pod asks for a policy that does not exist": {
			policies: []*policyObject{policy("a", 9, byName("nginx"))},
			workload: deployment("nginx"), request: "b", wantErr: policymatch.ErrNotFound,
		},
		"the pod asks for a policy where there is none at all": {
			workload: deployment("nginx"), request: "b", wantErr: policymatch.ErrNotFound,
		},
		"the pod asks for a policy of another namespace": {
			policies: []*policyObject{elsewhere()},
			workload: deployment("nginx"), request: "p", wantErr: policymatch.ErrNotFound,
		},
		"the pod asks for a policy that is being deleted": {
			policies: []*policyObject{deleted()},
			workload: deployment("nginx"), request: "p", wantErr: policymatch.ErrNotFound,
		},
	}.run(t)
}

func TestAny(t *testing.T) {
	x := policymatch.NewIndex([]*policyObject{policy("p", 1)})
	if !x.Any(namespace) || x.Any("other") {
		t.Errorf("Any(%s) = %t, Any(other) = %t", namespace, x.Any(namespace), x.Any("other"))
	}
}

func TestProblems(t *testing.T) {
	p := policy("p", 1,
		byName("nginx"),
		with(byName("nginx"), func(s *selector) { s.Namespace = "other" }),
		with(byKind(), func(s *selector) { s.LabelSelector = requirement("Near") }),
		with(byName("nginx"), func(s *selector) { s.LabelSelector = requirement("Near") }),
	)
	want := []policymatch.SelectorProblem{{
		Selector: 1, Reason: berthv1alpha1.ReasonForeignNamespace,
		Message: `spec.resourceSelectors[1]: namespace "other": a policy selects in its own namespace only`,
	}, {
		Selector: 2, Reason: berthv1alpha1.ReasonInvalidSelector,
		Message: `spec.resourceSelectors[2]: labelSelector: "Near" is not a valid label selector operator`,
	}}
	if diff := cmp.Diff(want, policymatch.Problems(p)); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
	if got := policymatch.Problems(policy("p", 1, byKind(), byLabel("nginx"))); len(got) > 0 {
		t.Errorf("problems of a sound policy: %v", got)
	}
}

func policies() *rapid.Generator[[]*policyObject] {
	names := rapid.SampledFrom([]string{"", "", "nginx", "redis"})
	selectors := rapid.Custom(func(t *rapid.T) selector {
		s := byKind()
		s.Kind = rapid.SampledFrom([]string{"Deployment", "StatefulSet"}).Draw(t, "kind")
		s.Name = names.Draw(t, "name")
		s.Namespace = rapid.SampledFrom([]string{"", "", namespace, "other"}).Draw(t, "namespace")
		if rapid.Bool().Draw(t, "labels") {
			s.LabelSelector = byLabel(names.Draw(t, "label")).LabelSelector
		}
		return s
	})
	return rapid.Custom(func(t *rapid.T) []*policyObject {
		var list []*policyObject
		for _, name := range rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z]`), 0, 6, rapid.ID[string]).Draw(t, "names") {
			list = append(list, policy(name, rapid.IntRange(0, 2).Draw(t, "age"),
				rapid.SliceOfN(selectors, 0, 3).Draw(t, "selectors")...))
		}
		return list
	})
}

// strongest says by what the policy selects the workload, looking at each selector; ok is false if
// it does not.
func strongest(p *policyObject, w *policymatch.Workload) (by policymatch.By, ok bool) {
	by = policymatch.ByKind
	for _, s := range p.Spec.ResourceSelectors {
		if s.Kind != w.Kind || s.Namespace != "" && s.Namespace != w.Namespace {
			continue
		}
		switch {
		case s.Name != "":
			if s.Name == w.Name {
				return policymatch.ByName, true
			}
		case s.LabelSelector == nil:
			ok = true
		case s.LabelSelector.MatchLabels["app"] == w.Labels["app"]:
			by, ok = policymatch.ByLabels, true
		}
	}
	return by, ok
}

func TestIndexAgreesWithLookingAtEveryPolicy(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := policies().Draw(t, "policies")
		w := deployment(rapid.SampledFrom([]string{"nginx", "redis", "other"}).Draw(t, "workload"))
		var want []*policyObject
		sort := map[*policyObject]policymatch.By{}
		for _, p := range list {
			if by, ok := strongest(p, &w); ok {
				want, sort[p] = append(want, p), by
			}
		}
		slices.SortFunc(want, func(a, b *policyObject) int {
			if sort[a] != sort[b] {
				return int(sort[a] - sort[b])
			}
			if !a.CreationTimestamp.Equal(&b.CreationTimestamp) {
				return a.CreationTimestamp.Compare(b.CreationTimestamp.Time)
			}
			return strings.Compare(a.Name, b.Name)
		})
		// In another order: the result must not depend on it.
		x := policymatch.NewIndex(rapid.Permutation(list).Draw(t, "permutation"))
		if diff := cmp.Diff(namesOf(want), namesOf(x.Claimants(&w))); diff != "" {
			t.Fatalf("claimants (-want +got):\n%s", diff)
		}
		got, by, err := x.Match(&w, "")
		if err != nil {
			t.Fatalf("Match: %v", err)
		}
		if len(want) == 0 != (got == nil) || got != nil && (got != want[0] || by != sort[got]) {
			t.Fatalf("Match = %q by %s, want the first of %v", nameOf(got), by, namesOf(want))
		}
	})
}

// controlled gives a policy a controller.
func controlled(p *policyObject, apiVersion, kind string) *policyObject {
	p.OwnerReferences = []metav1.OwnerReference{{APIVersion: apiVersion, Kind: kind, Name: "m", Controller: new(true)}}
	return p
}

func TestMatchByMaster(t *testing.T) {
	const berth = "berth.dev/v1alpha1"
	old := policy("old", 9, byName("nginx"))
	matchCases{
		"the policy of a Subscription beats an older one of its own": {
			policies: []*policyObject{old, controlled(policy("sub", 1, byName("nginx")), berth, "Subscription")},
			workload: deployment("nginx"), want: "sub", wantBy: policymatch.ByName,
		},
		"the policy of an Application beats that of a Subscription": {
			policies: []*policyObject{
				controlled(policy("sub", 9, byName("nginx")), berth, "Subscription"),
				controlled(policy("app", 1, byName("nginx")), berth, "Application"),
			},
			workload: deployment("nginx"), want: "app", wantBy: policymatch.ByName,
		},
		"a Subscription of another group gives no right": {
			policies: []*policyObject{old, controlled(policy("sub", 1, byName("nginx")), "apps.clusternet.io/v1alpha1", "Subscription")},
			workload: deployment("nginx"), want: "old", wantBy: policymatch.ByName,
		},
	}.run(t)
}

func TestMatchDoesNotAllocate(t *testing.T) {
	x := policymatch.NewIndex([]*policyObject{policy("a", 9, byName("redis")), policy("b", 1, byLabel("nginx")), policy("c", 1, byKind())})
	for name, w := range map[string]policymatch.Workload{
		"a namespace without policies": {APIVersion: "apps/v1", Kind: "Deployment", Namespace: "other", Name: "nginx"},
		"a kind nobody selects":        {APIVersion: "batch/v1", Kind: "Job", Namespace: namespace, Name: "nginx"},
		"a workload that is selected":  deployment("nginx"),
	} {
		got := testing.AllocsPerRun(100, func() {
			x.Any(w.Namespace)
			if _, _, err := x.Match(&w, ""); err != nil {
				t.Fatal(err)
			}
		})
		if got != 0 {
			t.Errorf("%s: %v allocations", name, got)
		}
	}
}

// BenchmarkMatch looks up one workload among a thousand policies of its namespace, each for one
// workload.
func BenchmarkMatch(b *testing.B) {
	for name, of := range map[string]func(string) selector{"by name": byName, "by label": byLabel} {
		b.Run(name, func(b *testing.B) {
			list := make([]*policyObject, 1000)
			for i := range list {
				list[i] = policy(fmt.Sprintf("policy-%d", i), i, of(fmt.Sprintf("workload-%d", i)))
			}
			x, w := policymatch.NewIndex(list), deployment("workload-500")
			b.ReportAllocs()
			for b.Loop() {
				if p, _, err := x.Match(&w, ""); p == nil || err != nil {
					b.Fatalf("no policy: %v", err)
				}
			}
		})
	}
}

func nameOf(p *policyObject) string {
	if p == nil {
		return ""
	}
	return p.Name
}

func namesOf(list []*policyObject) []string {
	names := make([]string, len(list))
	for i, p := range list {
		names[i] = p.Name
	}
	return names
}

func TestTheTopmostThatIsSelectedWins(t *testing.T) {
	shop := selector{APIVersion: "example.com/v1", Kind: "Shop"}
	owned := with(deployment("web"), func(w *policymatch.Workload) {
		w.Above = &policymatch.Workload{
			APIVersion: "example.com/v1", Kind: "Shop", Namespace: namespace, Name: "main", LabelsUnknown: true,
			Above: &policymatch.Workload{APIVersion: "example.com/v1", Kind: "Mall", Namespace: namespace, Name: "all"},
		}
	})
	named := with(shop, func(s *selector) { s.Name = "main" })
	mall := selector{APIVersion: "example.com/v1", Kind: "Mall", Name: "all"}
	matchCases{
		"a kind above beats a name":       {[]*policyObject{policy("a", 9, byName("web")), policy("b", 1, shop)}, owned, "", "b", policymatch.ByKind, nil},
		"a name above beats a kind above": {[]*policyObject{policy("a", 9, shop), policy("b", 1, named)}, owned, "", "b", policymatch.ByName, nil},
		"the topmost":                     {[]*policyObject{policy("a", 9, named), policy("b", 1, mall)}, owned, "", "b", policymatch.ByName, nil},
		"none above is selected":          {[]*policyObject{policy("a", 9, byKind())}, owned, "", "a", policymatch.ByKind, nil},
		"one of the same kind, not above": {[]*policyObject{policy("a", 9, with(named, func(s *selector) { s.Name = "other" }))}, owned, "", "", 0, nil},
		"a request beats all":             {[]*policyObject{policy("a", 9, mall), policy("b", 1)}, owned, "b", "b", policymatch.ByAnnotation, nil},
		"labels of what nobody has read":  {[]*policyObject{policy("a", 9, with(shop, func(s *selector) { s.LabelSelector = requirement(metav1.LabelSelectorOpDoesNotExist) }))}, owned, "", "", 0, nil},
	}.run(t)
	policies := []*policyObject{policy("a", 9, byName("web"), mall), policy("b", 1, shop)}
	var names []string
	for _, claimant := range policymatch.NewIndex(policies).Claimants(&owned) {
		names = append(names, claimant.Name)
	}
	if diff := cmp.Diff([]string{"a", "b"}, names); diff != "" {
		t.Errorf("claimants (-want +got):\n%s", diff)
	}
}

// wide returns the policy of a ClusterPropagationPolicy.
func wide(name string, age int, selectors ...selector) *policyObject {
	p := policy(name, age, selectors...)
	p.OwnerReferences = []metav1.OwnerReference{{
		APIVersion: berthv1alpha1.SchemeGroupVersion.String(), Kind: policymatch.ClusterWide, Name: name, Controller: new(true),
	}}
	return p
}

func TestPoliciesOfTheNamespaceComeFirst(t *testing.T) {
	above := policymatch.Workload{APIVersion: "batch/v1", Kind: "CronJob", Namespace: namespace, Name: "nightly"}
	job := policymatch.Workload{APIVersion: "batch/v1", Kind: "Job", Namespace: namespace, Name: "nightly-1", Above: &above}
	matchCases{
		"alone": {
			policies: []*policyObject{wide("p", 1, byKind())},
			workload: deployment("nginx"), want: "p", wantBy: policymatch.ByKind,
		},
		"by kind before by name": {
			policies: []*policyObject{wide("wide", 1, byName("nginx")), policy("own", 2, byKind())},
			workload: deployment("nginx"), want: "own", wantBy: policymatch.ByKind,
		},
		"before one for what is above": {
			policies: []*policyObject{
				wide("wide", 1, selector{APIVersion: "batch/v1", Kind: "CronJob"}), policy("own", 2, selector{APIVersion: "batch/v1", Kind: "Job"}),
			},
			workload: job, want: "own", wantBy: policymatch.ByKind,
		},
		"among others the stronger claim": {
			policies: []*policyObject{wide("a", 1, byKind()), wide("b", 2, byLabel("nginx"))},
			workload: deployment("nginx"), want: "b", wantBy: policymatch.ByLabels,
		},
		"then the smaller name, not the age": {
			policies: []*policyObject{wide("b", 2, byKind()), wide("a", 1, byKind())},
			workload: deployment("nginx"), want: "a", wantBy: policymatch.ByKind,
		},
		"on request": {
			policies: []*policyObject{wide("wide", 1, byKind()), policy("own", 2, byKind())},
			workload: deployment("nginx"), request: "wide", want: "wide", wantBy: policymatch.ByAnnotation,
		},
	}.run(t)
}
