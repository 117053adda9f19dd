// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package application_test

import (
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
