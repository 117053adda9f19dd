// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"berth.dev/berth/pkg/plugins/clusterresource"
	"berth.dev/berth/pkg/plugins/homescheduler"
	"berth.dev/berth/pkg/plugins/nodegrouppolicy"
)

// Outcome is what the scheduler would make of one pod.
type Outcome struct {
	// Node is where the pod would run, empty if nowhere.
	Node string
	// Reasons say why there is no node, in the scheduler's own words ("0/4 nodes are available: …").
	Reasons string

	state fwk.CycleState
}

// TrySchedule returns what the scheduler would make of a pod that has no node. Of equally good
// nodes it takes the first by name, where the scheduler draws lots, and it looks at all nodes,
// where the scheduler may look at a sample.
func (s *Snapshot) TrySchedule(ctx context.Context, pod *corev1.Pod) (*Outcome, error) {
	ctx = klog.NewContext(ctx, s.logger)
	outcome := &Outcome{}
	for _, plugin := range s.framework.PreEnqueuePlugins() {
		status := plugin.PreEnqueue(ctx, pod)
		switch {
		case status.IsRejected():
			outcome.Reasons = status.Message()
			return outcome, nil
		case !status.IsSuccess():
			return nil, fmt.Errorf("simulating pod %s/%s: %w", pod.Namespace, pod.Name, status.AsError())
		}
	}
	for range maxAttempts {
		outcome.state = framework.NewCycleState()
		found, fit, err := s.feasible(ctx, outcome.state, pod)
		if err != nil {
			return nil, fmt.Errorf("simulating pod %s/%s: %w", pod.Namespace, pod.Name, err)
		}
		if len(found) > 0 {
			outcome.Node, err = s.best(ctx, outcome.state, pod, found)
			return outcome, err
		}
		again := s.lookFurther(ctx, outcome.state, pod, fit)
		if outcome.Reasons = fit.Error(); !again {
			break
		}
	}
	return outcome, nil
}

// maxAttempts bounds how often a pod is tried because a plugin asks for it: on all nodes instead of
// a sample, and beyond the shares of its policy.
const maxAttempts = 4

// lookFurther lets NodeGroupPolicy say what it left out because it looked at some nodes only. It
// reports whether the pod is to be tried again at once, which is how the policy widens the search.
// Other plugins that run when no node is found preempt, which is not simulated.
func (s *Snapshot) lookFurther(
	ctx context.Context, state fwk.CycleState, pod *corev1.Pod, fit *framework.FitError,
) bool {
	s.wakes.called = false
	for _, plugin := range s.framework.EnqueueExtensions() {
		if after, ok := plugin.(fwk.PostFilterPlugin); ok && plugin.Name() == nodegrouppolicy.Name {
			after.PostFilter(ctx, state, pod, fit.Diagnosis.NodeToStatus)
		}
	}
	return s.wakes.called
}

// assume gives the pod the node that TrySchedule found. It returns the pod as it then is.
func (s *Snapshot) assume(ctx context.Context, pod *corev1.Pod, outcome *Outcome) (*corev1.Pod, error) {
	assumed := pod.DeepCopy()
	assumed.Spec.NodeName = outcome.Node
	if status := s.place(klog.NewContext(ctx, s.logger), outcome.state, assumed); !status.IsSuccess() {
		return nil, fmt.Errorf("reserving for pod %s/%s: %w", pod.Namespace, pod.Name, status.AsError())
	}
	if err := s.writeClaims(assumed); err != nil {
		return nil, err
	}
	return assumed, nil
}

// feasible returns the nodes that take the pod. If there is none the FitError says why. The steps
// are those of the scheduler's findNodesThatFitPod.
func (s *Snapshot) feasible(
	ctx context.Context, state fwk.CycleState, pod *corev1.Pod,
) ([]fwk.NodeInfo, *framework.FitError, error) {
	fit := &framework.FitError{Pod: pod, NumAllNodes: len(s.nodes.list)}
	candidates, rejected, err := s.candidates(ctx, state, pod, fit)
	if err != nil || rejected {
		return nil, fit, err
	}
	var found []fwk.NodeInfo
	for _, node := range candidates {
		status := s.framework.RunFilterPlugins(ctx, state, pod, node)
		switch {
		case status.IsSuccess():
			found = append(found, node)
		case status.Code() == fwk.Error:
			return nil, nil, status.AsError()
		default:
			fit.Diagnosis.NodeToStatus.Set(node.Node().Name, status)
			fit.Diagnosis.AddPluginStatus(status)
		}
	}
	if len(found) == 0 && s.repeats(fit) {
		s.explain(ctx, state, pod, fit)
	}
	return found, fit, nil
}

// repeats reports whether no other plugins than Berth's keep nodes away from Filter. These reject
// the same nodes there, and more clearly.
func (s *Snapshot) repeats(fit *framework.FitError) bool {
	kept := fit.Diagnosis.UnschedulablePlugins
	return kept.Len() > 0 && own.IsSuperset(kept)
}

// own are the plugins of Berth that keep nodes away from Filter to save time.
var own = sets.New(nodegrouppolicy.Name, clusterresource.Name, homescheduler.Name)

// explain gives the nodes that Berth's plugins kept away from Filter the reasons of Filter, as they
// do it in the scheduler after a pod has found no node.
func (s *Snapshot) explain(ctx context.Context, state fwk.CycleState, pod *corev1.Pod, fit *framework.FitError) {
	asked := sets.New[string]()
	fit.Diagnosis.NodeToStatus.ForEachExplicitNode(func(node string, _ *fwk.Status) { asked.Insert(node) })
	for _, node := range s.nodes.list {
		if asked.Has(node.Node().Name) {
			continue
		}
		if status := s.framework.RunFilterPlugins(ctx, state, pod, node); status.IsRejected() && own.Has(status.Plugin()) {
			fit.Diagnosis.NodeToStatus.Set(node.Node().Name, status)
		}
	}
}

// candidates runs PreFilter and returns the nodes that it leaves, in the order of their names.
// Rejected is true if it leaves none; the FitError says why.
func (s *Snapshot) candidates(
	ctx context.Context, state fwk.CycleState, pod *corev1.Pod, fit *framework.FitError,
) (nodes []fwk.NodeInfo, rejected bool, err error) {
	diagnosis := &fit.Diagnosis
	diagnosis.NodeToStatus = framework.NewDefaultNodeToStatus()
	result, status, plugins := s.framework.RunPreFilterPlugins(ctx, state, pod)
	diagnosis.UnschedulablePlugins = plugins
	if !status.IsSuccess() {
		if !status.IsRejected() {
			return nil, false, status.AsError()
		}
		diagnosis.NodeToStatus.SetAbsentNodesStatus(status)
		diagnosis.PreFilterMsg = status.Message()
		diagnosis.AddPluginStatus(status)
		return nil, true, nil
	}
	if result.AllNodes() {
		return s.nodes.list, false, nil
	}
	diagnosis.NodeToStatus.SetAbsentNodesStatus(fwk.NewStatus(fwk.UnschedulableAndUnresolvable,
		fmt.Sprintf("node(s) didn't satisfy plugin(s) %v", sets.List(plugins))))
	for _, name := range sets.List(result.NodeNames) {
		if info := s.nodes.byName[name]; info != nil {
			nodes = append(nodes, info)
		}
	}
	return nodes, false, nil
}

// best returns the node with the highest score, of several the first.
func (s *Snapshot) best(
	ctx context.Context, state fwk.CycleState, pod *corev1.Pod, found []fwk.NodeInfo,
) (string, error) {
	if len(found) == 1 || !s.framework.HasScorePlugins() {
		return found[0].Node().Name, nil
	}
	if status := s.framework.RunPreScorePlugins(ctx, state, pod, found); !status.IsSuccess() {
		return "", fmt.Errorf("scoring nodes for pod %s/%s: %w", pod.Namespace, pod.Name, status.AsError())
	}
	scores, status := s.framework.RunScorePlugins(ctx, state, pod, found)
	if !status.IsSuccess() {
		return "", fmt.Errorf("scoring nodes for pod %s/%s: %w", pod.Namespace, pod.Name, status.AsError())
	}
	top := 0
	for i := range scores {
		if scores[i].TotalScore > scores[top].TotalScore {
			top = i
		}
	}
	return scores[top].Name, nil
}
