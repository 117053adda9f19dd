// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package ownership

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"berth.dev/berth/pkg/feeds"
	"berth.dev/berth/pkg/model/workload"
)

// TestTransformTwice does what an informer does with objects that a watch lists.
func TestTransformTwice(t *testing.T) {
	replicas, err := feeds.ReplicasByScale(".spec.size")
	if err != nil {
		t.Fatal(err)
	}
	k := &kind{replicas: replicas}
	var object any = &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1", "kind": "Ring", "spec": map[string]any{"size": int64(3)},
		"metadata": map[string]any{"namespace": "ns", "name": "a", "uid": "a"},
	}}
	for range 2 {
		if object, err = k.transform(object); err != nil {
			t.Fatal(err)
		}
	}
	if owner, ok := object.(*workload.FurtherOwner); !ok || owner.Replicas != 3 || !owner.ReplicasKnown {
		t.Errorf("%+v, want an owner with 3 replicas", object)
	}
	if same, err := k.transform("text"); err != nil || same != "text" {
		t.Errorf("what is no object became %v, error %v", same, err)
	}
}
