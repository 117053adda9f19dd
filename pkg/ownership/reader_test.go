// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package ownership_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth.dev/berth/pkg/model/workload"
	"berth.dev/berth/pkg/ownership"
)

func TestReader(t *testing.T) {
	tests := map[string]struct {
		ref       *metav1.OwnerReference
		forbidden bool
		// wantKind is that of the workload of a pod with the reference, and wantCut why it ends there.
		wantKind, wantCut string
		wantReplicas      int32
	}{
		"a scale subresource":          {ref: ref(groupVersion, "Ring", "a", "a"), wantKind: "Ring", wantReplicas: 3},
		"a kind without a number":      {ref: ref(groupVersion, "Fleet", "a", "a"), wantKind: "Fleet"},
		"another of that name":         {ref: ref(groupVersion, "Fleet", "a", "b"), wantKind: "Pod", wantCut: "Fleet ns/a is not the one with UID b"},
		"none of that name":            {ref: ref(groupVersion, "Fleet", "c", "c"), wantKind: "Pod", wantCut: "Fleet ns/c does not exist"},
		"a version that is not served": {ref: ref("example.com/v9", "Fleet", "a", "a"), wantKind: "Pod", wantCut: "is not served"},
		"one that the user may not list is taken at its word": {
			ref: ref(groupVersion, "Fleet", "a", "b"), forbidden: true, wantKind: "Fleet",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, kinds{}, object("Ring", "a", map[string]any{"size": int64(3)}), object("Fleet", "a", nil))
				if tc.forbidden {
					forbid(&w.meta.Fake)
				}
				reader := ownership.NewReaderOf(t.Context(), w.Directory, namespace)
				pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
					Namespace: namespace, Name: "p", OwnerReferences: []metav1.OwnerReference{*tc.ref},
				}}
				source := (&workload.Objects{Further: reader}).Source()
				got, err := workload.Of(pod, source)
				if err != nil {
					t.Fatal(err)
				}
				if got.Kind != tc.wantKind || got.Replicas != tc.wantReplicas {
					t.Errorf("the workload is a %s that wants %d, want a %s and %d", got.Kind, got.Replicas, tc.wantKind, tc.wantReplicas)
				}
				if (got.Cut != nil) != (tc.wantCut != "") {
					t.Fatalf("the chain is cut at %v, want %q", got.Cut, tc.wantCut)
				}
				if got.Cut != nil && !strings.Contains(workload.WhyCut(pod, got.Cut, source), tc.wantCut) {
					t.Errorf("it is cut because %s, want %q", workload.WhyCut(pod, got.Cut, source), tc.wantCut)
				}
			})
		})
	}
}

// A kind is listed once.
func TestAReaderAsksOnceForAKind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, kinds{}, object("Fleet", "a", nil))
		reader := ownership.NewReaderOf(t.Context(), w.Directory, namespace)
		for range 3 {
			if _, err := reader.Further(namespace, ref(groupVersion, "Fleet", "a", "a")); err != nil {
				t.Fatal(err)
			}
		}
		if got := len(w.meta.Actions()); got != 1 {
			t.Errorf("%d requests, want 1", got)
		}
	})
}

// Beyond a number of kinds references are taken at their word, so that pods of ever new kinds do
// not keep a command busy.
func TestAReaderListsSoManyKinds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reader := ownership.NewReaderOf(t.Context(), newWorld(t, kinds{}).Directory, namespace)
		confirmed := 0
		for i := range ownership.MaxRead + 1 {
			if _, err := reader.Further(namespace, ref(groupVersion, strings.Repeat("X", i+1), "a", "a")); errors.Is(err, workload.ErrUnconfirmed) {
				confirmed++
			}
		}
		if confirmed != ownership.MaxRead {
			t.Errorf("%d kinds were looked up, want %d", confirmed, ownership.MaxRead)
		}
	})
}
