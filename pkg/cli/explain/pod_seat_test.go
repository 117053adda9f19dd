// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package explain_test

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/cli/internal/clitest"
	"berth.dev/berth/pkg/model/stamp"
)

func TestPodWithAFixedSeat(t *testing.T) {
	tests := map[string]struct {
		pod    string
		change func(w *clitest.World, set *appsv1.StatefulSet)
		want   []string
	}{
		"waits for the cluster that owns its seat": {
			pod: "db-1",
			want: []string{
				"Seat:      1, the number its controller gave it\n",
				"- the policy lets it into beijing, and nodes there look usable\n",
				"owns seat 1\n", "does not own seat 1\n",
			},
		},
		"counts its ordinal from the start": {
			pod: "db-1",
			change: func(_ *clitest.World, set *appsv1.StatefulSet) {
				set.Spec.Ordinals = &appsv1.StatefulSetOrdinals{Start: 1}
			},
			want: []string{"Seat:      0, ", "- the policy lets it into hangzhou, and nodes there look usable\n"},
		},
		"beyond the replicas": {
			pod:    "db-1",
			change: func(_ *clitest.World, set *appsv1.StatefulSet) { *set.Spec.Replicas = 1 },
			want:   []string{"- the policy lets it into beijing, and nodes there look usable\n"},
		},
		"beyond all clusters": {
			pod: "db-1",
			change: func(w *clitest.World, _ *appsv1.StatefulSet) {
				none := int32(0)
				for i := range policy(w, "spread").Spec.Placement.StaticWeightList {
					policy(w, "spread").Spec.Placement.StaticWeightList[i].Max = &none
				}
			},
			want: []string{"- seat 1 is beyond the max of all clusters\n"},
		},
		"counts the pods of all revisions": {
			pod:    "db-1",
			change: func(w *clitest.World, _ *appsv1.StatefulSet) { relabel(w, "db-0", "old") },
			want:   []string{"hangzhou   2         1         1            1       1"},
		},
		"runs where it belongs": {
			pod:  "db-0",
			want: []string{"State:     Placed on node hangzhou-0 in cluster hangzhou, seat 0\n", "Why:\n  - policy \"spread\" placed it\n\n"},
		},
		"runs where another seat belongs": {
			pod: "db-2",
			want: []string{
				"- seat 2 belongs to cluster hangzhou, but cluster beijing has no more than its share, " +
					"so the pod stays until it is made anew\n",
			},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := clitest.NewWorld(t)
			w.Cluster("beijing", 1)
			w.Cluster("hangzhou", 1)
			w.Policy("spread", "apps/v1", "StatefulSet", "db", map[string]int64{"beijing": 2, "hangzhou": 3})
			set := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: clitest.Namespace, Name: "db", UID: "db"}}
			replicas := int32(3)
			set.Spec.Replicas = &replicas
			w.Kubernetes = append(w.Kubernetes, set)
			ref := metav1.NewControllerRef(set, appsv1.SchemeGroupVersion.WithKind("StatefulSet"))
			clitest.Place(w.Pod("db-0", ref), "hangzhou-0", stamp.Stamp{Policy: "spread", Cluster: "hangzhou"})
			w.Pod("db-1", ref)
			clitest.Place(w.Pod("db-2", ref), "beijing-0", stamp.Stamp{Policy: "spread", Cluster: "beijing", Seat: 2})
			if tc.change != nil {
				tc.change(w, set)
			}
			result := explainPod(t, w, tc.pod)
			for _, text := range tc.want {
				if !strings.Contains(result.Out, text) {
					t.Errorf("printed\n%s%s\nwant %q", result.Out, result.Err, text)
				}
			}
		})
	}
}

func TestPodWhoseNumberNobodyKnows(t *testing.T) {
	w := clitest.NewWorld(t)
	w.Cluster("beijing", 1)
	w.Cluster("hangzhou", 1)
	p := w.Policy("spread", "v1", "Pod", "", map[string]int64{"beijing": 2, "hangzhou": 3})
	one := int32(1)
	p.Spec.Placement.StaticWeightList = append(p.Spec.Placement.StaticWeightList,
		berthv1alpha1.StaticClusterWeight{ClusterNames: []string{"wuhan"}, Weight: 1, Max: &one, Min: &one})
	w.Cluster("wuhan", 1)
	clitest.Place(w.Pod("one", nil), "wuhan-0", stamp.Stamp{Policy: "spread", Cluster: "wuhan"})
	clitest.Place(w.Pod("two", nil), "hangzhou-0", stamp.Stamp{Policy: "spread", Cluster: "hangzhou", Seat: 1})
	w.Pod("three", nil)
	explainPod(t, w, "three").CheckOutput(t, strings.TrimPrefix(`
Pod:       default/three
State:     Waiting
Workload:  pod/three
Policy:    spread, because it selects all workloads of the kind

Why:
  - the policy lets it into beijing, hangzhou, and nodes there look usable
  - no scheduler has said anything about it yet: check that berth-scheduler is running

CLUSTER    DESIRED   CURRENT   FREE-SEATS   NODES   USABLE   NOT-READY   CORDONED   TAINTED   UNMATCHED   SAYS
beijing    -         0         -            1       1        0           0          0         0           is asked as number 1
hangzhou   -         1         -            1       1        0           0          0         0           is asked as number 2
wuhan      -         1         -            1       1        0           0          0         0           is at its max
`, "\n"))
}
