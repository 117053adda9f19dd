// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package view_test

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	schedulercache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	schedulermetrics "k8s.io/kubernetes/pkg/scheduler/metrics"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
	"k8s.io/utils/ptr"

	"berth.dev/berth/pkg/plugins/internal/view"
)

// benchCluster is a cache with nodes of 20 pods each, 5 if there are many, and its snapshot.
type benchCluster struct {
	cache    schedulercache.Cache
	snapshot *schedulercache.Snapshot
}

func newBenchCluster(b *testing.B, nodes int) *benchCluster {
	b.Helper()
	schedulermetrics.Register()
	logger := klog.FromContext(b.Context())
	c := &benchCluster{cache: schedulercache.New(b.Context(), 0, nil), snapshot: schedulercache.NewEmptySnapshot()}
	pods := 20
	if nodes > 5000 {
		pods = 5 // a million pods would take longer to make than all else takes to measure
	}
	for n := range nodes {
		name := fmt.Sprint("node-", n)
		c.cache.AddNode(logger, st.MakeNode().Name(name).Label("site", fmt.Sprint("site-", n%10)).Obj())
		for p := range pods {
			pod := st.MakePod().Namespace("default").Name(fmt.Sprintf("%s-%d", name, p)).UID(fmt.Sprintf("%s-%d", name, p)).Node(name).Obj()
			pod.OwnerReferences = []metav1.OwnerReference{{
				APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "set", UID: "set", Controller: ptr.To(true),
			}}
			if err := c.cache.AddPod(logger, pod); err != nil {
				b.Fatal(err)
			}
		}
	}
	return c
}

func (c *benchCluster) nodes(b *testing.B) []fwk.NodeInfo {
	b.Helper()
	if err := c.cache.UpdateSnapshot(klog.FromContext(b.Context()), c.snapshot); err != nil {
		b.Fatal(err)
	}
	infos, err := c.snapshot.NodeInfos().List()
	if err != nil {
		b.Fatal(err)
	}
	return infos
}

// siteLabel is a Membership by label. It has a size, so that each one is a Membership of its own.
type siteLabel struct{ _ byte }

func (*siteLabel) ClusterOf(_ string, labels map[string]string) (string, bool) {
	site, found := labels["site"]
	return site, found
}

type noPods struct{}

func (noPods) BoundPods() []*corev1.Pod       { return nil }
func (noPods) Pod(string, string) *corev1.Pod { return nil }

// noHoldings is told of pods that hold nothing.
type noHoldings struct{}

func (noHoldings) Concerns(*corev1.Pod) bool { return false }
func (noHoldings) Add(*corev1.Pod)           {}
func (noHoldings) Release(*corev1.Pod)       {}
func (noHoldings) SetNode(*corev1.Node)      {}
func (noHoldings) DropNode(string)           {}
func (noHoldings) Reset()                    {}

func BenchmarkRefresh(b *testing.B) {
	for _, nodes := range []int{100, 1000, 5000, 50000} {
		c := newBenchCluster(b, nodes)
		infos := c.nodes(b)
		members := &siteLabel{}
		v := view.New(view.NewReservations(), noPods{}, noHoldings{})
		v.Refresh(infos, members)
		b.Run(fmt.Sprintf("unchanged/nodes=%d", nodes), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				v.Refresh(infos, members)
			}
		})
		b.Run(fmt.Sprintf("two of ten clusters/nodes=%d", nodes), func(b *testing.B) {
			b.ReportAllocs()
			two := []int32{v.ClusterID("site-2"), v.ClusterID("site-7")}
			clk := newClock()
			v.RefreshClusters(infos, members, two, clk)
			for b.Loop() {
				v.RefreshClusters(infos, members, two, clk)
			}
		})
		if nodes > 5000 {
			continue
		}
		b.Run(fmt.Sprintf("one changed/nodes=%d", nodes), func(b *testing.B) {
			b.ReportAllocs()
			logger := klog.FromContext(b.Context())
			node := st.MakeNode().Name("node-7").Label("site", "site-7").Obj()
			for b.Loop() {
				b.StopTimer()
				c.cache.UpdateNode(logger, node, node)
				infos = c.nodes(b)
				b.StartTimer()
				v.Refresh(infos, members)
			}
		})
		b.Run(fmt.Sprintf("all changed/nodes=%d", nodes), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				v.Refresh(infos, &siteLabel{})
			}
		})
	}
}
