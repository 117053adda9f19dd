// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package subscription_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// everywhere runs a copy in each of the sites.
func everywhere(sites ...string) change {
	return func(s *berthv1alpha1.Subscription) {
		s.Spec.SchedulingStrategy = berthv1alpha1.ReplicationStrategy
		s.Spec.Subscribers[0].ClusterAffinity = metav1.LabelSelector{
			MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "site", Operator: metav1.LabelSelectorOpIn, Values: sites}},
		}
	}
}

// deployments names the Deployments there are.
func (w *world) deployments() string {
	w.t.Helper()
	var list appsv1.DeploymentList
	if err := w.client.List(w.t.Context(), &list); err != nil {
		w.t.Fatal(err)
	}
	names := make([]string, len(list.Items))
	for i := range list.Items {
		names[i] = list.Items[i].Name
	}
	return strings.Join(names, " ")
}

func (w *world) deployment(name string) *appsv1.Deployment {
	w.t.Helper()
	d := &appsv1.Deployment{}
	if err := w.client.Get(w.t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, d); err != nil {
		w.t.Fatal(err)
	}
	return d
}

func TestReplicationCopiesAndPrunes(t *testing.T) {
	w := newWorld(t)
	w.site("b", 4)
	w.site("c", 4)
	w.deploy("web", 2)
	w.subscribe("shop", []string{"web"}, everywhere("a", "b", "c"))
	w.pass()
	w.want("the Deployments", w.deployments(), "web web-c")
	w.want("the policy of the listed one", w.policy("shop", "web"), "*: b=1")
	w.want("the policy of the copy", w.policy("shop", "web-c"), "*: c=1")
	w.want("the status", w.told("shop"), "web b=2 c=2")
	w.want("Available", w.reason("shop", "Available"), "ReplicasMissing")
	replica := w.deployment("web-c")
	if owner := metav1.GetControllerOf(replica); owner == nil || owner.Name != "shop" {
		t.Errorf("the copy belongs to %v", owner)
	}
	selector := map[string]string{"app": "web", berthv1alpha1.CopyClusterLabel: "c"}
	if diff := cmp.Diff(selector, replica.Spec.Selector.MatchLabels); diff != "" {
		t.Errorf("selector of the copy (-want +got):\n%s", diff)
	}

	// One more Cluster, whose name comes first, does not move the listed object.
	w.site("a", 4)
	d := w.deployment("web")
	d.Generation, d.Spec.Replicas = 5, new(int32(3))
	if err := w.client.Update(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	w.pass()
	w.want("the Deployments with a", w.deployments(), "web web-a web-c")
	w.want("the policy of the listed one with a", w.policy("shop", "web"), "*: b=1")
	if got := *w.deployment("web-c").Spec.Replicas; got != 3 {
		t.Errorf("the copy has %d replicas, want 3", got)
	}

	w.pass() // It sees that the copies are as they should be.
	writes := w.policyWrites
	version := w.deployment("web-c").ResourceVersion
	w.pass()
	if w.policyWrites != writes || w.deployment("web-c").ResourceVersion != version {
		t.Error("something is written while nothing changed")
	}

	w.change("shop", everywhere("b"))
	w.pass()
	w.want("the Deployments when only b is left", w.deployments(), "web")
	w.want("the policy of a former copy", w.policy("shop", "web-c"), "none")

	w.change("shop", everywhere("nowhere"))
	w.pass()
	w.want("the policy when no Cluster is selected", w.policy("shop", "web"), "*: b=1")
}

func TestHandEditsOfCopiesAreReverted(t *testing.T) {
	tests := map[string]func(*appsv1.Deployment){
		"another number of replicas": func(d *appsv1.Deployment) { d.Spec.Replicas = new(int32(9)) },
		"another image":              func(d *appsv1.Deployment) { d.Spec.Template.Spec.Containers[0].Image = "other" },
		"a container more": func(d *appsv1.Deployment) {
			d.Spec.Template.Spec.Containers = append(d.Spec.Template.Spec.Containers, corev1.Container{Name: "b", Image: "b"})
		},
		"a node selector":      func(d *appsv1.Deployment) { d.Spec.Template.Spec.NodeSelector = map[string]string{"disk": "ssd"} },
		"no label of a copy":   func(d *appsv1.Deployment) { delete(d.Labels, berthv1alpha1.CopyOfLabel) },
		"another label":        func(d *appsv1.Deployment) { d.Labels["team"] = "bank" },
		"no owner":             func(d *appsv1.Deployment) { d.OwnerReferences = nil },
		"no label on its pods": func(d *appsv1.Deployment) { delete(d.Spec.Template.Labels, berthv1alpha1.CopyClusterLabel) },
	}
	for name, edit := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.site("a", 4)
			w.site("b", 4)
			w.deploy("web", 2)
			source := w.deployment("web")
			source.Labels = map[string]string{"team": "shop"}
			source.Spec.Template = corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "web"}},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "a", Image: "a"}}},
			}
			if err := w.client.Update(t.Context(), source); err != nil {
				t.Fatal(err)
			}
			w.subscribe("shop", []string{"web"}, everywhere("a", "b"))
			w.pass()
			w.pass()
			want := w.deployment("web-b")
			edited := want.DeepCopy()
			edit(edited)
			edited.Labels["mine"] = "yes"
			edited.Generation++
			if err := w.client.Update(t.Context(), edited); err != nil {
				t.Fatal(err)
			}
			w.pass()
			want.Labels["mine"] = "yes"
			got := w.deployment("web-b")
			want.ResourceVersion, want.Generation = got.ResourceVersion, got.Generation
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("the copy (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCopiesFollowLabelsOfTheListedObject(t *testing.T) {
	w := newWorld(t)
	w.site("a", 4)
	w.site("b", 4)
	w.deploy("web", 2)
	relabel := func(labels map[string]string) {
		t.Helper()
		source := w.deployment("web")
		source.Labels = labels
		if err := w.client.Update(t.Context(), source); err != nil {
			t.Fatal(err)
		}
		w.pass()
		w.pass()
	}
	w.subscribe("shop", []string{"web"}, everywhere("a", "b"))
	relabel(map[string]string{"team": "shop", "tier": "1", berthv1alpha1.ApplicationLabel: "bundle"})
	relabel(map[string]string{"team": "bank"})
	want := map[string]string{"team": "bank", berthv1alpha1.CopyOfLabel: "web", berthv1alpha1.CopyClusterLabel: "b"}
	if diff := cmp.Diff(want, w.deployment("web-b").Labels); diff != "" {
		t.Errorf("labels of the copy (-want +got):\n%s", diff)
	}
}

func TestReplicationTakesNothingFromOthers(t *testing.T) {
	w := newWorld(t)
	w.site("a", 4)
	w.site("b", 4)
	w.deploy("web", 2)
	w.deploy("web-b", 7)
	w.subscribe("shop", []string{"web"}, everywhere("a", "b"))
	w.pass()
	if d := w.deployment("web-b"); *d.Spec.Replicas != 7 || len(d.OwnerReferences) > 0 {
		t.Errorf("the Deployment of somebody else is changed: %v", d)
	}
	w.want("the message", w.get("shop").Status.Feeds[0].Message,
		"there is a Deployment web-b already that is no copy of it: delete it if the copy is to take its place")
	w.want("the policy for the Deployment of somebody else", w.policy("shop", "web-b"), "none")
	w.want("Scheduled", w.reason("shop", "Scheduled"), "CopyMissing")
}

func TestReplicationDoesNotCopyWhatItCannotTellApart(t *testing.T) {
	w := newWorld(t)
	w.site("a", 4)
	w.site("b", 4)
	w.create(&corev1.ReplicationController{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "old", UID: types.UID("old")},
		Spec:       corev1.ReplicationControllerSpec{Replicas: new(int32(1))},
	})
	w.subscribe("shop", nil, everywhere("a", "b"), func(s *berthv1alpha1.Subscription) {
		s.Spec.Feeds = []berthv1alpha1.Feed{
			{APIVersion: "v1", Kind: "ReplicationController", Name: "old"}, {APIVersion: "v1", Kind: "ConfigMap", Name: "settings"},
		}
	})
	w.pass()
	w.want("the status", w.told("shop"), "old a=1, settings")
	w.want("the message", w.get("shop").Status.Feeds[0].Message, "objects of kind ReplicationController are not copied: it runs in one Cluster")
	var policies berthv1alpha1.PropagationPolicyList
	if err := w.client.List(t.Context(), &policies); err != nil || len(policies.Items) != 1 {
		t.Errorf("there are %d policies, %v; want the one of the ReplicationController", len(policies.Items), err)
	}
}

func TestACopyThatChangesMeanwhileIsReadAgain(t *testing.T) {
	w := newWorld(t)
	w.site("a", 4)
	w.site("b", 4)
	w.deploy("web", 2)
	w.subscribe("shop", []string{"web"}, everywhere("a", "b"))
	w.pass()
	change := func(generation int64, replicas int32) {
		d := w.deployment("web-b")
		d.Generation, d.Spec.Replicas = generation, &replicas
		if err := w.client.Update(t.Context(), d); err != nil {
			t.Fatal(err)
		}
	}
	change(5, 5)
	// The controller has read the copy and is about to put it right. Whose the replicas are may
	// have changed with them.
	w.applies, w.beforeApply = 0, func() { change(6, 3) }
	w.pass()
	if w.applies != 2 {
		t.Errorf("the copy was applied %d times, want once in vain and once with what it has become", w.applies)
	}
	if got := *w.deployment("web-b").Spec.Replicas; got != 2 {
		t.Errorf("the copy has %d replicas, want 2", got)
	}
}
