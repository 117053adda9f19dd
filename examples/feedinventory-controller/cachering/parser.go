// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package cachering reads CacheRings, a kind of our own, as feeds of Subscriptions, and runs a
// controller of FeedInventories that knows them. It is an example: copy it and put your own kinds
// in.
package cachering

import (
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime/schema"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/feeds"
	"berth.dev/berth/pkg/feeds/manifest"
)

// Kind is what the parser reads.
var Kind = schema.GroupKind{Group: "example.com", Kind: "CacheRing"}

// Parser reads CacheRings. A shard needs what its containers ask for and, beside that, the memory
// that it keeps: no FeedParser can add the two, so it takes Go.
type Parser struct{}

var _ feeds.PluginFactory = Parser{}

// Name returns the name that users are shown.
func (Parser) Name() string { return "cache-ring" }

// Kind returns the kind.
func (Parser) Kind() string { return Kind.Kind }

// Parser reads an object. Everything in it was written by a user: the package manifest bounds its
// size, its depth and its numbers.
func (Parser) Parser(rawData []byte) (*int32, berthv1alpha1.ReplicaRequirements, string, error) {
	var none berthv1alpha1.ReplicaRequirements
	object, err := manifest.Decode(rawData)
	if err != nil {
		return nil, none, "", err
	}
	var ring struct {
		Spec struct {
			Shards         *int32 `json:"shards"`
			MemoryPerShard string `json:"memoryPerShard"`
		} `json:"spec"`
	}
	if err := manifest.Into(map[string]any(object), &ring); err != nil {
		return nil, none, "", err
	}
	if ring.Spec.Shards == nil || *ring.Spec.Shards < 0 {
		return nil, none, "", errors.New("/spec/shards: must be a number that is not negative")
	}
	spec, _ := object["spec"].(map[string]any)
	requirements, err := feeds.Requirements(spec["pods"])
	if err != nil {
		return nil, none, "", fmt.Errorf("/spec/pods: %w", err)
	}
	if ring.Spec.MemoryPerShard != "" {
		more, err := feeds.ParseQuantity(ring.Spec.MemoryPerShard)
		if err != nil {
			return nil, none, "", fmt.Errorf("/spec/memoryPerShard %w", err)
		}
		addMemory(&requirements.Resources, more)
	}
	return ring.Spec.Shards, requirements, "/spec/shards", nil
}

// addMemory adds to the memory that a replica requests.
func addMemory(resources *corev1.ResourceRequirements, more resource.Quantity) {
	if resources.Requests == nil {
		resources.Requests = corev1.ResourceList{}
	}
	memory := resources.Requests[corev1.ResourceMemory]
	memory.Add(more)
	resources.Requests[corev1.ResourceMemory] = memory
}
