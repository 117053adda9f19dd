// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package trim

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

func TestAnObjectIsTrimmed(t *testing.T) {
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name: "n", Labels: map[string]string{"a": "b"}, ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "kubelet"}},
			Annotations: map[string]string{corev1.LastAppliedConfigAnnotation: "{}", "example.com/a": "b"},
		},
		Status: corev1.NodeStatus{Images: []corev1.ContainerImage{{SizeBytes: 1}}},
	}
	want := node.DeepCopy()
	want.ManagedFields, want.Annotations = nil, map[string]string{"example.com/a": "b"}
	got, err := trimmed(node)
	if diff := cmp.Diff(any(want), got); err != nil || diff != "" {
		t.Errorf("error %v, (-want +got):\n%s", err, diff)
	}
}

func TestWhatIsNoObjectIsLeftAsItIs(t *testing.T) {
	tombstone := cache.DeletedFinalStateUnknown{Key: "a/b"}
	if got, err := trimmed(tombstone); err != nil || got != any(tombstone) {
		t.Errorf("got %v and error %v, want the tombstone", got, err)
	}
}
