// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package feeds

import (
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/feeds/manifest"
)

// Wants is how many replicas an object wants.
type Wants struct {
	// Replicas is the number of an object as a whole, nil if it has none.
	Replicas *int32
	// Components are the numbers of its parts, by their names; nil if it has none.
	Components map[string]int32
}

// ReadReplicas returns how many replicas an object wants, or what is wrong with it.
type ReadReplicas func(object *unstructured.Unstructured) (Wants, error)

// ReplicasByRule returns what reads the replicas of a kind by the rule for it that is used, a
// FeedParser or one of the library, and what tells that rule from others; nil and nothing if no
// rule says where the replicas of the kind lie. A kind with components has no single number, but
// one for each of them.
func ReplicasByRule(rules []berthv1alpha1.FeedParser, kind schema.GroupKind) (id string, read ReadReplicas) {
	accepted, _ := Accept(rules)
	for i := range accepted {
		spec := &accepted[i].Spec
		if groupKindOf(&accepted[i]) != kind || spec.Replicas == nil && len(spec.Components) == 0 {
			continue
		}
		r, err := newRule(&accepted[i])
		if err != nil {
			return "", nil
		}
		text, err := json.Marshal(spec)
		if err != nil {
			return "", nil
		}
		return accepted[i].Name + " " + string(text), reading(r.read)
	}
	for _, known := range library() {
		if known.kind == kind {
			return known.id, reading(known.read)
		}
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
	return reading(func(object manifest.Object) (Wants, error) {
		replicas, err := countOrOne(object, at)
		if err != nil {
			return Wants{}, fmt.Errorf("specReplicasPath of its scale subresource: %w", err)
		}
		return Wants{Replicas: replicas}, nil
	}), nil
}

// read returns how many replicas an object wants.
func (r *rule) read(object manifest.Object) (w Wants, err error) {
	if len(r.components) > 0 {
		w.Components, err = r.wants(object)
		return w, err
	}
	w.Replicas, err = r.readReplicas(object)
	return w, err
}

// reading reads from an object as clients have it.
func reading(read func(manifest.Object) (Wants, error)) ReadReplicas {
	return func(object *unstructured.Unstructured) (Wants, error) {
		raw, err := json.Marshal(object.Object)
		if err != nil {
			return Wants{}, fmt.Errorf("encoding the object: %w", err)
		}
		decoded, err := manifest.Decode(raw)
		if err != nil {
			return Wants{}, err
		}
		return read(decoded)
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
