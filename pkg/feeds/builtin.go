// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package feeds

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

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
