// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package workload_test

import (
	"fmt"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"berth.dev/berth/pkg/model/workload"
)

// labelled sets labels of a pod.
func labelled(pairs ...string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		for i := 0; i < len(pairs); i += 2 {
			p.Labels[pairs[i]] = pairs[i+1]
		}
	}
}

// TestComponents has an object with a head and two groups of workers: each part is divided for
// itself.
func TestComponents(t *testing.T) {
	const group = "ray.io/group"
	ray := made("ray", -1, nil)
	ray.Components = map[string]int32{"headgroup": 1, "small": 5, "large": 0}
	owner := ownedBy(operatorVersion, "Ring", "ray")
	pods := []corev1.Pod{
		pod("head", owner, labelled(group, "headgroup")), pod("small-1", owner, labelled(group, "small")),
		pod("small-2", owner, labelled(group, "small"), pending), pod("large-1", owner, labelled(group, "large")),
		pod("other", owner, labelled(group, "unknown")), pod("plain", owner),
	}
	var got []string
	for _, o := range workload.Observe(&workload.Objects{Pods: pods, Further: operators{"Ring ray": ray}}) {
		got = append(got, fmt.Sprintf("%s %q wants %d (%t), bound %d of %d, settled: %t",
			o.Name, o.Component, o.Replicas, o.ReplicasKnown, len(o.Bound()), len(o.Pods), o.Settled))
	}
	want := []string{
		`ray "" wants 0 (false), bound 2 of 2, settled: false`,
		`ray "headgroup" wants 1 (true), bound 1 of 1, settled: true`,
		`ray "large" wants 0 (true), bound 1 of 1, settled: false`,
		`ray "small" wants 5 (true), bound 1 of 2, settled: false`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("workloads differ (-want +got):\n%s", diff)
	}
}

// TestComponentsOfKindsWithoutAny has pods whose labels mean something to others.
func TestComponentsOfKindsWithoutAny(t *testing.T) {
	owner := ownedBy(operatorVersion, "Ring", "ring")
	ring := made("ring", 3, nil)
	pods := []corev1.Pod{
		pod("a", owner, labelled("app.kubernetes.io/component", "x")), pod("b", owner, labelled("component", "y")), pod("c", owner),
	}
	var revisions []workload.Revision
	for i := range pods {
		revision, _ := workload.RevisionOf(&pods[i])
		revisions = append(revisions, revision)
	}
	if len(slices.Compact(revisions)) != 1 {
		t.Errorf("the revisions %v differ", revisions)
	}
	for _, o := range workload.Observe(&workload.Objects{Pods: pods, Further: operators{"Ring ring": ring}}) {
		if len(o.Bound()) != len(pods) || o.Replicas != 3 {
			t.Errorf("%s: %d pods of %d are bound, of %d replicas", o.Name, len(o.Bound()), len(pods), o.Replicas)
		}
	}
}

// TestComponentNextToTheLabelsOfOthers has a template with a label that everybody writes.
func TestComponentNextToTheLabelsOfOthers(t *testing.T) {
	p := pod("a", ownedBy(operatorVersion, "Ring", "ray"), labelled("app.kubernetes.io/component", "ml", "ray.io/group", "small"))
	if got := workload.Component(&p); got != "small" {
		t.Errorf("the component is %q", got)
	}
	p.Labels["berth.dev/component"] = "large"
	if got := workload.Component(&p); got != "large" {
		t.Errorf("the component is %q", got)
	}
}

// TestComponentsOfKindsThatAreRead has pods of a ReplicaSet whose label would be a part elsewhere.
func TestComponentsOfKindsThatAreRead(t *testing.T) {
	owner := ownedBy("apps/v1", "ReplicaSet", "web")
	plain, part := pod("a", owner), pod("b", owner, labelled("ray.io/group", "x"))
	one, _ := workload.RevisionOf(&plain)
	other, _ := workload.RevisionOf(&part)
	if one != other {
		t.Errorf("the revisions %v and %v differ", one, other)
	}
}

// TestJobsOfAJobSetShareOneRowOfSeats has the Jobs of one template: the indexes of one go on where
// those of the Job before end.
func TestJobsOfAJobSetShareOneRowOfSeats(t *testing.T) {
	var objects []workload.Object
	var pods []corev1.Pod
	for i, index := range []string{"0", "1", "2"} {
		j := job("train-w-"+index, false)
		j.Labels["jobset.sigs.k8s.io/job-index"] = index
		j.Spec.Completions, j.Spec.CompletionMode = new(int32(2)), new(batchv1.IndexedCompletion)
		objects = append(objects, j)
		for n := range 2 {
			pods = append(pods, pod(fmt.Sprintf("%d-%d", i, n), ownedBy("batch/v1", "Job", j.Name),
				labelled(batchv1.JobCompletionIndexAnnotation, strconv.Itoa(n))))
		}
	}
	var got []int32
	for _, o := range workload.Observe(&workload.Objects{Owners: objects, Pods: pods}) {
		got = append(got, o.FixedSeats(100)...)
	}
	if diff := cmp.Diff([]int32{0, 1, 2, 3, 4, 5}, got); diff != "" {
		t.Errorf("seats differ (-want +got):\n%s", diff)
	}
}

// TestTheFirstIndexOfAJob has Jobs of a JobSet, with so many indexes each.
func TestTheFirstIndexOfAJob(t *testing.T) {
	for name, tc := range map[string]struct {
		label       string
		completions *int32
		want        int32
	}{
		"the first":                    {"0", new(int32(5)), 0},
		"the second":                   {"1", new(int32(5)), -5},
		"the second, of one index":     {"1", new(int32(1)), -1},
		"the last that can be counted": {"2147483646", new(int32(1)), -2147483646},
		"one more":                     {"2147483647", new(int32(1)), 0},
		"without an end":               {"1", nil, 0},
	} {
		j := job("j", false)
		j.Spec.Completions = tc.completions
		j.Labels["jobset.sigs.k8s.io/job-index"] = tc.label
		if got := workload.FirstOrdinal(j); got != tc.want {
			t.Errorf("%s: %d, want %d", name, got, tc.want)
		}
	}
}

// TestFirstIndexIsBounded has Jobs with labels that no JobSet writes.
func TestFirstIndexIsBounded(t *testing.T) {
	for _, label := range []string{"", "x", "-1", "2147483647", "99999999999999999999"} {
		j := job("j", false)
		j.Spec.Completions = new(int32(5))
		j.Labels["jobset.sigs.k8s.io/job-index"] = label
		if got := workload.FirstOrdinal(j); got != 0 {
			t.Errorf("%q: %d", label, got)
		}
	}
}

// TestWorkersSitOnTheSeatOfTheirLeader has the StatefulSet of the workers of the fifth group.
func TestWorkersSitOnTheSeatOfTheirLeader(t *testing.T) {
	const group, worker = "leaderworkerset.sigs.k8s.io/group-index", "leaderworkerset.sigs.k8s.io/worker-index"
	for name, tc := range map[string]struct {
		index string
		want  []int32
	}{"workers": {"1", []int32{4}}, "the leader": {"0", nil}, "nobody's": {"", nil}} {
		set := statefulSet("llm", "a", "a")
		set.Spec.Ordinals = nil
		pods := []corev1.Pod{pod("llm-4", ownedBy("apps/v1", "StatefulSet", "llm"), labelled(group, "4", worker, tc.index))}
		observed := workload.Observe(&workload.Objects{Owners: []workload.Object{set}, Pods: pods})
		if diff := cmp.Diff(tc.want, observed[0].FixedSeats(100)); diff != "" {
			t.Errorf("%s: seats differ (-want +got):\n%s", name, diff)
		}
		if got := observed[0].FixedSeats(4); len(got) != 0 {
			t.Errorf("%s: seats above the limit: %v", name, got)
		}
	}
}

// TestPodsOfNoGroupHaveSeatsOfTheirOwn has StatefulSets whose seats follow from how many pods they
// want.
func TestPodsOfNoGroupHaveSeatsOfTheirOwn(t *testing.T) {
	owner := ownedBy("apps/v1", "StatefulSet", "db")
	for name, pods := range map[string][]corev1.Pod{
		"without pods": nil, "without labels": {pod("db-5", owner)},
		"a number and no group": {pod("db-5", owner, labelled("leaderworkerset.sigs.k8s.io/worker-index", "1"))},
	} {
		observed := workload.Observe(&workload.Objects{Owners: []workload.Object{statefulSet("db", "a", "a")}, Pods: pods})
		if got := observed[0].FixedSeats(100); got != nil {
			t.Errorf("%s: seats %v, want none that are fixed", name, got)
		}
	}
}
