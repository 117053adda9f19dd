// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package simulator_test

import (
	"fmt"
	"strconv"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/placement/bundle"
	"berth.dev/berth/pkg/placement/divide"
	"berth.dev/berth/pkg/plugintest"
	"berth.dev/berth/pkg/simulator"
)

var mixSites, podSizes = []string{"beijing", "hangzhou"}, []string{"500m", "1", "2"}

// mix is a few bundles that compete for nodes and for a pool, on nodes that fail and come back.
// Pods of different sizes leave gaps on nodes, depending on which of them come first; so either all
// pods of a mix are of one size, or each site has one node.
type mix struct {
	*rapid.T
	snapshot *simulator.Snapshot
	nodes    []*corev1.Node
	bundles  []bundle.Subscription
	samples  map[bundle.Ref]*corev1.Pod
	pods     int
	// cpus is what every pod asks for, empty if they differ.
	cpus string
}

func drawMix(t *testing.T, rt *rapid.T) *mix {
	t.Helper()
	m := &mix{T: rt, samples: map[bundle.Ref]*corev1.Pod{}}
	var objects []runtime.Object
	nodes := 1
	if rapid.Bool().Draw(rt, "pods are of one size") {
		nodes, m.cpus = 2, rapid.SampledFrom(podSizes).Draw(rt, "CPUs of all pods")
	}
	for _, site := range mixSites {
		objects = append(objects, plugintest.Site(site))
		for i := range rapid.IntRange(1, nodes).Draw(rt, "nodes of "+site) {
			node := plugintest.MakeNode(site, i).Capacity(map[corev1.ResourceName]string{
				corev1.ResourceCPU: strconv.Itoa(rapid.IntRange(1, 4).Draw(rt, "CPUs")), corev1.ResourcePods: "20",
			}).Obj()
			m.nodes, objects = append(m.nodes, node), append(objects, node)
		}
	}
	pools := &berthv1alpha1.ClusterResource{ObjectMeta: metav1.ObjectMeta{Name: "licence", UID: "licence", Generation: 1}}
	pools.Spec.Mode = rapid.SampledFrom([]berthv1alpha1.PoolMode{berthv1alpha1.AnyOf, berthv1alpha1.AllOf}).Draw(rt, "mode")
	for _, pool := range []berthv1alpha1.ClusterResourceQuantity{
		{Name: "all"}, {Name: "site", NodeSelector: map[string]string{plugintest.SiteLabel: mixSites[0]}},
	} {
		pool.Quantity = resource.MustParse(strconv.Itoa(rapid.IntRange(1, 6).Draw(rt, "units for "+pool.Name)))
		pools.Spec.Capacity = append(pools.Spec.Capacity, pool)
	}
	pools.Status.Allocatable = pools.Spec.Capacity
	m.snapshot = snapshot(t, append(objects, pools)...)
	for s := range rapid.IntRange(2, 4).Draw(rt, "bundles") {
		m.drawBundle(s)
	}
	return m
}

func (m *mix) drawBundle(s int) {
	drawn := bundle.Subscription{
		Name: strconv.Itoa(s), Bundled: true,
		Strategy: rapid.SampledFrom([]divide.Strategy{divide.Spread, divide.Binpack, divide.Static}).Draw(m.T, "strategy"),
	}
	for _, site := range mixSites {
		drawn.Clusters = append(drawn.Clusters, bundle.SelectedCluster{Name: site, Open: true, Weight: rapid.Int64Range(1, 2).Draw(m.T, "weight")})
	}
	for f := range rapid.IntRange(1, 2).Draw(m.T, "feeds") {
		drawn.Feeds = append(drawn.Feeds, bundle.Feed{
			Name: strconv.Itoa(f), Wanted: new(rapid.Int64Range(1, 4).Draw(m.T, "wanted")), Bound: map[string]int64{},
		})
		pod := plugintest.MakePod(fmt.Sprintf("pod-%d-%d", s, f)).Annotation(berthv1alpha1.PolicyAnnotation, berthv1alpha1.PolicyNone)
		requests := map[corev1.ResourceName]string{corev1.ResourceCPU: m.cpus}
		if m.cpus == "" {
			requests[corev1.ResourceCPU] = rapid.SampledFrom(podSizes).Draw(m.T, "CPUs of a pod")
		}
		if rapid.Bool().Draw(m.T, "needs a licence") {
			requests["cluster-resource.berth.dev/licence"] = "1"
		}
		m.samples[bundle.Ref{Subscription: s, Feed: f}] = pod.Req(requests).Obj()
	}
	m.bundles = append(m.bundles, drawn)
}

// set lets a node fail, or come back.
func (m *mix) set(i int, ready bool) {
	node := m.nodes[i].DeepCopy()
	if !ready {
		node.Spec.Taints = []corev1.Taint{{Key: corev1.TaintNodeNotReady, Effect: corev1.TaintEffectNoSchedule}}
		node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionFalse}}
	}
	if err := m.snapshot.Put(node); err != nil {
		m.Fatal(err)
	}
}

// decide divides as the controller does, and records what it would.
func (m *mix) decide() {
	m.snapshot.Fork()
	ledger := m.snapshot.Ledger(m.Context(), func(ref bundle.Ref) *corev1.Pod { return m.samples[ref] })
	results, err := bundle.Decide(m.bundles, ledger)
	m.snapshot.Revert()
	if err != nil || ledger.Err() != nil {
		m.Fatal(err, ledger.Err())
	}
	for s := range m.bundles {
		m.bundles[s].Pledged = results[s].Admitted()
		for f := range m.bundles[s].Feeds {
			m.bundles[s].Feeds[f].Recorded = results[s].Feeds[f].Shares
		}
	}
}

// bind binds pods of admitted bundles where they have a share, as far as nodes take them, at most
// as many of each feed and site as are in a hurry. It reports whether any was bound.
func (m *mix) bind(hurry int64) (bound bool) {
	for s := range m.bundles {
		for f := range m.bundles[s].Feeds {
			feed := &m.bundles[s].Feeds[f]
			for _, site := range mixSites {
				share := feed.Recorded[site]
				if !m.bundles[s].Pledged {
					share = 0
				}
				for range min(hurry, share-feed.Bound[site]) {
					if !m.bindOne(m.samples[bundle.Ref{Subscription: s, Feed: f}], site) {
						break
					}
					feed.Bound[site]++
					bound = true
				}
			}
		}
	}
	return bound
}

func (m *mix) bindOne(sample *corev1.Pod, site string) bool {
	pod := sample.DeepCopy()
	m.pods++
	pod.Name = fmt.Sprintf("%s-%d", pod.Name, m.pods)
	pod.UID, pod.Spec.NodeSelector = types.UID(pod.Name), map[string]string{plugintest.SiteLabel: site}
	outcome, err := m.snapshot.TrySchedule(m.Context(), pod)
	if err == nil && outcome.Node != "" {
		_, err = m.snapshot.Bind(m.Context(), pod, outcome)
	}
	if err != nil {
		m.Fatal(err)
	}
	return outcome.Node != ""
}

// round lets nodes fail and come back, and then bundles be admitted and started in part.
func (m *mix) round() {
	for i := range m.nodes {
		m.set(i, rapid.IntRange(0, 2).Draw(m.T, "node is ready") > 0)
	}
	for s := range m.bundles {
		m.bundles[s].Expired = rapid.IntRange(0, 3).Draw(m.T, "time is over") == 0
	}
	m.decide()
	m.bind(rapid.Int64Range(0, 3).Draw(m.T, "hurry"))
}

// finish lets all nodes come back, and all pods start that can.
func (m *mix) finish() {
	for i := range m.nodes {
		m.set(i, true)
	}
	for again := true; again; {
		m.decide()
		again = m.bind(10)
	}
}

// TestNoBundleEndsHalfLanded lets bundles compete while nodes fail. Once all nodes are back every
// bundle runs whole, or holds nothing. It checks twice as many mixes as rapid is told to.
func TestNoBundleEndsHalfLanded(t *testing.T) {
	for range 2 {
		rapid.Check(t, func(rt *rapid.T) {
			m := drawMix(t, rt)
			for range rapid.IntRange(1, 6).Draw(rt, "rounds") {
				m.round()
			}
			m.finish()
			for s := range m.bundles {
				var bound, wanted int64
				for f := range m.bundles[s].Feeds {
					bound, wanted = bound+bundle.Sum(m.bundles[s].Feeds[f].Bound), wanted+*m.bundles[s].Feeds[f].Wanted
				}
				if bound != wanted && (bound > 0 || m.bundles[s].Pledged) {
					rt.Errorf("%d of %d pods of bundle %d are bound; it is admitted: %t", bound, wanted, s, m.bundles[s].Pledged)
				}
			}
		})
	}
}
