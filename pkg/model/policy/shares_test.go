// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth.dev/berth/pkg/model/policy"
	"berth.dev/berth/pkg/model/workload"
	"berth.dev/berth/pkg/placement/rebalance"
)

// The policy has the weights beijing 1 and hangzhou 2, so of 3 replicas the seats are hangzhou,
// beijing, hangzhou.
func TestShares(t *testing.T) {
	deployment := controller("apps/v1", "ReplicaSet", "rs")
	set := controller("apps/v1", "StatefulSet", "db")
	job := controller("batch/v1", "Job", "batch")
	type answer struct {
		Desired, Current []int32
		Misplaced        int
		Planned          bool
	}
	tests := map[string]struct {
		kind     string
		owner    metav1.OwnerReference
		replicas int32 // negative if not known
		clusters []string
		want     answer
	}{
		"as desired": {
			kind: "Deployment", owner: deployment, replicas: 3, clusters: []string{"beijing", "hangzhou", "hangzhou"},
			want: answer{Desired: []int32{1, 2}, Current: []int32{1, 2}, Planned: true},
		},
		"one too many": {
			kind: "Deployment", owner: deployment, replicas: 3, clusters: []string{"beijing", "beijing", "hangzhou"},
			want: answer{Desired: []int32{1, 2}, Current: []int32{2, 1}, Misplaced: 1, Planned: true},
		},
		"in no cluster of the policy": {
			kind: "Deployment", owner: deployment, replicas: 3, clusters: []string{"", "shanghai", "hangzhou"},
			want: answer{Desired: []int32{1, 2}, Current: []int32{0, 1}, Misplaced: 2, Planned: true},
		},
		"unknown replicas: only those outside are misplaced": {
			kind: "CloneSet", owner: controller("apps.kruise.io/v1alpha1", "CloneSet", "web"), replicas: -1,
			clusters: []string{"beijing", "beijing", "shanghai"},
			want:     answer{Desired: []int32{2, 0}, Current: []int32{2, 0}, Misplaced: 1},
		},
		"fixed seats: the right numbers in the wrong clusters": {
			kind: "StatefulSet", owner: set, replicas: 3, clusters: []string{"beijing", "hangzhou", "hangzhou"},
			want: answer{Desired: []int32{1, 2}, Current: []int32{1, 2}, Planned: true},
		},
		"fixed seats: the wrong numbers": {
			kind: "StatefulSet", owner: set, replicas: 3, clusters: []string{"beijing", "beijing", "hangzhou"},
			want: answer{Desired: []int32{1, 2}, Current: []int32{2, 1}, Misplaced: 1, Planned: true},
		},
		"completion indexes beyond the pods at a time": {
			kind: "Job", owner: job, replicas: 1, clusters: []string{"hangzhou", "beijing", "hangzhou"},
			want: answer{Desired: []int32{1, 2}, Current: []int32{1, 2}, Planned: true},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			o := &workload.Observed{Workload: workload.Workload{Kind: tc.kind, Replicas: max(0, tc.replicas), ReplicasKnown: tc.replicas >= 0}}
			in := map[*corev1.Pod]string{}
			for i, cluster := range tc.clusters {
				pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
					Name: fmt.Sprintf("p-%d", i), OwnerReferences: []metav1.OwnerReference{tc.owner},
				}}
				if tc.kind == "Job" {
					pod.Annotations = map[string]string{batchv1.JobCompletionIndexAnnotation: strconv.Itoa(i)}
				}
				in[pod] = cluster
				o.Pods = append(o.Pods, pod)
			}
			s := policy.Compile(object(1, "beijing", "hangzhou"), nil).Shares(o, o.Pods, func(pod *corev1.Pod) string { return in[pod] })
			got := answer{s.Desired, s.Current, s.Misplaced, s.Plan != nil}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("shares (-want +got):\n%s", diff)
			}
			if len(s.Pods) != len(o.Pods) || s.Pods[0].Name != "p-0" || s.Pods[0].Keep != rebalance.Movable {
				t.Errorf("the pods are %+v", s.Pods)
			}
		})
	}
}
