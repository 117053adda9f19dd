// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package whatif

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/policy"
	"berth.dev/berth/pkg/model/workload"
)

// place chooses a cluster for each Application and makes its objects there. One that moves does so
// by evictions: that its new pods start first is left out.
func (s *Simulation) place(ctx context.Context) error {
	applications := kept[*berthv1alpha1.Application](s)
	if len(applications) == 0 {
		return nil
	}
	chosen, err := s.choose(ctx, applications)
	if err != nil {
		return err
	}
	for i, app := range applications {
		after := app.DeepCopy()
		after.Status.ScheduledTo = chosen[i]
		if after.Status.ScheduledTo != "" {
			if err := s.makeObjects(ctx, after); err != nil {
				return fmt.Errorf("application %s/%s: %w", app.Namespace, app.Name, err)
			}
		}
		after.Status.ObservedGeneration = after.Generation
		if err := s.replace(after); err != nil {
			return err
		}
	}
	return nil
}

// makeObjects applies the manifests of an Application that has not been seen yet, and has the
// policies of its pods name its cluster.
func (s *Simulation) makeObjects(ctx context.Context, app *berthv1alpha1.Application) error {
	for i := range app.Spec.Manifests {
		decoded, err := Decode(app.Spec.Manifests[i].Raw, app.Namespace)
		if errors.Is(err, errUnknownKind) {
			continue // It makes no pods that are known of.
		}
		if err != nil {
			return fmt.Errorf("manifests[%d]: %w", i, err)
		}
		typed, identity, err := identify(decoded)
		if err != nil {
			return err
		}
		typed.SetOwnerReferences([]metav1.OwnerReference{ownerOf(app)})
		name := policy.NameForApplication(app.Name, identity.Kind, identity.Name)
		hasPods := s.direct(typed, name)
		if s.objects[identity] == nil || app.Status.ObservedGeneration != app.Generation {
			if err := s.apply(ctx, typed); err != nil {
				return fmt.Errorf("manifests[%d]: %w", i, err)
			}
		}
		if !hasPods {
			continue
		}
		version := decoded.GetObjectKind().GroupVersionKind().GroupVersion().String()
		if err := s.writePolicy(policyFor(app, name, version, identity)); err != nil {
			return err
		}
	}
	return nil
}

func ownerOf(app *berthv1alpha1.Application) metav1.OwnerReference {
	return *metav1.NewControllerRef(app, berthv1alpha1.SchemeGroupVersion.WithKind("Application"))
}

// direct has the pods of an object ask for Berth's scheduler and the policy. It is false for an
// object without pods.
func (s *Simulation) direct(o object, policy string) bool {
	meta, spec := (*metav1.ObjectMeta)(nil), (*corev1.PodSpec)(nil)
	if pod, is := o.(*corev1.Pod); is {
		meta, spec = &pod.ObjectMeta, &pod.Spec
	} else if template := workload.TemplateOf(o); template != nil {
		meta, spec = &template.ObjectMeta, &template.Spec
	}
	if spec == nil {
		return false
	}
	if spec.SchedulerName == "" {
		spec.SchedulerName = s.options.Schedulers[0]
	}
	metav1.SetMetaDataAnnotation(meta, berthv1alpha1.PolicyAnnotation, policy)
	return true
}

// policyFor is the policy of an object of an Application.
func policyFor(app *berthv1alpha1.Application, name, apiVersion string, of id) *berthv1alpha1.PropagationPolicy {
	return &berthv1alpha1.PropagationPolicy{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: app.Namespace, Name: name, Annotations: map[string]string{},
			OwnerReferences: []metav1.OwnerReference{ownerOf(app)},
		},
		Spec: berthv1alpha1.PropagationPolicySpec{
			ResourceSelectors: []berthv1alpha1.ResourceSelector{{APIVersion: apiVersion, Kind: of.Kind, Name: of.Name}},
			Placement: berthv1alpha1.Placement{StaticWeightList: []berthv1alpha1.StaticClusterWeight{
				{ClusterNames: []string{app.Status.ScheduledTo}, Weight: 1},
			}},
			Rebalance: berthv1alpha1.Rebalance{Mode: berthv1alpha1.RebalanceEvict},
		},
	}
}
