// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// onlineName is the name of the OnlineReconciler in logs and metrics.
const onlineName = "online"

// Shares are the shares of ready nodes at which a Cluster changes.
type Shares struct {
	// Online is the share at which a Cluster comes online, more than 0 and at most 1.
	Online float64
	// Offline is the share below which it goes offline, at most Online.
	Offline float64
}

// DefaultShares are the shares that are used unless others are set.
var DefaultShares = Shares{Online: 0.5, Offline: 0.25}

// Validate returns what is wrong with the shares.
func (s Shares) Validate() error {
	if !(s.Online > 0 && s.Online <= 1 && s.Offline >= 0 && s.Offline <= s.Online) {
		return fmt.Errorf("the share to come online must be more than 0 and at most 1, and the share to go offline (%v) not above it (%v)",
			s.Offline, s.Online)
	}
	return nil
}

// OnlineReconciler writes the condition Online of Clusters: applications can be sent to a Cluster
// that is online.
//
// A Cluster is online while a large enough share of its nodes takes pods. The share at which it
// comes online is higher than the one at which it goes offline, so a Cluster at the limit does not
// flap, and one bad node of many drives nothing away.
type OnlineReconciler struct {
	// Client reads from the cache and writes the status.
	Client client.Client
	// Shares are when a Cluster changes.
	Shares Shares
}

// SetupWithManager registers the controller.
func (r *OnlineReconciler) SetupWithManager(mgr ctrl.Manager) error {
	err := builder.ControllerManagedBy(mgr).
		Named(onlineName).
		For(&berthv1alpha1.Cluster{}, builder.WithPredicates(onlineChanges())).
		Complete(r)
	if err != nil {
		return fmt.Errorf("setting up the online controller: %w", err)
	}
	return nil
}

// onlineChanges lets pass what the condition hangs on, and the condition itself, so that what
// somebody else wrote is set right.
func onlineChanges() predicate.Predicate {
	return predicate.Funcs{
		UpdateFunc: func(e event.UpdateEvent) bool {
			before, ok := e.ObjectOld.(*berthv1alpha1.Cluster)
			after, too := e.ObjectNew.(*berthv1alpha1.Cluster)
			return !ok || !too || before.Generation != after.Generation ||
				before.Status.NodeCount != after.Status.NodeCount ||
				before.Status.ReadyNodeCount != after.Status.ReadyNodeCount ||
				before.Status.ObservedGeneration != after.Status.ObservedGeneration ||
				!apiequality.Semantic.DeepEqual(before.Online(), after.Online())
		},
		DeleteFunc: func(event.DeleteEvent) bool { return false },
	}
}

// Reconcile brings the condition of a Cluster up to date.
func (r *OnlineReconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	before := &berthv1alpha1.Cluster{}
	if err := r.Client.Get(ctx, request.NamespacedName, before); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if before.Status.ObservedGeneration == 0 {
		// Nobody has counted the nodes yet. The event of the count comes here too.
		return reconcile.Result{}, nil
	}
	after := before.DeepCopy()
	apimeta.SetStatusCondition(&after.Status.Conditions, r.condition(before))
	if apiequality.Semantic.DeepEqual(before.Status, after.Status) {
		return reconcile.Result{}, nil
	}
	return reconcile.Result{}, patchStatus(ctx, r.Client, before, after)
}

// condition returns the condition Online. Its message has no numbers of nodes, so that not every
// node makes a write.
func (r *OnlineReconciler) condition(cluster *berthv1alpha1.Cluster) metav1.Condition {
	needed := r.Shares.Online
	if online := cluster.Online(); online != nil && online.Status == metav1.ConditionTrue {
		needed = r.Shares.Offline
	}
	result := metav1.Condition{
		Type: berthv1alpha1.ClusterOnline, Status: metav1.ConditionFalse, ObservedGeneration: cluster.Generation,
		Reason:  berthv1alpha1.ReasonTooFewNodesReady,
		Message: fmt.Sprintf("%s of the nodes must be ready and schedulable for the cluster to come online", percent(r.Shares.Online)),
	}
	ready, all := float64(cluster.Status.ReadyNodeCount), float64(cluster.Status.NodeCount)
	if ready > 0 && ready >= needed*all {
		result.Status, result.Reason = metav1.ConditionTrue, berthv1alpha1.ReasonEnoughNodesReady
		result.Message = fmt.Sprintf("the cluster goes offline when less than %s of the nodes are ready and schedulable, or none is",
			percent(r.Shares.Offline))
	}
	return result
}

func percent(share float64) string {
	return fmt.Sprintf("%.4g%%", share*100)
}
