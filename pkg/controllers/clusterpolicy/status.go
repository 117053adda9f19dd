// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package clusterpolicy

import (
	"context"
	"fmt"
	"time"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/controllers/state"
	"berth.dev/berth/pkg/placement/names"
)

// maxNames bounds the namespaces that one message lists.
const maxNames = 10

// report writes the status if it differs from what it should be, and returns after which time that
// is to be tried again, 0 for never.
func (r *Reconciler) report(
	ctx context.Context, object *berthv1alpha1.ClusterPropagationPolicy, places []place, problem error,
) (time.Duration, error) {
	after := object.DeepCopy()
	setStatus(&after.Status, object.Generation, places, problem)
	if apiequality.Semantic.DeepEqual(object.Status, after.Status) {
		return 0, nil
	}
	now := r.Clock.Now()
	if wait := reportPause - now.Sub(r.reported[object.Name]); wait > 0 {
		return wait, nil
	}
	if r.reported == nil {
		r.reported = map[string]time.Time{}
	}
	r.reported[object.Name] = now
	err := r.Client.Status().Patch(ctx, after, client.MergeFromWithOptions(object, client.MergeFromWithOptimisticLock{}))
	if apierrors.IsConflict(err) {
		return reportPause, nil
	}
	if client.IgnoreNotFound(err) != nil {
		return 0, fmt.Errorf("writing the status of ClusterPropagationPolicy %s: %w", object.Name, err)
	}
	return 0, nil
}

func setStatus(status *berthv1alpha1.ClusterPropagationPolicyStatus, generation int64, places []place, problem error) {
	status.ObservedGeneration = generation
	status.NamespaceCount, status.WorkloadCount = int32(len(places)), 0
	var total state.Count
	for i := range places {
		if policy := places[i].policy; policy != nil {
			status.WorkloadCount += policy.Status.WorkloadCount
			var ready, wanted int64
			if _, err := fmt.Sscanf(policy.Status.Ready, "%d/%d", &ready, &wanted); err == nil {
				total.Add(ready, wanted)
			}
		}
	}
	status.Ready = total.String()
	for _, condition := range []metav1.Condition{accepted(places, problem), placed(places, status.WorkloadCount)} {
		condition.ObservedGeneration = generation
		apimeta.SetStatusCondition(&status.Conditions, condition)
	}
}

// accepted reports whether the policy is carried out in all of its namespaces.
func accepted(places []place, problem error) metav1.Condition {
	c := metav1.Condition{Type: berthv1alpha1.PolicyAccepted, Status: metav1.ConditionFalse}
	if problem != nil {
		c.Reason, c.Message = berthv1alpha1.ReasonInvalidSelector, problem.Error()
		return c
	}
	var refused []string
	for i := range places {
		p := &places[i]
		if p.obstacle != "" {
			refused = append(refused, p.namespace+": "+p.obstacle)
		} else if own := conditionOf(p, berthv1alpha1.PolicyAccepted); own != nil && own.Status == metav1.ConditionFalse {
			refused = append(refused, p.namespace+": "+own.Message)
		}
	}
	switch {
	case len(refused) > 0:
		c.Reason, c.Message = berthv1alpha1.ReasonNamespacesNotAccepted, names.Clip(names.First(refused, maxNames, "; "))
	case len(places) == 0:
		c.Status, c.Reason, c.Message = metav1.ConditionTrue, berthv1alpha1.ReasonNoNamespaces, "the policy selects no namespace at present"
	default:
		c.Status, c.Reason = metav1.ConditionTrue, berthv1alpha1.ReasonAccepted
		c.Message = fmt.Sprintf("the policy can be carried out; namespaces: %d", len(places))
	}
	return c
}

// placed reports whether the replicas run where the policy wants them in all of its namespaces.
func placed(places []place, workloads int32) metav1.Condition {
	c := metav1.Condition{Type: berthv1alpha1.PolicyPlaced, Status: metav1.ConditionFalse}
	var missing []string
	for i := range places {
		own := conditionOf(&places[i], berthv1alpha1.PolicyPlaced)
		if own == nil || own.Status != metav1.ConditionFalse {
			continue
		}
		if c.Reason == "" {
			c.Reason = own.Reason
		}
		missing = append(missing, places[i].namespace+": "+own.Message)
	}
	switch {
	case len(missing) > 0:
		c.Message = names.Clip(names.First(missing, maxNames, "; "))
	case workloads == 0:
		c.Status, c.Reason = metav1.ConditionUnknown, berthv1alpha1.ReasonNoWorkloads
		c.Message = "the policy places no workload at present"
	default:
		c.Status, c.Reason = metav1.ConditionTrue, berthv1alpha1.ReasonAsDesired
		c.Message = "all replicas run where the policy wants them"
	}
	return c
}

func conditionOf(p *place, conditionType string) *metav1.Condition {
	if p.policy == nil {
		return nil
	}
	return apimeta.FindStatusCondition(p.policy.Status.Conditions, conditionType)
}
