// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"berth.dev/berth/pkg/model/demand"
)

// Room is how many more copies of a pod a cluster takes.
type Room struct {
	// Copies is that number, at most the limit that was asked for.
	Copies int
	// LimitedBy says what stops the next copy, in the scheduler's own words; empty if the limit was
	// reached.
	LimitedBy string
}

// Room returns how many copies of the pod the nodes of a Cluster take at once, beside what is
// there. Where the order of placing matters (topology spread, affinity between pods, volumes that
// are bound when used) the number is one that the scheduler reaches if it goes through the nodes by
// name, so there may be more room than that; if the first copy decides where the others can go, it
// is the least of what follows from each place that it can have. Where it does not matter, an
// answer is remembered for as long as nothing changes that it depends on; the pod must not be
// changed afterwards.
func (s *Snapshot) Room(ctx context.Context, cluster string, pod *corev1.Pod, limit int) (Room, error) {
	asked := question{cluster, s.scheduler, types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}}
	if known, found := s.recall(asked, pod, limit); found {
		return known, nil
	}
	room, err := s.least(ctx, cluster, pod, limit)
	if err == nil && !interacts(pod) {
		s.remember(asked, pod, limit, room)
	}
	return room, err
}

// least counts copies that do not stay.
func (s *Snapshot) least(ctx context.Context, cluster string, pod *corev1.Pod, limit int) (Room, error) {
	nodes := s.members().ready[cluster]
	starts := s.starts(pod, nodes)
	if len(starts) == 0 {
		starts = append(starts, nil)
	}
	least := Room{Copies: limit + 1}
	for _, first := range starts {
		c := count{pod: pod, cluster: nodes, first: first}
		devices, err := s.lower(ctx, &least, c, cluster, limit)
		if err != nil {
			return Room{}, err
		}
		if len(first) != 1 || !s.bindsTogether(pod) {
			continue
		}
		confined, err := s.confinements(pod, slices.Collect(maps.Keys(first))[0], nodes, devices)
		if err != nil {
			return Room{}, fmt.Errorf("looking for what pods %s/%s may share: %w", pod.Namespace, pod.Name, err)
		}
		for _, within := range confined {
			c.cluster = within
			if _, err := s.lower(ctx, &least, c, cluster, limit); err != nil {
				return Room{}, err
			}
		}
	}
	return least, nil
}

// lower counts copies that do not stay, and takes that for the least if it is less. It returns
// which devices they have taken.
func (s *Snapshot) lower(ctx context.Context, least *Room, c count, cluster string, limit int) (*taken, error) {
	limit = min(limit, least.Copies)
	once := func(limit int) (*count, Room, error) {
		s.Fork()
		defer s.Revert()
		tried := c
		tried.limit = limit
		room, err := s.fill(ctx, &tried, cluster)
		return &tried, room, err
	}
	tried, room, err := once(limit)
	if err != nil {
		return nil, err
	}
	contest, err := s.contestOf(c.pod, c.cluster, &tried.devices)
	if err != nil {
		return nil, fmt.Errorf("looking for what pods %s/%s may take: %w", c.pod.Namespace, c.pod.Name, err)
	}
	if more := contest.enough(limit); room.Copies == limit && more > limit {
		if tried, room, err = once(more); err != nil {
			return nil, err
		}
	}
	if room.Copies = min(limit, contest.worst(room.Copies)); room.Copies == limit {
		room.LimitedBy = ""
	}
	if room.Copies < least.Copies {
		*least = room
	}
	return &tried.devices, nil
}

// Fill is Room, but for that the copies stay where they were placed until the fork that it is
// called in is reverted.
func (s *Snapshot) Fill(ctx context.Context, cluster string, pod *corev1.Pod, limit int) (Room, error) {
	nodes := s.members().ready[cluster]
	least := Room{Copies: limit}
	if OwnsClaims(pod) || len(s.starts(pod, nodes)) > 0 {
		var err error
		if least, err = s.least(ctx, cluster, pod, limit); err != nil {
			return Room{}, err
		}
	}
	filled, err := s.fill(ctx, &count{pod: pod, limit: least.Copies, cluster: nodes, stay: true}, cluster)
	if err == nil && filled.Copies == least.Copies {
		filled.LimitedBy = least.LimitedBy
	}
	return filled, err
}

// fill counts copies on nodes of a Cluster. Those that are to stay are placed.
func (s *Snapshot) fill(ctx context.Context, c *count, cluster string) (Room, error) {
	c.Snapshot, c.ctx, c.anew = s, klog.NewContext(ctx, s.logger), interacts(c.pod)
	if err := c.run(); err != nil {
		return Room{}, fmt.Errorf("counting the room of cluster %s for pod %s/%s: %w", cluster, c.pod.Namespace, c.pod.Name, err)
	}
	return c.room(), nil
}

// notReady reports whether a node is known not to be ready. Such a node runs nothing, whether it
// has been tainted yet or not.
func notReady(node *corev1.Node) bool {
	return slices.ContainsFunc(node.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status != corev1.ConditionTrue
	})
}

// interacts reports whether a copy can change for another node what the next one finds there, in
// ways that are not counted on the node itself: then what PreFilter has worked out is worked out
// anew for each copy.
func interacts(pod *corev1.Pod) bool {
	spec := &pod.Spec
	if len(spec.TopologySpreadConstraints) > 0 || len(spec.ResourceClaims) > 0 || demand.Asks(pod) {
		return true
	}
	if a := spec.Affinity; a != nil && (a.PodAffinity != nil || a.PodAntiAffinity != nil) {
		return true
	}
	for i := range spec.Volumes {
		if spec.Volumes[i].PersistentVolumeClaim != nil || spec.Volumes[i].Ephemeral != nil {
			return true
		}
	}
	return false
}

// count is one answer of Room while it is worked out.
type count struct {
	*Snapshot
	ctx   context.Context //nolint:containedctx // a count lives as long as the call
	pod   *corev1.Pod
	limit int
	// cluster are the nodes that count, and first those that the first copy tries before the others,
	// by name.
	cluster, first map[string]bool
	// names are the nodes that count, once they have been put in order.
	names []string
	anew  bool
	// stay reports that the copies are placed, and not only counted.
	stay bool

	// next is the copy that looks for a node, which is the pod itself unless it has claims of its own.
	// These are undone from the mark lent on.
	next *corev1.Pod
	lent int

	state      fwk.CycleState
	candidates []fwk.NodeInfo
	copies     int
	// devices are those that the copies have.
	devices taken
	// before is how many copies the node before has taken.
	before int
	fit    *framework.FitError
}

// prepare runs PreFilter. It reports whether any node is left.
func (c *count) prepare() (bool, error) {
	if err := c.another(); err != nil {
		return false, err
	}
	c.state = framework.NewCycleState()
	c.fit = &framework.FitError{Pod: c.pod, NumAllNodes: len(c.cluster)}
	found, rejected, err := c.Snapshot.candidates(c.ctx, c.state, c.next, c.fit)
	if c.repeats(c.fit) && !rejected {
		found = c.nodes.list
	}
	c.candidates = c.within(found, c.candidates[:0])
	if c.copies == 0 && c.first != nil {
		slices.SortStableFunc(c.candidates, func(a, b fwk.NodeInfo) int { return c.turn(a) - c.turn(b) })
	}
	return !rejected && err == nil, err
}

// another makes the next copy.
func (c *count) another() error {
	c.next, c.lent = c.pod, c.mark()
	if !OwnsClaims(c.pod) {
		return nil
	}
	c.next = c.copy()
	return c.lendClaims(c.next)
}

// copy returns a copy of the pod that is nobody else's.
func (c *count) copy() *corev1.Pod {
	copied := *c.pod
	c.serial++
	number := strconv.FormatInt(c.serial, 10)
	copied.Name, copied.UID = c.pod.Name+"-"+number, c.pod.UID+types.UID("-"+number)
	return &copied
}

// within appends to a list those of some nodes that count, in the order of their names. If all
// nodes are left, those of other Clusters are not even looked at: there may be a hundred times as
// many.
func (c *count) within(found, list []fwk.NodeInfo) []fwk.NodeInfo {
	if len(found) < len(c.nodes.list) {
		for _, info := range found {
			if c.cluster[info.Node().Name] {
				list = append(list, info)
			}
		}
		return list
	}
	if c.names == nil {
		c.names = slices.Sorted(maps.Keys(c.cluster))
	}
	for _, name := range c.names {
		if info := c.nodes.byName[name]; info != nil {
			list = append(list, info)
		}
	}
	return list
}

// turn is when a node is tried for the first copy.
func (c *count) turn(node fwk.NodeInfo) int {
	if c.first[node.Node().Name] {
		return 0
	}
	return 1
}

// run goes through the nodes until none takes a further copy. A node that is full stays full while
// only copies are added, unless copies interact.
func (c *count) run() error {
	// What the copy that found no node was lent is taken back.
	defer func() { c.rollback(c.lent) }()
	if open, err := c.prepare(); err != nil || !open {
		return err
	}
	for progress := true; progress && c.copies < c.limit; progress = progress && c.anew {
		before := c.copies
		for i := 0; i < len(c.candidates) && c.copies < c.limit; i++ {
			if open, err := c.visit(c.candidates[i]); err != nil || !open {
				return err
			}
		}
		progress = c.copies > before
	}
	return nil
}

// visit finds out how many copies a node takes. It reports whether to go on with another node.
func (c *count) visit(node fwk.NodeInfo) (bool, error) {
	if c.stay || c.anew || c.policies {
		return c.fill(node)
	}
	return true, c.tally(node)
}

// fill puts copies on a node until it takes no more. It reports whether to go on with another node.
func (c *count) fill(node fwk.NodeInfo) (bool, error) {
	for c.copies < c.limit {
		status := c.framework.RunFilterPlugins(c.ctx, c.state, c.next, node)
		if status.Code() == fwk.Error {
			return false, status.AsError()
		}
		if status.IsSuccess() {
			status = c.add(node)
		}
		if !status.IsSuccess() {
			c.fit.Diagnosis.NodeToStatus.Set(node.Node().Name, status)
			return true, nil
		}
		if c.anew {
			if open, err := c.prepare(); err != nil || !open {
				return false, err
			}
		}
	}
	return true, nil
}

// add places a further copy.
func (c *count) add(node fwk.NodeInfo) *fwk.Status {
	copied := c.next
	if copied == c.pod {
		copied = c.copy()
	}
	copied.Spec.NodeName = node.Node().Name
	if status := c.place(c.ctx, c.state, copied); !status.IsSuccess() {
		copied.Spec.NodeName = ""
		return status
	}
	if err := c.writeClaims(copied); err != nil {
		return fwk.AsStatus(err)
	}
	c.devices.note(c.Snapshot, copied)
	c.copies++
	c.lent = c.mark()
	if c.anew {
		return nil
	}
	info, err := framework.NewPodInfo(copied)
	if err != nil {
		return fwk.AsStatus(err)
	}
	return c.framework.RunPreFilterExtensionAddPod(c.ctx, c.state, c.pod, info, node)
}

func (c *count) room() Room {
	if c.copies >= c.limit {
		return Room{Copies: c.copies}
	}
	return Room{Copies: c.copies, LimitedBy: c.fit.Error()}
}
