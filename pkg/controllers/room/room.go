// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package room estimates how many more pods the nodes of a cluster would take now. It asks what most of the scheduler's
// filters ask: node affinity, taints, ports, resources, where the volumes are, and which pods the pod must not meet. Where
// it does not know it errs on the side of no room: a pod with resource claims has none anywhere. It knows nothing of
// required affinity to other pods and of topology spread; what they keep from starting is noticed afterwards, because a
// workload with a pending pod is left alone.
package room

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/resource"
	schedulinghelpers "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/klog/v2"

	"berth.dev/berth/pkg/model/topology"
	"berth.dev/berth/pkg/model/workload"
)

// PodsOn returns the pods on a node.
type PodsOn func(node string) ([]corev1.Pod, error)

// Estimator remembers what is used of the nodes it was asked about, so it serves one pass over many workloads and is then
// thrown away. It is not safe for concurrent use.
type Estimator struct {
	nodes  func() []*corev1.Node
	podsOn PodsOn
	used   map[string]*usage
	// domains are, by the key of a node label, the names of the nodes with each value.
	domains map[string]map[string][]string
	logger  klog.Logger
}

// NewEstimator returns an estimator that knows all nodes by nodes, and the pods of each by podsOn.
func NewEstimator(logger klog.Logger, nodes func() []*corev1.Node, podsOn PodsOn) *Estimator {
	return &Estimator{
		nodes: nodes, podsOn: podsOn, used: map[string]*usage{}, domains: map[string]map[string][]string{}, logger: logger,
	}
}

// usage is what the pods of a node take of it.
type usage struct {
	pods     int64
	requests map[corev1.ResourceName]int64
	ports    map[hostPort]bool
}

// hostPort is a port of a node. Addresses are left out: two pods on one port are taken to be in each other's way.
type hostPort struct {
	protocol corev1.Protocol
	port     int32
}

// Count returns how many pods like the given one the nodes would take now beside those that they run, at most limit.
// Volumes restricts the nodes further; nil stands for a pod without any.
func (e *Estimator) Count(nodes []*corev1.Node, pod *corev1.Pod, volumes *Volumes, limit int) (int, error) {
	count := 0
	err := e.visit(nodes, pod, volumes, limit, func(_ *usage, copies int) { count += copies })
	return count, err
}

// Reserve takes the room of n pods like the given one off what the nodes have left.
func (e *Estimator) Reserve(nodes []*corev1.Node, pod *corev1.Pod, volumes *Volumes, n int) error {
	requests, ports := requestsOf(pod), portsOf(pod)
	return e.visit(nodes, pod, volumes, n, func(used *usage, copies int) { used.add(requests, ports, int64(copies)) })
}

// visit shows the nodes that would take pods like the given one, with the number of pods that each would take, until limit
// is reached.
func (e *Estimator) visit(
	nodes []*corev1.Node, pod *corev1.Pod, volumes *Volumes, limit int, found func(used *usage, copies int),
) error {
	if len(pod.Spec.ResourceClaims) > 0 {
		return nil
	}
	affinity := nodeaffinity.GetRequiredNodeAffinity(pod)
	requests, ports := requestsOf(pod), portsOf(pod)
	exclusions, taken := exclusionsOf(pod), map[domain]bool{}
	for _, node := range nodes {
		if limit <= 0 {
			return nil
		}
		if !e.admits(node, pod, affinity) || !volumes.reach(node) {
			continue
		}
		used, err := e.usageOf(node.Name)
		if err != nil {
			return err
		}
		copies := used.copies(node, requests, ports, limit)
		if copies == 0 {
			continue
		}
		if excluded, err := e.excluded(node, exclusions, taken); err != nil || excluded {
			if err != nil {
				return err
			}
			continue
		}
		if take(node, exclusions, taken) {
			copies = 1
		}
		limit -= copies
		found(used, copies)
	}
	return nil
}

// admits asks what does not depend on other pods.
func (e *Estimator) admits(node *corev1.Node, pod *corev1.Pod, affinity nodeaffinity.RequiredNodeAffinity) bool {
	if !topology.TakesPods(node) {
		return false
	}
	if match, err := affinity.Match(node); err != nil || !match {
		return false
	}
	_, untolerated := schedulinghelpers.FindMatchingUntoleratedTaint(
		e.logger, node.Spec.Taints, pod.Spec.Tolerations, keepsPodsAway, false)
	return !untolerated
}

func keepsPodsAway(taint *corev1.Taint) bool {
	return taint.Effect == corev1.TaintEffectNoSchedule || taint.Effect == corev1.TaintEffectNoExecute
}

func (e *Estimator) usageOf(node string) (*usage, error) {
	if used, known := e.used[node]; known {
		return used, nil
	}
	pods, err := e.podsOn(node)
	if err != nil {
		return nil, fmt.Errorf("listing the pods of node %s: %w", node, err)
	}
	used := &usage{requests: map[corev1.ResourceName]int64{}, ports: map[hostPort]bool{}}
	for i := range pods {
		pod := &pods[i]
		if workload.Finished(pod) {
			continue
		}
		used.add(requestsOf(pod), portsOf(pod), 1)
	}
	e.used[node] = used
	return used, nil
}

// add counts a number of like pods.
func (u *usage) add(requests map[corev1.ResourceName]int64, ports []hostPort, copies int64) {
	if copies <= 0 {
		return
	}
	u.pods += copies
	for name, amount := range requests {
		u.requests[name] += amount * copies
	}
	for _, port := range ports {
		u.ports[port] = true
	}
}

// copies returns how many more pods with the requests and ports a node takes.
func (u *usage) copies(
	node *corev1.Node, requests map[corev1.ResourceName]int64, ports []hostPort, limit int,
) int {
	for _, port := range ports {
		if u.ports[port] {
			return 0
		}
	}
	if len(ports) > 0 {
		limit = min(limit, 1)
	}
	allocatable := node.Status.Allocatable
	copies := min(int64(limit), allocatable.Pods().Value()-u.pods)
	for name, amount := range requests {
		if amount > 0 {
			copies = min(copies, (amountOf(allocatable, name)-u.requests[name])/amount)
		}
	}
	return int(max(0, copies))
}

func requestsOf(pod *corev1.Pod) map[corev1.ResourceName]int64 {
	list := resource.PodRequests(pod, resource.PodResourcesOptions{})
	requests := make(map[corev1.ResourceName]int64, len(list))
	for name := range list {
		requests[name] = amountOf(list, name)
	}
	return requests
}

// amountOf is in thousandths for cpu and in whole units for all else, as the scheduler counts.
func amountOf(list corev1.ResourceList, name corev1.ResourceName) int64 {
	quantity := list[name]
	if name == corev1.ResourceCPU {
		return quantity.MilliValue()
	}
	return quantity.Value()
}

func portsOf(pod *corev1.Pod) []hostPort {
	var ports []hostPort
	for i := range pod.Spec.Containers {
		for _, port := range pod.Spec.Containers[i].Ports {
			if port.HostPort != 0 {
				ports = append(ports, hostPort{protocol: port.Protocol, port: port.HostPort})
			}
		}
	}
	return ports
}
