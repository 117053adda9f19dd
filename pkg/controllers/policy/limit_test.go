// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/controllers/adviser/advisertest"
	"berth.dev/berth/pkg/controllers/policy"
)

// overflowing lets hangzhou have what beijing cannot run for a minute.
func overflowing(spec *berthv1alpha1.PropagationPolicySpec) {
	spec.Placement = berthv1alpha1.Placement{ClusterGroups: []berthv1alpha1.ClusterGroup{
		{Name: "home", ClusterNames: []string{"beijing"}},
		{Name: "burst", ClusterNames: []string{"hangzhou"}, Tier: new(int32(1)), GiveUpAfter: &metav1.Duration{Duration: time.Minute}},
	}}
}

func cpus(n string) func(*corev1.Node) {
	return func(node *corev1.Node) { node.Status.Allocatable[corev1.ResourceCPU] = resource.MustParse(n) }
}

// unschedulable says of a pod since when the scheduler has found no node for it.
func unschedulable(since time.Time) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		pod.Status.Conditions = []corev1.PodCondition{{
			Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable,
			Message: "0/2 nodes are available", LastTransitionTime: metav1.NewTime(since),
		}}
	}
}

// crowded is beijing with three CPUs and three of five pods; the others wait.
func crowded() []client.Object {
	objects := []client.Object{
		newNode("beijing-0", cpus("3")), newNode("hangzhou-0"), newCluster("beijing", "beijing-0"), newCluster("hangzhou", "hangzhou-0"),
		newDeployment(5), newReplicaSet("rs1", "1", 5),
	}
	for seat := range int32(5) {
		if seat < 3 {
			objects = append(objects, webPod(fmt.Sprintf("web-%d", seat), "beijing-0", seat))
		} else {
			objects = append(objects, webPod(fmt.Sprintf("web-%d", seat), "", 0, unschedulable(birth.Add(time.Hour))))
		}
	}
	return objects
}

// limited returns the limits of the only workload that the policy "p" limits, by cluster.
func (h *harness) limited() map[string]int32 {
	limits := map[string]int32{}
	for _, l := range h.policy("p").Status.Limited {
		for _, c := range l.Clusters {
			limits[c.Name] = c.Replicas
		}
	}
	return limits
}

func (h *harness) wants(beijing, hangzhou int32) {
	h.t.Helper()
	if diff := cmp.Diff(map[string]int32{"beijing": beijing, "hangzhou": hangzhou}, h.look()); diff != "" {
		h.t.Errorf("replicas wanted (-want +got):\n%s", diff)
	}
}

func TestALaterTierTakesWhatFindsNoNode(t *testing.T) {
	h := newHarness(t, world(crowded(), these(newPolicy("p", overflowing)))...)
	h.wants(5, 0)
	h.wait(50 * time.Second)
	h.wants(5, 0)
	h.wait(10 * time.Second)
	h.wants(3, 2)
	if diff := cmp.Diff(map[string]int32{"beijing": 3}, h.limited()); diff != "" {
		t.Errorf("limits (-want +got):\n%s", diff)
	}
	want := "these clusters are full for Deployment web, so others have what is left: beijing (3)"
	if message := h.condition(berthv1alpha1.PolicyPlaced); !strings.Contains(message, want) {
		t.Errorf("Placed = %q, want it to tell %q", message, want)
	}
	h.wait(time.Hour)
	h.wants(3, 2)
}

func TestALimitGrowsWithTheRoom(t *testing.T) {
	h := newHarness(t, world(crowded(), these(newPolicy("p", overflowing, never)))...)
	h.wants(5, 0)
	h.wait(time.Minute)
	h.wants(3, 2)
	for _, name := range []string{"web-3", "web-4"} {
		if err := h.server.Delete(t.Context(), h.pods()[name]); err != nil {
			t.Fatal(err)
		}
		h.replace(name+"-again", "hangzhou-0", 0)
	}
	h.wait(time.Hour)
	h.wants(3, 2)

	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "beijing-0"}}
	change(h, node, cpus("4"))
	h.wait(time.Minute)
	h.wants(4, 1)
	change(h, node, cpus("16"))
	h.wants(4, 1) // not twice in a minute
	h.wait(time.Minute)
	h.wants(5, 0)
	if limits := h.limited(); len(limits) > 0 {
		t.Errorf("limits = %v, want none", limits)
	}
}

func TestLimitsOutliveTheProcess(t *testing.T) {
	h := newHarness(t, world(crowded(), these(newPolicy("p", overflowing)))...)
	h.wants(5, 0)
	h.wait(time.Minute)
	h.wants(3, 2)
	options := h.Options
	h.Reconciler = policy.New(options)
	h.wants(3, 2)
}

func TestNoLimitWhereNobodyElseTakesThem(t *testing.T) {
	h := newHarness(t, world(crowded(), these(newPolicy("p", func(spec *berthv1alpha1.PropagationPolicySpec) {
		overflowing(spec)
		spec.Placement.ClusterGroups[1].Replicas, spec.Placement.ClusterGroups[1].Weight = new(int32(0)), nil
	})))...)
	h.wants(5, 0)
	h.wait(time.Hour)
	h.wants(5, 0)
}

// While it cannot be told how much room there is, limits stay and everything else is told.
func TestTheStatusIsWrittenWhileNobodyKnowsHowMuchRoomThereIs(t *testing.T) {
	h := newHarness(t, world(crowded(), these(newPolicy("p", overflowing)))...)
	h.wants(5, 0)
	h.wait(time.Minute)
	h.wants(3, 2)
	change(h, newDeployment(0), func(d *appsv1.Deployment) { d.Spec.Replicas = new(int32(6)) })
	h.wait(time.Second)
	h.sync()
	unread := errors.New("no list of clusters")
	reader := builder(t).WithInterceptorFuncs(interceptor.Funcs{
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			if _, clusters := list.(*berthv1alpha1.ClusterList); clusters {
				return unread
			}
			return c.List(ctx, list, opts...)
		},
	}).Build()
	h.Adviser = advisertest.New(t, reader)
	if _, err := h.Reconcile(t.Context(), namespace); !errors.Is(err, unread) {
		t.Errorf("Reconcile() = %v, want the reason why there is no answer", err)
	}
	if row := h.policy("p").Status.Workloads[0]; *row.Replicas != 6 {
		t.Errorf("the status tells of %d replicas, want 6", *row.Replicas)
	}
	if diff := cmp.Diff(map[string]int32{"beijing": 3}, h.limited()); diff != "" {
		t.Errorf("limits (-want +got):\n%s", diff)
	}
}
