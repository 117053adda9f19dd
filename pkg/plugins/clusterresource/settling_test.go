// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package clusterresource

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	kubefake "k8s.io/client-go/kubernetes/fake"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/utils/clock"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/plugins/clusterresource/internal/spending"
	"berth.dev/berth/pkg/plugins/internal/catalog"
	"berth.dev/berth/pkg/plugins/internal/ledger"
	"berth.dev/berth/pkg/plugins/internal/takeover"
)

// silent is a client to which the API server does not answer about one pod.
type silent struct {
	kubernetes.Interface
	typedcorev1.CoreV1Interface
	typedcorev1.PodInterface

	pod string
}

func (s silent) CoreV1() typedcorev1.CoreV1Interface {
	s.CoreV1Interface = s.Interface.CoreV1()
	return s
}

func (s silent) Pods(namespace string) typedcorev1.PodInterface {
	s.PodInterface = s.CoreV1Interface.Pods(namespace)
	return s
}

func (s silent) Patch(
	ctx context.Context, name string, kind types.PatchType, data []byte, options metav1.PatchOptions, subresources ...string,
) (*corev1.Pod, error) {
	if name == s.pod {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return s.PodInterface.Patch(ctx, name, kind, data, options, subresources...)
}

// claimant is a pod that waits for a licence.
func claimant(name string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: "default", Name: name, UID: types.UID(name), ResourceVersion: "7",
		Annotations: map[string]string{berthv1alpha1.ClusterResourceAnnotationPrefix + "licence": "1"},
	}}
}

// settling is what became of a take-over after a second, with two units and three pods that ask for
// one each.
type settling struct {
	// woken is when pods were woken, and settled whether it was told that nothing can arrive any more.
	woken   []time.Duration
	settled bool
}

// licences returns what a process knows with two units of a licence, and what remembers the
// charges.
func licences() (*Shared, *ledger.Pending) {
	catalogs, pending := catalog.NewFixed(clock.RealClock{}), ledger.NewPending()
	catalogs.Set(&catalog.Objects{Resources: []*berthv1alpha1.ClusterResource{{
		ObjectMeta: metav1.ObjectMeta{Name: "licence"},
		Status: berthv1alpha1.ClusterResourceStatus{
			Allocatable: []berthv1alpha1.ClusterResourceQuantity{{Name: "all", Quantity: resource.MustParse("2")}},
		},
	}}})
	s := NewShared(clock.RealClock{}, "", func(*corev1.Pod) bool { return true })
	s.Catalog, s.Pending, s.Seed = catalogs.Resources, pending, takeover.NewSeed()
	return s, pending
}

// takesOver is licences for a process that has taken over while pods asked for licences.
func takesOver(pods ...*corev1.Pod) *Shared {
	s, pending := licences()
	reader := &spending.Reader{Pending: pending, Late: s.Late, Bound: func() int { return 0 }, Ended: func() {}}
	reader.Begin()
	for _, pod := range pods {
		reader.Read(pod, true)
	}
	reader.End()
	s.Seed.Skip()
	return s
}

// settleThree tries to settle three pods, of which the API server does not answer about one.
func settleThree(t *testing.T, unanswered string) (got settling) {
	t.Helper()
	pods := []*corev1.Pod{claimant("a"), claimant("b"), claimant("c")}
	s := takesOver(pods...)
	began := time.Now()
	go s.settleLate(t.Context(), &Background{
		Client:  silent{Interface: kubefake.NewClientset(pods[0], pods[1], pods[2]), pod: unanswered},
		Pod:     func(string, string) *corev1.Pod { return nil },
		Wake:    func([]*corev1.Pod) { got.woken = append(got.woken, time.Since(began)) },
		Settled: func() { got.settled = true },
	})
	time.Sleep(time.Second) //nolint:forbidigo // the time of the test is not the real one
	synctest.Wait()
	return got
}

func TestOnePodThatCannotBeSettledKeepsNobodyWaitingForTheRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		got := settleThree(t, "b")
		if diff := cmp.Diff([]time.Duration{raisedInterval}, got.woken); diff != "" {
			t.Errorf("when pods are woken for the unit that only one pod of three can still take (-want +got):\n%s", diff)
		}
		if got.settled {
			t.Error("it is told that nothing can arrive any more")
		}
	})
}

func TestItIsToldWhenNothingCanArriveAnyMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		if !settleThree(t, "nobody").settled {
			t.Error("it is not told")
		}
	})
}

// Nobody wakes them otherwise: they were never tried, so they are not known to wait for anything.
func TestPodsThatWereHeldBackAreWokenWhenTheyAreLetGo(t *testing.T) {
	s := takesOver(claimant("a"), claimant("b"), claimant("c"))
	next := claimant("next")
	if !s.Late.Hold(next, s.usablePools) {
		t.Fatal("the pod is not held back")
	}
	var woken []string
	b := &Background{Wake: func(pods []*corev1.Pod) {
		for _, pod := range pods {
			woken = append(woken, pod.Name)
		}
	}}
	s.letGo(b)
	s.letGo(b)
	if diff := cmp.Diff([]string{"next"}, woken); diff != "" {
		t.Errorf("woken pods (-want +got):\n%s", diff)
	}
}
