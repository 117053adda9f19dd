// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package subscription

import (
	"fmt"
	"maps"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/controllers/state"
	"berth.dev/berth/pkg/model/division"
	"berth.dev/berth/pkg/model/workload"
	"berth.dev/berth/pkg/placement/names"
)

// copied is a copy of a feed that serves a Cluster.
type copied struct {
	ref     berthv1alpha1.Feed
	feed    int // by index
	cluster string
}

// wantedCopies returns the copies that should exist.
func (o *outcome) wantedCopies() []copied {
	var list []copied
	for i := range o.feeds {
		for _, cluster := range o.decision.Feeds[i].Copies {
			list = append(list, copied{division.CopyOf(o.feeds[i].ref, cluster), i, cluster})
		}
	}
	return list
}

// copyName leaves room for what controllers add to the names of pods, and sourceLabel fits into the
// value of a label.
var (
	sourceLabel = names.Form{Max: validation.LabelValueMaxLength, Hash: names.FNV}
)

// copiesByOwner returns the copies that are known to exist, by the UID of their owner, empty for
// those whose owner somebody has removed.
func copiesByOwner(objects *workload.Objects) map[types.UID]map[object]client.Object {
	found := map[types.UID]map[object]client.Object{}
	for _, o := range objects.Owners {
		if clusterOf(o) == "" {
			continue
		}
		var uid types.UID
		if owner := metav1.GetControllerOfNoCopy(o); owner != nil {
			uid = owner.UID
		}
		if found[uid] == nil {
			found[uid] = map[object]client.Object{}
		}
		found[uid][keyOf(o)] = o
	}
	return found
}

// copyAt returns a copy that is known to exist, also one whose owner somebody has removed; nil if
// there is none.
func (it *item) copyAt(key object) client.Object {
	if own := it.copies[key]; own != nil {
		return own
	}
	return it.around.copies[""][key]
}

// keyOf names an object of a kind that Berth reads.
func keyOf(o workload.Object) object {
	return object{workload.KindOf(o).GroupKind(), o.GetName()}
}

// servedBy returns the Cluster that a copy serves, empty for what is no copy. The selector says so,
// which nobody can change.
func servedBy(selector *metav1.LabelSelector) string {
	if selector == nil {
		return ""
	}
	return selector.MatchLabels[berthv1alpha1.CopyClusterLabel]
}

// clusterOf returns the Cluster that an object serves as a copy, empty for what is no copy.
func clusterOf(o client.Object) string {
	switch typed := o.(type) {
	case *appsv1.Deployment:
		return servedBy(typed.Spec.Selector)
	case *appsv1.StatefulSet:
		return servedBy(typed.Spec.Selector)
	}
	return ""
}

// lookOf returns what can be seen in the cache of an object of which there can be copies, see
// summaryOf. It is empty if there is none.
func (s *surroundings) lookOf(key object) string {
	if present := s.owners[key]; present != nil {
		return summaryOf(present)
	}
	return ""
}

// summaryOf returns a summary of what can be seen of an object in the cache. It changes with
// everything that matters to copies.
func summaryOf(o metav1.Object) string {
	labels := maps.Clone(o.GetLabels())
	delete(labels, berthv1alpha1.ApplicationLabel)
	var controller types.UID
	if owner := metav1.GetControllerOfNoCopy(o); owner != nil {
		controller = owner.UID
	}
	return fmt.Sprint(o.GetUID(), " ", o.GetGeneration(), " ", labels, " ", o.GetAnnotations()[state.AnnotationsDigest], " ", controller)
}
