// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package state_test

import (
	"context"
	"errors"
	"testing"

	"berth.dev/berth/pkg/model/workload"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"berth.dev/berth/pkg/controllers/state"
)

// everyKind is a workload of each kind that can be read, with one pod.
func everyKind() *workload.Objects {
	rs := ownedBy("apps/v1", "ReplicaSet", "rs1")
	rc := corev1.ReplicationController{
		ObjectMeta: meta("rc", nil),
		Spec:       corev1.ReplicationControllerSpec{Replicas: new(int32(1)), Selector: selector.MatchLabels},
	}
	return &workload.Objects{
		Deployments: []appsv1.Deployment{deployment("web", "1", 1)},
		ReplicaSets: []appsv1.ReplicaSet{
			replicaSet("rs1", ownedBy("apps/v1", "Deployment", "web"), "1", 1), replicaSet("own", nil, "", 1),
			replicaSet("foreign", ownedBy("argoproj.io/v1alpha1", "Rollout", "ro"), "", 1),
		},
		StatefulSets:           []appsv1.StatefulSet{statefulSet("db", "", "")},
		ReplicationControllers: []corev1.ReplicationController{rc},
		Pods: []corev1.Pod{
			pod("a", rs), pod("b", ownedBy("apps/v1", "ReplicaSet", "own")), pod("c", ownedBy("apps/v1", "ReplicaSet", "foreign")),
			pod("d", ownedBy("apps/v1", "StatefulSet", "db")), pod("e", ownedBy("v1", "ReplicationController", "rc")),
		},
	}
}

func clientOf(objects *workload.Objects, funcs interceptor.Funcs) client.Client {
	b := fake.NewClientBuilder().WithScheme(clientgoscheme.Scheme).WithInterceptorFuncs(funcs)
	b.WithLists(
		&appsv1.DeploymentList{Items: objects.Deployments}, &appsv1.ReplicaSetList{Items: objects.ReplicaSets},
		&appsv1.StatefulSetList{Items: objects.StatefulSets}, &corev1.PodList{Items: objects.Pods},
		&corev1.ReplicationControllerList{Items: objects.ReplicationControllers},
	)
	return b.Build()
}

func TestLiveSeesWhatTheCacheSees(t *testing.T) {
	objects := everyKind()
	api := clientOf(objects, interceptor.Funcs{})
	cached, err := state.ListWorkloads(t.Context(), api, namespace)
	if err != nil {
		t.Fatal(err)
	}
	observed := workload.Observe(cached)
	if len(observed) != 5 {
		t.Fatalf("%d workloads, want one of each kind", len(observed))
	}
	for _, o := range observed {
		live, err := state.LiveWorkload(t.Context(), api, o)
		if err != nil || live == nil {
			t.Fatalf("Live(%s %s) = %v, %v", o.Kind, o.Name, live, err)
		}
		if live.UID != o.UID || len(live.Bound()) != 1 || live.Bound()[0].Name != o.Bound()[0].Name ||
			live.Revision != o.Revision || live.RolloutFinished() != o.RolloutFinished() {
			t.Errorf("Live(%s %s) = %+v, want %+v", o.Kind, o.Name, live, o)
		}
	}
}

func TestLiveOfWhatIsGone(t *testing.T) {
	for _, o := range workload.Observe(everyKind()) {
		live, err := state.LiveWorkload(t.Context(), clientOf(&workload.Objects{}, interceptor.Funcs{}), o)
		if live != nil || err != nil {
			t.Errorf("Live(%s %s) = %v, %v, want nothing", o.Kind, o.Name, live, err)
		}
	}
}

func TestLiveOfAnotherObjectOfTheSameName(t *testing.T) {
	for _, o := range workload.Observe(everyKind()) {
		o.UID = "before"
		if live, err := state.LiveWorkload(t.Context(), clientOf(everyKind(), interceptor.Funcs{}), o); live != nil || err != nil {
			t.Errorf("Live(%s %s) = %v, %v, want nothing", o.Kind, o.Name, live, err)
		}
	}
}

func TestLiveSeesASecondRevisionOfAForeignOwner(t *testing.T) {
	objects := everyKind()
	cached := workload.Observe(objects)
	// The revisions of such an owner have selectors of their own.
	second := replicaSet("second", ownedBy("argoproj.io/v1alpha1", "Rollout", "ro"), "", 1)
	second.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"hash": "2"}}
	second.Labels = second.Spec.Selector.MatchLabels
	objects.ReplicaSets = append(objects.ReplicaSets, second)
	for _, o := range cached {
		if o.Kind != "Rollout" {
			continue
		}
		live, err := state.LiveWorkload(t.Context(), clientOf(objects, interceptor.Funcs{}), o)
		if err != nil || live == nil || live.RolloutFinished() {
			t.Errorf("Live() = %+v, %v, want a rollout under way", live, err)
		}
	}
}

func TestLiveOfAKindThatIsNotRead(t *testing.T) {
	objects := &workload.Objects{Pods: []corev1.Pod{pod("bare", nil)}}
	if live, err := state.LiveWorkload(t.Context(), clientOf(objects, interceptor.Funcs{}), workload.Observe(objects)[0]); err == nil {
		t.Errorf("Live() = %v, want an error", live)
	}
}

func TestFailuresAreReturned(t *testing.T) {
	broken := errors.New("the API server is down")
	api := clientOf(everyKind(), interceptor.Funcs{
		Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
			return broken
		},
		List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error {
			return broken
		},
	})
	if _, err := state.ListWorkloads(t.Context(), api, namespace); !errors.Is(err, broken) {
		t.Errorf("List() = %v, want %v", err, broken)
	}
	for _, o := range workload.Observe(everyKind()) {
		if live, err := state.LiveWorkload(t.Context(), api, o); !errors.Is(err, broken) {
			t.Errorf("Live(%s %s) = %v, %v, want %v", o.Kind, o.Name, live, err, broken)
		}
	}
}
