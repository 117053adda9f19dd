// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/explain/placement"
	"berth.dev/berth/pkg/model/demand"
	"berth.dev/berth/pkg/model/stamp"
	"berth.dev/berth/pkg/placement/amount"
	"berth.dev/berth/pkg/placement/names"
	"berth.dev/berth/pkg/placement/pool"
)

// ResourceInfo is what a pod asks for of a ClusterResource, and what the pools say to it.
type ResourceInfo struct {
	Name string `json:"name"`
	// Quantity is what the pod asks for.
	Quantity resource.Quantity `json:"quantity"`
	// Charged are the pools that Berth charged a bound pod to.
	Charged []string `json:"charged,omitempty"`
	// Pools are those of the ClusterResource, in the order of their declaration.
	Pools []PoolInfo `json:"pools"`
}

// PoolInfo is what a pool says to a pod.
type PoolInfo struct {
	Name        string            `json:"name"`
	Allocatable resource.Quantity `json:"allocatable"`
	Allocated   resource.Quantity `json:"allocated"`
	Free        resource.Quantity `json:"free"`
	// Nodes is the number of nodes that the pool selects.
	Nodes int `json:"nodes"`
	// Says is the answer in words.
	Says string `json:"says"`
}

// AddResources tells what the pod asks for or holds of ClusterResources, and why it waits for
// them.
func (e *PodAnswer) AddResources(s *placement.State, pod *corev1.Pod, objects []berthv1alpha1.ClusterResource) {
	requests, err := demand.Of(pod)
	if err != nil {
		e.becausef("what it asks for of cluster resources cannot be carried out: %v", err)
	}
	charges, _ := stamp.ChargesOf(pod)
	for _, request := range requests {
		info := ResourceInfo{Name: request.Resource, Quantity: request.Quantity, Pools: []PoolInfo{}}
		for _, c := range charges {
			if c.Resource == request.Resource {
				info.Charged = append(info.Charged, c.Pool)
			}
		}
		e.explainRequest(s, &info, objects)
		for k := range info.Pools {
			if slices.Contains(info.Charged, info.Pools[k].Name) {
				info.Pools[k].Says = "is charged"
			}
		}
		e.Resources = append(e.Resources, info)
	}
	if e.State == waiting {
		return
	}
	for _, c := range charges {
		e.becausef("%s %s of pool %s of cluster resource %s", e.holds(), amount.Text(c.Quantity), c.Pool, c.Resource)
	}
	if len(requests) > 0 && len(charges) == 0 && e.State != finished {
		e.becausef("Berth did not charge it for cluster resources when it was bound, so it is charged by the node it runs on")
	}
}

func (e *PodAnswer) holds() string {
	switch e.State {
	case finished:
		return "it has finished and given back"
	case terminating:
		return "until it is gone it holds"
	default:
		return "it holds"
	}
}

// explainRequest fills in what the pools say to a request, and tells why a pod waits for it.
func (e *PodAnswer) explainRequest(s *placement.State, info *ResourceInfo, objects []berthv1alpha1.ClusterResource) {
	i := slices.IndexFunc(objects, func(r berthv1alpha1.ClusterResource) bool { return r.Name == info.Name })
	if i < 0 {
		e.waitsf("there is no cluster resource %s", info.Name)
		return
	}
	object := &objects[i]
	ready, err := pool.NewResource(object)
	if err != nil {
		e.waitsf("the pools of cluster resource %s cannot be used: %v", info.Name, err)
		return
	}
	units, err := pool.Units(info.Quantity, ready.Unit())
	if err != nil {
		e.waitsf("%s of cluster resource %s %v", amount.Text(info.Quantity), info.Name, err)
		return
	}
	q := &poolQuestion{object: object, resource: ready, places: pool.NewPlaces(ready), units: units}
	for i := range s.Objects.Nodes {
		q.places.Set(s.Objects.Nodes[i].Name, s.Objects.Nodes[i].Labels)
	}
	q.places.Rank()
	info.Pools = q.ask()
	if object.DeletionTimestamp != nil {
		e.waitsf("cluster resource %s is being deleted", info.Name)
		return
	}
	e.waitsf("%s", q.answer(info))
}

// waitsf adds a reason if the pod waits.
func (e *PodAnswer) waitsf(format string, args ...any) {
	if e.State == waiting {
		e.becausef(format, args...)
	}
}

// poolQuestion is a pod that asks the pools of a ClusterResource.
type poolQuestion struct {
	object   *berthv1alpha1.ClusterResource
	resource *pool.Resource
	places   *pool.Places
	units    int64
	// free is what is left, by the index of the pool.
	free []int64
}

// ask returns what the pools say. What pods hold is taken from the status.
func (q *poolQuestion) ask() []PoolInfo {
	infos := make([]PoolInfo, len(q.resource.Pools()))
	q.free = q.resource.Left(&q.object.Status)
	for i, p := range q.resource.Pools() {
		info := PoolInfo{
			Name: p.Name, Allocatable: q.object.Status.Allocatable[i].Quantity, Nodes: q.places.Selected(int32(i)),
		}
		info.Free = info.Allocatable.DeepCopy()
		for _, a := range q.object.Status.Allocated {
			if a.Name == p.Name {
				info.Allocated, info.Free = a.Quantity, a.Free
			}
		}
		info.Says = q.says(&p, q.free[i], info.Nodes)
		infos[i] = info
	}
	return infos
}

func (q *poolQuestion) says(p *pool.Pool, free int64, nodes int) string {
	switch {
	case nodes == 0:
		return "selects no node"
	case p.Allocatable < q.units:
		return "never has so much"
	case free < q.units:
		return "has too little left"
	default:
		return "has enough left"
	}
}

// answer says in words whether the pools can take the pod.
func (q *poolQuestion) answer(info *ResourceInfo) string {
	asks := fmt.Sprintf("it asks for %s of cluster resource %s", amount.Text(info.Quantity), info.Name)
	var enough, later, nodes int
	for site := range int32(q.places.Sites()) {
		pools, size := q.places.Pools(site), q.places.Nodes(site)
		if len(pools) > 0 {
			nodes += size
		}
		switch {
		case q.resource.Admits(pools, func(i int32) int64 { return q.free[i] }, q.units):
			enough += size
		case q.resource.Suffices(pools, q.units):
			later += size
		}
	}
	switch {
	case nodes == 0:
		return asks + ", and none of its pools selects a node"
	case enough > 0:
		return fmt.Sprintf("%s, of which there is enough left on %s", asks, names.Count(enough, "node"))
	case later > 0:
		return asks + ", and no node has so much of it left: it waits until pods give some back"
	default:
		return asks + ", more than there is on any node even if nobody held any"
	}
}
