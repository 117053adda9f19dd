// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package homescheduler

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/fence"
	"berth.dev/berth/pkg/generated/clientset/versioned"
	"berth.dev/berth/pkg/plugins/internal/catalog"
)

const (
	// pollInterval is the pause between two looks for what there is to adopt or to acknowledge: the
	// longest that a change waits.
	pollInterval = 200 * time.Millisecond
	// requestTimeout bounds a request, or a few small ones.
	requestTimeout = 10 * time.Second
	// registerInterval is the pause between two attempts to register.
	registerInterval = time.Second
)

// Background is what the plugin needs outside scheduling cycles.
type Background struct {
	// Client reads pods from the API server, Berth writes the Scheduler.
	Client kubernetes.Interface
	Berth  versioned.Interface
	// Fence tells whether this process is the leader.
	Fence *fence.Fence
	// Lease is the lease that it registers with. Without a name it does not register: whoever makes
	// its Scheduler also deletes it, and a process that is about to be stopped after that must not
	// make it again.
	Lease berthv1alpha1.LeaseReference
	// Node returns a node that the informer knows, nil if it does not.
	Node func(name string) *corev1.Node
	// Waiting returns the pods that have no node.
	Waiting func() []*corev1.Pod
	// Wake lets pods be tried.
	Wake func([]*corev1.Pod)
	// Tell records an event about an object.
	Tell func(regarding *corev1.ObjectReference, reason, note string)
}

// Run registers the Scheduler of this process once it is the leader, unless others do, adopts the
// clusters that come to it, and acknowledges those that it is to give up, until the context ends.
func (s *Shared) Run(ctx context.Context, b *Background) {
	go s.Catalog.Run(ctx)
	if s.Self == "" {
		s.reportRole(ctx, b)
		return
	}
	select {
	case <-ctx.Done():
		return
	case <-b.Fence.Opened():
	}
	if b.Lease.Name != "" {
		s.register(ctx, b)
	}
	// To adopt means to read all pods, which can take minutes. Nothing else waits for that.
	go wait.UntilWithContext(ctx, func(ctx context.Context) { s.adoptNew(ctx, b) }, pollInterval)
	go wait.UntilWithContext(ctx, func(ctx context.Context) { s.recheck(ctx, b) }, recheckPause)
	go wait.UntilWithContext(ctx, func(context.Context) { s.wake(b) }, pollInterval)
	wait.UntilWithContext(ctx, func(ctx context.Context) { s.acknowledgeDrains(ctx, b) }, pollInterval)
}

// adoptNew adopts the clusters that have come to this process. As long as there is no other
// scheduler it need not.
func (s *Shared) adoptNew(ctx context.Context, b *Background) {
	homes := s.Catalog.Snapshot()
	if homes == nil || s.Membership() == nil || !s.applies(homes) {
		return // nobody can tell yet which node lies in which cluster
	}
	due := s.toAdopt(homes)
	if len(due) == 0 {
		return
	}
	began := s.Clock.Now()
	if err := s.adopt(ctx, b, due); err != nil {
		klog.FromContext(ctx).Error(err, "Cannot read what runs on clusters that came to this scheduler, trying again")
		select {
		case <-ctx.Done():
		case <-s.Clock.After(max(adoptPause, s.Clock.Since(began))):
		}
	}
}

// wake lets pods be tried that may find a node in what is adopted.
func (s *Shared) wake(b *Background) {
	if homes := s.Catalog.Snapshot(); homes != nil && s.applies(homes) && s.wakeDue(s.Clock.Now()) {
		b.Wake(s.Mine(homes, b.Waiting()))
	}
}

// acknowledgeDrains acknowledges what this process is to give up, and that it leaves alone what
// nobody has.
func (s *Shared) acknowledgeDrains(ctx context.Context, b *Background) {
	homes := s.Catalog.Snapshot()
	if homes == nil || s.Membership() == nil {
		return
	}
	if err := s.acknowledge(ctx, b, homes); err != nil {
		klog.FromContext(ctx).Error(err, "Cannot acknowledge that clusters are drained")
	}
}

// Mine returns the pods that this process is to place, of all that wait, whose slice it uses.
func (s *Shared) Mine(homes *catalog.Homes, waiting []*corev1.Pod) []*corev1.Pod {
	return slices.DeleteFunc(waiting, func(pod *corev1.Pod) bool { return !s.owns(homes, pod) })
}

// answers returns the clusters that this scheduler is to give up and where nothing of its own is
// under way, nor of the process before, and whether nothing is where nobody has the cluster either.
// What that process has acknowledged stays so.
func (s *Shared) answers(b *Background) (drained []berthv1alpha1.Drained, sharing bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	// As of now, and under the lock: see reserve.
	homes := s.Catalog.Snapshot()
	s.forgetLocked(homes)
	busy := map[string]bool{}
	for _, to := range s.underWay {
		busy[to.cluster] = true
		if node := b.Node(to.node); node != nil {
			busy[s.clusterOf(node)] = true
		}
	}
	return s.drainedLocked(homes, busy), homes.Shared && (homes.Sharing || s.leavesAloneLocked(homes, busy))
}

// leavesAloneLocked reports whether nothing is under way to clusters that this scheduler does not
// have. While it was the only one it used all. The caller holds the lock.
func (s *Shared) leavesAloneLocked(homes *catalog.Homes, busy map[string]bool) bool {
	for cluster := range busy {
		if homes.Clusters[cluster].Scheduler != s.Self {
			return false
		}
	}
	return (homes.Registered || homes.Leaving) && s.Late.Over()
}

// drainedLocked returns the clusters that this scheduler is to give up and where it is not busy.
// The caller holds the lock.
func (s *Shared) drainedLocked(homes *catalog.Homes, busy map[string]bool) []berthv1alpha1.Drained {
	var list []berthv1alpha1.Drained
	for name, h := range homes.Clusters {
		answer := berthv1alpha1.Drained{Cluster: name, Revision: h.Revision}
		if h.Scheduler != s.Self || !h.Draining || busy[name] {
			continue
		}
		if slices.Contains(homes.Drained, answer) || s.Late.Over() {
			list = append(list, answer)
		}
	}
	slices.SortFunc(list, func(x, y berthv1alpha1.Drained) int { return strings.Compare(x.Cluster, y.Cluster) })
	return list
}

// acknowledge writes which clusters are drained, and whether those that nobody has are left alone,
// while the lease is held.
func (s *Shared) acknowledge(ctx context.Context, b *Background, homes *catalog.Homes) error {
	drained, sharing := s.answers(b)
	if equality.Semantic.DeepEqual(drained, homes.Drained) && sharing == homes.Sharing {
		return nil
	}
	patch, err := json.Marshal(map[string]any{"status": map[string]any{"drained": drained, "sharing": sharing}})
	if err != nil {
		return fmt.Errorf("writing the status of scheduler %s: %w", s.Self, err)
	}
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	guarded, leave, err := b.Fence.Enter(ctx)
	if err != nil {
		return nil // whoever is the leader does it
	}
	defer leave()
	_, err = b.Berth.BerthV1alpha1().Schedulers().Patch(guarded, s.Self, types.MergePatchType, patch, metav1.PatchOptions{}, "status")
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("writing the status of scheduler %s: %w", s.Self, err)
	}
	return nil
}

// register makes the Scheduler of this process, if there is none. One that is deleted later is not
// made again: that is how a scheduler is told to give everything up.
func (s *Shared) register(ctx context.Context, b *Background) {
	lease := b.Lease
	object := &berthv1alpha1.Scheduler{
		ObjectMeta: metav1.ObjectMeta{Name: s.Self}, Spec: berthv1alpha1.SchedulerSpec{Weight: 1, Lease: &lease},
	}
	logger := klog.FromContext(ctx)
	for told := false; ; told = true {
		_, err := b.Berth.BerthV1alpha1().Schedulers().Create(ctx, object, metav1.CreateOptions{})
		if err == nil || apierrors.IsAlreadyExists(err) || ctx.Err() != nil {
			return
		}
		if !told {
			logger.Error(err, "Cannot register the scheduler, trying again", "scheduler", s.Self)
		}
		select {
		case <-ctx.Done():
			return
		case <-s.Clock.After(registerInterval):
		}
	}
}
