// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package remedy

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/placement/amount"
	"berth.dev/berth/pkg/placement/names"
	"berth.dev/berth/pkg/simulator"
)

// change is one thing that may be changed. What is nil stays as it is.
type change struct {
	text string
	// effort compares changes of one kind: the share of a node that is lacking, for instance.
	effort float64
	pod    func(*corev1.Pod)
	node   func(*corev1.Node)
	berth  func(*simulator.Objects)
}

func effort(changes []change) float64 {
	sum := 0.0
	for _, c := range changes {
		sum += c.effort
	}
	return sum
}

// fits reports whether a node takes the pod once the changes are made, and why not.
func (f *finder) fits(ctx context.Context, node *corev1.Node, changes []change) (fits bool, why []string, err error) {
	pod, changed, objects := f.pod.DeepCopy(), node.DeepCopy(), *f.world.Berth
	for _, c := range changes {
		if c.pod != nil {
			c.pod(pod)
		}
		if c.node != nil {
			c.node(changed)
		}
		if c.berth != nil {
			c.berth(&objects)
		}
	}
	if err := f.snapshot.Put(changed); err != nil {
		return false, nil, err
	}
	f.snapshot.SetObjects(&objects)
	defer f.snapshot.SetObjects(f.world.Berth)
	fits, why, err = f.snapshot.FitsOn(ctx, pod, node.Name)
	if back := f.snapshot.Put(node); back != nil && err == nil {
		err = back
	}
	return fits, why, err
}

// changes returns what may keep the pod from a node of a cluster. What is asked of the pod comes
// first: of two changes that do the same that one is left out.
func (f *finder) changes(cluster string, node *corev1.Node) ([]change, error) {
	changes := f.ofPod(node)
	more, err := f.ofNode(node)
	if err != nil {
		return nil, err
	}
	changes = slices.Concat(changes, more, f.ofPools(node))
	if f.world.Policy != nil {
		changes = append(changes, f.ofPolicy(cluster))
	}
	return changes, nil
}

// ofPod are the demands of the pod itself.
func (f *finder) ofPod(node *corev1.Node) []change {
	var changes []change
	spec := &f.pod.Spec
	add := func(text string, with func(*corev1.Pod)) { changes = append(changes, change{text: text, pod: with}) }
	if gates := spec.SchedulingGates; len(gates) > 0 {
		gated := make([]string, len(gates))
		for i := range gates {
			gated[i] = gates[i].Name
		}
		add("the scheduling gates of the pod are removed: "+strings.Join(gated, ", "), func(p *corev1.Pod) { p.Spec.SchedulingGates = nil })
	}
	for _, key := range []string{
		berthv1alpha1.ClusterLabelConstraintAnnotation, berthv1alpha1.ClusterMetricConstraintAnnotation,
		berthv1alpha1.ClusterResourceConstraintAnnotation,
	} {
		if text := f.pod.Annotations[key]; text != "" {
			add(fmt.Sprintf("the pod does without its constraint %.128q", text), func(p *corev1.Pod) { delete(p.Annotations, key) })
		}
	}
	if f.hasPorts() {
		add("another host port, or none, is asked for", withoutPorts)
	}
	if len(spec.TopologySpreadConstraints) > 0 {
		add("the topology spread constraints of the pod say ScheduleAnyway", func(p *corev1.Pod) { p.Spec.TopologySpreadConstraints = nil })
	}
	if a := spec.Affinity; a != nil && (a.PodAffinity != nil || a.PodAntiAffinity != nil) {
		add("the pod does without its affinity to other pods", func(p *corev1.Pod) {
			p.Spec.Affinity.PodAffinity, p.Spec.Affinity.PodAntiAffinity = nil, nil
		})
	}
	if !matches(f.pod, node) {
		add(fmt.Sprintf("the node selector and affinity of the pod match node %s", node.Name), func(p *corev1.Pod) {
			p.Spec.NodeSelector = nil
			if p.Spec.Affinity != nil {
				p.Spec.Affinity.NodeAffinity = nil
			}
		})
	}
	return changes
}

func (f *finder) hasPorts() bool {
	return slices.ContainsFunc(f.pod.Spec.Containers, func(c corev1.Container) bool {
		return slices.ContainsFunc(c.Ports, func(p corev1.ContainerPort) bool { return p.HostPort > 0 })
	})
}

func withoutPorts(p *corev1.Pod) {
	for i := range p.Spec.Containers {
		p.Spec.Containers[i].Ports = nil
	}
}

// ofNode are the state of a node, its taints, and what it has too little of.
func (f *finder) ofNode(node *corev1.Node) ([]change, error) {
	var changes []change
	for i := range node.Spec.Taints {
		taint := node.Spec.Taints[i]
		if taint.Effect == corev1.TaintEffectPreferNoSchedule || tolerated(f.pod, &taint) || taint.Key == corev1.TaintNodeUnschedulable {
			continue
		}
		c := change{
			text: fmt.Sprintf("the pod tolerates the taint %s of node %s, or it is removed", taint.ToString(), node.Name),
			node: func(n *corev1.Node) {
				n.Spec.Taints = slices.DeleteFunc(n.Spec.Taints, func(t corev1.Taint) bool { return t.MatchTaint(&taint) })
			},
		}
		if condition, is := strings.CutPrefix(taint.Key, "node.kubernetes.io/"); is {
			c.text = fmt.Sprintf("node %s is well again (%s)", node.Name, condition)
			c.effort = 1
		}
		changes = append(changes, c)
	}
	if node.Spec.Unschedulable {
		changes = append(changes, change{text: fmt.Sprintf("node %s is uncordoned: kubectl uncordon %s", node.Name, node.Name), node: func(n *corev1.Node) {
			n.Spec.Unschedulable = false
			n.Spec.Taints = slices.DeleteFunc(n.Spec.Taints, func(t corev1.Taint) bool { return t.Key == corev1.TaintNodeUnschedulable })
		}})
	}
	lacking, err := f.snapshot.Lacks(f.pod, node.Name)
	if err != nil {
		return nil, err
	}
	for _, name := range sortedNames(lacking) {
		missing := lacking[name]
		changes = append(changes, change{
			text:   fmt.Sprintf("node %s has %s more of %s free", node.Name, amount.AtLeast(missing), name),
			effort: 1 + missing.AsApproximateFloat64()/max(1, total(node, name)),
			node: func(n *corev1.Node) {
				had := n.Status.Allocatable[name].DeepCopy()
				had.Add(missing)
				if n.Status.Allocatable == nil {
					n.Status.Allocatable = corev1.ResourceList{}
				}
				n.Status.Allocatable[name] = had
			},
		})
	}
	return changes, nil
}

func total(node *corev1.Node, name corev1.ResourceName) float64 {
	all := node.Status.Allocatable[name]
	return all.AsApproximateFloat64()
}

func sortedNames(resources corev1.ResourceList) []corev1.ResourceName {
	sorted := make([]corev1.ResourceName, 0, len(resources))
	for name := range resources {
		sorted = append(sorted, name)
	}
	slices.Sort(sorted)
	return sorted
}

// ofPolicy lets a cluster have another replica, whatever the others have.
func (f *finder) ofPolicy(cluster string) change {
	policy := f.world.Policy
	c := change{text: f.shareText(cluster), effort: 1}
	c.berth = func(objects *simulator.Objects) {
		given := policy.DeepCopy()
		given.Generation++ // what is compiled of a policy is kept by that
		given.Spec.Placement.ClusterGroups, given.Status = nil, berthv1alpha1.PropagationPolicyStatus{}
		given.Spec.Placement.WhenUnsatisfiable = berthv1alpha1.DoNotSchedule
		given.Spec.Placement.StaticWeightList = []berthv1alpha1.StaticClusterWeight{{ClusterNames: []string{cluster}, Weight: 1}}
		if cluster == "" {
			objects.Policies = slices.DeleteFunc(slices.Clone(objects.Policies), func(p *berthv1alpha1.PropagationPolicy) bool { return p.UID == policy.UID })
			return
		}
		objects.Policies = slices.Clone(objects.Policies)
		for i, p := range objects.Policies {
			if p.Namespace == policy.Namespace && p.Name == policy.Name {
				objects.Policies[i] = given
			}
		}
	}
	return c
}

// shareText says how a policy would give a cluster another replica.
func (f *finder) shareText(cluster string) string {
	name := f.world.Policy.Name
	share, named := f.world.Shares[cluster]
	switch {
	case cluster == "":
		return fmt.Sprintf("the node is in a cluster of policy %s, or the policy is not in force", name)
	case !named:
		return fmt.Sprintf("policy %s names cluster %s", name, cluster)
	}
	most := max(share.Desired, share.Current)
	for i := range f.world.Policy.Spec.Placement.StaticWeightList {
		w := &f.world.Policy.Spec.Placement.StaticWeightList[i]
		if slices.Contains(w.ClusterNames, cluster) && w.Max != nil && int(*w.Max) <= most {
			return fmt.Sprintf("policy %s lets cluster %s have %s: its max is %d", name, cluster, names.Count(most+1, "replica"), *w.Max)
		}
	}
	return fmt.Sprintf("policy %s gives cluster %s %s instead of %d: raise its weight or min, or replicas",
		name, cluster, names.Count(most+1, "replica"), share.Desired)
}
