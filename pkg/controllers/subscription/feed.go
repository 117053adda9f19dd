// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package subscription

import (
	"fmt"
	"strings"

	"berth.dev/berth/pkg/model/workload"

	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/selection"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/topology"
	"berth.dev/berth/pkg/placement/divide"
	"berth.dev/berth/pkg/placement/subscription"
)

// feed is a feed of a Subscription in a pass.
type feed struct {
	ref *berthv1alpha1.Feed
	// observed is the workload, nil if it does not exist or is of a kind that is not read and has no pods.
	observed *workload.Observed
	// wanted is the number of replicas, nil for what is copied whole.
	wanted *int64
	// sample is a pod like those of the feed as far as room is concerned, nil if it is not known.
	sample *corev1.Pod
	// unknown says why nobody can tell what the feed wants, lost that it belongs to somebody else.
	unknown, lost string

	// missing says why some Cluster has no copy, empty if none lacks one.
	missing string
	// copied is the number of replicas of all copies that serve other Clusters.
	copied int64
	// look tells what can be seen of the listed object, if there can be copies of it.
	look string

	// bound is the number of living pods on nodes of each Cluster, running that of ready ones.
	bound   map[string]int64
	running int64
	// stranded is the number of living pods on each node that is not ready, or gone.
	stranded map[string]int64

	// before is how replicas were divided, held what of it is kept, shares how they are divided now.
	before, held, shares map[string]int64
	unplaced             int64
	// lacking is the number of replicas of an admitted bundle that have a share by weight but find no room any more.
	lacking int64
}

// object names an object regardless of its version.
type object struct{ group, kind, name string }

type observations map[object]*workload.Observed

func observe(objects *workload.Objects) observations {
	known := observations{}
	for _, o := range workload.Observe(objects) {
		known[object{groupOf(o.APIVersion), o.Kind, o.Name}] = o
	}
	return known
}

func objectOf(ref *berthv1alpha1.Feed) object {
	return object{groupOf(ref.APIVersion), ref.Kind, ref.Name}
}

func groupOf(apiVersion string) string {
	group, _, found := strings.Cut(apiVersion, "/")
	if !found {
		return ""
	}
	return group
}

// isRead says whether workloads of the kind are observed even if they have no pods.
func isRead(ref *berthv1alpha1.Feed) bool {
	switch groupOf(ref.APIVersion) + "/" + ref.Kind {
	case "apps/Deployment", "apps/ReplicaSet", "apps/StatefulSet", "batch/Job", "/ReplicationController":
		return true
	}
	return false
}

// read finds out what a feed wants.
func (m *member) read(index *subscription.Index, f *feed, i int, inventory *berthv1alpha1.FeedInventory) {
	f.before = sharesOf(subscription.PlacementOf(m.object, f.ref))
	if subscription.Foreign(m.object, f.ref) {
		f.lost = "a Subscription can list objects of its own namespace only"
		return
	}
	master, at := index.Of(m.object.Namespace, f.ref.APIVersion, f.ref.Kind, f.ref.Name)
	switch {
	case master == nil:
		f.lost = "the Subscription is being deleted"
	case master.UID != m.object.UID:
		f.lost = fmt.Sprintf("Subscription %s places it, which is older", master.Name)
	case at != i:
		f.lost = "it is listed twice"
	case m.dynamic() || m.bundled:
		m.readInventory(f, inventory)
	default:
		f.readWorkload()
	}
}

// readWorkload is for strategies that need to know of no requirements.
func (f *feed) readWorkload() {
	switch {
	case f.observed != nil && f.observed.ReplicasKnown:
		f.wanted = new(int64(f.observed.Replicas))
	case isRead(f.ref):
		f.unknown = "it does not exist, or has finished"
	}
}

// readInventory takes requirements from the inventory. The number of replicas is the present one where Berth reads the kind.
func (m *member) readInventory(f *feed, inventory *berthv1alpha1.FeedInventory) {
	order := orderOf(inventory, f.ref)
	switch {
	case order == nil:
		f.unknown = "the FeedInventory does not tell of it yet"
		return
	case troubleOf(inventory, f.ref) != "":
		f.unknown = troubleOf(inventory, f.ref)
		return
	case order.DesiredReplicas == nil:
		return // It is copied whole.
	case f.observed != nil && f.observed.ReplicasKnown:
		f.wanted = new(int64(f.observed.Replicas))
	case f.ref.Kind == workload.KindJob && isRead(f.ref) && m.admitted():
		f.wanted = new(int64(0)) // It has finished.
	case isRead(f.ref):
		f.unknown = "it does not exist, or has finished"
		return
	default:
		f.wanted = new(int64(*order.DesiredReplicas))
	}
	f.sample = &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: m.object.Namespace, Labels: f.labels()},
		Spec: corev1.PodSpec{
			NodeSelector: order.ReplicaRequirements.NodeSelector, Tolerations: order.ReplicaRequirements.Tolerations,
			Affinity:   order.ReplicaRequirements.Affinity,
			Containers: []corev1.Container{{Resources: order.ReplicaRequirements.Resources}},
		},
	}
}

// orderOf returns what an inventory, which may be nil, tells of a feed.
func orderOf(inventory *berthv1alpha1.FeedInventory, ref *berthv1alpha1.Feed) *berthv1alpha1.FeedOrder {
	if inventory == nil {
		return nil
	}
	for i := range inventory.Spec.Feeds {
		if order := &inventory.Spec.Feeds[i]; objectOf(&order.Feed) == objectOf(ref) {
			return order
		}
	}
	return nil
}

// troubleOf says why an inventory tells nothing of a feed, empty if it does.
func troubleOf(inventory *berthv1alpha1.FeedInventory, ref *berthv1alpha1.Feed) string {
	for i := range inventory.Status.Feeds {
		status := &inventory.Status.Feeds[i]
		if objectOf(&status.Feed) != objectOf(ref) {
			continue
		}
		parsed := apimeta.FindStatusCondition(status.Conditions, berthv1alpha1.FeedParsed)
		if parsed != nil && parsed.Status == metav1.ConditionFalse {
			return parsed.Message
		}
	}
	return ""
}

// labels are those by which the workload knows its pods, and by which they may avoid each other.
func (f *feed) labels() map[string]string {
	if f.observed == nil || f.observed.Selector == nil {
		return nil
	}
	found := map[string]string{}
	requirements, _ := f.observed.Selector.Requirements()
	for _, r := range requirements {
		switch r.Operator() {
		case selection.Equals, selection.DoubleEquals, selection.In:
			if value, single := r.Values().PopAny(); single {
				found[r.Key()] = value
			}
		}
	}
	return found
}

// count finds out where pods of the feed are.
func (f *feed) count(snapshot *topology.Snapshot) {
	f.bound, f.stranded = map[string]int64{}, map[string]int64{}
	if f.observed == nil {
		return
	}
	for _, pod := range f.observed.Pods {
		if pod.Spec.NodeName == "" {
			continue
		}
		node, cluster := snapshot.Place(pod.Spec.NodeName)
		if cluster != "" {
			f.bound[cluster]++
		}
		if node == nil || !topology.Ready(node) {
			f.stranded[pod.Spec.NodeName]++
		}
		if workload.Ready(pod) {
			f.running++
		}
	}
}

// divided says whether the feed has replicas to divide.
func (f *feed) divided() bool { return f.unknown == "" && f.lost == "" && f.wanted != nil }

func sharesOf(p *berthv1alpha1.FeedPlacement) map[string]int64 {
	shares := map[string]int64{}
	if p != nil {
		for _, c := range p.Clusters {
			if c.Replicas > 0 {
				shares[c.Name] = min(int64(c.Replicas), divide.MaxReplicas)
			}
		}
	}
	return shares
}

func sum(shares map[string]int64) (total int64) {
	for _, n := range shares {
		total += n
	}
	return total
}
