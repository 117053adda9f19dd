// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package migrate_test

import (
	"strconv"
	"strings"

	"github.com/google/go-cmp/cmp"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/placement/migrate"
)

// shares reads entries such as "madrid>=2", "madrid=2", "berlin,rome" or "berlin:2" for two
// replicas before all others, separated by blanks.
func shares(text string) []berthv1alpha1.StaticClusterWeight {
	var list []berthv1alpha1.StaticClusterWeight
	for entry := range strings.FieldsSeq(text) {
		if name, number, fixed := strings.Cut(entry, ":"); fixed {
			n, _ := strconv.Atoi(number)
			list = append(list, berthv1alpha1.StaticClusterWeight{ClusterNames: []string{name}, Replicas: new(int32(n))})
			continue
		}
		if name, number, limited := strings.Cut(entry, "<="); limited {
			n, _ := strconv.Atoi(number)
			list = append(list, berthv1alpha1.StaticClusterWeight{ClusterNames: []string{name}, Weight: int64(n), Max: new(int32(n))})
			continue
		}
		names, least, bounded := strings.Cut(entry, "=")
		exactly := !strings.HasSuffix(names, ">")
		share := berthv1alpha1.StaticClusterWeight{ClusterNames: strings.Split(strings.TrimSuffix(names, ">"), ","), Weight: 1}
		if bounded {
			n := int32(0)
			for _, digit := range least {
				n = 10*n + digit - '0'
			}
			share.Min = &n
			if exactly {
				share.Max = &n
			}
		}
		list = append(list, share)
	}
	return list
}

// bound returns n pods in a cluster with seats from the first on, of which the given number are
// ready.
func bound(cluster string, first, n, ready int) []migrate.BoundPod {
	pods := make([]migrate.BoundPod, n)
	for i := range pods {
		pods[i] = migrate.BoundPod{Cluster: cluster, Ready: i < ready, DeletionCost: -int64(first + i)}
	}
	return pods
}

func counted(groups ...[]migrate.BoundPod) migrate.Pods {
	counts := migrate.Pods{}
	for _, group := range groups {
		for _, pod := range group {
			counts.Add(pod)
		}
	}
	return counts
}

// own returns the pods with deletion costs that the user has set.
func own(pods []migrate.BoundPod) []migrate.BoundPod {
	for i := range pods {
		pods[i].OwnCost = true
	}
	return pods
}

func sameShare(a, b berthv1alpha1.StaticClusterWeight) bool {
	return cmp.Equal(a.ClusterNames, b.ClusterNames) && cmp.Equal(a.Min, b.Min) && cmp.Equal(a.Max, b.Max) && cmp.Equal(a.Replicas, b.Replicas)
}
