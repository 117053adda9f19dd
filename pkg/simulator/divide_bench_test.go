// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package simulator_test

import (
	"fmt"
	"maps"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"berth.dev/berth/pkg/placement/bundle"
	"berth.dev/berth/pkg/placement/divide"
	"berth.dev/berth/pkg/plugintest"
	"berth.dev/berth/pkg/simulator"
)

// BenchmarkDivide divides a Subscription of five feeds, of which each wants 1,000 replicas, over
// 100 clusters with 5,000 nodes on which 50,000 pods run: anew, and again after one of its pods has
// got a node.
func BenchmarkDivide(b *testing.B) {
	const sites, nodes, pods, feeds, replicas = 100, 50, 10, 5, 1000
	names := make([]string, sites)
	s := bundle.Subscription{Name: "shop/web", Strategy: divide.Spread}
	for i := range names {
		names[i] = fmt.Sprintf("site%02d", i)
		s.Clusters = append(s.Clusters, bundle.SelectedCluster{Name: names[i], Open: true, Weight: 1})
	}
	snap := snapshot(b, plugintest.Sites(nodes, names...)...)
	put := func(name, node string) {
		pod := plugintest.MakePod(name).Node(node).Req(map[corev1.ResourceName]string{corev1.ResourceCPU: "1"}).Obj()
		if err := snap.Put(pod); err != nil {
			b.Fatal(err)
		}
	}
	for _, site := range names {
		for i := range nodes * pods {
			put(fmt.Sprintf("%s-%d", site, i), fmt.Sprintf("%s-%d", site, i%nodes))
		}
	}
	samples := make([]*corev1.Pod, feeds)
	for i := range samples {
		samples[i] = plugintest.MakePod(fmt.Sprintf("sample-%d", i)).Req(map[corev1.ResourceName]string{corev1.ResourceCPU: "500m"}).Obj()
		s.Feeds = append(s.Feeds, bundle.Feed{Name: samples[i].Name, Wanted: new(int64(replicas)), Bound: map[string]int64{}})
	}
	b.Run("anew", func(b *testing.B) {
		defer reportCPU(b)()
		for b.Loop() {
			divideOnce(b, snap, &s, samples)
		}
	})
	shares := divideOnce(b, snap, &s, samples)
	for i := range s.Feeds {
		s.Feeds[i].Recorded = shares.Feeds[i].Shares
		s.Feeds[i].Bound = maps.Clone(shares.Feeds[i].Shares)
	}
	b.Run("after one pod", func(b *testing.B) {
		defer reportCPU(b)()
		for b.Loop() {
			put("next", names[0]+"-0")
			s.Feeds[0].Bound[names[0]] = s.Feeds[0].Recorded[names[0]] - 1
			divideOnce(b, snap, &s, samples)
		}
	})
}

func divideOnce(b *testing.B, snap *simulator.Snapshot, s *bundle.Subscription, samples []*corev1.Pod) *bundle.Result {
	b.Helper()
	snap.Fork()
	defer snap.Revert()
	ledger := snap.Ledger(b.Context(), func(ref bundle.Ref) *corev1.Pod { return samples[ref.Feed] })
	results, err := bundle.Decide([]bundle.Subscription{*s}, ledger)
	if err != nil || ledger.Err() != nil {
		b.Fatal(err, ledger.Err())
	}
	return &results[0]
}
