// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package workload_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth.dev/berth/pkg/model/workload"
)

func TestRevisionOf(t *testing.T) {
	template := map[string]string{"pod-template-hash": "t1"}
	controller := map[string]string{"controller-revision-hash": "c1", "pod-template-hash": "t1"}
	rollouts := map[string]string{"rollouts-pod-template-hash": "r1"}
	parts := map[string]string{"controller-revision-hash": "c1", "ray.io/group": "small"}
	of := func(kind, name, hash string) workload.Revision {
		return workload.Revision{Namespace: "default", Kind: kindNamed(kind), Name: name, Owner: uid(name), Hash: hash}
	}
	tests := map[string]struct {
		owner  *metav1.OwnerReference
		labels map[string]string
		want   workload.Revision
		wantOK bool
	}{
		"ReplicaSet: the object is the revision": {ptrTo(ref("apps/v1", "ReplicaSet", "web-v1")), template, of("ReplicaSet", "web-v1", ""), true},
		"ReplicationController":                  {ptrTo(ref("v1", "ReplicationController", "old")), template, of("ReplicationController", "old", ""), true},
		"Job":                                    {ptrTo(ref("batch/v1", "Job", "train")), controller, of("Job", "train", ""), true},
		"StatefulSet":                            {ptrTo(ref("apps/v1", "StatefulSet", "db")), controller, of("StatefulSet", "db", "c1"), true},
		"unread kind with a template hash":       {ptrTo(ref("apps.kruise.io/v1alpha1", "CloneSet", "x")), template, of("", "x", "t1"), true},
		"unread kind with the hash of a Rollout": {ptrTo(ref("argoproj.io/v1alpha1", "Rollout", "x")), rollouts, of("", "x", "r1"), true},
		"unread kind without a hash":             {ptrTo(ref("example.com/v1", "Thing", "x")), nil, of("", "x", ""), true},
		"unread kind with parts": {
			ptrTo(ref("ray.io/v1", "RayCluster", "x")), parts,
			workload.Revision{Namespace: "default", Name: "x", Owner: "uid-x", Hash: "c1", Component: "small"}, true,
		},
		"StatefulSet with the label of a part": {ptrTo(ref("apps/v1", "StatefulSet", "db")), parts, of("StatefulSet", "db", "c1"), true},
		"no owner":                             {nil, controller, workload.Revision{}, false},
		"version that is not served":           {ptrTo(ref("apps/v9", "ReplicaSet", "web-v1")), template, workload.Revision{}, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Labels: tc.labels}}
			if tc.owner != nil {
				pod.OwnerReferences = []metav1.OwnerReference{*tc.owner}
			}
			got, ok := workload.RevisionOf(pod)
			if got != tc.want || ok != tc.wantOK {
				t.Errorf("got %+v, %t, want %+v, %t", got, ok, tc.want, tc.wantOK)
			}
			if allocs := testing.AllocsPerRun(10, func() { workload.RevisionOf(pod) }); allocs != 0 {
				t.Errorf("%v allocations, want none", allocs)
			}
		})
	}
}

func TestRevisionUnder(t *testing.T) {
	of := func(namespace string, owners ...metav1.OwnerReference) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, OwnerReferences: owners}}
	}
	type answer struct {
		revision workload.Revision
		owned    bool
	}
	under := func(pod *corev1.Pod, policy string) answer {
		revision, owned := workload.RevisionUnder(pod, policy)
		return answer{revision, owned}
	}
	set := ref("apps/v1", "ReplicaSet", "web-v1")
	if got, want := under(of("a", set), "p"), (answer{workload.Revision{Namespace: "a", Kind: kindNamed("ReplicaSet"), Name: "web-v1", Owner: "uid-web-v1"}, true}); got != want {
		t.Errorf("of a ReplicaSet's pod: %+v, want %+v", got, want)
	}
	if got, want := under(of("a"), ""), (answer{}); got != want {
		t.Errorf("of a bare pod without a policy: %+v, want %+v", got, want)
	}
	if a, b := under(of("a", set), "p"), under(of("b", set), "p"); a == b {
		t.Errorf("pods of two namespaces that name the same ReplicaSet share %+v", a)
	}
	shared := under(of("a"), "p")
	if forged := under(of("a", ref("apps/v9", "ReplicaSet", "web-v1")), "p"); forged != shared {
		t.Errorf("of a pod with an owner that cannot exist: %+v, want that of a bare pod, %+v", forged, shared)
	}
	if allocs := testing.AllocsPerRun(10, func() { under(of("a"), "p") }); allocs > 1 {
		t.Errorf("%v allocations, want that of the pod alone", allocs)
	}
	if shared.owned || shared.revision == (workload.Revision{}) || shared != under(of("a"), "p") {
		t.Errorf("of a bare pod: %+v, want a revision that others share", shared)
	}
	for _, other := range []answer{under(of("a"), "q"), under(of("b"), "p")} {
		if shared == other {
			t.Errorf("bare pods of another policy or namespace share %+v", shared)
		}
	}
}

func ptrTo[T any](value T) *T { return &value }

func TestOrdinal(t *testing.T) {
	set, job := ref("apps/v1", "StatefulSet", "db"), ref("batch/v1", "Job", "train")
	index, completion := "apps.kubernetes.io/pod-index", "batch.kubernetes.io/job-completion-index"
	tests := map[string]struct {
		owner       metav1.OwnerReference
		name        string
		labels      map[string]string
		annotations map[string]string
		start       int32
		want        int32
		wantOK      bool
	}{
		"label of a StatefulSet's pod":     {owner: set, name: "db-9", labels: map[string]string{index: "3"}, want: 3, wantOK: true},
		"name of a StatefulSet's pod":      {owner: set, name: "my-db-3", want: 3, wantOK: true},
		"StatefulSet that starts at 100":   {owner: set, name: "db-103", start: 100, want: 3, wantOK: true},
		"before the start":                 {owner: set, name: "db-99", start: 100},
		"largest ordinal":                  {owner: set, name: "db-2147483647", want: 2147483647, wantOK: true},
		"larger than the largest":          {owner: set, name: "db-2147483648"},
		"much too long":                    {owner: set, name: "db-00000000000000000000000000000001"},
		"not a number":                     {owner: set, name: "db-x"},
		"no number":                        {owner: set, name: "db-"},
		"no dash":                          {owner: set, name: "db"},
		"negative label":                   {owner: set, name: "db-1", labels: map[string]string{index: "-1"}},
		"label of an Indexed Job's pod":    {owner: job, name: "train-3-abcde", labels: map[string]string{completion: "7"}, want: 7, wantOK: true},
		"annotation of an older Job's pod": {owner: job, name: "train-3-abcde", annotations: map[string]string{completion: "7"}, want: 7, wantOK: true},
		"a Job has no start":               {owner: job, name: "train-3-abcde", labels: map[string]string{completion: "7"}, start: 5, want: 7, wantOK: true},
		"the third Job of a JobSet":        {owner: job, name: "train-w-2-1-abcde", labels: map[string]string{completion: "1"}, start: -8, want: 9, wantOK: true},
		"a worker of the fifth group": {
			owner: set, name: "llm-4-1", wantOK: true, want: 4,
			labels: map[string]string{index: "0", "leaderworkerset.sigs.k8s.io/group-index": "4", "leaderworkerset.sigs.k8s.io/worker-index": "1"},
		},
		"a group without a number":       {owner: set, name: "llm-4-1", labels: map[string]string{index: "0", "leaderworkerset.sigs.k8s.io/group-index": "x"}},
		"a group of nobody's":            {owner: ref("apps/v1", "ReplicaSet", "web"), name: "web-3", labels: map[string]string{"leaderworkerset.sigs.k8s.io/group-index": "4"}},
		"a Job that is not indexed":      {owner: job, name: "train-12345"},
		"a StatefulSet of another group": {owner: ref("apps.kruise.io/v1beta1", "StatefulSet", "db"), name: "db-3"},
		"a ReplicaSet":                   {owner: ref("apps/v1", "ReplicaSet", "web"), name: "web-3"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
				Name: tc.name, Labels: tc.labels, Annotations: tc.annotations, OwnerReferences: []metav1.OwnerReference{tc.owner},
			}}
			got, ok := workload.Ordinal(pod, tc.start)
			if got != tc.want || ok != tc.wantOK {
				t.Errorf("got %d, %t, want %d, %t", got, ok, tc.want, tc.wantOK)
			}
		})
	}
	if ordinal, ok := workload.Ordinal(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "db-3"}}, 0); ok || ordinal != 0 {
		t.Errorf("a pod without an owner has the ordinal %d", ordinal)
	}
}

func FuzzOrdinal(f *testing.F) {
	f.Add("db-3", "", "", int32(0))
	f.Add("db-2147483647", "7", "-3", int32(100))
	f.Add("", "+1", "0x1", int32(2147483647))
	f.Fuzz(func(t *testing.T, name, index, completion string, start int32) {
		if start < 0 {
			t.Skip("the API server does not admit it")
		}
		for _, owner := range []metav1.OwnerReference{ref("apps/v1", "StatefulSet", "x"), ref("batch/v1", "Job", "x")} {
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, OwnerReferences: []metav1.OwnerReference{owner}, Labels: map[string]string{
				"apps.kubernetes.io/pod-index": index, "batch.kubernetes.io/job-completion-index": completion,
			}}}
			if ordinal, ok := workload.Ordinal(pod, start); ordinal < 0 || !ok && ordinal != 0 {
				t.Errorf("ordinal %d, %t", ordinal, ok)
			}
		}
	})
}
