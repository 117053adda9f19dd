// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package division

import (
	appsv1 "k8s.io/api/apps/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/workload"
	"berth.dev/berth/pkg/placement/names"
)

// copyName leaves room for what controllers add to the names of pods. After a dot no name goes on
// with the hyphen before the hash.
var copyName = names.Form{Max: 200, Keep: 200, Trim: ".", Hash: names.FNV}

// Copyable reports whether copies of the kind can run beside the object that is listed: only if
// Berth can tell their pods apart.
func Copyable(ref *berthv1alpha1.Feed) bool {
	kind := workload.KindFor(ref.APIVersion, ref.Kind)
	return kind != nil && kind.Group == appsv1.GroupName && (kind.Kind == "Deployment" || kind.Kind == "StatefulSet")
}

// CopyOf names the copy of a feed that serves a Cluster.
func CopyOf(ref *berthv1alpha1.Feed, cluster string) berthv1alpha1.Feed {
	named := *ref
	named.Name = copyName.Shorten(ref.Name + "-" + cluster)
	return named
}
