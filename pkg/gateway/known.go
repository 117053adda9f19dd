// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/generated/clientset/versioned"
	informers "berth.dev/berth/pkg/generated/informers/externalversions/berth/v1alpha1"
)

// Known returns what was last told of the cluster with a name, nil if nothing was. It may be old,
// and must not be changed.
type Known func(name string) *berthv1alpha1.Cluster

// Follow lets the API server tell of clusters until the context ends. What is returned knows of
// each what it takes to unregister it.
func Follow(ctx context.Context, client versioned.Interface) (Known, error) {
	informer := informers.NewClusterInformer(client, 0, nil)
	if err := informer.SetTransform(trimmed); err != nil {
		return nil, fmt.Errorf("following clusters: %w", err)
	}
	err := informer.SetWatchErrorHandlerWithContext(func(ctx context.Context, _ *cache.Reflector, err error) {
		klog.FromContext(ctx).V(2).Info("Cannot follow clusters, so each is asked for", "reason", err.Error())
	})
	if err != nil {
		return nil, fmt.Errorf("following clusters: %w", err)
	}
	go informer.RunWithContext(ctx)
	return func(name string) *berthv1alpha1.Cluster {
		object, exists, err := informer.GetStore().GetByKey(name)
		if err != nil || !exists {
			return nil
		}
		cluster, _ := object.(*berthv1alpha1.Cluster)
		return cluster
	}, nil
}

// trimmed cuts a cluster down to what it takes to unregister it.
func trimmed(object any) (any, error) {
	cluster, ok := object.(*berthv1alpha1.Cluster)
	if !ok {
		return object, nil
	}
	return &berthv1alpha1.Cluster{
		ObjectMeta: metav1.ObjectMeta{Name: cluster.Name, UID: cluster.UID, ResourceVersion: cluster.ResourceVersion},
		Spec:       berthv1alpha1.ClusterSpec{Nodes: cluster.Spec.Nodes},
		Status:     berthv1alpha1.ClusterStatus{ContainedNodes: cluster.Status.ContainedNodes},
	}, nil
}

// unregisterKnown unregisters a cluster that still is what was last told of it, and reports whether
// it was. This saves asking for the cluster. What refuses a request is not decided here, because
// what was told may be old.
func (g *Gateway) unregisterKnown(r *request) (bool, error) {
	cluster := g.known(r.route)
	if cluster == nil || !g.isFree(r, cluster) {
		return false, nil
	}
	err := g.clusters.Delete(r.Context(), cluster.Name, metav1.DeleteOptions{
		Preconditions: &metav1.Preconditions{UID: &cluster.UID, ResourceVersion: &cluster.ResourceVersion},
	})
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		return false, nil
	}
	return err == nil, err
}

// isFree reports whether nothing stands against unregistering a cluster as it was last told of.
func (g *Gateway) isFree(r *request, cluster *berthv1alpha1.Cluster) bool {
	force, err := forced(r.Request)
	switch {
	case err != nil, hasPreconditions(r.Request):
		return false
	case r.route.kind == routeByID && g.permitNamed(r, "delete", cluster.Name) != nil:
		return false
	}
	return force || g.checkUnused(r.Context(), cluster) == nil
}

// known returns what was last told of the cluster of a path, nil if nothing was.
func (g *Gateway) known(rt route) *berthv1alpha1.Cluster {
	if g.config.Known == nil {
		return nil
	}
	if rt.kind != routeByID {
		return g.config.Known(rt.key)
	}
	id := strings.ToLower(rt.key)
	name, found := g.lookup.remembered(id)
	if !found {
		return nil
	}
	if cluster := g.config.Known(name); cluster != nil && string(cluster.UID) == id {
		return cluster
	}
	return nil
}

// hasPreconditions reports whether an answer depends on the version of the cluster.
func hasPreconditions(r *http.Request) bool {
	return isConditional(r) || r.Header.Get("If-None-Match") != ""
}
