// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package cordon

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/cli/internal/client"
	"berth.dev/berth/pkg/explain/placement"
	"berth.dev/berth/pkg/model/policy"
	"berth.dev/berth/pkg/model/stamp"
	"berth.dev/berth/pkg/model/workload"
	"berth.dev/berth/pkg/placement/names"
	"berth.dev/berth/pkg/placement/policymatch"
	"berth.dev/berth/pkg/placement/rebalance"
)

// tenants are the pods that have to leave a cluster.
type tenants struct {
	state *placement.State
	force bool
	// pods are all of them, evict those that nobody else moves.
	pods  map[types.UID]*corev1.Pod
	evict []*corev1.Pod
	// kept counts the pods that stay, by why.
	kept map[string]int
	// held tells of the policies that move pods, by namespace and name, what keeps theirs.
	held map[string]string
}

// newTenants returns the pods in a cluster. Finished ones do not count, nor do those of DaemonSets
// and those that other schedulers look after.
func newTenants(state *placement.State, cluster string, force bool) *tenants {
	t := &tenants{state: state, force: force, pods: map[types.UID]*corev1.Pod{}, kept: map[string]int{}, held: map[string]string{}}
	for i := range state.Objects.Pods {
		pod := &state.Objects.Pods[i]
		node, in := state.Topology.Place(pod.Spec.NodeName)
		if node == nil || in != cluster || !t.counts(pod) {
			continue
		}
		t.pods[pod.UID] = pod
		if pod.DeletionTimestamp == nil {
			t.sort(pod, node)
		}
	}
	return t
}

func (t *tenants) counts(pod *corev1.Pod) bool {
	if _, static := pod.Annotations[corev1.MirrorPodAnnotationKey]; static || workload.Finished(pod) {
		return false
	}
	if owner := metav1.GetControllerOfNoCopy(pod); owner != nil && owner.Kind == "DaemonSet" {
		return false
	}
	return stamp.IsBerths(pod, t.state.Schedulers)
}

// moved are the pods that the policy controller moves, now or once their node is ready.
var moved = []rebalance.Keep{rebalance.Movable, rebalance.TakenOver, rebalance.Unreachable}

// sort finds out who moves a pod: the controllers, this command, or nobody.
func (t *tenants) sort(pod *corev1.Pod, node *corev1.Node) {
	inForce, w := t.policyOf(pod)
	keep := policy.KeepOf(pod, node, nil, inForce.GetName(), rebalance.Movable)
	owner := metav1.GetControllerOfNoCopy(inForce)
	switch {
	case owner != nil && owner.Kind != policymatch.ClusterWide:
		t.kept["that "+owner.Kind+"s move"]++
	case movedByPolicy(inForce, w) && slices.Contains(moved, keep):
		t.kept["that policies move"]++
		t.noteHeld(inForce)
	case t.force || keep != rebalance.Protected && len(pod.OwnerReferences) > 0 && pod.Annotations[policy.SafeToEvictAnnotation] != "false":
		t.evict = append(t.evict, pod)
	case len(pod.OwnerReferences) == 0:
		t.kept["that nothing would make anew (--force evicts them)"]++
	default:
		t.kept["that are protected from eviction (--force evicts them)"]++
	}
}

// noteHeld notes what keeps a policy from moving pods, if anything does.
func (t *tenants) noteHeld(inForce *berthv1alpha1.PropagationPolicy) {
	placed := apimeta.FindStatusCondition(inForce.Status.Conditions, berthv1alpha1.PolicyPlaced)
	if placed != nil && placed.Status == metav1.ConditionFalse && placed.Reason != berthv1alpha1.ReasonRebalancing {
		t.held[inForce.Namespace+"/"+inForce.Name] = placed.Message
	}
}

// policyOf returns the policy in force for a pod, one without a name if there is none, and the
// pod's workload.
func (t *tenants) policyOf(pod *corev1.Pod) (*berthv1alpha1.PropagationPolicy, *workload.Workload) {
	w, err := workload.Of(pod, t.state.Objects.Source())
	if err == nil {
		if inForce, _, _ := t.state.InForce(pod, &w); inForce != nil {
			return inForce, &w
		}
	}
	return &berthv1alpha1.PropagationPolicy{}, &w
}

// movedByPolicy reports whether the policy controller moves pods of a workload.
func movedByPolicy(inForce *berthv1alpha1.PropagationPolicy, w *workload.Workload) bool {
	return inForce.Name != "" && inForce.Spec.Rebalance.Mode != berthv1alpha1.RebalanceNever && w.ReplicasKnown &&
		w.Kind != workload.KindJob
}

// String says in one line what is left.
func (t *tenants) String() string {
	parts := make([]string, 0, len(t.kept)+1)
	for why, n := range t.kept {
		parts = append(parts, fmt.Sprintf("%d %s", n, why))
	}
	slices.Sort(parts)
	if len(t.evict) > 0 {
		parts = append(parts, fmt.Sprintf("%d that this command evicts", len(t.evict)))
	}
	line := names.Count(len(t.pods), "pod") + " left"
	if len(parts) > 0 {
		line += ": " + strings.Join(parts, ", ")
	}
	return line
}

// evict asks the API server to evict a pod. One that a budget does not let go is asked for again in
// the next round.
func (d *drain) evict(ctx context.Context, pod *corev1.Pod) error {
	again := d.asked[pod.UID]
	if d.asked[pod.UID] = true; !again {
		if err := d.print("evicting pod %s/%s", pod.Namespace, pod.Name); err != nil {
			return err
		}
	}
	err := d.clients.Kubernetes.PolicyV1().Evictions(pod.Namespace).Evict(ctx, &policyv1.Eviction{
		ObjectMeta:    metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name},
		DeleteOptions: &metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &pod.UID}},
	})
	action := fmt.Sprintf("evicting pod %s/%s", pod.Namespace, pod.Name)
	switch {
	case err == nil, apierrors.IsNotFound(err), apierrors.IsConflict(err), again && apierrors.IsTooManyRequests(err):
		return nil
	case apierrors.IsTooManyRequests(err):
		return d.print("%s: not yet, a PodDisruptionBudget does not let it go", action)
	case apierrors.IsForbidden(err):
		return fmt.Errorf("%s: not allowed, ask the administrator for the right to create pods/eviction: %w", action, err)
	}
	return client.DescribeError(action, err)
}
