// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package homescheduler

import (
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/utils/clock"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/plugins/internal/catalog"
	"berth.dev/berth/pkg/plugins/internal/narrow"
	"berth.dev/berth/pkg/plugins/internal/takeover"
	"berth.dev/berth/pkg/plugins/internal/view"
)

// Shared is what the instances of the plugin, one for each profile, have in common.
type Shared struct {
	// Clock is the time that adoptions and registrations go by.
	Clock clock.WithTicker
	// Self is the name of the Scheduler of this process, empty for none.
	Self string
	// Catalog knows Schedulers and the homes of clusters.
	Catalog *catalog.HomeCatalog
	// Membership returns which node lies in which cluster, nil while that is not known.
	Membership func() view.Membership
	// View tells the cluster of a node. It is used inside scheduling cycles only.
	View *view.View
	// Failing is the pod that found no node last. Whatever makes way in its cycle makes way for it.
	Failing atomic.Pointer[corev1.Pod]
	// Late knows which pods the process before may still bind.
	Late *takeover.LateSeats
	// Early lets pods into the queue while that is being filled.
	Early *takeover.Early
	// Alone reports whether no other plugin has a say in where a pod goes, nil for never; Retries
	// remembers which pods no node of a sample could take.
	Alone   func(pod *corev1.Pod) bool
	Retries narrow.Thorough

	mu sync.Mutex
	// underWay is where the pods go that are being bound, by UID. It is kept only by a process that is
	// a Scheduler.
	underWay map[types.UID]way
	// adopted are the bindings of the clusters whose pods the snapshot has, adopting those that
	// are looked at.
	adopted  map[string]catalog.Home
	adopting map[string]*adoption
	// woken is the adoption after which pods were woken last.
	woken int64
	// wakeAgain is when pods may be woken again although nothing has been adopted.
	wakeAgain time.Time

	set nodeSet
}

// way is where a pod goes that is being bound. The cluster is that of the node when it was chosen:
// the Binding may arrive after the node has gone.
type way struct{ node, cluster string }

// nodeSet is the nodes of this scheduler for as long as nothing changes. It belongs to the
// scheduling cycle.
type nodeSet struct {
	homes    *catalog.Homes
	shape    int64
	adoption int64
	own      *ownNodes
	names    narrow.Sets
}

// NewShared returns the state of one process.
func NewShared(self string, clk clock.WithTicker) *Shared {
	return &Shared{
		Clock: clk, Self: self, underWay: map[types.UID]way{}, adopted: map[string]catalog.Home{}, adopting: map[string]*adoption{},
	}
}

// applies reports whether there is anybody to share with, or somebody may be given a cluster that
// nobody has because this scheduler still says that it leaves those alone.
func (s *Shared) applies(homes *catalog.Homes) bool {
	if s.Self == "" {
		return homes.Shared
	}
	return homes.Shared || !homes.Registered || homes.Sharing
}

// waitsForFence reports whether this process, which is no Scheduler, is to take over from
// Schedulers that have died as soon as it is certain that these bind nothing any more.
func (s *Shared) waitsForFence(homes *catalog.Homes) bool {
	return s.Self == "" && homes.Shared && !homes.Living
}

// owns reports whether this process is to place the pod, or to tell why it waits.
func (s *Shared) owns(homes *catalog.Homes, pod *corev1.Pod) bool {
	if !s.applies(homes) || s.waitsForFence(homes) {
		return true
	}
	return s.Self != "" && pod.Labels[berthv1alpha1.HomeSchedulerLabel] == s.Self
}

// mineLocked reports whether this process alone places pods on the cluster. The caller holds the
// lock.
func (s *Shared) mineLocked(homes *catalog.Homes, cluster string) bool {
	h := homes.Clusters[cluster]
	if h.Scheduler != s.Self || h.Draining {
		return false
	}
	home, adopted := s.adopted[cluster]
	return adopted && home == h
}

// nodes returns the nodes and clusters of this scheduler.
func (s *Shared) nodes(homes *catalog.Homes, nodes []fwk.NodeInfo, lister fwk.SharedLister) *ownNodes {
	s.View.Refresh(nodes, s.Membership())
	s.mu.Lock()
	defer s.mu.Unlock()
	adoption := s.completeAdoptions(homes, lister)
	if s.set.homes == homes && s.set.shape == s.View.Shape() && s.set.adoption == adoption {
		return s.set.own
	}
	own := s.ownClusters(homes)
	commons := s.mineLocked(homes, berthv1alpha1.CommonsName)
	names := sets.New[string]()
	s.set = nodeSet{
		homes: homes, shape: s.View.Shape(), adoption: adoption, own: &ownNodes{nodes: names, clusters: own},
		names: narrow.Sets{Adaptive: true},
	}
	// Nodes of no cluster are a group of their own, after those of the clusters.
	s.set.names.Follow(nodes, narrow.Version{}, len(own)+1, func(n int) int32 {
		id := s.View.ClusterAt(n)
		switch {
		case id == view.NoCluster && commons:
			id = int32(len(own))
		case id == view.NoCluster || !own[id]:
			return -1
		}
		names.Insert(nodes[n].Node().Name)
		return id
	})
	return s.set.own
}

// sample returns the names of some nodes of this scheduler, nil if it is better to look at all of
// them. The nodes are those of the last call of nodes, as they are in this cycle.
func (s *Shared) sample(pod *corev1.Pod, nodes []fwk.NodeInfo) sets.Set[string] {
	if s.Alone == nil || !s.Alone(pod) || s.Retries.Thorough(pod.UID) {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	names := &s.set.names
	names.Follow(nodes, narrow.Version{}, 0, nil)
	return names.Sample(names.Of(func(int32) bool { return true }), pod)
}

// ownClusters returns the clusters of this scheduler by their ID in the view.
func (s *Shared) ownClusters(homes *catalog.Homes) []bool {
	own := make([]bool, s.View.Clusters())
	for cluster := range homes.Clusters {
		if cluster == berthv1alpha1.CommonsName || !s.mineLocked(homes, cluster) {
			continue
		}
		if id := s.View.ClusterID(cluster); int(id) < len(own) {
			own[id] = true
		}
	}
	return own
}

// reserve notes that a pod is on its way to a node, and returns false if the node is not this
// scheduler's any more. What is noted before a drain is seen holds the acknowledgement up, and
// after that nothing is noted: both happen under the lock.
func (s *Shared) reserve(pod *corev1.Pod, node string) bool {
	if s.Self == "" {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	homes := s.Catalog.Snapshot()
	if s.applies(homes) && (s.set.homes != homes || !s.set.own.nodes.Has(node)) && !s.reservable(homes, node) {
		return false
	}
	s.underWay[pod.UID] = way{node, s.chosen(node)}
	return true
}

// reservable reports whether this process may place a pod on a node, for a node that is not in the
// nodes of the last cycle.
func (s *Shared) reservable(homes *catalog.Homes, node string) bool {
	return s.mineLocked(homes, s.chosen(node))
}

// chosen returns the cluster of a node that was chosen in this scheduling cycle.
func (s *Shared) chosen(node string) string {
	if id := s.View.ClusterOfNode(node); s.Membership() != nil && id != view.NoCluster {
		return s.View.ClusterName(id)
	}
	return berthv1alpha1.CommonsName
}

// arrived notes that a pod is not on its way any more: it is bound, or certainly will not be.
func (s *Shared) arrived(uid types.UID) {
	if s.Self == "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.underWay, uid)
}

// Fenced reports whether the lease is kept until the Binding of every pod has ended, because
// another scheduler may take its place.
func (s *Shared) Fenced() bool {
	return s != nil && s.Self != ""
}
