// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package feeds

import (
	"encoding/json"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/feeds/manifest"
)

// ReadReplicas returns how many replicas an object wants; known is false if that cannot be read.
type ReadReplicas func(object *unstructured.Unstructured) (replicas int32, known bool)

// ReplicasByRule returns what reads the replicas of a kind by the rule for it that is used, and
// what tells that rule from others; nil and nothing if no rule says where the replicas of the kind
// lie. A kind with components has no single number.
func ReplicasByRule(rules []berthv1alpha1.FeedParser, kind schema.GroupKind) (id string, read ReadReplicas) {
	accepted, _ := Accept(rules)
	for i := range accepted {
		if groupKindOf(&accepted[i]) != kind || accepted[i].Spec.Replicas == nil {
			continue
		}
		r, err := newRule(&accepted[i])
		if err != nil {
			return "", nil
		}
		text, err := json.Marshal(accepted[i].Spec.Replicas)
		if err != nil {
			return "", nil
		}
		return accepted[i].Name + " " + string(text), reading(r.whole.readReplicas)
	}
	return "", nil
}

// ReplicasByScale returns what reads the replicas of custom resources whose scale subresource has
// the specReplicasPath, such as .spec.replicas. A number that is absent is 1.
func ReplicasByScale(specReplicasPath string) (ReadReplicas, error) {
	at, err := scalePointer(specReplicasPath)
	if err != nil {
		return nil, err
	}
	return reading(func(object manifest.Object) (*int32, error) { return countOrOne(object, at) }), nil
}

// reading reads the number from an object as clients have it.
func reading(read func(manifest.Object) (*int32, error)) ReadReplicas {
	return func(object *unstructured.Unstructured) (int32, bool) {
		raw, err := json.Marshal(object.Object)
		if err != nil {
			return 0, false
		}
		decoded, err := manifest.Decode(raw)
		if err != nil {
			return 0, false
		}
		replicas, err := read(decoded)
		if err != nil || replicas == nil {
			return 0, false
		}
		return *replicas, true
	}
}

// countOrOne reads a whole number, 1 where there is none.
func countOrOne(object manifest.Object, at manifest.Pointer) (*int32, error) {
	replicas, err := countAt(object, at)
	if replicas == nil && err == nil {
		replicas = new(int32(1))
	}
	return replicas, err
}
