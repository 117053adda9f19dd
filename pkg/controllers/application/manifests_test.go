// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package application_test

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

const podTemplate = "{metadata: {labels: {app: a}}, spec: {containers: [{name: c, image: i}]}}"

// Every kind whose template of pods is found gets a policy, and pods that ask for it and for Berth.
func TestPodsOfEveryKindArePlaced(t *testing.T) {
	tests := map[string]struct {
		text       string
		object     client.Object
		wantPolicy string
		template   func(client.Object) (map[string]string, *corev1.PodSpec)
	}{
		"StatefulSet": {
			"{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: a}, spec: {serviceName: s, template: " + podTemplate + "}}",
			&appsv1.StatefulSet{}, "web-statefulset-a",
			func(o client.Object) (map[string]string, *corev1.PodSpec) {
				template := &o.(*appsv1.StatefulSet).Spec.Template
				return template.Annotations, &template.Spec
			},
		},
		"Job": {
			"{apiVersion: batch/v1, kind: Job, metadata: {name: a}, spec: {template: " + podTemplate + "}}",
			&batchv1.Job{}, "web-job-a",
			func(o client.Object) (map[string]string, *corev1.PodSpec) {
				template := &o.(*batchv1.Job).Spec.Template
				return template.Annotations, &template.Spec
			},
		},
		"CronJob": {
			"{apiVersion: batch/v1, kind: CronJob, metadata: {name: a}, spec: {jobTemplate: {spec: {template: " + podTemplate + "}}}}",
			&batchv1.CronJob{}, "web-cronjob-a",
			func(o client.Object) (map[string]string, *corev1.PodSpec) {
				template := &o.(*batchv1.CronJob).Spec.JobTemplate.Spec.Template
				return template.Annotations, &template.Spec
			},
		},
		"Pod": {
			"{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {schedulerName: berth-scheduler, containers: [{name: c, image: i}]}}",
			&corev1.Pod{}, "web-pod-a",
			func(o client.Object) (map[string]string, *corev1.PodSpec) {
				return o.GetAnnotations(), &o.(*corev1.Pod).Spec
			},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, cluster("berlin", 0.5), newApplication(tc.text))
			w.passes()
			w.must(w.client.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "a"}, tc.object))
			annotations, spec := tc.template(tc.object)
			if got := annotations[berthv1alpha1.PolicyAnnotation]; got != tc.wantPolicy || spec.SchedulerName != "berth-scheduler" {
				t.Errorf("the pods ask for policy %q and scheduler %q, want %q and berth-scheduler", got, spec.SchedulerName, tc.wantPolicy)
			}
			policy := &berthv1alpha1.PropagationPolicy{}
			w.must(w.client.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: tc.wantPolicy}, policy))
			if got := policy.Spec.Placement.StaticWeightList[0].ClusterNames[0]; got != "berlin" {
				t.Errorf("the policy names %s, want berlin", got)
			}
		})
	}
}

func TestTemplatesThatCannotBeRead(t *testing.T) {
	tests := map[string]struct{ old, replaced, want string }{
		"the scheduler is a number":  {"{containers", "{schedulerName: 3, containers", "deployment front: the template of its pods cannot be read"},
		"the annotations are a text": {"{labels: {app: front}}, spec", "{annotations: a}, spec", "deployment front: the annotations of its pods cannot be read"},
		"they ask for a policy": {
			"{labels: {app: front}}, spec", "{annotations: {groupingpolicy.kubeedge.io: mine}}, spec",
			`deployment front: its pods ask for policy "mine", and the Application places them`,
		},
		"they have a node": {
			"{containers", "{nodeName: berlin-1, containers", `deployment front: its pods ask for node "berlin-1", and the Application places them`,
		},
		"a label of a node is true": {
			"{containers", "{nodeSelector: {ssd: true}, containers", "deployment front: the template of its pods cannot be read: ",
		},
		"fewer than no replicas": {"replicas: 2", "replicas: -1", "deployment front: spec.replicas is not a number of replicas"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, cluster("berlin", 0.5), newApplication(strings.Replace(deployment, tc.old, tc.replaced, 1)))
			w.passes()
			if got, want := w.condition("Ready"), "False InvalidManifests: manifests[0]: "+tc.want; !strings.HasPrefix(got, want) {
				t.Errorf("Ready is %s, want %s", got, want)
			}
		})
	}
}

// A name that is too long for a label or a policy is cut, and differs from others that begin alike.
func TestLongNames(t *testing.T) {
	long := strings.Repeat("a", 230)
	w := newWorld(t, cluster("berlin", 0.5), newApplication(strings.ReplaceAll(deployment, "{name: front}", "{name: "+long+"}")+
		"---\n"+strings.ReplaceAll(deployment, "{name: front}", "{name: "+long+"b}")))
	w.passes()
	var policies berthv1alpha1.PropagationPolicyList
	w.must(w.client.List(t.Context(), &policies))
	if len(policies.Items) != 2 {
		t.Fatalf("%d policies, want 2", len(policies.Items))
	}
	for i := range policies.Items {
		if name := policies.Items[i].Name; len(name) > 200 || !strings.HasPrefix(name, "web-deployment-aaaa") {
			t.Errorf("policy %s of %d letters", name, len(name))
		}
	}
}

// The replicas of a StatefulSet have names, so none can be started before the old one goes: its
// policy names the new cluster alone.
func TestAStatefulSetMovesReplicaByReplica(t *testing.T) {
	text := "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: a}, spec: {replicas: 2, serviceName: s, template: " + podTemplate + "}}"
	w := newWorld(t, cluster("berlin", 0.5), cluster("madrid", 0.4), newApplication(text))
	w.passes()
	w.edit(func(spec *berthv1alpha1.ApplicationSpec) {
		spec.Constraints.ClusterLabels = []string{"location is madrid"}
	})
	w.passes()
	policy := &berthv1alpha1.PropagationPolicy{}
	w.must(w.client.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "web-statefulset-a"}, policy))
	list := policy.Spec.Placement.StaticWeightList
	if len(list) != 1 || list[0].ClusterNames[0] != "madrid" || policy.Spec.Rebalance.Mode != berthv1alpha1.RebalanceEvict {
		t.Errorf("the policy has %+v and mode %s, want madrid alone and Evict", list, policy.Spec.Rebalance.Mode)
	}
	set := &appsv1.StatefulSet{}
	w.must(w.client.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "a"}, set))
	if *set.Spec.Replicas != 2 {
		t.Errorf("%d replicas, want 2", *set.Spec.Replicas)
	}
}

func TestAPolicyThatBelongsToTheUserIsLeftAlone(t *testing.T) {
	foreign := &berthv1alpha1.PropagationPolicy{}
	foreign.Name, foreign.Namespace = "web-deployment-front", namespace
	w := newWorld(t, cluster("berlin", 0.5), foreign, newApplication(deployment))
	w.passes()
	if got := w.condition("Ready"); !strings.HasPrefix(got, "False ManifestRefused: propagationpolicy web-deployment-front: one of this name is there already") {
		t.Errorf("Ready is %s", got)
	}
	err := w.client.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "front"}, &appsv1.Deployment{})
	if !apierrors.IsNotFound(err) {
		t.Errorf("the Deployment is made without its policy: %v", err)
	}
}
