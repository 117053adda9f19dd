// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package application

import (
	"context"
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/stamp"
	"berth.dev/berth/pkg/model/workload"
)

// census counts the pods that a policy placed, by cluster. Those that are being deleted or have ended do not count.
type census struct {
	clusters map[string]*crowd
}

// crowd is the pods of a policy in a cluster.
type crowd struct {
	bound, ready int
	// first and last are the lowest and the highest deletion cost. Who set a cost of their own decides for themselves.
	first, last int64
	own         bool
}

// count counts the pods of policies.
func count(
	ctx context.Context, reader client.Reader, namespace string, policies map[string]*berthv1alpha1.PropagationPolicy,
) (map[string]*census, error) {
	counts := map[string]*census{}
	if len(policies) == 0 {
		return counts, nil
	}
	var pods corev1.PodList
	if err := reader.List(ctx, &pods, client.InNamespace(namespace), client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("listing the pods of namespace %s: %w", namespace, err)
	}
	for i := range pods.Items {
		pod := &pods.Items[i]
		given, stamped := stamp.Of(pod)
		if !stamped || policies[given.Policy] == nil || pod.DeletionTimestamp != nil ||
			workload.Finished(pod) {
			continue
		}
		if counts[given.Policy] == nil {
			counts[given.Policy] = &census{map[string]*crowd{}}
		}
		counts[given.Policy].add(pod, given)
	}
	return counts, nil
}

func (c *census) add(pod *corev1.Pod, given stamp.Stamp) {
	cost, err := strconv.ParseInt(pod.Annotations[corev1.PodDeletionCost], 10, 32)
	if err != nil {
		cost = 0
	}
	in := c.clusters[given.Cluster]
	if in == nil {
		in = &crowd{first: cost, last: cost}
		c.clusters[given.Cluster] = in
	}
	in.bound++
	in.first, in.last = min(in.first, cost), max(in.last, cost)
	in.own = in.own || !given.OwnsDeletionCost(pod)
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodReady && condition.Status == corev1.ConditionTrue {
			in.ready++
		}
	}
}

// in returns the pods in a cluster.
func (c *census) in(cluster string) crowd {
	if c == nil || c.clusters[cluster] == nil {
		return crowd{}
	}
	return *c.clusters[cluster]
}

// elsewhere returns how many pods run in other clusters.
func (c *census) elsewhere(cluster string) int64 {
	total := 0
	if c != nil {
		for name, there := range c.clusters {
			if name != cluster {
				total += there.bound
			}
		}
	}
	return int64(total)
}

// shrinksElsewhere says whether a workload that shrinks loses the pods in other clusters first.
func (c *census) shrinksElsewhere(cluster string) bool {
	here := c.in(cluster)
	if c == nil || here.own {
		return true
	}
	for name, there := range c.clusters {
		if name != cluster && !there.own && there.last >= here.first {
			return false
		}
	}
	return true
}
