// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package application

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/workload"
)

// need is what an object wants of a cluster: so many pods like the sample.
type need struct {
	owner          workload.ID
	object, policy string
	sample         *corev1.Pod
	pods           int64
	// refused is why the API server would not make such pods; empty if it would.
	refused string
}

// needs returns what the objects with pods want of a cluster.
func (r *Reconciler) needs(ctx context.Context, p *pass, objects []*object, seen *observed) ([]need, error) {
	var needs []need
	for _, o := range objects {
		if o.policy == "" {
			continue
		}
		n := need{owner: o.id(), object: o.String(), policy: o.policy, pods: o.wants(p.app, seen)}
		sample, err := r.sample(ctx, p.app, o, objects)
		switch {
		case err != nil:
			return nil, err
		default:
			if n.sample, err = r.Adviser.Admit(ctx, sample); ctx.Err() != nil {
				return nil, ctx.Err()
			} else if err != nil {
				n.refused = "its pods would be refused: " + err.Error()
			}
		}
		needs = append(needs, n)
	}
	return needs, nil
}

// wants returns how many pods an object is to have: those of the manifest, or of what somebody else
// scales as many as it had before a move or is given now, or else one.
func (o *object) wants(app *berthv1alpha1.Application, seen *observed) int64 {
	if o.scales {
		return o.workload(app, seen).Wanted()
	}
	if kind := workload.KindFor(o.GetAPIVersion(), o.GetKind()); kind != nil {
		typed := kind.NewObject()
		if runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, typed) == nil {
			if replicas, known := workload.ReplicasOf(typed); known {
				return int64(replicas)
			}
		}
	}
	return 1
}

// sample returns a pod as an object makes them, that no policy places.
func (r *Reconciler) sample(ctx context.Context, app *berthv1alpha1.Application, o *object, objects []*object) (*corev1.Pod, error) {
	sample, err := o.pod()
	if err != nil {
		return nil, fmt.Errorf("reading the template of the pods of %s: %w", o, err)
	}
	sample.ObjectMeta = metav1.ObjectMeta{
		Namespace: app.Namespace, Name: o.GetName(), UID: app.UID + types.UID("-"+o.policy), Labels: sample.Labels,
		Annotations: workload.SampleAnnotations(sample.Annotations),
	}
	var failure error
	sample.Spec.Volumes = slices.DeleteFunc(sample.Spec.Volumes, func(v corev1.Volume) bool {
		unmade, err := r.unmade(ctx, app, v.PersistentVolumeClaim, objects)
		if err != nil {
			failure = err
		}
		return unmade
	})
	return sample, failure
}

// unmade reports whether a claim is one of the Application that is not there yet: nothing is known
// then of where its volume will lie.
func (r *Reconciler) unmade(
	ctx context.Context, app *berthv1alpha1.Application, source *corev1.PersistentVolumeClaimVolumeSource, objects []*object,
) (bool, error) {
	if source == nil || !slices.ContainsFunc(objects, func(o *object) bool {
		return o.GetKind() == "PersistentVolumeClaim" && o.GetName() == source.ClaimName
	}) {
		return false, nil
	}
	claim := &corev1.PersistentVolumeClaim{}
	err := r.Client.Get(ctx, client.ObjectKey{Namespace: app.Namespace, Name: source.ClaimName}, claim)
	if err != nil && !apierrors.IsNotFound(err) {
		return false, fmt.Errorf("reading the claim %s/%s: %w", app.Namespace, source.ClaimName, err)
	}
	return err != nil, nil
}
