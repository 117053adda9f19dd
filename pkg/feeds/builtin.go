// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package feeds

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"

	"berth.dev/berth/pkg/feeds/manifest"
)

// BuiltIn returns the parsers for the workloads of Kubernetes, a new map at each call: the caller
// may add, replace and remove parsers before it makes a registry of them. Kinds that moved from one
// group to another are listed under both.
func BuiltIn() map[schema.GroupKind]PluginFactory {
	parsers := map[schema.GroupKind]PluginFactory{}
	for _, parser := range []PluginFactory{
		scaled{"Deployment"}, scaled{"ReplicaSet"}, scaled{"StatefulSet"}, single{"DaemonSet", perNodeTemplate},
	} {
		parsers[schema.GroupKind{Group: "apps", Kind: parser.Kind()}] = parser
		parsers[schema.GroupKind{Group: "extensions", Kind: parser.Kind()}] = parser
	}
	for _, parser := range []PluginFactory{
		job{"Job", manifest.MustPointer("/spec")}, job{"CronJob", manifest.MustPointer("/spec/jobTemplate/spec")},
	} {
		parsers[schema.GroupKind{Group: "batch", Kind: parser.Kind()}] = parser
	}
	for _, parser := range []PluginFactory{scaled{"ReplicationController"}, single{"Pod", podItself}} {
		parsers[schema.GroupKind{Kind: parser.Kind()}] = parser
	}
	return parsers
}

// formerGroup is where kinds of the group apps were until Kubernetes 1.16.
const formerGroup = "extensions"

// ReleaseKinds returns the kinds of Kubernetes that are feeds where a Subscription names a Helm
// release: those that are built in, and those that are copied whole and of which Berth may read
// that they exist.
func ReleaseKinds() sets.Set[schema.GroupKind] {
	kinds := sets.New(schema.GroupKind{Kind: "ConfigMap"}, schema.GroupKind{Kind: "Service"})
	for kind := range BuiltIn() {
		if kind.Group != formerGroup {
			kinds.Insert(kind)
		}
	}
	return kinds
}
