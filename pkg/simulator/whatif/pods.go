// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package whatif

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/rand"

	"berth.dev/berth/pkg/model/workload"
)

// putPod takes up a pod, or replaces it. One that has finished or terminates is as good as gone.
func (s *Simulation) putPod(pod *corev1.Pod) error {
	if !workload.Lives(pod) {
		return nil
	}
	if err := s.snapshot.Put(pod); err != nil {
		return err
	}
	s.know(pod)
	return nil
}

// know notes a pod that the snapshot has.
func (s *Simulation) know(pod *corev1.Pod) {
	key := keyOf(pod)
	if before := s.pods[key]; before == nil {
		s.quotas.count(pod, 1)
		s.priorities[priorityOf(pod)]++
	}
	s.pods[key] = pod
	if ref := metav1.GetControllerOfNoCopy(pod); ref != nil {
		if s.byOwner[ref.UID] == nil {
			s.byOwner[ref.UID] = map[string]*corev1.Pod{}
		}
		s.byOwner[ref.UID][pod.Name] = pod
	}
	if _, known := s.serial[pod.UID]; !known {
		s.serial[pod.UID] = len(s.serial)
	}
	s.version++
}

// dropPod forgets a pod.
func (s *Simulation) dropPod(pod *corev1.Pod) error {
	if err := s.snapshot.Drop(pod); err != nil {
		return err
	}
	s.quotas.count(pod, -1)
	s.priorities[priorityOf(pod)]--
	delete(s.draining, pod.UID)
	delete(s.pods, keyOf(pod))
	if ref := metav1.GetControllerOfNoCopy(pod); ref != nil {
		delete(s.byOwner[ref.UID], pod.Name)
	}
	delete(s.tried, pod.UID)
	s.version++
	return cmp.Or(s.detach(pod), s.releaseClaims(pod))
}

// podsOf returns the pods that an object controls, in the order of their names.
func (s *Simulation) podsOf(owner types.UID) []*corev1.Pod {
	return slices.SortedFunc(maps.Values(s.byOwner[owner]), func(a, b *corev1.Pod) int { return cmp.Compare(a.Name, b.Name) })
}

// create has the API server make a pod of a controller. It reports whether it did; if not, the
// controller would try again, and the refusal is noted.
func (s *Simulation) create(ctx context.Context, owner object, pod *corev1.Pod, missing int) (bool, error) {
	if s.made++; s.made > maxPods {
		return false, fmt.Errorf("%s: a simulation makes at most %d pods", title(owner), maxPods)
	}
	pod.Namespace = owner.GetNamespace()
	pod.UID = types.UID(fmt.Sprintf("pod.%s.%s.%d", pod.Namespace, pod.Name, s.made))
	created, err := s.server.Pod(ctx, pod)
	if err == nil {
		err = s.quotas.admit(created)
	}
	if err != nil {
		s.refused[owner.GetUID()] = refusal{missing, err.Error()}
		return false, nil //nolint:nilerr // a refusal is a result of the simulation
	}
	delete(s.refused, owner.GetUID())
	return true, s.putPod(created)
}

// randomName returns a name as generateName makes it, but always the same of the same controller.
func (s *Simulation) randomName(owner object, prefix string) string {
	for n := len(s.byOwner[owner.GetUID()]); ; n++ {
		name := prefix + rand.SafeEncodeString(fmt.Sprintf("%05d", n))
		if s.pods[types.NamespacedName{Namespace: owner.GetNamespace(), Name: name}] == nil {
			return name
		}
	}
}

// tooMany returns an error if a controller wants more pods than a simulation makes.
func (s *Simulation) tooMany(owner object, wanted int) error {
	if wanted <= maxPods {
		return nil
	}
	return fmt.Errorf("%s wants %d pods: a simulation makes at most %d", title(owner), wanted, maxPods)
}

// title names an object for people.
func title(o object) string {
	_, identity, err := identify(o)
	if err != nil {
		return o.GetName()
	}
	return identity.String()
}
