// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package plugintest

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"berth.dev/berth/pkg/minor"
)

// Context returns a context for calls to plugins.
func (s *Scheduler) Context() context.Context {
	return klog.NewContext(s.tb.Context(), logr.Discard())
}

// Attempt is the outcome of one scheduling cycle.
type Attempt struct {
	// Node is where the pod may run; empty if it found no node.
	Node string
	// State is the state of the cycle.
	State fwk.CycleState
	// Fit says why there is no node.
	Fit *framework.FitError
	// PostFilter is what the PostFilter plugins made of that, nil if the pod found a node.
	PostFilter *fwk.Status
	// Nominated is the node that a PostFilter plugin nominated.
	Nominated string
}

// Why returns what the user is told about a failed attempt, without what PostFilter adds; empty for
// one that succeeded.
func (a *Attempt) Why() string {
	if a.Fit == nil {
		return ""
	}
	return a.Fit.Error()
}

// Reasons counts the nodes by the reason for which they were rejected.
func (a *Attempt) Reasons() map[string]int {
	reasons := map[string]int{}
	if a.Fit == nil {
		return reasons
	}
	a.Fit.Diagnosis.NodeToStatus.ForEachExplicitNode(func(_ string, status *fwk.Status) {
		for _, reason := range status.Reasons() {
			reasons[reason]++
		}
	})
	return reasons
}

// PreEnqueue asks the PreEnqueue plugins whether the pod may enter the queue.
func (s *Scheduler) PreEnqueue(pod *corev1.Pod) *fwk.Status {
	for _, plugin := range s.Framework.PreEnqueuePlugins() {
		if status := plugin.PreEnqueue(s.Context(), pod); !status.IsSuccess() {
			return status
		}
	}
	return nil
}

// Try runs a scheduling cycle of the pod up to the choice of a node, or to PostFilter if there is
// none. An error other than that no node fits ends the test.
func (s *Scheduler) Try(pod *corev1.Pod) *Attempt {
	s.tb.Helper()
	attempt, err := s.TryErr(pod)
	if err != nil {
		s.tb.Fatalf("scheduling pod %s: %v", klog.KObj(pod), err)
	}
	return attempt
}

// TryErr is Try for tests of what goes wrong.
func (s *Scheduler) TryErr(pod *corev1.Pod) (*Attempt, error) {
	s.tb.Helper()
	ctx := s.Context()
	s.Add(pod)
	attempt := &Attempt{State: framework.NewCycleState()}
	result, err := minor.Schedule(ctx, s.Scheduler, s.Framework, attempt.State, pod)
	if err == nil {
		attempt.Node = result.SuggestedHost
		return attempt, nil
	}
	if !errors.As(err, &attempt.Fit) {
		return nil, err
	}
	nominated, status := s.Framework.RunPostFilterPlugins(ctx, attempt.State, pod, attempt.Fit.Diagnosis.NodeToStatus)
	attempt.PostFilter = status
	if nominated != nil && nominated.NominatingInfo != nil {
		attempt.Nominated = nominated.NominatedNodeName
	}
	return attempt, nil
}

// Assume lets the scheduler believe that the pod runs on the node of the attempt, and reserves what
// it needs. It returns the assumed pod.
func (s *Scheduler) Assume(pod *corev1.Pod, attempt *Attempt) *corev1.Pod {
	s.tb.Helper()
	ctx := s.Context()
	assumed := pod.DeepCopy()
	assumed.Spec.NodeName = attempt.Node
	if err := s.Cache.AssumePod(klog.FromContext(ctx), assumed); err != nil {
		s.tb.Fatalf("assuming pod %s: %v", klog.KObj(pod), err)
	}
	if status := s.Framework.RunReservePluginsReserve(ctx, attempt.State, assumed, attempt.Node); !status.IsSuccess() {
		s.tb.Fatalf("reserving for pod %s: %v", klog.KObj(pod), status.AsError())
	}
	return assumed
}

// Forget takes back Assume, as the scheduler does when a binding has failed.
func (s *Scheduler) Forget(assumed *corev1.Pod, attempt *Attempt) {
	s.tb.Helper()
	ctx := s.Context()
	s.Framework.RunReservePluginsUnreserve(ctx, attempt.State, assumed, attempt.Node)
	if err := s.Cache.ForgetPod(klog.FromContext(ctx), assumed); err != nil {
		s.tb.Fatalf("forgetting pod %s: %v", klog.KObj(assumed), err)
	}
}

// Bind binds an assumed pod, and returns it as it is at the API server then.
func (s *Scheduler) Bind(assumed *corev1.Pod, attempt *Attempt) *corev1.Pod {
	s.tb.Helper()
	ctx := s.Context()
	if status := s.Framework.RunBindPlugins(ctx, attempt.State, assumed, attempt.Node); !status.IsSuccess() {
		s.tb.Fatalf("binding pod %s: %v", klog.KObj(assumed), status.AsError())
	}
	bound := assumed.DeepCopy()
	if annotations := s.bindings.last().Annotations; len(annotations) > 0 {
		if bound.Annotations == nil {
			bound.Annotations = map[string]string{}
		}
		maps.Copy(bound.Annotations, annotations)
	}
	if err := minor.FinishBinding(klog.FromContext(ctx), s.Scheduler, assumed); err != nil {
		s.tb.Fatalf("finishing the binding of pod %s: %v", klog.KObj(bound), err)
	}
	s.Add(bound)
	return bound
}

// Place schedules and binds the pod. The pod is nil if it found no node; the attempt tells why.
func (s *Scheduler) Place(pod *corev1.Pod) (*corev1.Pod, *Attempt) {
	s.tb.Helper()
	attempt := s.Try(pod)
	if attempt.Node == "" {
		return nil, attempt
	}
	return s.Bind(s.Assume(pod, attempt), attempt), attempt
}

// MustPlace is Place for pods that must find a node.
func (s *Scheduler) MustPlace(pod *corev1.Pod) *corev1.Pod {
	s.tb.Helper()
	bound, attempt := s.Place(pod)
	if bound == nil {
		s.tb.Fatalf("pod %s found no node: %s", klog.KObj(pod), attempt.Why())
	}
	return bound
}

// Hint asks a plugin whether an event of the resource should wake the pod.
func (s *Scheduler) Hint(plugin string, resource fwk.EventResource, pod *corev1.Pod, before, after any) fwk.QueueingHint {
	s.tb.Helper()
	for _, extension := range s.Framework.EnqueueExtensions() {
		if extension.Name() != plugin {
			continue
		}
		events, err := extension.EventsToRegister(s.Context())
		if err != nil {
			s.tb.Fatal(err)
		}
		for _, event := range events {
			if event.Event.Resource != resource {
				continue
			}
			got, err := event.QueueingHintFn(klog.FromContext(s.Context()), pod, before, after)
			if err != nil {
				s.tb.Fatalf("the hint fails: %v", err)
			}
			return got
		}
	}
	s.tb.Fatalf("plugin %s does not register events of %s", plugin, resource)
	return fwk.Queue
}

// FailNext takes the next pod out of the queue, as soon as there is one, and sends it through a
// scheduling cycle that must fail. The pod ends up where the scheduler keeps such pods.
func (s *Scheduler) FailNext() *Attempt {
	s.tb.Helper()
	ctx := s.Context()
	s.WaitFor("a pod in the queue", func() bool {
		return len(s.SchedulingQueue.PodsInActiveQ())+len(s.SchedulingQueue.PodsInBackoffQ()) > 0
	})
	info, err := minor.Pop(klog.FromContext(ctx), s.Scheduler)
	if err != nil {
		s.tb.Fatalf("taking a pod out of the queue: %v", err)
	}
	attempt := s.Try(info.Pod)
	if attempt.Fit == nil {
		s.tb.Fatalf("pod %s found node %s", klog.KObj(info.Pod), attempt.Node)
	}
	s.FailureHandler(ctx, s.Framework, info, fwk.NewStatus(fwk.Unschedulable).WithError(attempt.Fit), nil, time.Now())
	return attempt
}

// FailUntilSleeps is FailNext for a pod that is alone in the queue, until it waits for an event
// that may help it. News of what the test has made before may wake it at first.
func (s *Scheduler) FailUntilSleeps(pod *corev1.Pod) *Attempt {
	s.tb.Helper()
	for {
		if attempt := s.FailNext(); s.Sleeps(pod) {
			return attempt
		}
	}
}

// Sleeps reports whether the pod waits for an event that may help it.
func (s *Scheduler) Sleeps(pod *corev1.Pod) bool {
	same := func(p *corev1.Pod) bool { return p.UID == pod.UID }
	// The queue's own list of those that wait may not be read while the queue moves pods.
	pods, _ := s.SchedulingQueue.PendingPods()
	return slices.ContainsFunc(pods, same) &&
		!slices.ContainsFunc(s.SchedulingQueue.PodsInActiveQ(), same) &&
		!slices.ContainsFunc(s.SchedulingQueue.PodsInBackoffQ(), same)
}
