// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	corev1 "k8s.io/api/core/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// componentLabels are the labels that tell the pods of the parts of an object apart: Berth's own,
// then those of operators. Labels that everybody writes for purposes of their own, such as
// app.kubernetes.io/component, are not among them: they would split the pods of objects that have
// no parts.
var componentLabels = [...]string{
	berthv1alpha1.ComponentLabel,
	"ray.io/group",
	"training.kubeflow.org/replica-type",
	"volcano.sh/task-spec",
	"spark-role",
}

// groupIndexLabel is the number of the group of pods that a pod of a LeaderWorkerSet belongs to,
// and workerIndexLabel its number in the group, 0 for the leader. A group is one replica, and its
// number is the seat of all its pods.
const (
	groupIndexLabel  = "leaderworkerset.sigs.k8s.io/group-index"
	workerIndexLabel = "leaderworkerset.sigs.k8s.io/worker-index"
)

// jobIndexLabel is the number of a Job among those that a JobSet made from one template.
const jobIndexLabel = "jobset.sigs.k8s.io/job-index"

// component returns to which part of the object that controls it a pod belongs, by its
// labels; empty if none says so. It means something only for objects of which a FeedParser says
// that they have parts.
func component(pod *corev1.Pod) string {
	for _, label := range componentLabels {
		if name := pod.Labels[label]; name != "" {
			return name
		}
	}
	return ""
}

// followsLeader reports whether the pods of a workload sit on the seat of another pod, the leader
// of their group.
func (o *Observed) followsLeader() bool {
	if len(o.Pods) == 0 || o.Pods[0].Labels[groupIndexLabel] == "" {
		return false
	}
	worker := o.Pods[0].Labels[workerIndexLabel]
	return worker != "" && worker != "0"
}

// FixedSeats returns the seats of the pods of a workload whose seats say nothing of how many pods
// it wants: the indexes of a Job, which go beyond the number of pods that it wants at a time, and
// those of the workers of a group, who sit on the seat of their leader. It is nil for others, and
// seats above the limit are left out.
func (o *Observed) FixedSeats(limit int32) []int32 {
	if o.Kind != KindJob && !o.followsLeader() {
		return nil
	}
	var seats []int32
	for _, pod := range o.Pods {
		if seat, fixed := Ordinal(pod, o.FirstOrdinal); fixed && seat < limit {
			seats = append(seats, seat)
		}
	}
	return seats
}
