// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build !race

package application_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

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

func TestSamplesWithinTheStickinessMoveNothing(t *testing.T) {
	w := settled(t, nil)
	for i := range 100 {
		w.measure("madrid", func(c *berthv1alpha1.Cluster) { sample(c, 0.45+float64(i%10)*0.01) })
		w.after(61 * time.Second)
	}
	if got := w.policy(); got != "berlin" {
		t.Errorf("the policy names %q, want berlin", got)
	}
}

// While one object is refused, what has left the spec stays: until the list of what there may be is
// full.
func TestEditsThatFollowOneAnotherWhileAnObjectIsRefused(t *testing.T) {
	const most = 200
	edition := func(n int) (list []berthv1alpha1.Manifest) {
		for i := range 99 {
			list = append(list, manifests(strings.Replace(configMap, "settings", fmt.Sprintf("settings-%d-%d", n, i), 1))...)
		}
		return append(list, manifests(deployment)...)
	}
	w := newWorld(t, cluster("berlin", 0.5), newApplication(deployment))
	w.refuse = func(kind, _ string) error {
		if kind == "Deployment" {
			return apierrors.NewBadRequest("no")
		}
		return nil
	}
	for n := range 4 {
		w.edit(func(spec *berthv1alpha1.ApplicationSpec) { spec.Manifests = edition(n) })
		w.passes()
		if got := len(w.app().Status.Objects); got > most {
			t.Fatalf("after %d edits %d objects are in the status, which may have %d", n+1, got, most)
		}
	}
	w.refuse = nil
	w.after(30 * time.Second)
	if got := len(w.app().Status.Objects); got != 100 {
		t.Errorf("in the end %d objects are in the status, want 100", got)
	}
	var left corev1.ConfigMapList
	w.must(w.client.List(t.Context(), &left))
	if len(left.Items) != 99 {
		t.Errorf("in the end there are %d ConfigMaps, want 99", len(left.Items))
	}
}
