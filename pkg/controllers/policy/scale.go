// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	modelpolicy "berth.dev/berth/pkg/model/policy"
	"berth.dev/berth/pkg/placement/grouping"
	"berth.dev/berth/pkg/placement/names"
)

// scaleAgain is when it is looked again whether a workload that could not be scaled can be.
const scaleAgain = 30 * time.Second

// scaling is what came of following the clusters.
type scaling struct {
	// reason and message are those of the first workload that is not scaled, and of the others.
	reason   string
	messages []string
}

// scalable returns an empty object of the kind of a workload, nil if a policy must not set its
// number of replicas.
func scalable(placed *placement) client.Object {
	switch {
	case !modelpolicy.Scalable(&placed.Workload):
		return nil
	case placed.Kind == "StatefulSet":
		return &appsv1.StatefulSet{}
	}
	return &appsv1.Deployment{}
}

// scale sets the number of replicas of the workloads of a policy that follows its clusters.
func (p *pass) scale(ctx context.Context, in *inForce) {
	wants, sets := in.Policy.Replicas()
	if !sets {
		return
	}
	for _, placed := range in.placements {
		if !placed.ReplicasKnown {
			continue
		}
		if reason, err := p.scaleWorkload(ctx, placed, wants); err != nil {
			if in.scaling.reason == "" {
				in.scaling.reason = reason
			}
			in.scaling.messages = append(in.scaling.messages, fmt.Sprintf("%s has %s and its clusters want %d: %v",
				name(placed.Observed), names.Count(int(placed.Replicas), "replica"), wants, err))
			p.requeueAfter(scaleAgain)
		}
	}
}

// scaleWorkload sets the number of replicas of a workload. The error, with its reason, says why
// Berth does not: also where the number is that of an autoscaler and only happens to be right.
func (p *pass) scaleWorkload(ctx context.Context, placed *placement, replicas int32) (reason string, err error) {
	age := time.Duration(0)
	if placed.Replicas == replicas { // Nothing is to be written that an autoscaler could be in the way of.
		age = scaleAgain
	}
	autoscaler, err := p.autoscalerOf(ctx, placed, age)
	object := scalable(placed)
	switch {
	case err != nil:
		return berthv1alpha1.ReasonNotScalable, err
	case autoscaler != "":
		return berthv1alpha1.ReasonAutoscaled, fmt.Errorf("HorizontalPodAutoscaler %s sets it", autoscaler)
	case placed.Replicas == replicas:
		return "", nil
	case object == nil:
		return berthv1alpha1.ReasonNotScalable, errors.New("only Deployments and StatefulSets follow their clusters")
	}
	object.SetNamespace(p.namespace)
	object.SetName(placed.Name)
	scale := &autoscalingv1.Scale{
		ObjectMeta: metav1.ObjectMeta{Namespace: p.namespace, Name: placed.Name, UID: placed.UID},
		Spec:       autoscalingv1.ScaleSpec{Replicas: replicas},
	}
	err = p.Client.SubResource("scale").Update(ctx, object, client.WithSubResourceBody(scale))
	switch {
	case apierrors.IsConflict(err), apierrors.IsNotFound(err):
		p.requeueAfter(changedAgain)
		return berthv1alpha1.ReasonNotScalable, errors.New("it has changed meanwhile")
	case err != nil:
		return berthv1alpha1.ReasonNotScalable, err
	}
	p.logger.Info("Set the number of replicas", "workload", name(placed.Observed), "from", placed.Replicas, "to", replicas)
	return "", nil
}

// autoscalerOf returns the name of a HorizontalPodAutoscaler that targets a workload, empty if
// there is none. They are read once in a pass, and not if what was read before is no older than
// age.
func (p *pass) autoscalerOf(ctx context.Context, placed *placement, age time.Duration) (string, error) {
	if p.now.Sub(p.notes.autoscalersAt) > age {
		var list autoscalingv2.HorizontalPodAutoscalerList
		if err := p.Live.List(ctx, &list, client.InNamespace(p.namespace)); err != nil {
			return "", fmt.Errorf("looking for HorizontalPodAutoscalers: %w", err)
		}
		p.notes.autoscalers, p.notes.autoscalersAt = list.Items, p.now
	}
	i := slices.IndexFunc(p.notes.autoscalers, func(a autoscalingv2.HorizontalPodAutoscaler) bool {
		return modelpolicy.Targets(&a.Spec.ScaleTargetRef, &placed.Workload)
	})
	if i < 0 {
		return "", nil
	}
	return p.notes.autoscalers[i].Name, nil
}

// setScaled sets the condition Scaled of a policy that follows its clusters, and removes it from
// any other.
func setScaled(conditions *[]metav1.Condition, in *inForce) {
	if !modelpolicy.FollowsClusters(in.policy) || in.Err != nil {
		apimeta.RemoveStatusCondition(conditions, berthv1alpha1.PolicyScaled)
		return
	}
	c := metav1.Condition{
		Type: berthv1alpha1.PolicyScaled, Status: metav1.ConditionTrue, Reason: berthv1alpha1.ReasonFollowsClusters,
		Message: "the clusters want " + names.Count(int(in.Layout.Wants.Replicas), "replica"), ObservedGeneration: in.policy.Generation,
	}
	if in.scaling.reason != "" {
		c.Status, c.Reason, c.Message = metav1.ConditionFalse, in.scaling.reason, names.First(in.scaling.messages, maxNames, "; ")
		c.Message = names.ClipTo(c.Message, maxMessage)
	}
	apimeta.SetStatusCondition(conditions, c)
}

// unscaled tells the workloads that have another number of replicas than their clusters want, and
// how to give it to them.
func unscaled(in *inForce) []string {
	if in.Err != nil || modelpolicy.FollowsClusters(in.policy) || !in.Layout.Wants.PerCluster {
		return nil
	}
	wants := &in.Layout.Wants
	var told []string
	for _, p := range in.placements {
		if !p.ReplicasKnown || int64(p.Replicas) == wants.Replicas || wants.Shares && int64(p.Replicas) > wants.Replicas {
			continue
		}
		told = append(told, fmt.Sprintf("%s, the %s has %d: kubectl scale -n %s %s/%s --replicas=%d",
			wanted(wants), p.Kind, p.Replicas, p.Namespace, strings.ToLower(p.Kind), p.Name, wants.Replicas))
	}
	return told
}

// wanted tells how many replicas the clusters want.
func wanted(wants *grouping.Wants) string {
	switch {
	case wants.Clusters == 1 && wants.Replicas == wants.Each:
		return fmt.Sprintf("1 cluster wants %d", wants.Replicas)
	case wants.Clusters > 0 && wants.Replicas == wants.Clusters*wants.Each:
		return fmt.Sprintf("%s clusters want %d each", thousands(wants.Clusters), wants.Each)
	case wants.Replicas == 1:
		return "clusters want 1 replica together"
	}
	return fmt.Sprintf("clusters want %s replicas together", thousands(wants.Replicas))
}

// thousands writes a number as people read it: 1,000.
func thousands(n int64) string {
	digits := strconv.FormatInt(n, 10)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
