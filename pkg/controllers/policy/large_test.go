// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	modelpolicy "berth.dev/berth/pkg/model/policy"
)

// long returns a name that is as long as it may be.
func long(name string, most int) string { return name + strings.Repeat("x", most-len(name)) }

// manySites is a policy of five groups for 200 workloads over 1,000 clusters of a node each, of
// which so many have been offline for long. No workload has a pod yet.
func manySites(offline int) *memory {
	m := &memory{}
	policy := newPolicy("everywhere")
	policy.Spec.ResourceSelectors[0].Name = ""
	policy.Spec.Failover = &berthv1alpha1.Failover{}
	policy.Spec.Placement = berthv1alpha1.Placement{}
	for tier := range 5 {
		group := berthv1alpha1.ClusterGroup{
			Name: long(fmt.Sprintf("tier-%d-", tier), 63), ClusterSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"tier": strconv.Itoa(tier)}},
		}
		if tier == 0 {
			group.ReplicasPerCluster = new(int32(1))
		}
		policy.Spec.Placement.ClusterGroups = append(policy.Spec.Placement.ClusterGroups, group)
	}
	m.policies = append(m.policies, *policy)
	for i := range 1000 {
		name := long(fmt.Sprintf("store-%04d-", i), 63)
		node := newNode(name)
		cluster := newCluster(name, node.Name)
		cluster.Labels = map[string]string{"tier": strconv.Itoa(i % 5)}
		if i < offline {
			cluster.Status.Conditions = []metav1.Condition{{
				Type: berthv1alpha1.ClusterOnline, Status: metav1.ConditionFalse, LastTransitionTime: metav1.NewTime(birth),
			}}
		}
		m.nodes, m.clusters = append(m.nodes, *node), append(m.clusters, *cluster)
	}
	for i := range 200 {
		d := newDeployment(1000)
		d.Name = long(fmt.Sprintf("web-%03d-", i), 253)
		d.UID = types.UID(d.Name)
		m.deployments = append(m.deployments, *d)
	}
	return m
}

// A status is at most 64 KiB, whatever a policy selects, and tells of the totals by group.
func TestTheStatusOfAPolicyForManySitesIsBounded(t *testing.T) {
	for _, offline := range []int{0, 400, 900, 999} {
		m := manySites(offline)
		began := time.Now()
		if _, err := benchReconciler(m).Reconcile(t.Context(), namespace); err != nil {
			t.Fatal(err)
		}
		t.Logf("%d clusters offline: %d bytes, a pass of a new process in %v", offline, m.statusBytes, time.Since(began))
		if m.statusBytes > 64<<10 {
			t.Errorf("with %d clusters offline the status has %d bytes, more than 64 KiB", offline, m.statusBytes)
		}
		checkRows(t, m, offline)
		checkLeft(t, m, offline)
	}
}

// checkRows holds the rows of the status to the totals by group, and to the clusters they name.
func checkRows(t *testing.T, m *memory, offline int) {
	t.Helper()
	rows := m.status.Workloads
	if m.status.WorkloadCount != 200 || len(rows) == 0 || len(rows[0].Groups) != 5 || len(rows[0].Clusters) != 50 {
		t.Fatalf("with %d clusters offline the status tells of %d workloads in %d rows", offline, m.status.WorkloadCount, len(rows))
	}
	var desired int32
	for _, group := range rows[0].Groups {
		desired += group.Desired
	}
	if desired != 1000 {
		t.Errorf("with %d clusters offline the groups of a row are to have %d replicas, want 1000", offline, desired)
	}
}

// checkLeft holds the clusters that were left to those that are offline.
func checkLeft(t *testing.T, m *memory, offline int) {
	t.Helper()
	left := modelpolicy.LeftBy(&m.status)
	for i := range m.clusters {
		if name := m.clusters[i].Name; left.Has(name) != (i < offline) {
			t.Fatalf("with %d clusters offline %s was left: %t", offline, name, left.Has(name))
		}
	}
	if got, want := len(m.status.FailedOver), min(offline, 50); got != want {
		t.Errorf("the status names %d clusters that were left, want %d", got, want)
	}
}
