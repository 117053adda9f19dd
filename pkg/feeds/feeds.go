// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package feeds

import (
	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/feeds/manifest"
)

// PluginFactory reads the feeds of one kind. The methods are those of Clusternet's interface of
// this name. Implementations are safe for concurrent use.
type PluginFactory interface {
	// Parser reads an object, written as JSON or YAML. It returns the number of replicas wanted,
	// nil if the kind has none; what one replica needs; and the path of the field that holds the
	// number, a JSON pointer such as /spec/replicas, empty if there is none. An error is one line
	// that says what in the object is wrong.
	Parser(rawData []byte) (*int32, berthv1alpha1.ReplicaRequirements, string, error)

	// Name returns the name of the parser, which users and logs are shown.
	Name() string

	// Kind returns the kind of the objects that the parser reads.
	Kind() string
}

// ComponentReader is a PluginFactory for objects that make pods from several templates. Such
// objects are copied whole: their Parser returns no replicas.
type ComponentReader interface {
	// Components reads the parts of an object, written as JSON or YAML: their names, which are DNS
	// labels, and for each what Parser returns.
	Components(rawData []byte) ([]berthv1alpha1.FeedComponent, error)
}

// Unknown is the name of the parser for kinds that nothing else reads.
const Unknown = "unknown"

// Feed is what is known of an object. It shares no memory with its source.
type Feed struct {
	manifest.Identity

	// Parser is the name of the parser that read the object, Unknown if none did.
	Parser string
	// DesiredReplicas is the number of replicas wanted, nil for objects that are not divided but
	// copied whole.
	DesiredReplicas *int32
	// ReplicaRequirements is what one replica needs.
	ReplicaRequirements berthv1alpha1.ReplicaRequirements
	// ReplicaJSONPath is a JSON pointer to the number of replicas. It is not empty where
	// DesiredReplicas is set.
	ReplicaJSONPath string
	// Components are the parts of an object that makes pods from several templates.
	Components []berthv1alpha1.FeedComponent
}

// unknown reads objects that are copied whole.
type unknown struct{}

var _ PluginFactory = unknown{}

// Name returns Unknown.
func (unknown) Name() string { return Unknown }

// Kind returns nothing: the parser reads objects of any kind.
func (unknown) Kind() string { return "" }

// Parser knows nothing of an object but that it is one.
func (unknown) Parser(rawData []byte) (*int32, berthv1alpha1.ReplicaRequirements, string, error) {
	_, err := manifest.Decode(rawData)
	return nil, berthv1alpha1.ReplicaRequirements{}, "", err
}
