// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build kubernetes_1_37

package minor

import (
	"fmt"

	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// Minor is the number of the minor.
const Minor = 37

// SharedLister has what plugins ask a snapshot for beside nodes and volumes: no groups of pods. It
// is for types to embed.
type SharedLister struct{ groups }

// PodGroups finds no groups.
func (SharedLister) PodGroups() fwk.PodGroupLister { return none(fwk.PodGroupLister.Get) }

// CompositePodGroups finds no groups of groups.
func (SharedLister) CompositePodGroups() fwk.CompositePodGroupLister {
	return none(fwk.CompositePodGroupLister.Get)
}

// CompositePodGroupStates finds no groups of groups.
func (SharedLister) CompositePodGroupStates() fwk.CompositePodGroupStateLister {
	return none(fwk.CompositePodGroupStateLister.Get)
}

// NewInformerFactory returns the informers that a scheduler needs.
func NewInformerFactory(client kubernetes.Interface) informers.SharedInformerFactory {
	return scheduler.NewInformerFactory(client, 0, nil)
}

// Guard puts a doorman at the exit of the scheduler's queue. It must be called before the scheduler
// runs. Groups of pods pass.
func (d *Doorman) Guard(s *scheduler.Scheduler) {
	next := s.NextEntity
	s.NextEntity = func(logger klog.Logger) (framework.QueuedEntityInfo, error) {
		for {
			entity, err := next(logger)
			info, single := entity.(*framework.QueuedPodInfo)
			if err != nil || !single || info == nil || !d.Refuses(info.Pod) {
				return entity, err
			}
			d.readmit(logger, s, info.Pod)
		}
	}
}

// Pop takes the next pod out of the scheduler's queue. A group of pods is an error.
func Pop(logger klog.Logger, s *scheduler.Scheduler) (*framework.QueuedPodInfo, error) {
	entity, err := s.NextEntity(logger)
	if err != nil {
		return nil, err
	}
	pod, ok := entity.(*framework.QueuedPodInfo)
	if !ok {
		return nil, fmt.Errorf("%s/%s is no pod", entity.GetNamespace(), entity.GetName())
	}
	return pod, nil
}
