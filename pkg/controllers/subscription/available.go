// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package subscription

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/controllers/state"
	"berth.dev/berth/pkg/model/topology"
	"berth.dev/berth/pkg/model/workload"
	"berth.dev/berth/pkg/placement/bundle"
	"berth.dev/berth/pkg/placement/names"
)

// census is what the pods of a feed do, those of its copies included. Its maps and its slice may be
// shared and must not be changed.
type census struct {
	// pods is the number of living pods, ready that of those which are ready.
	pods, ready int64
	// bound is the number of pods with a node, by Cluster.
	bound map[string]int64
	// waiting are the pods without a node, and pinned is how many of them ask for one certain node,
	// by its Cluster.
	waiting []*corev1.Pod
	pinned  map[string]int64
}

// add adds the pods of another workload.
func (c *census) add(other *census) {
	c.pods, c.ready = c.pods+other.pods, c.ready+other.ready
	c.bound, c.pinned = sum(c.bound, other.bound), sum(c.pinned, other.pinned)
	c.waiting = slices.Concat(c.waiting, other.waiting)
}

func sum(a, b map[string]int64) map[string]int64 {
	total := maps.Clone(a)
	for key, n := range b {
		total[key] += n
	}
	return total
}

// tally is what the pods of one workload do.
type tally struct {
	census
	// stranded is the number of living pods on each node that is not ready, or gone.
	stranded map[string]int64
}

// tallyOf counts the pods of a workload, which may be nil. They are counted once: thousands of
// Subscriptions may list the same.
func (s *surroundings) tallyOf(o *workload.Observed, snapshot *topology.Snapshot) *tally {
	if known := s.tallies[o]; known != nil {
		return known
	}
	t := &tally{census{bound: map[string]int64{}, pinned: map[string]int64{}}, map[string]int64{}}
	s.tallies[o] = t
	if o == nil {
		return t
	}
	t.pods = int64(len(o.Pods))
	for _, pod := range o.Pods {
		t.count(pod, snapshot)
	}
	return t
}

func (t *tally) count(pod *corev1.Pod, snapshot *topology.Snapshot) {
	if workload.Ready(pod) {
		t.ready++
	}
	if pod.Spec.NodeName != "" {
		node, cluster := snapshot.Place(pod.Spec.NodeName)
		if cluster != "" {
			t.bound[cluster]++
		}
		if node == nil || !topology.Ready(node) {
			t.stranded[pod.Spec.NodeName]++
		}
		return
	}
	t.waiting = append(t.waiting, pod)
	if node := workload.NodeOf(pod); node != "" {
		_, cluster := snapshot.Place(node)
		t.pinned[cluster]++
	}
}

// available returns the condition that reports whether all pods that the feeds want run.
func (o *outcome) available() metav1.Condition {
	var missing []string
	for i := range o.feeds {
		input := &o.input.Feeds[i]
		switch wanted, running := o.replicas(i); {
		case input.Obstacle != "":
			missing = append(missing, "nothing is known of "+input.Name)
		case running < wanted:
			missing = append(missing, fmt.Sprintf("%d of %d replicas of %s run%s", running, wanted, input.Name, o.withoutNode(i, wanted)))
		}
	}
	if len(missing) > 0 {
		return condition(berthv1alpha1.SubscriptionAvailable, false, berthv1alpha1.ReasonReplicasMissing, strings.Join(missing, ", "))
	}
	return condition(berthv1alpha1.SubscriptionAvailable, true, berthv1alpha1.ReasonAllRunning, "all replicas of all feeds run")
}

// replicas returns how many pods a feed and its copies want, and how many are ready. What has no
// number of replicas wants the pods that there are, but for those that ask for a node of a Cluster
// in which it is not to run.
func (o *outcome) replicas(i int) (wanted, running int64) {
	counted := &o.feeds[i].census
	if w := o.input.Feeds[i].Wanted; w != nil {
		return *w + o.decision.Feeds[i].Copied, counted.ready
	}
	wanted = counted.pods
	for cluster, n := range counted.pinned {
		if !o.mayRunIn(i, cluster) {
			wanted -= n
		}
	}
	return wanted, counted.ready
}

// mayRunIn reports whether pods of a feed without a number of replicas may run in a Cluster, empty
// for nodes of none.
func (o *outcome) mayRunIn(i int, cluster string) bool {
	policy, _ := o.policyOf(i)
	return policy == nil || slices.ContainsFunc(policy.Spec.Placement.StaticWeightList, func(w berthv1alpha1.StaticClusterWeight) bool {
		return slices.Contains(w.ClusterNames, cluster)
	})
}

// withoutNode says how many replicas of a feed have no node, of which Clusters those are, and what
// the scheduler says of them; empty if all have one.
func (o *outcome) withoutNode(i int, wanted int64) string {
	counted, shares := &o.feeds[i].census, o.decision.Feeds[i].Shares
	missing := wanted - bundle.Sum(counted.bound)
	if missing <= 0 {
		return ""
	}
	short := map[string]int64{}
	for cluster, share := range shares {
		if lacking := min(share-counted.bound[cluster], missing); lacking > 0 {
			short[cluster] = lacking
		}
	}
	if len(shares) == 0 {
		maps.Copy(short, counted.pinned)
		maps.DeleteFunc(short, func(cluster string, _ int64) bool { return cluster == "" || !o.mayRunIn(i, cluster) })
	}
	var parts []string
	for _, cluster := range slices.Sorted(maps.Keys(short)) {
		parts = append(parts, fmt.Sprintf("%d in cluster %s", short[cluster], cluster))
	}
	text := fmt.Sprintf(" (%d without a node", missing)
	if len(parts) > 0 {
		text += ": " + names.First(parts, maxNames, ", ")
	}
	if why := workload.WhyPending(counted.waiting); why != "" {
		text += ": " + why
	}
	if made := int64(len(counted.waiting)); made < missing {
		text += fmt.Sprintf("; %d have no pod yet", missing-made)
	}
	return text + ")"
}

// ready returns what the column READY shows.
func (o *outcome) ready() string {
	var total state.Count
	for i := range o.feeds {
		wanted, running := o.replicas(i)
		total.Add(running, wanted)
	}
	return total.String()
}
