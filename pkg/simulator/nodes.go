// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"berth.dev/berth/pkg/minor"
)

// nodes are the nodes with the pods on them, in the order of their names. They are the snapshot
// that plugins read.
type nodes struct {
	minor.SharedLister

	list   []fwk.NodeInfo
	byName map[string]*framework.NodeInfo
	// homeless are the pods of nodes that are not there, by node and name.
	homeless map[string]map[types.NamespacedName]*corev1.Pod
	// claims count the pods that use a claim, by "namespace/name".
	claims map[string]int
}

var _ fwk.SharedLister = &nodes{}

func newNodes() *nodes {
	return &nodes{byName: map[string]*framework.NodeInfo{}, claims: map[string]int{}, homeless: map[string]map[types.NamespacedName]*corev1.Pod{}}
}

// put adds a node, or replaces it, with the pods that are known to be on it.
func (n *nodes) put(node *corev1.Node) error {
	if known := n.byName[node.Name]; known != nil {
		known.SetNode(node)
		return nil
	}
	info := framework.NewNodeInfo()
	info.SetNode(node)
	n.byName[node.Name] = info
	at, _ := slices.BinarySearchFunc(n.list, node.Name, func(i fwk.NodeInfo, name string) int {
		return strings.Compare(i.Node().Name, name)
	})
	n.list = slices.Insert(n.list, at, fwk.NodeInfo(info))
	pods := n.homeless[node.Name]
	delete(n.homeless, node.Name)
	for _, pod := range pods {
		if err := n.add(pod); err != nil {
			return err
		}
	}
	return nil
}

// drop removes a node. Its pods stay known.
func (n *nodes) drop(name string) {
	info := n.byName[name]
	if info == nil {
		return
	}
	for _, pod := range info.GetPods() {
		n.countClaims(pod.GetPod(), -1)
		n.leaveHomeless(pod.GetPod())
	}
	delete(n.byName, name)
	n.list = slices.DeleteFunc(n.list, func(i fwk.NodeInfo) bool { return i.Node().Name == name })
}

// add puts a pod on its node. A pod on a node that is not there holds nothing of it.
func (n *nodes) add(pod *corev1.Pod) error {
	info := n.byName[pod.Spec.NodeName]
	if info == nil {
		n.leaveHomeless(pod)
		return nil
	}
	parsed, err := framework.NewPodInfo(pod)
	if err != nil {
		return fmt.Errorf("reading pod %s/%s: %w", pod.Namespace, pod.Name, err)
	}
	info.AddPodInfo(parsed)
	n.countClaims(pod, 1)
	return nil
}

// remove takes a pod off its node.
func (n *nodes) remove(logger klog.Logger, pod *corev1.Pod) error {
	info := n.byName[pod.Spec.NodeName]
	if info == nil {
		delete(n.homeless[pod.Spec.NodeName], keyOf(pod))
		return nil
	}
	n.countClaims(pod, -1)
	return info.RemovePod(logger, pod)
}

func (n *nodes) leaveHomeless(pod *corev1.Pod) {
	if n.homeless[pod.Spec.NodeName] == nil {
		n.homeless[pod.Spec.NodeName] = map[types.NamespacedName]*corev1.Pod{}
	}
	n.homeless[pod.Spec.NodeName][keyOf(pod)] = pod
}

func keyOf(pod *corev1.Pod) types.NamespacedName {
	return types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}
}

func (n *nodes) countClaims(pod *corev1.Pod, by int) {
	for i := range pod.Spec.Volumes {
		if claim := pod.Spec.Volumes[i].PersistentVolumeClaim; claim != nil {
			n.claims[pod.Namespace+"/"+claim.ClaimName] += by
		}
	}
}

// NodeInfos returns the nodes.
func (n *nodes) NodeInfos() fwk.NodeInfoLister { return n }

// StorageInfos returns who uses which claim.
func (n *nodes) StorageInfos() fwk.StorageInfoLister { return n }

// IsPVCUsedByPods reports whether a pod on a node uses the claim.
func (n *nodes) IsPVCUsedByPods(key string) bool { return n.claims[key] > 0 }

// List returns the nodes in the order of their names.
func (n *nodes) List() ([]fwk.NodeInfo, error) { return n.list, nil }

// HavePodsWithAffinityList returns the nodes with pods that have affinity terms.
func (n *nodes) HavePodsWithAffinityList() ([]fwk.NodeInfo, error) {
	return n.with(func(i fwk.NodeInfo) bool { return len(i.GetPodsWithAffinity()) > 0 }), nil
}

// HavePodsWithRequiredAntiAffinityList returns the nodes with pods that have required anti-affinity
// terms.
func (n *nodes) HavePodsWithRequiredAntiAffinityList() ([]fwk.NodeInfo, error) {
	return n.with(func(i fwk.NodeInfo) bool { return len(i.GetPodsWithRequiredAntiAffinity()) > 0 }), nil
}

// HavePodsWithRequiredNonHostScopedAntiAffinityList returns the same, which may be more than are
// asked for: Kubernetes 1.37 looks first at the terms of a wider topology than that of a host.
func (n *nodes) HavePodsWithRequiredNonHostScopedAntiAffinityList() ([]fwk.NodeInfo, error) {
	return n.HavePodsWithRequiredAntiAffinityList()
}

func (n *nodes) with(has func(fwk.NodeInfo) bool) []fwk.NodeInfo {
	var found []fwk.NodeInfo
	for _, info := range n.list {
		if has(info) {
			found = append(found, info)
		}
	}
	return found
}

// Get returns a node by name.
func (n *nodes) Get(name string) (fwk.NodeInfo, error) {
	if info := n.byName[name]; info != nil {
		return info, nil
	}
	return nil, fmt.Errorf("node %s not found", name)
}
