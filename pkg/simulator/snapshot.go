// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"context"
	"fmt"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/utils/clock"

	modelpolicy "berth.dev/berth/pkg/model/policy"
	"berth.dev/berth/pkg/model/workload"
	"berth.dev/berth/pkg/plugins"
)

// Snapshot is a cluster at one moment, and the profile of a scheduler that looks at it. It is not
// safe for concurrent use; several may live side by side.
type Snapshot struct {
	framework framework.Framework
	informers *factory
	// devices are nil if the feature is off.
	devices *devices
	nodes   *nodes
	state   *plugins.Offline
	logger  klog.Logger
	stop    context.CancelFunc
	wakes   wakes

	// serial numbers the copies that were ever placed, so that no two have the same UID.
	serial int64
	// begun is how many pods were bound.
	begun int
	// undo are the steps since the snapshot was made or committed.
	undo  []func()
	forks []fork

	// policies reports that there are policies, which count copies too.
	policies bool
	// membership is nil if it is to be worked out anew. The Scheduler whose grants count is
	// scheduler, empty for all of them.
	membership *membership
	scheduler  string
	// shortages are those of the pods that wait for a node, by namespace, and held are the makers of
	// those that are held back.
	shortages map[string]modelpolicy.Shortages
	held      map[types.UID]bool
	versions  versions
	answers   map[question]*answer
}

// New returns an empty snapshot for a profile of a scheduler's configuration; see Profile. Close
// ends it.
func New(profile *Profile, clk clock.WithTickerAndDelayedExecution) (*Snapshot, error) {
	ctx, stop := context.WithCancel(klog.NewContext(context.Background(), logr.Discard()))
	s := &Snapshot{
		nodes: newNodes(), state: plugins.NewOffline(clk), logger: klog.FromContext(ctx), stop: stop, versions: newVersions(),
	}
	if err := profile.start(ctx, s); err != nil {
		stop()
		return nil, err
	}
	return s, nil
}

// Close ends what the plugins may have begun.
func (s *Snapshot) Close() {
	s.stop()
}

// Objects are Berth's own objects. They must not be changed afterwards.
type Objects = plugins.Objects

// SetObjects replaces Berth's own objects.
func (s *Snapshot) SetObjects(objects *Objects) {
	s.state.Set(objects)
	s.policies = len(objects.Policies) > 0
	s.versions.change()
	s.membership = nil
}

// Put adds an object of Kubernetes, or replaces it. A node keeps its pods; a pod that has a node
// takes part of it unless it has finished. Objects must not be changed afterwards. Put must not be
// called within a fork.
func (s *Snapshot) Put(object runtime.Object) error {
	switch o := object.(type) {
	case *corev1.Node:
		var before *corev1.Node
		if known := s.nodes.byName[o.Name]; known != nil {
			before = known.Node()
		}
		if err := s.nodes.put(o); err != nil {
			return err
		}
		s.noteNode(o, before)
	case *corev1.Pod:
		if err := s.Drop(o); err != nil {
			return err
		}
		if o.Spec.NodeName != "" && !workload.Finished(o) {
			s.notePod(o)
			if err := s.nodes.add(o); err != nil {
				return err
			}
		}
	case *storagev1.VolumeAttachment:
		s.versions.changeIn(s.members().of[o.Spec.NodeName])
	default:
		s.versions.change()
	}
	if err := s.informers.put(object); err != nil {
		return fmt.Errorf("adding %T to the snapshot: %w", object, err)
	}
	return nil
}

// Drop removes an object of Kubernetes; one that is not there is no error. The node of a pod takes
// others in its place.
func (s *Snapshot) Drop(object runtime.Object) error {
	if pod, ok := object.(*corev1.Pod); ok {
		known := s.informers.pod(pod.Namespace, pod.Name)
		if known == nil {
			return nil
		}
		if known.Spec.NodeName != "" && !workload.Finished(known) {
			s.notePod(known)
			if err := s.nodes.remove(s.logger, known); err != nil {
				return err
			}
		}
		return s.informers.drop(known)
	}
	if attachment, ok := object.(*storagev1.VolumeAttachment); ok {
		s.versions.changeIn(s.members().of[attachment.Spec.NodeName])
		return s.informers.drop(object)
	}
	s.versions.change()
	if node, ok := object.(*corev1.Node); ok {
		s.nodes.drop(node.Name)
		if s.membership != nil {
			s.membership.drop(node.Name)
		}
	}
	return s.informers.drop(object)
}

// Fork begins a what-if, within another one if there is one.
func (s *Snapshot) Fork() {
	s.forks = append(s.forks, fork{from: len(s.undo), versions: s.versions.clone()})
}

// fork is where a fork begins in the steps that can be undone, and the versions then.
type fork struct {
	from     int
	versions versions
}

// Revert ends the innermost fork and undoes what was placed in it.
func (s *Snapshot) Revert() {
	ended := s.endFork()
	s.rollback(ended.from)
	s.versions.restore(&ended.versions)
}

// Commit ends the innermost fork and keeps what was placed in it.
func (s *Snapshot) Commit() {
	s.endFork()
	if len(s.forks) == 0 {
		s.undo = nil
	}
}

// mark returns how far the innermost fork has come, for rollback.
func (s *Snapshot) mark() int { return len(s.undo) }

// rollback undoes what was placed after the mark, which is of the innermost fork.
func (s *Snapshot) rollback(mark int) {
	for len(s.undo) > mark {
		last := len(s.undo) - 1
		undo := s.undo[last]
		s.undo = s.undo[:last]
		undo()
	}
}

// undoBetween undoes what was placed after one mark of the innermost fork and before another. What
// was placed after that stays, so from there on the snapshot is never again as it was at any
// version until the end of the fork.
func (s *Snapshot) undoBetween(from, to int) {
	for i := to - 1; i >= from; i-- {
		s.undo[i]()
		s.undo[i] = func() { s.versions.change() }
	}
	s.versions.change()
	for i := to; i < len(s.undo); i++ {
		undo := s.undo[i]
		s.undo[i] = func() {
			undo()
			s.versions.change()
		}
	}
}

func (s *Snapshot) endFork() fork {
	last := len(s.forks) - 1
	ended := s.forks[last]
	s.forks = s.forks[:last]
	return ended
}

// evict takes a pod off its node until the fork is reverted, as if it had gone.
func (s *Snapshot) evict(pod *corev1.Pod) error {
	known := s.informers.pod(pod.Namespace, pod.Name)
	if known == nil || known.UID != pod.UID || known.Spec.NodeName == "" || workload.Finished(known) {
		return nil
	}
	if err := s.nodes.remove(s.logger, known); err != nil {
		return err
	}
	unnote := s.notePod(known)
	if len(s.forks) > 0 {
		s.undo = append(s.undo, func() {
			if err := s.nodes.add(known); err != nil {
				panic(err) // it was there before
			}
			unnote()
		})
	}
	return nil
}

// place takes up a node for a pod, as the scheduler does when it assumes one.
func (s *Snapshot) place(ctx context.Context, state fwk.CycleState, pod *corev1.Pod) *fwk.Status {
	node := pod.Spec.NodeName
	if err := s.nodes.add(pod); err != nil {
		return fwk.AsStatus(err)
	}
	status := s.framework.RunReservePluginsReserve(ctx, state, pod, node)
	unnote := s.notePod(pod)
	undo := func() {
		defer unnote()
		s.framework.RunReservePluginsUnreserve(ctx, state, pod, node)
		if err := s.nodes.remove(s.logger, pod); err != nil {
			panic(err) // it was added above
		}
	}
	if !status.IsSuccess() {
		undo()
		return status
	}
	if len(s.forks) > 0 {
		s.undo = append(s.undo, undo)
	}
	return nil
}
