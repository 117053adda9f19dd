// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/labels"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
	"k8s.io/kubernetes/pkg/scheduler/framework/preemption"
	"k8s.io/kubernetes/pkg/scheduler/util"

	"berth.dev/berth/pkg/plugins/clusterresource"
)

// Preempt returns the pods that the scheduler would delete to make way for a pod that has no node
// and finds none, as the PostFilter plugins ClusterResource and DefaultPreemption choose them; none
// if that would not help. They stay where they are. Of equally good nodes it takes the first by
// name, where the scheduler draws lots.
func (s *Snapshot) Preempt(ctx context.Context, pod *corev1.Pod) ([]*corev1.Pod, error) {
	ctx = klog.NewContext(ctx, s.logger)
	state := framework.NewCycleState()
	found, fit, err := s.feasible(ctx, state, pod)
	if err != nil || len(found) > 0 {
		return nil, err
	}
	for _, enabled := range s.framework.ListPlugins().PostFilter.Enabled {
		var victims []*corev1.Pod
		final := false
		switch plugin := s.extension(enabled.Name).(type) {
		case *clusterresource.ClusterResource:
			victims, final = s.holders(ctx, plugin, state, fit)
		case *defaultpreemption.DefaultPreemption:
			if victims, err = s.victims(ctx, plugin, state, fit); err != nil {
				return nil, fmt.Errorf("looking for pods that make way for pod %s/%s: %w", pod.Namespace, pod.Name, err)
			}
		}
		if final || len(victims) > 0 {
			return victims, nil
		}
	}
	return nil, nil
}

// extension returns a plugin that says what wakes pods, as all do that preempt; nil if there is
// none.
func (s *Snapshot) extension(name string) fwk.Plugin {
	for _, plugin := range s.framework.EnqueueExtensions() {
		if plugin.Name() == name {
			return plugin
		}
	}
	return nil
}

// holders returns who would give back units of ClusterResources for the pod. Final is true if the
// plugins that come later are not asked.
func (s *Snapshot) holders(
	ctx context.Context, plugin fwk.PostFilterPlugin, state fwk.CycleState, fit *framework.FitError,
) (victims []*corev1.Pod, final bool) {
	s.state.OnPreemption(func(pods []*corev1.Pod) { victims = pods })
	_, status := plugin.PostFilter(ctx, state, fit.Pod, fit.Diagnosis.NodeToStatus)
	return victims, status.Code() != fwk.Unschedulable
}

// victims returns who would be deleted on the node where that costs least.
func (s *Snapshot) victims(
	ctx context.Context, plugin *defaultpreemption.DefaultPreemption, state fwk.CycleState, fit *framework.FitError,
) ([]*corev1.Pod, error) {
	if eligible, _ := plugin.PodEligibleToPreemptOthers(ctx, fit.Pod, nil); !eligible {
		return nil, nil
	}
	nodes, err := fit.Diagnosis.NodeToStatus.NodesForStatusCode(s.nodes, fwk.Unschedulable)
	if err != nil || len(nodes) == 0 {
		return nil, err
	}
	budgets, err := s.informers.Policy().V1().PodDisruptionBudgets().Lister().List(labels.Everything())
	if err != nil {
		return nil, err
	}
	slices.SortFunc(budgets, func(a, b *policyv1.PodDisruptionBudget) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	candidates, _, err := plugin.Evaluator.DryRunPreemption(ctx, state, fit.Pod, nodes, budgets, 0, int32(len(nodes)))
	if err != nil || len(candidates) == 0 {
		return nil, err
	}
	return slices.MinFunc(candidates, compareCandidates).Victims().Pods, nil
}

// compareCandidates orders nodes as DefaultPreemption does, see pickOneNodeForPreemption of
// Kubernetes: by violated budgets, the highest priority that goes, their sum, their number, and who
// has run for the shortest time.
func compareCandidates(a, b preemption.Candidate) int {
	one, other := a.Victims(), b.Victims()
	return cmp.Or(
		cmp.Compare(one.NumPDBViolations, other.NumPDBViolations),
		cmp.Compare(corev1helpers.PodPriority(one.Pods[0]), corev1helpers.PodPriority(other.Pods[0])),
		cmp.Compare(sumOfPriorities(one.Pods), sumOfPriorities(other.Pods)),
		cmp.Compare(len(one.Pods), len(other.Pods)),
		-util.GetEarliestPodStartTime(one).Compare(util.GetEarliestPodStartTime(other).Time),
		strings.Compare(a.Name(), b.Name()),
	)
}

func sumOfPriorities(pods []*corev1.Pod) int64 {
	sum := int64(0)
	for _, pod := range pods {
		sum += int64(corev1helpers.PodPriority(pod)) + math.MaxInt32 + 1
	}
	return sum
}
