// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package clusterpolicy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	modelpolicy "berth.dev/berth/pkg/model/policy"
)

const controllerName = "clusterpolicy"

// reportPause is the least time between two writes of the status of a policy.
const reportPause = time.Second

// Reconciler carries out ClusterPropagationPolicies.
type Reconciler struct {
	// Client reads from the cache, which has the index of IndexPolicies, and writes.
	Client client.Client
	// Clock tells the time.
	Clock clock.PassiveClock

	// reported is when the status of a policy was written last. There is one pass at a time.
	reported map[string]time.Time
}

// place is a policy in a namespace that it selects.
type place struct {
	namespace string
	// policy is the one by which it is carried out there, nil if there is none yet.
	policy *berthv1alpha1.PropagationPolicy
	// obstacle is why it is not carried out, empty if it is.
	obstacle string
}

// Reconcile makes the policies in all namespaces what they should be, and reports.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	object := &berthv1alpha1.ClusterPropagationPolicy{}
	if err := r.Client.Get(ctx, request.NamespacedName, object); err != nil {
		if apierrors.IsNotFound(err) {
			delete(r.reported, request.Name)
			return reconcile.Result{}, nil
		}
		return reconcile.Result{}, fmt.Errorf("reading ClusterPropagationPolicy %s: %w", request.Name, err)
	}
	if object.DeletionTimestamp != nil {
		return reconcile.Result{}, nil
	}
	selector, problem := modelpolicy.Namespaces(object)
	var places []place
	var failures error
	if problem == nil {
		var namespaces corev1.NamespaceList
		if err := r.Client.List(ctx, &namespaces, client.MatchingLabelsSelector{Selector: selector}); err != nil {
			return reconcile.Result{}, fmt.Errorf("listing namespaces: %w", err)
		}
		if places, failures = r.carryOut(ctx, object, namespaces.Items); failures != nil && places == nil {
			return reconcile.Result{}, failures
		}
	}
	again, err := r.report(ctx, object, places, problem)
	return reconcile.Result{RequeueAfter: again}, errors.Join(failures, err)
}

// carryOut writes the policies of the namespaces, and removes those of others.
func (r *Reconciler) carryOut(
	ctx context.Context, object *berthv1alpha1.ClusterPropagationPolicy, namespaces []corev1.Namespace,
) ([]place, error) {
	own, others, err := r.policies(ctx, object)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(namespaces, func(a, b corev1.Namespace) int { return cmp.Compare(a.Name, b.Name) })
	places := make([]place, 0, len(namespaces))
	var failures []error
	for i := range namespaces {
		wanted := modelpolicy.InNamespace(object, namespaces[i].Name)
		if wanted == nil || namespaces[i].DeletionTimestamp != nil {
			continue
		}
		p := place{namespace: wanted.Namespace, policy: own[wanted.Namespace]}
		delete(own, wanted.Namespace)
		if others[wanted.Namespace] {
			p.obstacle = fmt.Sprintf("PropagationPolicy %s there is not of it", wanted.Name)
		} else if err := r.write(ctx, p.policy, wanted); err != nil {
			p.obstacle = err.Error()
			failures = append(failures, err)
		}
		places = append(places, p)
	}
	for _, left := range own {
		precondition := client.Preconditions{UID: &left.UID, ResourceVersion: &left.ResourceVersion}
		if err := client.IgnoreNotFound(r.Client.Delete(ctx, left, precondition)); err != nil {
			failures = append(failures, fmt.Errorf("deleting policy %s/%s: %w", left.Namespace, left.Name, err))
		}
	}
	return places, errors.Join(failures...)
}

// policies returns the PropagationPolicies of an object by their namespaces, and in which
// namespaces one that is not of it has the name.
func (r *Reconciler) policies(
	ctx context.Context, object *berthv1alpha1.ClusterPropagationPolicy,
) (own map[string]*berthv1alpha1.PropagationPolicy, others map[string]bool, err error) {
	var list berthv1alpha1.PropagationPolicyList
	named := client.MatchingFields{nameIndex: modelpolicy.NameInNamespaces(object.Name)}
	if err := r.Client.List(ctx, &list, client.UnsafeDisableDeepCopy, named); err != nil {
		return nil, nil, fmt.Errorf("listing policies: %w", err)
	}
	own, others = map[string]*berthv1alpha1.PropagationPolicy{}, map[string]bool{}
	for i := range list.Items {
		if policy := &list.Items[i]; metav1.IsControlledBy(policy, object) {
			own[policy.Namespace] = policy.DeepCopy()
		} else {
			others[policy.Namespace] = true
		}
	}
	return own, others, nil
}

// write makes the policy of a namespace what it should be.
func (r *Reconciler) write(ctx context.Context, existing, wanted *berthv1alpha1.PropagationPolicy) error {
	if existing == nil {
		if err := r.Client.Create(ctx, wanted); err != nil {
			return fmt.Errorf("creating policy %s/%s: %w", wanted.Namespace, wanted.Name, err)
		}
		return nil
	}
	if existing.DeletionTimestamp != nil || apiequality.Semantic.DeepEqual(existing.Spec, wanted.Spec) {
		return nil
	}
	after := existing.DeepCopy()
	after.Spec = wanted.Spec
	if err := r.Client.Update(ctx, after); err != nil {
		return fmt.Errorf("updating policy %s/%s: %w", after.Namespace, after.Name, err)
	}
	return nil
}
