// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package plugins

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/plugins/clusterresource"
)

// granteeIndex finds the pods on nodes by the Scheduler out of whose grant they were charged.
const granteeIndex = "berth.dev/grantee"

// indexGrantees adds the index for a process that is one of several schedulers.
func (s *State) indexGrantees(factory informers.SharedInformerFactory) error {
	if s.homes.name == "" {
		return nil
	}
	err := factory.Core().V1().Pods().Informer().AddIndexers(cache.Indexers{granteeIndex: func(object any) ([]string, error) {
		pod, ok := object.(*corev1.Pod)
		if !ok || pod.Spec.NodeName == "" || pod.Annotations[berthv1alpha1.GranteeAnnotation] == "" {
			return nil, nil
		}
		return []string{pod.Annotations[berthv1alpha1.GranteeAnnotation]}, nil
	}})
	if err != nil {
		return fmt.Errorf("indexing pods by grantee: %w", err)
	}
	return nil
}

// sharing is what this process needs to keep to its grants of ClusterResources, nil if it shares
// with nobody.
func (s *State) sharing(base *base) *clusterresource.Sharing {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.homes.shared == nil || s.homes.name == "" {
		return nil
	}
	pods := base.handle.SharedInformerFactory().Core().V1().Pods().Informer().GetIndexer()
	return &clusterresource.Sharing{
		Berth: s.client, Fence: s.fence, Homes: s.homes.shared.Catalog.Snapshot,
		Charged: func(grantee string) []*corev1.Pod {
			found, err := pods.ByIndex(granteeIndex, grantee)
			if err != nil {
				return nil
			}
			charged := make([]*corev1.Pod, 0, len(found))
			for _, object := range found {
				if pod, ok := object.(*corev1.Pod); ok {
					charged = append(charged, pod)
				}
			}
			return charged
		},
	}
}
