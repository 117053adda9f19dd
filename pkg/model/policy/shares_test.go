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
		Planned          int64 // replicas
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
			want: answer{Desired: []int32{1, 2}, Current: []int32{1, 2}, Planned: 3},
		},
		"one too many": {
			kind: "Deployment", owner: deployment, replicas: 3, clusters: []string{"beijing", "beijing", "hangzhou"},
			want: answer{Desired: []int32{1, 2}, Current: []int32{2, 1}, Misplaced: 1, Planned: 3},
		},
		"in no cluster of the policy": {
			kind: "Deployment", owner: deployment, replicas: 3, clusters: []string{"", "shanghai", "hangzhou"},
			want: answer{Desired: []int32{1, 2}, Current: []int32{0, 1}, Misplaced: 2, Planned: 3},
		},
		"unknown replicas: only those outside are misplaced": {
			kind: "CloneSet", owner: controller("apps.kruise.io/v1alpha1", "CloneSet", "web"), replicas: -1,
			clusters: []string{"beijing", "beijing", "shanghai"},
			want:     answer{Desired: []int32{2, 0}, Current: []int32{2, 0}, Misplaced: 1},
		},
		"fixed seats: the right numbers in the wrong clusters": {
			kind: "StatefulSet", owner: set, replicas: 3, clusters: []string{"beijing", "hangzhou", "hangzhou"},
			want: answer{Desired: []int32{1, 2}, Current: []int32{1, 2}, Planned: 3},
		},
		"fixed seats: the wrong numbers": {
			kind: "StatefulSet", owner: set, replicas: 3, clusters: []string{"beijing", "beijing", "hangzhou"},
			want: answer{Desired: []int32{1, 2}, Current: []int32{2, 1}, Misplaced: 1, Planned: 3},
		},
		"completion indexes beyond the pods at a time": {
			kind: "Job", owner: job, replicas: 1, clusters: []string{"hangzhou", "beijing", "hangzhou"},
			want: answer{Desired: []int32{1, 2}, Current: []int32{1, 2}, Planned: 3},
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
			got := answer{s.Desired, s.Current, s.Misplaced, 0}
			if s.Plan != nil {
				got.Planned = s.Plan.Replicas()
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("shares (-want +got):\n%s", diff)
			}
			if len(s.Pods) != len(o.Pods) || s.Pods[0].Name != "p-0" || s.Pods[0].Keep != rebalance.Movable {
				t.Errorf("the pods are %+v", s.Pods)
			}
		})
	}
}

func TestSharesOfALimitedWorkload(t *testing.T) {
	o := &workload.Observed{Workload: workload.Workload{
		APIVersion: "apps/v1", Kind: "Deployment", Namespace: "shop", Name: "web", Replicas: 5, ReplicasKnown: true,
	}}
	s := policy.Compile(tiered(), nil).Shares(o, nil, nil)
	if diff := cmp.Diff([]int32{3, 2}, s.Desired); diff != "" {
		t.Errorf("desired (-want +got):\n%s", diff)
	}
}

// A Job with one pod at a time has come to its second completion, whose seat is in beijing.
func TestSharesOfOneCompletionIndex(t *testing.T) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Name: "batch-1", OwnerReferences: []metav1.OwnerReference{controller("batch/v1", "Job", "batch")},
		Annotations: map[string]string{batchv1.JobCompletionIndexAnnotation: "1"},
	}}
	o := &workload.Observed{Workload: workload.Workload{Kind: "Job", Replicas: 1, ReplicasKnown: true}, Pods: []*corev1.Pod{pod}}
	s := webPolicy(t).Shares(o, o.Pods, func(*corev1.Pod) string { return "beijing" })
	if diff := cmp.Diff([]int32{1, 0}, s.Desired); diff != "" || s.Misplaced != 0 {
		t.Errorf("%d misplaced; desired (-want +got):\n%s", s.Misplaced, diff)
	}
}
