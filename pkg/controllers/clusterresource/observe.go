// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package clusterresource

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/demand"
	"berth.dev/berth/pkg/model/stamp"
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

// observe finds out what pods hold of the ClusterResources, and how many wait for them.
func (r *Reconciler) observe(ctx context.Context, objects []berthv1alpha1.ClusterResource) ([]*observed, error) {
	var nodes corev1.NodeList
	if err := r.Client.List(ctx, &nodes, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("listing nodes: %w", err)
	}
	var pods corev1.PodList
	err := r.Client.List(ctx, &pods, client.UnsafeDisableDeepCopy, Concerned())
	if err != nil {
		return nil, fmt.Errorf("listing pods: %w", err)
	}
	t := newTally(objects, nodes.Items)
	t.count(pods.Items)
	return t.all, nil
}

// tally counts what pods hold.
type tally struct {
	all     []*observed
	byName  map[string]*observed
	account *pool.Account
	labels  map[string]map[string]string
}

func newTally(objects []berthv1alpha1.ClusterResource, nodes []corev1.Node) *tally {
	t := &tally{
		byName: make(map[string]*observed, len(objects)), account: pool.NewAccount(),
		labels: make(map[string]map[string]string, len(nodes)),
	}
	for i := range nodes {
		t.labels[nodes[i].Name] = nodes[i].Labels
	}
	for i := range objects {
		o := &observed{
			object: &objects[i], account: t.account, namespaces: map[string]*berthv1alpha1.NamespaceAllocation{},
		}
		o.findPools(nodes)
		t.all = append(t.all, o)
		t.byName[o.object.Name] = o
	}
	slices.SortFunc(t.all, func(a, b *observed) int { return strings.Compare(a.object.Name, b.object.Name) })
	return t
}

// publish returns the ClusterResource with the pools of its spec in its status; with an empty spec as it is. Pools that cannot
// be used are published all the same, and the scheduler tells the pods that wait. An amount that would be published as another
// one is not; then there are no pools, and an error.
func publish(object *berthv1alpha1.ClusterResource) (*berthv1alpha1.ClusterResource, error) {
	published := object.DeepCopy()
	if len(object.Spec.Capacity) == 0 {
		return published, nil
	}
	for i := range object.Spec.Capacity {
		declared := &object.Spec.Capacity[i]
		if err := pool.Check(declared.Quantity); err != nil {
			published.Status.Capacity, published.Status.Allocatable = nil, nil
			return published, fmt.Errorf("pool %s: the quantity %w", declared.Name, err)
		}
	}
	published.Status.Capacity, published.Status.Allocatable = published.Spec.Capacity, publishable(object)
	return published, nil
}

// publishable returns the pools of the spec. A pool of which several schedulers were granted more than that stays as large as it
// is until they have given back what no pod holds, so that never more is granted than is allocatable.
func publishable(object *berthv1alpha1.ClusterResource) []berthv1alpha1.ClusterResourceQuantity {
	if len(object.Status.Grants) == 0 {
		return object.Spec.Capacity
	}
	granted, held, before := map[string]resource.Quantity{}, map[string]resource.Quantity{}, quantities(object.Status.Allocatable)
	for i := range object.Status.Grants {
		g := &object.Status.Grants[i]
		sum := granted[g.Pool]
		sum.Add(g.Quantity)
		granted[g.Pool] = sum
	}
	for i := range object.Status.Allocated {
		held[object.Status.Allocated[i].Name] = object.Status.Allocated[i].Quantity
	}
	pools := slices.Clone(object.Spec.Capacity)
	for i := range pools {
		p := &pools[i]
		sum, old := granted[p.Name], before[p.Name]
		if old.Cmp(p.Quantity) > 0 && sum.Cmp(p.Quantity) > 0 && sum.Cmp(held[p.Name]) > 0 {
			p.Quantity = old
		}
	}
	return pools
}

func (o *observed) findPools(nodes []corev1.Node) {
	name := corev1.ResourceName(berthv1alpha1.ClusterResourceDomain + "/" + o.object.Name)
	for i := range nodes {
		if _, lists := nodes[i].Status.Allocatable[name]; lists {
			o.listing = append(o.listing, nodes[i].Name)
		}
	}
	slices.Sort(o.listing)
	if o.published, o.invalid = publish(o.object); o.invalid != nil {
		return
	}
	if o.resource, o.invalid = pool.NewResource(o.published); o.invalid != nil {
		return
	}
	o.places = pool.NewPlaces(o.resource)
	for i := range nodes {
		o.places.Set(nodes[i].Name, nodes[i].Labels)
	}
	o.places.Rank()
}

func (t *tally) count(pods []corev1.Pod) {
	var strays []*corev1.Pod
	for i := range pods {
		pod := &pods[i]
		switch {
		case workload.Finished(pod):
		case pod.Spec.NodeName == "":
			t.wait(pod)
		default:
			charges, pinned := stamp.ChargesOf(pod)
			if !pinned {
				strays = append(strays, pod)
				continue
			}
			t.account.Add(charges)
			t.hold(pod, charges)
		}
	}
	t.countStrays(strays)
}

// countStrays charges pods that Berth did not bind, the oldest first.
func (t *tally) countStrays(pods []*corev1.Pod) {
	slices.SortFunc(pods, func(a, b *corev1.Pod) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.UID, b.UID))
	})
	strays := make([]pool.Stray, len(pods))
	for i, pod := range pods {
		// A request that cannot be read cannot be charged.
		requests, _ := demand.Of(pod)
		strays[i] = pool.Stray{Requests: requests, Labels: t.labels[pod.Spec.NodeName]}
	}
	for i, charges := range t.account.ChargeStrays(strays, t.placesOf) {
		t.hold(pods[i], charges)
	}
}

func (t *tally) placesOf(resourceName string) *pool.Places {
	if o := t.byName[resourceName]; o != nil {
		return o.places
	}
	return nil
}

func (t *tally) wait(pod *corev1.Pod) {
	if pod.DeletionTimestamp != nil {
		return
	}
	requests, err := demand.Of(pod)
	if err != nil {
		// The scheduler tells on the pod what is wrong with it.
		return
	}
	for _, request := range requests {
		if o := t.byName[request.Resource]; o != nil {
			o.waiting++
		}
	}
}

// hold notes what a pod holds. With mode AllOf several pools are charged for the same units.
func (t *tally) hold(pod *corev1.Pod, charges []pool.Charge) {
	held := map[*observed]resource.Quantity{}
	for _, c := range charges {
		if o := t.byName[c.Resource]; o != nil {
			if most, found := held[o]; !found || most.Cmp(c.Quantity) < 0 {
				held[o] = c.Quantity
			}
		}
	}
	for o, quantity := range held {
		o.pods = append(o.pods, pod.Namespace+"/"+pod.Name)
		of := o.namespaces[pod.Namespace]
		if of == nil {
			of = &berthv1alpha1.NamespaceAllocation{Namespace: pod.Namespace}
			o.namespaces[pod.Namespace] = of
		}
		of.Quantity.Add(quantity)
		of.Holders++
	}
}
