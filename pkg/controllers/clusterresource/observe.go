// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package clusterresource

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/controllers/state"
	"berth.dev/berth/pkg/model/charges"
	"berth.dev/berth/pkg/model/demand"
	"berth.dev/berth/pkg/model/workload"
	"berth.dev/berth/pkg/placement/pool"
)

// observed is a ClusterResource and what a pass found out about it.
type observed struct {
	// object is as it was read.
	object *berthv1alpha1.ClusterResource
	// published has the pools that are to be used, in its status.
	published *berthv1alpha1.ClusterResource
	// invalid is why the pools cannot be used; nil if they can.
	invalid error
	// resource and places are nil if the pools cannot be used.
	resource *pool.Resource
	places   *pool.Places
	// account has what pods hold of all ClusterResources.
	account *pool.Account
	// namespaces has what the pods of each namespace hold of this one.
	namespaces map[string]*berthv1alpha1.NamespaceAllocation
	// pods are the holders, as "NAMESPACE/NAME", in no order.
	pods    []string
	waiting int32
	// listing are nodes that list the resource as their own.
	listing []string
}

func (o *observed) holders() int { return len(o.pods) }

// observe finds out what pods hold of the ClusterResources, and how many wait for them. It returns
// them in the order of their names.
func (r *Reconciler) observe(ctx context.Context, objects []berthv1alpha1.ClusterResource) ([]*observed, error) {
	var nodes corev1.NodeList
	if err := r.Client.List(ctx, &nodes, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("listing nodes: %w", err)
	}
	pods, err := state.ListConcerned(ctx, r.Client)
	if err != nil {
		return nil, err
	}
	all := make(observations, len(objects))
	for i := range objects {
		all[objects[i].Name] = newObserved(&objects[i], nodes.Items)
	}
	pools := all.pools(nodes.Items)
	tally, err := charges.Count(pods, func() (*charges.Pools, error) { return pools, nil })
	if err != nil {
		return nil, err
	}
	for _, o := range all {
		o.account, o.places = tally.Account, pools.Places(o.object.Name)
	}
	for i := range tally.Holdings {
		all.addHolder(&tally.Holdings[i])
	}
	all.countWaiting(pods)
	amounts.setOldest(r.Clock.Now(), all.oldestWaiting(pods, nodes.Items))
	return slices.SortedFunc(maps.Values(all), func(a, b *observed) int {
		return strings.Compare(a.object.Name, b.object.Name)
	}), nil
}

func newObserved(object *berthv1alpha1.ClusterResource, nodes []corev1.Node) *observed {
	o := &observed{object: object, namespaces: map[string]*berthv1alpha1.NamespaceAllocation{}}
	name := corev1.ResourceName(berthv1alpha1.ClusterResourceDomain + "/" + object.Name)
	for i := range nodes {
		if _, lists := nodes[i].Status.Allocatable[name]; lists {
			o.listing = append(o.listing, nodes[i].Name)
		}
	}
	slices.Sort(o.listing)
	if o.published, o.invalid = charges.Publish(object); o.invalid == nil {
		o.resource, o.invalid = pool.NewResource(o.published)
	}
	return o
}

// observations are what is known of ClusterResources, by name.
type observations map[string]*observed

// pools returns the pools that can be used.
func (all observations) pools(nodes []corev1.Node) *charges.Pools {
	pools := charges.NewPools()
	for i := range nodes {
		pools.SetNode(&nodes[i])
	}
	pools.Use(func(yield func(*pool.Resource) bool) {
		for _, o := range all {
			if o.resource != nil && !yield(o.resource) {
				return
			}
		}
	})
	pools.Rank()
	return pools
}

// countWaiting counts the pods that have no node and ask for something. The scheduler tells pods
// whose request cannot be read.
func (all observations) countWaiting(pods []corev1.Pod) {
	for i := range pods {
		pod := &pods[i]
		if pod.Spec.NodeName != "" || pod.DeletionTimestamp != nil || workload.Finished(pod) {
			continue
		}
		requests, _ := demand.Of(pod)
		for _, request := range requests {
			if o := all[request.Resource]; o != nil {
				o.waiting++
			}
		}
	}
}

// addHolder notes what a pod holds. With mode AllOf several pools are charged for the same units.
func (all observations) addHolder(holding *charges.Holding) {
	held := map[*observed]resource.Quantity{}
	for _, c := range holding.Charges {
		if o := all[c.Resource]; o != nil {
			if most, found := held[o]; !found || most.Cmp(c.Quantity) < 0 {
				held[o] = c.Quantity
			}
		}
	}
	namespace := holding.Pod.Namespace
	for o, quantity := range held {
		o.pods = append(o.pods, namespace+"/"+holding.Pod.Name)
		of := o.namespaces[namespace]
		if of == nil {
			of = &berthv1alpha1.NamespaceAllocation{Namespace: namespace}
			o.namespaces[namespace] = of
		}
		of.Quantity.Add(quantity)
		of.Holders++
	}
}
