// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	modelpolicy "berth.dev/berth/pkg/model/policy"
	"berth.dev/berth/pkg/model/stamp"
	"berth.dev/berth/pkg/model/workload"
	"berth.dev/berth/pkg/placement/policymatch"
)

// anyStamped reports whether there is a pod in the namespace that a policy has placed.
func (r *Reconciler) anyStamped(ctx context.Context, namespace string) (bool, error) {
	var list corev1.PodList
	err := r.Client.List(ctx, &list, client.InNamespace(namespace), client.MatchingFields{stampedIndex: isStamped},
		client.Limit(1), client.UnsafeDisableDeepCopy)
	if err != nil {
		return false, fmt.Errorf("listing the stamped pods of namespace %s: %w", namespace, err)
	}
	return len(list.Items) > 0, nil
}

// release takes back what policies have written on pods that no policy places any more: otherwise
// the deletion costs of a deleted policy would go on deciding which pods die first. The mark that
// Berth has bound a pod stays, and so does what the pod was charged. Because a policy may be newer
// than the cache, the API server is asked first.
func (p *pass) release(ctx context.Context) error {
	var index *policymatch.Index
	var writes []write
	for _, o := range p.unplaced {
		for _, pod := range o.Pods {
			changes := released(o, pod)
			if len(changes) == 0 {
				continue
			}
			if index == nil {
				policies, err := listPolicies(ctx, p.Live, p.namespace)
				if err != nil {
					return errors.Join(p.annotate(ctx, writes), err)
				}
				index = policymatch.NewIndex(policies)
			}
			if winner, _, _ := modelpolicy.InForce(index, o.Selectable(), modelpolicy.RequestOfWorkload(o)); winner != nil {
				p.requeueAfter(changedAgain)
				break
			}
			if !p.Restamps.TryAccept() {
				p.requeueAfter(restampAgain)
				return p.annotate(ctx, writes)
			}
			writes = append(writes, write{pod: pod, changes: changes})
		}
	}
	return p.annotate(ctx, writes)
}

// released returns the annotations of a pod that go with its policy. Its request stays if the
// template asks for the same, and a deletion cost if it is not the one that belongs to the seat.
func released(o *workload.Observed, pod *corev1.Pod) map[string]any {
	given, stamped := stamp.Of(pod)
	if !stamped {
		return nil
	}
	changes := map[string]any{berthv1alpha1.PlacedPolicyAnnotation: nil}
	for _, key := range [...]string{berthv1alpha1.PlacedClusterAnnotation, berthv1alpha1.SeatAnnotation} {
		if _, found := pod.Annotations[key]; found {
			changes[key] = nil
		}
	}
	requested := o.RequestedBy() == nil && o.Request == given.Policy
	if pod.Annotations[berthv1alpha1.PolicyAnnotation] == given.Policy && !requested {
		changes[berthv1alpha1.PolicyAnnotation] = nil
	}
	if given.OwnsDeletionCost(pod) {
		changes[corev1.PodDeletionCost] = nil
	}
	return changes
}
