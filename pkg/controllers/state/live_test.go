// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package state_test

import (
	"context"
	"errors"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"berth.dev/berth/pkg/controllers/state"
	"berth.dev/berth/pkg/model/workload"
)

func TestLiveSeesWhatTheCacheSees(t *testing.T) {
	objects := everyKind(t)
	api := clientOf(objects, interceptor.Funcs{})
	cached, err := state.ListWorkloads(t.Context(), api, namespace)
	if err != nil {
		t.Fatal(err)
	}
	observed := workload.Observe(cached)
	if want := kindsWithPods() + 1; len(observed) != want {
		t.Fatalf("%d workloads, want %d: one of each kind and a Rollout", len(observed), want)
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

func kindsWithPods() (n int) {
	for _, kind := range workload.Kinds() {
		if kind.WantsPods() {
			n++
		}
	}
	return n
}

func TestLiveOfWhatIsGone(t *testing.T) {
	for _, o := range workload.Observe(everyKind(t)) {
		live, err := state.LiveWorkload(t.Context(), clientOf(&workload.Objects{}, interceptor.Funcs{}), o)
		if live != nil || err != nil {
			t.Errorf("Live(%s %s) = %v, %v, want nothing", o.Kind, o.Name, live, err)
		}
	}
}

func TestLiveOfAnotherObjectOfTheSameName(t *testing.T) {
	for _, o := range workload.Observe(everyKind(t)) {
		o.UID = "before"
		if live, err := state.LiveWorkload(t.Context(), clientOf(everyKind(t), interceptor.Funcs{}), o); live != nil || err != nil {
			t.Errorf("Live(%s %s) = %v, %v, want nothing", o.Kind, o.Name, live, err)
		}
	}
}

func TestLiveSeesASecondRevisionOfAForeignOwner(t *testing.T) {
	objects := everyKind(t)
	cached := workload.Observe(objects)
	// The revisions of such an owner have selectors of their own.
	second := &appsv1.ReplicaSet{
		ObjectMeta: meta("second", ownedBy("argoproj.io/v1alpha1", "Rollout", "ro")),
		Spec: appsv1.ReplicaSetSpec{
			Replicas: new(int32(1)), Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"hash": "2"}},
		},
	}
	second.Labels = second.Spec.Selector.MatchLabels
	objects.Owners = append(objects.Owners, second)
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
	api := clientOf(everyKind(t), interceptor.Funcs{
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
	for _, o := range workload.Observe(everyKind(t)) {
		if live, err := state.LiveWorkload(t.Context(), api, o); !errors.Is(err, broken) {
			t.Errorf("Live(%s %s) = %v, %v, want %v", o.Kind, o.Name, live, err, broken)
		}
	}
}

// What is above a workload is not read again, and decides which policy is in force all the same.
func TestLiveKeepsWhatIsAbove(t *testing.T) {
	var set, cron *workload.Kind
	for _, kind := range workload.Kinds() {
		switch kind.Kind {
		case "StatefulSet":
			set = kind
		case "CronJob":
			cron = kind
		}
	}
	known := &workload.Objects{Owners: []workload.Object{
		object(t, set, "db", ownedBy("batch/v1", "CronJob", "cron")), object(t, cron, "cron", ownedBy("example.com/v1", "Shop", "main")),
	}}
	live := &workload.Objects{Owners: known.Owners[:1]}
	found, err := state.LiveWorkload(t.Context(), clientOf(live, interceptor.Funcs{}), workload.Observe(known)[0])
	if err != nil || found == nil {
		t.Fatalf("Live() = %v, %v", found, err)
	}
	if above := found.Above; above == nil || above.Name != "cron" || above.Above == nil || above.Above.Name != "main" {
		t.Errorf("above the StatefulSet is %+v, want the CronJob and its owner", above)
	}
}
