// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package subscription

import (
	"fmt"
	"hash/fnv"

	"berth.dev/berth/pkg/model/workload"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/placement/subscription"
)

// copied is a copy of a feed that serves a Cluster.
type copied struct {
	ref     berthv1alpha1.Feed
	source  *feed
	cluster string
}

// copyable says whether copies of the kind can run beside the object that is listed: only if Berth can tell their pods apart.
func copyable(ref *berthv1alpha1.Feed) bool {
	return groupOf(ref.APIVersion) == "apps" && (ref.Kind == "Deployment" || ref.Kind == "StatefulSet")
}

// replicate gives the listed object to one Cluster and copies of it to the others.
func (m *member) replicate(f *feed) {
	if m.problem != nil || f.wanted == nil {
		f.shares = f.before
		if m.problem == nil && f.observed != nil && len(m.clusters) > 1 {
			f.missing = notCopiedText(f.ref) // It has pods.
		}
		return
	}
	home := m.home(f)
	f.look = m.looks[objectOf(f.ref)]
	f.shares = map[string]int64{home: *f.wanted}
	for _, c := range m.clusters {
		if c.name == home {
			continue
		}
		if !copyable(f.ref) {
			f.missing = notCopiedText(f.ref)
			continue
		}
		ref := *f.ref
		ref.Name = copyName(f.ref.Name, c.name)
		m.copies = append(m.copies, copied{ref: ref, source: f, cluster: c.name})
		replicas := *f.wanted
		if present := m.known[objectOf(&ref)]; present != nil && present.ReplicasKnown {
			replicas = int64(present.Replicas) // Another number if somebody scales the copy.
			f.running += ready(present)
		}
		f.shares[c.name] = replicas
		f.copied += replicas
	}
}

func notCopiedText(ref *berthv1alpha1.Feed) string {
	return fmt.Sprintf("objects of kind %s are not copied: it runs in one Cluster", ref.Kind)
}

// ready returns the number of ready pods of a workload.
func ready(o *workload.Observed) (n int64) {
	for _, pod := range o.Pods {
		if workload.Ready(pod) {
			n++
		}
	}
	return n
}

// home returns the Cluster of the listed object: the one that it has, else the first.
func (m *member) home(f *feed) string {
	if policy := m.named[subscription.PolicyName(m.object.Name, f.ref)]; policy != nil {
		for _, w := range policy.Spec.Placement.StaticWeightList {
			if len(policy.Spec.Placement.StaticWeightList) == 1 && len(w.ClusterNames) == 1 && m.candidate(w.ClusterNames[0]) != nil {
				return w.ClusterNames[0]
			}
		}
	}
	return m.clusters[0].name
}

// maxCopyName leaves room for what controllers add to the names of pods.
const maxCopyName = 200

// copyName returns the name of the copy of an object for a Cluster.
func copyName(name, cluster string) string {
	full := name + "-" + cluster
	if len(full) <= maxCopyName {
		return full
	}
	hash := fnv.New64a()
	hash.Write([]byte(full))
	return fmt.Sprintf("%s-%016x", full[:maxCopyName], hash.Sum64())
}

// sourceLabel returns a label value that tells of what object a copy is.
func sourceLabel(name string) string {
	if len(name) <= validation.LabelValueMaxLength {
		return name
	}
	hash := fnv.New64a()
	hash.Write([]byte(name))
	return fmt.Sprintf("%016x", hash.Sum64())
}

// existing returns the copies of a Subscription that are known to exist, also those whose owner somebody has removed.
func existing(objects *workload.Objects, s *berthv1alpha1.Subscription) map[object]client.Object {
	found := map[object]client.Object{}
	for _, o := range objects.Owners {
		if owner := metav1.GetControllerOfNoCopy(o); o.GetNamespace() == s.Namespace && clusterOf(o) != "" &&
			(owner == nil || owner.UID == s.UID) {
			found[keyOf(o)] = o
		}
	}
	return found
}

// keyOf names an object of a kind that Berth reads.
func keyOf(o workload.Object) object {
	kind := workload.KindOf(o)
	return object{kind.Group, kind.Kind, o.GetName()}
}

// servedBy returns the Cluster that a copy serves, empty for what is no copy. The selector tells because nobody can change it.
func servedBy(selector *metav1.LabelSelector) string {
	if selector == nil {
		return ""
	}
	return selector.MatchLabels[berthv1alpha1.CopyClusterLabel]
}

// clusterOf is servedBy for the kinds of which there are copies.
func clusterOf(o client.Object) string {
	switch typed := o.(type) {
	case *appsv1.Deployment:
		return servedBy(typed.Spec.Selector)
	case *appsv1.StatefulSet:
		return servedBy(typed.Spec.Selector)
	}
	return ""
}

// looks returns what can be seen of the workloads of which there can be copies.
func looks(objects *workload.Objects) map[object]string {
	found := map[object]string{}
	for _, o := range objects.Owners {
		switch o.(type) {
		case *appsv1.Deployment, *appsv1.StatefulSet:
			found[keyOf(o)] = lookOf(o)
		}
	}
	return found
}
