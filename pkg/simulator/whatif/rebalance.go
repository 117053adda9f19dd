// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package whatif

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	modelpolicy "berth.dev/berth/pkg/model/policy"
	"berth.dev/berth/pkg/model/stamp"
	"berth.dev/berth/pkg/model/topology"
	"berth.dev/berth/pkg/model/workload"
	"berth.dev/berth/pkg/placement/policymatch"
	"berth.dev/berth/pkg/placement/rank"
	"berth.dev/berth/pkg/placement/rebalance"
)

// longAgo is how old pods and rounds are: time does not hold a simulation up.
const longAgo = time.Duration(math.MaxInt64)

// observe returns the workloads and their pods.
func (s *Simulation) observe() []*workload.Observed {
	objects := &workload.Objects{Pods: make([]corev1.Pod, 0, len(s.pods)), Further: s.owners}
	for _, i := range s.ids() {
		if o := s.objects[i]; workload.KindOf(o) != nil {
			objects.Owners = append(objects.Owners, o)
		}
	}
	for _, pod := range s.sortedPods() {
		objects.Pods = append(objects.Pods, *pod)
	}
	observed := workload.Observe(objects)
	slices.SortStableFunc(observed, func(a, b *workload.Observed) int { return cmp.Compare(a.Namespace, b.Namespace) })
	return observed
}

// topology returns the Clusters and their nodes.
func (s *Simulation) topology() *topology.Snapshot {
	return topology.New(values(kept[*berthv1alpha1.Cluster](s)), values(kept[*corev1.Node](s)))
}

func values[T any](pointers []*T) []T {
	found := make([]T, len(pointers))
	for i := range pointers {
		found[i] = *pointers[i]
	}
	return found
}

// rebalance evicts what runs outside of its share, for each workload as much as its policy lets go
// at once.
func (s *Simulation) rebalance(ctx context.Context) error {
	clear(s.held)
	if err := s.confine(); err != nil {
		return err
	}
	return s.eachPlaced(func(m *mover) error { return m.run(ctx) })
}

// confine tells the snapshot where the pods that wait for a node may get one.
func (s *Simulation) confine() error {
	all := map[string]modelpolicy.Shortages{}
	err := s.eachPlaced(func(m *mover) error {
		shares, namespace := m.policy.Shares(m.observed, m.observed.Bound(), m.places.ClusterOf), m.observed.Namespace
		if all[namespace] == nil {
			all[namespace] = modelpolicy.Shortages{}
		}
		all[namespace].Note(m.policy, m.observed, &shares, func(cluster string, pod *corev1.Pod) bool {
			at := m.places.Cluster(cluster)
			return at != nil && m.suits(at.Object, pod)
		})
		return nil
	})
	s.snapshot.Confine(all)
	return err
}

// eachPlaced calls a function for each workload that a policy places.
func (s *Simulation) eachPlaced(do func(*mover) error) error {
	policies := kept[*berthv1alpha1.PropagationPolicy](s)
	if len(policies) == 0 {
		return nil
	}
	index, places := policymatch.NewIndex(policies), s.topology()
	s.policies = modelpolicy.NewSet(policies, places.Sites(), s.policies)
	for _, o := range s.observe() {
		winner, _, _ := modelpolicy.InForce(index, o.Selectable(), modelpolicy.RequestOfWorkload(o))
		if winner == nil || !o.Asks(s.options.Schedulers) {
			continue
		}
		if compiled := s.policies.Of(winner); compiled.Err == nil {
			if err := do(&mover{Simulation: s, policy: compiled, observed: o, places: places}); err != nil {
				return err
			}
		}
	}
	return nil
}

// mover rebalances one workload.
type mover struct {
	*Simulation
	policy   *modelpolicy.Policy
	observed *workload.Observed
	places   *topology.Snapshot
	bound    []*corev1.Pod
	shares   modelpolicy.Shares
	clusters []*topology.Cluster
}

func (m *mover) run(ctx context.Context) error {
	m.assess()
	if err := m.restamp(); err != nil || m.shares.Misplaced == 0 {
		return err
	}
	round := m.shares.Round(m.observed, m.policy.Object, m.clusters)
	round.SinceRound, round.Stuck = longAgo, m.stuck(round.Pending)
	if m.shares.Plan == nil {
		m.held[m.observed.UID] = round.Never.String()
		return nil
	}
	if round.Guard() == "" {
		found, err := m.shares.FindVacancies(m.bound, func(cluster int, pod *corev1.Pod, limit int) (int, error) {
			return m.roomIn(ctx, cluster, pod, limit)
		})
		if err != nil {
			return err
		}
		found.Apply(round, m.bound)
	}
	decision := rebalance.Decide(round)
	if decision.Held != "" {
		m.held[m.observed.UID] = decision.Held.String()
	}
	victims, err := m.replaceable(ctx, decision.Victims)
	if err != nil {
		return err
	}
	for _, victim := range victims {
		pod := m.bound[victim.Pod]
		if err := m.evict(pod, m.policy.Order.Name(victim.To), "rebalancing by PropagationPolicy "+m.policy.Object.Name); err != nil {
			return err
		}
	}
	return nil
}

// replaceable returns those of the victims of a decision that may be evicted and whose replacements
// fit together, not only one by one.
func (m *mover) replaceable(ctx context.Context, victims []rebalance.Victim) (kept []rebalance.Victim, err error) {
	m.snapshot.Fork()
	defer m.snapshot.Revert()
	for _, victim := range victims {
		pod, cluster := m.bound[victim.Pod], m.clusters[victim.To]
		if m.keptBy(pod) != "" {
			continue
		}
		moved, err := m.snapshot.Move(ctx, cluster.Object.Name, cluster.Home(), pod)
		switch {
		case err != nil:
			return nil, err
		case moved:
			kept = append(kept, victim)
		default:
			m.held[m.observed.UID] = rebalance.NoRoom.String()
		}
	}
	return kept, nil
}

// stuck returns how many of the pods that found no node are not replacements of evicted ones: those
// that found none before the first eviction.
func (m *mover) stuck(pending int) int {
	first, known := m.Simulation.stuck[m.observed.UID]
	if !known {
		first = pending
		m.Simulation.stuck[m.observed.UID] = first
	}
	return min(first, pending)
}

// assess compares the replicas with the shares.
func (m *mover) assess() {
	m.bound = m.observed.Bound()
	m.shares = m.policy.Shares(m.observed, m.bound, m.places.ClusterOf)
	for i, pod := range m.bound {
		node, cluster := m.places.Place(pod.Spec.NodeName)
		seen := &m.shares.Pods[i]
		seen.Cost, seen.Age = stamp.ParseDeletionCost(pod.Annotations[corev1.PodDeletionCost]), longAgo
		refused := rebalance.Movable
		if len(m.budgets) > 0 && m.keptBy(pod) != "" {
			refused = rebalance.Refused
		}
		seen.Keep = m.policy.KeepOf(&m.observed.Workload, pod, node, m.places.Cluster(cluster), m.options.Schedulers, refused)
	}
	m.clusters = make([]*topology.Cluster, m.policy.Order.Len())
	for i := range m.clusters {
		m.clusters[i] = m.places.Cluster(m.policy.Order.Name(i))
	}
}

// restamp gives pods the places that they should have.
func (m *mover) restamp() error {
	for i, place := range m.shares.Rank(m.bound, m.observed.Replicas) {
		pod := m.bound[i]
		changes := m.policy.Restamped(&m.shares.Pods[i], place, pod)
		if len(changes) == 0 {
			continue
		}
		stamped := pod.DeepCopy()
		if stamped.Annotations == nil {
			stamped.Annotations = map[string]string{}
		}
		for key, value := range changes {
			if text, some := value.(string); some {
				stamped.Annotations[key] = text
			} else {
				delete(stamped.Annotations, key)
			}
		}
		if err := m.putPod(stamped); err != nil {
			return err
		}
		m.bound[i] = stamped
	}
	return nil
}

// roomIn returns how many replacements of a pod a cluster takes.
func (m *mover) roomIn(ctx context.Context, cluster int, pod *corev1.Pod, limit int) (int, error) {
	if !m.clusters[cluster].TakesPods() || limit <= 0 || !m.suits(m.clusters[cluster].Object, pod) {
		return 0, nil
	}
	room, err := m.snapshot.RoomFor(ctx, m.clusters[cluster].Object.Name, m.clusters[cluster].Home(), pod, limit)
	return room.Copies, err
}

// suits reports whether a cluster meets the constraints of the pod and its policy.
func (m *mover) suits(cluster *berthv1alpha1.Cluster, pod *corev1.Pod) bool {
	wish, err := modelpolicy.WishOf(pod, m.policy)
	if err != nil || wish == nil {
		return err == nil
	}
	candidate := rank.ClusterCandidate(cluster, pod.Namespace)
	return wish.Constraints.Admits(&candidate)
}

// evict removes a pod. Its controller makes another one.
func (s *Simulation) evict(pod *corev1.Pod, to, reason string) error {
	s.evicted = append(s.evicted, Eviction{
		Namespace: pod.Namespace, Pod: pod.Name, Node: pod.Spec.NodeName, Cluster: s.clusterOf(pod), To: to, Reason: reason,
	})
	return s.dropPod(pod)
}
