// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/policy"
	"berth.dev/berth/pkg/placement/grouping"
)

// sitesOf are Clusters of which those with a star are cordoned, and those with an exclamation mark
// are no stores.
func sitesOf(names ...string) *grouping.Sites {
	var clusters []*berthv1alpha1.Cluster
	for _, name := range names {
		c := &berthv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"tier": "store"}}}
		if last := len(name) - 1; name[last] == '*' {
			c.Name, c.Spec.Unschedulable = name[:last], true
		} else if name[last] == '!' {
			c.Name, c.Labels = name[:last], nil
		}
		clusters = append(clusters, c)
	}
	return grouping.NewSites(clusters, nil)
}

// tooMany are the names of more Clusters than a policy can have in groups.
func tooMany() []string {
	names := make([]string, 10_001)
	for i := range names {
		names[i] = fmt.Sprint("c", i)
	}
	return names
}

// stores is a policy of all Clusters of a tier, which is the named one.
func stores(tier string) *berthv1alpha1.PropagationPolicy {
	p := &berthv1alpha1.PropagationPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "p", UID: "p", Generation: 1}}
	p.Spec.Placement.ClusterGroups = []berthv1alpha1.ClusterGroup{{
		Name: "stores", ClusterSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"tier": tier}}, Weight: new(int64(1)),
	}}
	return p
}

// constrained lets a policy place new pods in stores only.
func constrained(p *berthv1alpha1.PropagationPolicy) *berthv1alpha1.PropagationPolicy {
	p.Spec.Placement.Constraints = &berthv1alpha1.ClusterConstraints{ClusterLabels: []string{"tier is store"}}
	return p
}

// TestASetFollowsTheClusters lets Clusters change under a policy, and change back.
func TestASetFollowsTheClusters(t *testing.T) {
	unreadable := stores("store")
	unreadable.Spec.Placement.ClusterGroups[0].ClusterSelector.MatchLabels = map[string]string{"a b": "c"}
	tests := map[string]struct {
		policy        *berthv1alpha1.PropagationPolicy
		before, after *grouping.Sites
		// wantSame is whether nothing changes for the policy, want what it has in a and b of 4 replicas
		// then.
		wantSame bool
		want     [2]int
	}{
		"weights of names, whatever there is": {
			policy: object(1, "a", "b"), before: sitesOf("a"), after: sitesOf("a", "b"), wantSame: true, want: [2]int{1, 3},
		},
		"one of its clusters is cordoned": {
			policy: object(1, "a", "b"), before: sitesOf("a", "b"), after: sitesOf("a", "b*"), want: [2]int{4, 0},
		},
		"one of its clusters is no longer cordoned": {
			policy: object(1, "a", "b"), before: sitesOf("a", "b*"), after: sitesOf("a", "b"), want: [2]int{1, 3},
		},
		"another cluster is cordoned": {
			policy: object(1, "a", "b"), before: sitesOf("a", "b", "c"), after: sitesOf("a", "b", "c*"), wantSame: true, want: [2]int{1, 3},
		},
		"one of its clusters does not meet its constraints any more": {
			policy: constrained(object(1, "a", "b")), before: sitesOf("a", "b"), after: sitesOf("a", "b!"), want: [2]int{4, 0},
		},
		"one of its clusters meets its constraints again": {
			policy: constrained(object(1, "a", "b")), before: sitesOf("a!", "b"), after: sitesOf("a", "b"), want: [2]int{1, 3},
		},
		"another cluster does not meet its constraints any more": {
			policy: constrained(object(1, "a", "b")), before: sitesOf("a", "b", "c"), after: sitesOf("a", "b", "c!"), wantSame: true, want: [2]int{1, 3},
		},
		"a cluster comes that it selects": {
			policy: stores("store"), before: sitesOf("a"), after: sitesOf("a", "b"), want: [2]int{2, 2},
		},
		"a cluster comes that it does not select": {
			policy: tiered(), before: sitesOf("a"), after: sitesOf("a", "c"), wantSame: true, want: [2]int{4, 0},
		},
		"it selects too many clusters": {policy: stores("store"), before: sitesOf("a"), after: sitesOf(tooMany()...)},
		"it cannot be understood, as before": {
			policy: unreadable, before: sitesOf("a"), after: sitesOf("a", "b"), wantSame: true,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			objects := []*berthv1alpha1.PropagationPolicy{tc.policy}
			first := policy.NewSet(objects, tc.before, nil)
			second := policy.NewSet(objects, tc.after, first)
			if same := second.Of(tc.policy) == first.Of(tc.policy); same != tc.wantSame {
				t.Errorf("the policy is the same: %t, want %t", same, tc.wantSame)
			}
			if third := policy.NewSet(objects, tc.after, second); third.Of(tc.policy) != second.Of(tc.policy) {
				t.Error("it is another one though nothing has changed")
			}
			if diff := cmp.Diff(tc.want, sharesIn(second.Of(tc.policy))); diff != "" {
				t.Errorf("replicas in a and b (-want +got):\n%s", diff)
			}
			back := policy.NewSet(objects, tc.before, second)
			if diff := cmp.Diff(sharesIn(first.Of(tc.policy)), sharesIn(back.Of(tc.policy))); diff != "" {
				t.Errorf("replicas in a and b once all is as before (-want +got):\n%s", diff)
			}
		})
	}
}

// sharesIn returns how many of 4 replicas a policy wants in a and in b.
func sharesIn(p *policy.Policy) (in [2]int) {
	for i, name := range []string{"a", "b"} {
		if p.Err == nil && p.Names(name) {
			index, _ := p.Order.Index(name)
			in[i] = p.Plan(4).Share(index)
		}
	}
	return in
}

func TestClustersThatAreLeftHaveNoShare(t *testing.T) {
	left := object(1, "a", "b")
	left.Status.FailedOver = []berthv1alpha1.FailedOverCluster{{Cluster: "b"}}
	before := policy.NewSet([]*berthv1alpha1.PropagationPolicy{object(1, "a", "b")}, nil, nil)
	after := policy.NewSet([]*berthv1alpha1.PropagationPolicy{left}, nil, before)
	if diff := cmp.Diff([2]int{4, 0}, sharesIn(after.Of(left))); diff != "" {
		t.Errorf("replicas in a and b (-want +got):\n%s", diff)
	}
	for name, other := range map[string]*berthv1alpha1.PropagationPolicy{"none": object(1, "a", "b"), "another": left.DeepCopy()} {
		if name == "another" {
			other.Status.FailedOver[0].Cluster = "a"
		}
		if policy.SameMeaning(left, other) || !policy.SameMeaning(other, other.DeepCopy()) {
			t.Errorf("with %s left: the same meaning: %t, as itself: %t", name, policy.SameMeaning(left, other), policy.SameMeaning(other, other))
		}
	}
}

func TestSameMeaningOfLimits(t *testing.T) {
	for name, change := range map[string]func(*berthv1alpha1.LimitedWorkload){
		"of another workload": func(l *berthv1alpha1.LimitedWorkload) { l.Ref.Name = "api" },
		"in another cluster":  func(l *berthv1alpha1.LimitedWorkload) { l.Clusters[0].Name = "b" },
		"to more replicas":    func(l *berthv1alpha1.LimitedWorkload) { l.Clusters[0].Replicas++ },
	} {
		t.Run(name, func(t *testing.T) {
			other := tiered()
			change(&other.Status.Limited[0])
			if policy.SameMeaning(tiered(), other) || !policy.SameMeaning(tiered(), tiered()) {
				t.Error("another limit means the same, or the same one does not")
			}
		})
	}
}

func TestSameMeaningOfDivisions(t *testing.T) {
	other := tiered()
	other.Annotations = map[string]string{berthv1alpha1.DividedAnnotation: "5"}
	if policy.SameMeaning(tiered(), other) || !policy.SameMeaning(other, other.DeepCopy()) {
		t.Error("another division means the same, or the same one does not")
	}
}

func TestUnplaced(t *testing.T) {
	p := policy.Compile(tiered(), nil)
	for name, tc := range map[string]struct {
		limits map[string]int64
		want   int64
	}{
		"no limits":                         {},
		"one that another cluster takes":    {limits: map[string]int64{"a": 3}},
		"all are limited":                   {limits: map[string]int64{"a": 1, "b": 1}, want: 3},
		"one that cannot be, as if none is": {limits: map[string]int64{"a": -1}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := p.Unplaced(tc.limits, 5); got != tc.want {
				t.Errorf("%d replicas have no place, want %d", got, tc.want)
			}
		})
	}
}
