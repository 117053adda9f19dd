// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package plugins

import (
	"context"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/utils/clock"

	"berth.dev/berth/pkg/fence"
	"berth.dev/berth/pkg/generated/clientset/versioned"
	"berth.dev/berth/pkg/plugins/internal/catalog"
	"berth.dev/berth/pkg/plugins/internal/guard"
	"berth.dev/berth/pkg/plugins/internal/owners"
	"berth.dev/berth/pkg/plugins/internal/view"
	"berth.dev/berth/pkg/plugins/nodegrouppolicy"
	"berth.dev/berth/pkg/stamp"
)

// State is what the plugins of one process share. The framework makes every plugin once for each profile, and before the
// process is the leader, so nothing in here writes or blocks until Run is called.
type State struct {
	fence        *fence.Fence
	client       versioned.Interface
	reservations *view.Reservations
	retries      *nodegrouppolicy.Retries

	mu        sync.Mutex
	shared    *nodegrouppolicy.Shared
	owners    *owners.Owners
	podSynced cache.InformerSynced
	handle    fwk.Handle
}

// NewState returns the state of one scheduler process. The fence guards what only the leader may write. The client reads
// Berth's kinds; nil makes one from the scheduler's own kubeconfig.
func NewState(leader *fence.Fence, client versioned.Interface) *State {
	nodegrouppolicy.RegisterMetrics()
	guard.RegisterMetrics()
	return &State{
		fence: leader, client: client, reservations: view.NewReservations(), retries: nodegrouppolicy.NewRetries(),
	}
}

// prepare makes what the plugins share on the first call, and returns the same on every further one. The patience of the
// first profile counts.
func (s *State) prepare(handle fwk.Handle, patience time.Duration) (*nodegrouppolicy.Shared, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.shared != nil {
		return s.shared, nil
	}
	s.handle = handle
	if s.client == nil {
		config := rest.CopyConfig(handle.KubeConfig())
		// Custom resources have no protobuf form.
		config.ContentType, config.AcceptContentTypes = runtime.ContentTypeJSON, runtime.ContentTypeJSON
		client, err := versioned.NewForConfig(config)
		if err != nil {
			return nil, fmt.Errorf("making the client of Berth's kinds: %w", err)
		}
		s.client = client
	}
	factory := handle.SharedInformerFactory()
	ownership, err := owners.New(factory, s.wake)
	if err != nil {
		return nil, err
	}
	pods, err := factory.Core().V1().Pods().Informer().AddEventHandler(s.forgetter())
	if err != nil {
		return nil, fmt.Errorf("watching pods: %w", err)
	}
	definitions, err := catalog.New(s.client, clock.RealClock{}, patience, s.wakeConcerned)
	if err != nil {
		return nil, err
	}
	s.owners, s.podSynced = ownership, pods.HasSynced
	s.shared = &nodegrouppolicy.Shared{
		Catalog: definitions, Owners: ownership, View: view.New(s.reservations, ownership),
		Reservations: s.reservations, Retries: s.retries,
	}
	return s.shared, nil
}

// Run watches Clusters and policies until the context ends. It must be called after the scheduler has been set up, since a
// change wakes pods and there is no queue to wake them in before.
func (s *State) Run(ctx context.Context) {
	s.mu.Lock()
	shared, podSynced := s.shared, s.podSynced
	s.mu.Unlock()
	if shared == nil || !cache.WaitForCacheSync(ctx.Done(), podSynced) {
		return
	}
	shared.Catalog.Run(ctx)
}

// wakeConcerned wakes the pods that a change of Clusters or policies may concern.
func (s *State) wakeConcerned(before, after *catalog.Snapshot) {
	namespaces, all := catalog.ChangedNamespaces(before, after)
	if all {
		s.wake(s.owners.Pending(""))
		return
	}
	for namespace := range namespaces {
		s.wake(s.owners.Pending(namespace))
	}
}

// wake moves pods to the queue of those to be scheduled next, whatever they wait for.
func (s *State) wake(pods []*corev1.Pod) {
	if len(pods) == 0 {
		return
	}
	byName := make(map[string]*corev1.Pod, len(pods))
	for _, pod := range pods {
		byName[pod.Namespace+"/"+pod.Name] = pod
	}
	s.handle.Activate(klog.Background(), byName)
}

// forgetter drops what is remembered of pods once their stamp tells it, or when they are gone. The first update with the
// stamp does not count: the scheduler's own cache may not have seen it yet.
func (s *State) forgetter() cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{
		UpdateFunc: func(oldObj, newObj any) {
			before, okBefore := oldObj.(*corev1.Pod)
			after, okAfter := newObj.(*corev1.Pod)
			if !okBefore || !okAfter {
				return
			}
			if _, reserved := s.reservations.Get(after.UID); !reserved {
				return
			}
			_, stampedBefore := stamp.Of(before)
			if _, stamped := stamp.Of(after); stamped && stampedBefore {
				s.reservations.Drop(after.UID)
			}
		},
		DeleteFunc: func(object any) {
			if tombstone, ok := object.(cache.DeletedFinalStateUnknown); ok {
				object = tombstone.Obj
			}
			if pod, ok := object.(*corev1.Pod); ok {
				s.reservations.Drop(pod.UID)
				s.retries.Drop(pod.UID)
			}
		},
	}
}
