// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package whatif

import (
	"cmp"
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/workload"
	"berth.dev/berth/pkg/simulator"
)

// class are pods that find the same nodes: those of one revision, if they have no numbers.
type class struct {
	owner types.UID
	hash  string
}

// classOf returns the class of a pod. It is false for pods that have a class of their own.
func classOf(pod *corev1.Pod) (class, bool) {
	revision, owned := workload.RevisionOf(pod)
	if !owned || revision.Kind == nil {
		return class{}, false
	}
	if _, numbered := workload.Ordinal(pod, 0); numbered {
		return class{}, false
	}
	return class{revision.Owner, revision.Hash}, true
}

// schedule gives nodes to the pods that wait, in the order of the scheduler's queue. Who has been
// tried in vain is tried again when something has changed.
func (s *Simulation) schedule(ctx context.Context) error {
	for _, pod := range s.queue() {
		if s.vain(pod) {
			continue
		}
		if err := s.scheduleOne(ctx, pod); err != nil {
			return err
		}
	}
	return nil
}

// queue returns the pods that wait.
func (s *Simulation) queue() []*corev1.Pod {
	var waiting []*corev1.Pod
	for _, pod := range s.pods {
		if pod.Spec.NodeName == "" {
			waiting = append(waiting, pod)
		}
	}
	slices.SortFunc(waiting, func(a, b *corev1.Pod) int {
		return cmp.Or(
			cmp.Compare(priorityOf(b), priorityOf(a)), a.CreationTimestamp.Compare(b.CreationTimestamp.Time),
			cmp.Compare(s.serial[a.UID], s.serial[b.UID]),
		)
	})
	return waiting
}

func priorityOf(pod *corev1.Pod) int32 {
	if pod.Spec.Priority == nil {
		return 0
	}
	return *pod.Spec.Priority
}

// vain reports whether a pod, or one like it, has been tried since the last change. Its reasons are
// those of that attempt.
func (s *Simulation) vain(pod *corev1.Pod) bool {
	of, shared := classOf(pod)
	if known, found := s.classes[of]; shared && found && known.version == s.version {
		s.tried[pod.UID] = known
		return true
	}
	known, found := s.tried[pod.UID]
	return found && known.version == s.version
}

func (s *Simulation) scheduleOne(ctx context.Context, pod *corev1.Pod) error {
	outcome, err := s.snapshot.TrySchedule(ctx, s.asBerths(pod))
	if err != nil {
		return err
	}
	if outcome.Node == "" && s.outranks(pod) {
		if outcome, err = s.preempt(ctx, pod, outcome); err != nil {
			return err
		}
	}
	if outcome.Node == "" {
		failed := verdict{s.version, outcome.Reasons}
		s.tried[pod.UID] = failed
		if of, shared := classOf(pod); shared {
			s.classes[of] = failed
		}
		return nil
	}
	bound, err := s.snapshot.Bind(ctx, pod, outcome)
	if err != nil {
		return err
	}
	delete(s.tried, pod.UID)
	s.know(bound)
	return nil
}

// outranks reports whether there are pods of a lower priority than that of a pod, which may make
// others make way.
func (s *Simulation) outranks(pod *corev1.Pod) bool {
	if ptr.Deref(pod.Spec.PreemptionPolicy, corev1.PreemptLowerPriority) == corev1.PreemptNever {
		return false
	}
	for priority, pods := range s.priorities {
		if pods > 0 && priority < priorityOf(pod) {
			return true
		}
	}
	return false
}

// preempt deletes the pods that make way for one, if that helps, and returns what comes of another
// attempt of that one, which follows before anybody else takes their place.
func (s *Simulation) preempt(ctx context.Context, pod *corev1.Pod, failed *simulator.Outcome) (*simulator.Outcome, error) {
	asked := s.asBerths(pod)
	victims, err := s.snapshot.Preempt(ctx, asked)
	if err != nil || len(victims) == 0 {
		return failed, err
	}
	for _, victim := range victims {
		if err := s.evict(victim, "", "preempted by pod "+keyOf(pod).String()); err != nil {
			return nil, err
		}
	}
	return s.snapshot.TrySchedule(ctx, asked)
}

// asBerths returns the pod as Berth's plugins are to see it: that of another scheduler is under no
// policy.
func (s *Simulation) asBerths(pod *corev1.Pod) *corev1.Pod {
	if slices.Contains(s.options.Schedulers, pod.Spec.SchedulerName) {
		return pod
	}
	foreign := pod.DeepCopy()
	metav1.SetMetaDataAnnotation(&foreign.ObjectMeta, berthv1alpha1.PolicyAnnotation, berthv1alpha1.PolicyNone)
	return foreign
}
