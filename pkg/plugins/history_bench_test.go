// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package plugins_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/utils/clock"

	"berth.dev/berth/pkg/history"
	"berth.dev/berth/pkg/model/stamp"
	"berth.dev/berth/pkg/plugintest"
)

// sites makes a scheduler of nodes that lie in so many clusters, and the ReplicaSet of a Deployment
// whose policy is over all of them.
func sites(b *testing.B, clusters, nodes int, replicas int32, options ...plugintest.Option) (*plugintest.Scheduler, *appsv1.ReplicaSet) {
	b.Helper()
	var objects []runtime.Object
	policy := plugintest.MakePolicy("web").Deployment("nginx")
	for c := range clusters {
		site := fmt.Sprintf("site%02d", c)
		objects = append(objects, plugintest.Site(site))
		policy.Weight(1, site)
		for n := range nodes / clusters {
			objects = append(objects, plugintest.MakeNode(site, n).Obj())
		}
	}
	d := plugintest.Deployment("nginx", replicas)
	rs := plugintest.ReplicaSet(d, "v1")
	return plugintest.New(b, append(objects, policy.Obj(), d, rs), options...), rs
}

// large makes a scheduler of 5,000 nodes in 100 clusters, and a pod of a policy over all of them
// that asks for more than any node has.
func large(b *testing.B) (*plugintest.Scheduler, *corev1.Pod) {
	b.Helper()
	s, rs := sites(b, 100, 5000, 100)
	return s, plugintest.MakePodOf(rs, 0).Req(map[corev1.ResourceName]string{corev1.ResourceCPU: "1000"}).Obj()
}

// BenchmarkFailed compares a failed attempt with what it takes to remember it: with what it always
// takes, and with what is added unless the attempt before it said the same.
func BenchmarkFailed(b *testing.B) {
	s, pod := large(b)
	entry, complete := s.State.Failed(pod, fwk.NewStatus(fwk.Unschedulable).WithError(s.Try(pod).Fit))
	e := entry()
	for name, do := range map[string]func(){
		"attempt": func() { s.Try(pod) }, "again": func() { entry() }, "first": func() { complete(&e) },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				do()
			}
		})
	}
}

// decision returns what decides on a pod that is placed: the scheduling cycle over 1,000 nodes in
// ten clusters, and what follows the binding.
func decision(b *testing.B, options ...plugintest.Option) func() {
	b.Helper()
	s, rs := sites(b, 10, 1000, 1000, options...)
	go s.State.History.Run(b.Context())
	pod := plugintest.MakePodOf(rs, 0).Obj()
	given := stamp.Stamp{Policy: "web", Cluster: "site00"}
	annotations := given.Annotations(pod, "site00-0")
	return func() {
		if attempt := s.Try(pod); attempt.Fit != nil {
			b.Fatal(attempt.Fit)
		}
		s.State.Bound(pod, "site00-0", annotations)
	}
}

func remembering() plugintest.Option {
	return plugintest.Remembering(history.New(history.DefaultLimits(), clock.RealClock{}))
}

// BenchmarkDecision is a decision without and with remembering it.
func BenchmarkDecision(b *testing.B) {
	for name, options := range map[string][]plugintest.Option{"without": nil, "with": {remembering()}} {
		b.Run(name, func(b *testing.B) {
			decide := decision(b, options...)
			b.ReportAllocs()
			for b.Loop() {
				decide()
			}
		})
	}
}

// BenchmarkCost reports by how many percent a decision takes longer if it is remembered. The two
// take turns, and their medians are compared: what else the machine does meets both. Each is the
// first one every other time, since the second one finds what both read in the caches.
func BenchmarkCost(b *testing.B) {
	decide := []func(){decision(b), decision(b, remembering())}
	var took [2][]time.Duration
	for n := 0; b.Loop(); n++ {
		for i := range decide {
			i = (i + n) % len(decide)
			began := time.Now()
			decide[i]()
			took[i] = append(took[i], time.Since(began))
		}
	}
	median := func(times []time.Duration) float64 {
		slices.Sort(times)
		return float64(times[len(times)/2])
	}
	b.ReportMetric(100*(median(took[1])/median(took[0])-1), "%cost")
}
