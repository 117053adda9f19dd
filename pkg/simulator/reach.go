// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/component-helpers/storage/volume"
	"k8s.io/utils/ptr"
)

// reach is some nodes, and how many volumes or devices each of them can use and no other node can.
type reach struct {
	// nodes are indexes into the nodes that count, in ascending order, and key is the same text for
	// the same nodes.
	nodes []int
	key   string
	items int
}

// reaches are those of the volumes or devices of one source: of a StorageClass, or of a driver.
type reaches struct {
	nodes []*corev1.Node
	// list has no nodes twice. The same reaches stand under their nodes, and under selectors of these.
	list                []*reach
	byNodes, bySelector map[string]*reach
}

func newReaches(nodes []*corev1.Node) *reaches {
	return &reaches{nodes: nodes, byNodes: map[string]*reach{}, bySelector: map[string]*reach{}}
}

// add counts volumes or devices of the nodes that match. The same selector stands for the same
// nodes.
func (r *reaches) add(items int, selector string, matches func(*corev1.Node) bool) {
	known := r.bySelector[selector]
	if known == nil {
		var nodes []int
		for i, node := range r.nodes {
			if matches(node) {
				nodes = append(nodes, i)
			}
		}
		key := fmt.Sprint(nodes)
		if known = r.byNodes[key]; known == nil {
			known = &reach{nodes: nodes, key: key}
			r.byNodes[key] = known
			if len(nodes) > 0 {
				r.list = append(r.list, known)
			}
		}
		r.bySelector[selector] = known
	}
	known.items += items
}

// addSelected is add for what a selector of nodes chooses; nil chooses all.
func (r *reaches) addSelected(items int, selector *corev1.NodeSelector) error {
	if selector == nil {
		r.add(items, "all", func(*corev1.Node) bool { return true })
		return nil
	}
	parsed, err := nodeaffinity.NewNodeSelector(selector)
	if err != nil {
		return err
	}
	r.add(items, "selector "+selector.String(), parsed.Match)
	return nil
}

// nodesOf returns the nodes that count, in the order of their names.
func (s *Snapshot) nodesOf(names map[string]bool) []*corev1.Node {
	nodes := make([]*corev1.Node, 0, len(names))
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if info := s.nodes.byName[name]; info != nil {
			nodes = append(nodes, info.Node())
		}
	}
	return nodes
}

// volumeReaches returns from where the volumes can be used that may be bound to a claim. There are
// none if it is known which volume that is, and if one is made wherever it is wanted.
func (s *Snapshot) volumeReaches(claim *corev1.PersistentVolumeClaim, nodes []*corev1.Node) (*reaches, error) {
	found := newReaches(nodes)
	class := volume.GetPersistentVolumeClaimClass(claim)
	if claim.Spec.VolumeName != "" || s.madeAnywhere(class) {
		return found, nil
	}
	all, err := s.informers.Core().V1().PersistentVolumes().Lister().List(labels.Everything())
	if err != nil {
		return nil, err
	}
	for _, pv := range all {
		if volume.IsVolumeBoundToClaim(pv, claim) {
			return newReaches(nodes), nil
		}
		if pv.Spec.ClaimRef != nil || volume.GetPersistentVolumeClass(pv) != class || !volume.CheckAccessModes(claim, pv) {
			continue
		}
		var selector *corev1.NodeSelector
		if affinity := pv.Spec.NodeAffinity; affinity != nil {
			selector = affinity.Required
		}
		if err := found.addSelected(1, selector); err != nil {
			return nil, fmt.Errorf("reading PersistentVolume %s: %w", pv.Name, err)
		}
	}
	return found, nil
}

// madeAnywhere reports whether somebody makes a volume of a class on whatever node it is wanted.
func (s *Snapshot) madeAnywhere(name string) bool {
	class, err := s.informers.Storage().V1().StorageClasses().Lister().Get(name)
	if err != nil || class.Provisioner == volume.NotSupportedProvisioner || len(class.AllowedTopologies) > 0 {
		return false
	}
	driver, err := s.informers.Storage().V1().CSIDrivers().Lister().Get(class.Provisioner)
	return err != nil || !ptr.Deref(driver.Spec.StorageCapacity, false)
}

// deviceReaches returns from where the devices of a driver can be used.
func (s *Snapshot) deviceReaches(driver string, nodes []*corev1.Node) (*reaches, error) {
	found := newReaches(nodes)
	all, err := s.informers.Resource().V1().ResourceSlices().Lister().List(labels.Everything())
	if err != nil {
		return nil, err
	}
	for _, slice := range all {
		if slice.Spec.Driver != driver {
			continue
		}
		if err := found.addSlice(&slice.Spec); err != nil {
			return nil, fmt.Errorf("reading ResourceSlice %s: %w", slice.Name, err)
		}
	}
	return found, nil
}

func (r *reaches) addSlice(spec *resourcev1.ResourceSliceSpec) error {
	if !ptr.Deref(spec.PerDeviceNodeSelection, false) {
		return r.addDevices(len(spec.Devices), spec.NodeName, spec.NodeSelector, spec.AllNodes)
	}
	for i := range spec.Devices {
		d := &spec.Devices[i]
		if err := r.addDevices(1, d.NodeName, d.NodeSelector, d.AllNodes); err != nil {
			return err
		}
	}
	return nil
}

// addDevices counts devices of a node, of the selected ones, or of all.
func (r *reaches) addDevices(items int, name *string, selector *corev1.NodeSelector, all *bool) error {
	switch {
	case ptr.Deref(name, "") != "":
		r.add(items, "node "+*name, func(node *corev1.Node) bool { return node.Name == *name })
	case ptr.Deref(all, false):
		return r.addSelected(items, nil)
	case selector != nil:
		return r.addSelected(items, selector)
	}
	return nil
}

// usable returns those reaches that a node is part of.
func (r *reaches) usable(node string) []*reach {
	at, found := slices.BinarySearchFunc(r.nodes, node, func(n *corev1.Node, name string) int { return strings.Compare(n.Name, name) })
	if !found {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(r.list), func(one *reach) bool {
		_, part := slices.BinarySearch(one.nodes, at)
		return !part
	})
}
