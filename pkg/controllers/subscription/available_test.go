// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package subscription_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

const noCPU = "0/3 nodes are available: 3 Insufficient cpu."

// wait makes a pod of an owner that the scheduler has tried in vain, of nobody if there is no
// owner.
func (w *world) wait(name string, owner *metav1.OwnerReference, changes ...func(*corev1.Pod)) {
	w.t.Helper()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID(name)},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "a", Resources: oneCPU()}}},
		Status: corev1.PodStatus{Conditions: []corev1.PodCondition{{
			Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable, Message: noCPU,
			LastTransitionTime: metav1.NewTime(w.clock.Now()),
		}}},
	}
	if owner != nil {
		pod.OwnerReferences = []metav1.OwnerReference{*owner}
	}
	for _, change := range changes {
		change(pod)
	}
	w.create(pod)
}

// ofDeployment refers to the ReplicaSet of a Deployment.
func ofDeployment(name string) *metav1.OwnerReference {
	return &metav1.OwnerReference{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: name + "-1", UID: types.UID(name + "-1"), Controller: new(true)}
}

func (w *world) bind(name, node string) {
	w.t.Helper()
	pod := &corev1.Pod{}
	if err := w.client.Get(w.t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, pod); err != nil {
		w.t.Fatal(err)
	}
	pod.Spec.NodeName = node
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	status := pod.Status
	if err := w.client.Update(w.t.Context(), pod); err != nil {
		w.t.Fatal(err)
	}
	pod.Status = status
	if err := w.client.Status().Update(w.t.Context(), pod); err != nil {
		w.t.Fatal(err)
	}
}

func TestAvailableTellsWhereReplicasAreMissingAndWhy(t *testing.T) {
	w := newWorld(t)
	w.site("a", 9)
	w.site("b", 9)
	w.deploy("web", 5)
	w.subscribe("shop", []string{"web"}, static(map[string]int32{"a": 2, "b": 3}))
	w.run("web", "a", 2)
	w.run("web", "b", 1)
	w.wait("web-x", ofDeployment("web"))
	w.pass()
	w.want("Scheduled", w.reason("shop", "Scheduled"), "AllPlaced")
	w.want("Available", w.reason("shop", "Available"), "ReplicasMissing")
	w.want("the message", w.message("shop", "Available"),
		"3 of 5 replicas of Deployment web run (2 without a node: 2 in cluster b: "+noCPU+"; 1 have no pod yet)")
	w.want("READY", w.get("shop").Status.Ready, "3/5")
}

func TestPodsWithoutANumberOfReplicasCount(t *testing.T) {
	daemons := &metav1.OwnerReference{APIVersion: "apps/v1", Kind: "DaemonSet", Name: "agent", UID: "agent", Controller: new(true)}
	on := func(node string) func(*corev1.Pod) {
		return func(pod *corev1.Pod) {
			pod.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
				RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
					MatchFields: []corev1.NodeSelectorRequirement{{Key: "metadata.name", Operator: corev1.NodeSelectorOpIn, Values: []string{node}}},
				}}},
			}}
		}
	}
	tests := map[string]struct {
		feed        berthv1alpha1.Feed
		owner       *metav1.OwnerReference
		wantMessage string
	}{
		"a Pod": {
			berthv1alpha1.Feed{APIVersion: "v1", Kind: "Pod", Name: "agent-1"}, nil,
			"0 of 1 replicas of Pod agent-1 run (1 without a node: 1 in cluster a: " + noCPU + ")",
		},
		"a DaemonSet": {
			berthv1alpha1.Feed{APIVersion: "apps/v1", Kind: "DaemonSet", Name: "agent"}, daemons,
			"0 of 1 replicas of DaemonSet agent run (1 without a node: 1 in cluster a: " + noCPU + ")",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.site("a", 9)
			w.site("b", 9)
			w.wait("agent-1", tc.owner, on("a-1"))
			if tc.owner != nil {
				w.wait("agent-2", tc.owner, on("b-1")) // That cluster is not selected.
			}
			w.subscribe("shop", nil, static(map[string]int32{"a": 1}), func(s *berthv1alpha1.Subscription) {
				s.Spec.Feeds = []berthv1alpha1.Feed{tc.feed}
			})
			w.pass()
			w.want("Available", w.reason("shop", "Available"), "ReplicasMissing")
			w.want("the message", w.message("shop", "Available"), tc.wantMessage)
			w.want("READY", w.get("shop").Status.Ready, "0/1")
			w.bind("agent-1", "a-1")
			w.pass()
			w.want("Available once it runs", w.reason("shop", "Available"), "AllRunning")
			w.want("READY once it runs", w.get("shop").Status.Ready, "1/1")
		})
	}
}

func TestPodsOfCopiesCountAsReady(t *testing.T) {
	w := newWorld(t)
	w.site("a", 9)
	w.site("b", 9)
	w.deploy("web", 2)
	w.subscribe("shop", []string{"web"}, func(s *berthv1alpha1.Subscription) { s.Spec.SchedulingStrategy = berthv1alpha1.ReplicationStrategy })
	w.pass()
	w.want("READY", w.get("shop").Status.Ready, "0/4")
	w.want("the message", w.message("shop", "Available"),
		"0 of 4 replicas of Deployment web run (4 without a node: 2 in cluster a, 2 in cluster b; 4 have no pod yet)")
}

func TestABundleNamesWhatItDoesNotCount(t *testing.T) {
	w := newWorld(t)
	w.site("a", 9)
	w.deploy("web", 1)
	settings := berthv1alpha1.Feed{APIVersion: "v1", Kind: "ConfigMap", Name: "settings"}
	w.subscribe("shop", []string{"web"}, bundle, func(s *berthv1alpha1.Subscription) { s.Spec.Feeds = append(s.Spec.Feeds, settings) })
	inventory := &berthv1alpha1.FeedInventory{}
	if err := w.client.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "shop"}, inventory); err != nil {
		t.Fatal(err)
	}
	inventory.Spec.Feeds[1].DesiredReplicas = nil
	if err := w.client.Update(t.Context(), inventory); err != nil {
		t.Fatal(err)
	}
	w.pass()
	w.want("Scheduled", w.reason("shop", "Scheduled"), "AllPlaced")
	w.want("the message", w.message("shop", "Scheduled"), "a share is decided for all replicas of all feeds; without a number of "+
		"replicas, so started with the bundle without looking for room: ConfigMap settings")
}
