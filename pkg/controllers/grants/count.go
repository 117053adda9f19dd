// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package grants

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/controllers/clusterresource"
	"berth.dev/berth/pkg/model/demand"
	"berth.dev/berth/pkg/model/stamp"
	"berth.dev/berth/pkg/model/workload"
	"berth.dev/berth/pkg/placement/pool"
)

// holdings are what pods hold of all pools, by the scheduler out of whose grant.
type holdings struct {
	byGrantee map[string]*pool.Account
}

// of returns what is held of a pool by grantee, in units rounded up.
func (h *holdings) of(r *pool.Resource, poolName string) map[string]int64 {
	held := map[string]int64{}
	for grantee, account := range h.byGrantee {
		if quantity, holders := account.Held(r.Name(), poolName); holders > 0 {
			held[grantee] = pool.UnitsUp(quantity, r.Unit())
		}
	}
	return held
}

func (h *holdings) add(charges []pool.Charge) {
	for _, c := range charges {
		if h.byGrantee[c.Grantee] == nil {
			h.byGrantee[c.Grantee] = pool.NewAccount()
		}
		h.byGrantee[c.Grantee].Add([]pool.Charge{c})
	}
}

// count adds up what pods hold. Pods that somebody else placed are charged by the rule for new ones, out of nobody's grant.
func (r *Reconciler) count(ctx context.Context, resources []berthv1alpha1.ClusterResource) (*holdings, error) {
	var pods corev1.PodList
	if err := r.Client.List(ctx, &pods, client.UnsafeDisableDeepCopy, clusterresource.Concerned()); err != nil {
		return nil, fmt.Errorf("listing pods: %w", err)
	}
	h := &holdings{byGrantee: map[string]*pool.Account{}}
	all := pool.NewAccount()
	var foreign []*corev1.Pod
	for i := range pods.Items {
		pod := &pods.Items[i]
		if pod.Spec.NodeName == "" || workload.Finished(pod) {
			continue
		}
		charges, pinned := stamp.ChargesOf(pod)
		if !pinned {
			foreign = append(foreign, pod)
			continue
		}
		all.Add(charges)
		h.add(charges)
	}
	if len(foreign) == 0 {
		return h, nil
	}
	return h, r.countForeign(ctx, resources, foreign, all, h)
}

func (r *Reconciler) countForeign(
	ctx context.Context, resources []berthv1alpha1.ClusterResource, pods []*corev1.Pod, all *pool.Account, h *holdings,
) error {
	var nodes corev1.NodeList
	if err := r.Client.List(ctx, &nodes, client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("listing nodes: %w", err)
	}
	labels := make(map[string]map[string]string, len(nodes.Items))
	for i := range nodes.Items {
		labels[nodes.Items[i].Name] = nodes.Items[i].Labels
	}
	places := map[string]*pool.Places{}
	for i := range resources {
		usable, err := pool.NewResource(&resources[i])
		if err != nil {
			continue // its condition Ready says so
		}
		p := pool.NewPlaces(usable)
		for name, of := range labels {
			p.Set(name, of)
		}
		p.Rank()
		places[resources[i].Name] = p
	}
	slices.SortFunc(pods, func(a, b *corev1.Pod) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.UID, b.UID))
	})
	strays := make([]pool.Stray, len(pods))
	for i, pod := range pods {
		// A request that cannot be read cannot be charged.
		requests, _ := demand.Of(pod)
		strays[i] = pool.Stray{Requests: requests, Labels: labels[pod.Spec.NodeName]}
	}
	for _, charges := range all.ChargeStrays(strays, func(name string) *pool.Places { return places[name] }) {
		h.add(charges)
	}
	return nil
}
