// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/placement/failover"
)

// LeftCluster tells of a cluster that was left because it was offline. The names of its fields are
// a promise to programs.
type LeftCluster struct {
	Cluster string `json:"cluster"`
	// Since is when it was left.
	Since metav1.Time `json:"since"`
	// Returns is when it comes into question again if it stays online, absent while it is offline.
	Returns *metav1.Time `json:"returns,omitempty"`
	// Message says in words what it waits for.
	Message string `json:"message"`
}

// LeftClusters tells when clusters come into question again that were left because they were
// offline. If unseen is not empty, it says why nothing is known of any cluster.
func LeftClusters(
	spec *berthv1alpha1.Failover, left []berthv1alpha1.FailedOverCluster, all []berthv1alpha1.Cluster, unseen string,
) []LeftCluster {
	rule, told := failover.Of(spec), make([]LeftCluster, len(left))
	byName := map[string]*LeftCluster{}
	for i := range left {
		told[i] = LeftCluster{Cluster: left[i].Cluster, Since: left[i].Time, Message: "there is no such cluster any more"}
		if unseen != "" {
			told[i].Message = fmt.Sprintf("%s; %s", unseen, returns(rule))
			continue
		}
		byName[left[i].Cluster] = &told[i]
	}
	for i := range all {
		if l := byName[all[i].Name]; l != nil {
			l.tell(rule, all[i].Online())
		}
	}
	return told
}

// tell says what a cluster waits for whose condition Online is known, or nil.
func (l *LeftCluster) tell(rule failover.Rule, online *metav1.Condition) {
	if online == nil {
		l.Message = "nobody has said yet whether it is online; " + returns(rule)
		return
	}
	since := online.LastTransitionTime
	if online.Status != metav1.ConditionTrue {
		l.Message = fmt.Sprintf("offline since %s; %s", since.UTC().Format(time.RFC3339), returns(rule))
		return
	}
	back := metav1.NewTime(rule.ReturnAt(since.Time))
	l.Returns = &back
	l.Message = fmt.Sprintf("online since %s, and comes into question again at %s",
		since.UTC().Format(time.RFC3339), back.UTC().Format(time.RFC3339))
}

func returns(rule failover.Rule) string {
	return fmt.Sprintf("it comes into question again once it has been online for %v", rule.ReturnAfter())
}
