// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"berth.dev/berth/pkg/controllers/state"
	"berth.dev/berth/pkg/history"
	"berth.dev/berth/pkg/model/stamp"
	"berth.dev/berth/pkg/placement/rebalance"
)

// remember remembers what was done to a pod of a workload for a policy.
func (p *pass) remember(in *inForce, placed *placement, pod *corev1.Pod, decision history.Decision, message string) {
	if !p.History.On() {
		return
	}
	w := &placed.Workload
	p.History.Note(func() history.Entry {
		e := history.Entry{About: history.Pod(pod), Decision: decision, Message: message, For: state.Asker(in.policy)}
		if w.UID != pod.UID {
			e.Workload = history.Named(w.APIVersion, w.Kind, w.Namespace, w.Name, w.UID)
		}
		return e
	})
}

// way tells from where a pod moves and where its replacement is to run, with what these clusters
// should have and have of the workload.
func way(in *inForce, placed *placement, victim rebalance.Victim) string {
	from := "from outside of the clusters of policy " + in.policy.Name
	if c := placed.Shares.Pods[victim.Pod].Cluster; c != rebalance.Elsewhere {
		from = fmt.Sprintf("from cluster %s, which has %d and should have %d", in.Order.Name(c), placed.Current[c], placed.Desired[c])
	}
	to := victim.To
	return fmt.Sprintf("%s, to %s, which has %d and should have %d; policy %s",
		from, in.Order.Name(to), placed.Current[to], placed.Desired[to], in.policy.Name)
}

// adopted tells which place a pod was given that had none.
func adopted(in *inForce, changes map[string]any, pod *corev1.Pod) string {
	after := pod.DeepCopy()
	for key, value := range changes {
		if text, isText := value.(string); isText {
			if after.Annotations == nil {
				after.Annotations = map[string]string{}
			}
			after.Annotations[key] = text
		}
	}
	given, _ := stamp.Of(after)
	if given.Seat == stamp.NoSeat {
		return fmt.Sprintf("by policy %s in cluster %s, beyond its share", in.policy.Name, given.Cluster)
	}
	return fmt.Sprintf("by policy %s in cluster %s, seat %d", in.policy.Name, given.Cluster, given.Seat)
}
