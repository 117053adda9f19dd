// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package application_test

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

var settings = berthv1alpha1.ApplicationObject{APIVersion: "v1", Kind: "ConfigMap", Name: "settings"}

// look lets the controller see the ConfigMap as it is.
func (w *world) look() {
	w.t.Helper()
	found := &corev1.ConfigMap{}
	err := w.client.Get(w.t.Context(), client.ObjectKey{Namespace: namespace, Name: "settings"}, found)
	if apierrors.IsNotFound(err) {
		w.controller.See(namespace, settings, nil)
		return
	}
	w.must(err)
	w.controller.See(namespace, settings, found)
}

func (w *world) settings() string {
	w.t.Helper()
	found := &corev1.ConfigMap{}
	err := w.client.Get(w.t.Context(), client.ObjectKey{Namespace: namespace, Name: "settings"}, found)
	if apierrors.IsNotFound(err) {
		return "gone"
	}
	w.must(err)
	return found.Data["a"]
}

func (w *world) spoil() {
	w.t.Helper()
	found := &corev1.ConfigMap{}
	w.must(w.client.Get(w.t.Context(), client.ObjectKey{Namespace: namespace, Name: "settings"}, found))
	found.Data["a"] = "spoiled"
	w.must(w.client.Update(w.t.Context(), found, client.FieldOwner("somebody")))
	w.look()
}

func TestWhatSomebodyElseDeletesIsPutRight(t *testing.T) {
	w := newWorld(t, cluster("berlin", 0.5), newApplication(configMap))
	w.passes()
	w.must(w.client.Delete(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "settings", Namespace: namespace}}))
	w.look()
	w.passes()
	if got := w.settings(); got != "b" {
		t.Errorf("it has %s, want b", got)
	}
}

func TestWhatSomebodyElseChangesIsPutRight(t *testing.T) {
	w := newWorld(t, cluster("berlin", 0.5), newApplication(configMap))
	w.passes()
	w.look()
	before := w.writes
	w.after(30 * time.Second)
	if w.writes != before {
		t.Errorf("%d writes although nothing changed", w.writes-before)
	}
	w.spoil()
	w.passes()
	if got := w.settings(); got != "b" {
		t.Errorf("it has %s, want b", got)
	}
}

func TestReplicasThatAreChangedAgainAndAgainAreNotFoughtFor(t *testing.T) {
	w := settled(t, nil)
	restored, wrong := 0, int32(5)
	for range 600 { // ten times a second for a minute
		d := w.deployment()
		if *d.Spec.Replicas == 2 {
			restored++
		}
		d.Spec.Replicas = &wrong
		w.must(w.client.Update(t.Context(), d, client.FieldOwner("somebody")))
		w.clock.SetTime(w.clock.Now().Add(100 * time.Millisecond))
		w.pass()
	}
	if restored < 3 || restored > 8 {
		t.Errorf("restored %d times in a minute, want some times and fewer and fewer", restored)
	}
	const want = "False ManifestContested: deployment front: somebody else changes it again and again, so it is put right no sooner than "
	if got := w.condition("Ready"); !strings.HasPrefix(got, want) {
		t.Errorf("Ready is %q, want %q", got, want)
	}
	w.gone("berlin", 1)
	w.pass()
	const wantMissing = "False PodsNotReady: deployment front: 1 of 2 pods are available in cluster berlin; deployment front: somebody else "
	if got := w.condition("Ready"); !strings.HasPrefix(got, wantMissing) {
		t.Errorf("without a pod Ready is %q, want %q", got, wantMissing)
	}
	w.after(5 * time.Minute)
	if got := *w.deployment().Spec.Replicas; got != 2 {
		t.Errorf("in the end there are %d replicas, want 2", got)
	}
}

func TestWhatIsChangedAgainAndAgainIsNotFoughtFor(t *testing.T) {
	w := newWorld(t, cluster("berlin", 0.5), newApplication(configMap))
	w.passes()
	w.look()
	restored := 0
	for range 600 { // ten times a second for a minute
		w.spoil()
		w.clock.SetTime(w.clock.Now().Add(100 * time.Millisecond))
		w.pass()
		if w.settings() == "b" {
			restored++
			w.look()
		}
	}
	if got, want := w.condition("Ready"), "False ManifestContested: configmap settings: somebody changes it again and again, so it is "+
		"put right no sooner than 32s after the last time"; got != want {
		t.Errorf("Ready is %q, want %q", got, want)
	}
	if restored < 3 || restored > 8 {
		t.Errorf("restored %d times in a minute, want some times and fewer and fewer", restored)
	}
	w.after(5 * time.Minute)
	if got := w.settings(); got != "b" {
		t.Errorf("in the end it has %s, want b", got)
	}
	w.after(5 * time.Minute)
	if got := w.condition("Ready"); !strings.HasPrefix(got, "True") {
		t.Errorf("when all is calm, Ready is %s", got)
	}
}
