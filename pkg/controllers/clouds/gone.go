// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package clouds

import (
	"context"
	"fmt"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// tellGone writes into the conditions of what is bound whether that to which it is bound has gone.
// That it is there again, from a backup for instance, is told as well.
func (r *Reconciler[T]) tellGone(ctx context.Context, object T) error {
	to := r.bound(object)
	gone, err := r.isGone(ctx, to)
	if err != nil {
		return err
	}
	conditions := r.conditions(object)
	told := apimeta.FindStatusCondition(*conditions, r.condition)
	if gone == (told != nil && told.Reason == berthv1alpha1.ReasonCloudGone) {
		if told != nil {
			told.ObservedGeneration = object.GetGeneration() // the choice is final, whatever the spec says now
		}
		return nil
	}
	condition := metav1.Condition{
		Status: metav1.ConditionFalse, Reason: berthv1alpha1.ReasonCloudGone,
		Message: nameOf(to.Kind, to.Namespace, to.Name) + ", to which it is bound, does not exist any more; the choice is final",
	}
	if !gone {
		condition.Status, condition.Reason = metav1.ConditionTrue, berthv1alpha1.ReasonCloudChosen
		condition.Message = nameOf(to.Kind, to.Namespace, to.Name) + " is there again"
	}
	setBound(conditions, r.condition, condition, object.GetGeneration())
	return nil
}

// isGone reports whether there is no such place.
func (r *Reconciler[T]) isGone(ctx context.Context, to *berthv1alpha1.CloudReference) (bool, error) {
	for _, origin := range r.origins {
		if kindOf(origin) != to.Kind {
			continue
		}
		found, ok := origin.DeepCopyObject().(client.Object)
		if !ok {
			continue
		}
		err := r.Client.Get(ctx, client.ObjectKey{Namespace: to.Namespace, Name: to.Name}, found)
		if client.IgnoreNotFound(err) != nil {
			return false, fmt.Errorf("reading %s: %w", nameOf(to.Kind, to.Namespace, to.Name), err)
		}
		return err != nil, nil
	}
	return false, nil
}

// kindOf returns the kind of a place, which objects from a cache do not tell.
func kindOf(object client.Object) string {
	switch object.(type) {
	case *berthv1alpha1.Cloud:
		return "Cloud"
	case *berthv1alpha1.GlobalCloud:
		return "GlobalCloud"
	case *berthv1alpha1.OpenStackProject:
		return "OpenStackProject"
	}
	return ""
}

// nameOf is how messages call a place.
func nameOf(kind, namespace, name string) string {
	if namespace == "" {
		return kind + " " + name
	}
	return kind + " " + namespace + "/" + name
}
