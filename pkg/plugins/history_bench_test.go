// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package plugins_test

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	fwk "k8s.io/kube-scheduler/framework"

	"berth.dev/berth/pkg/plugintest"
)

// large makes a scheduler of 5,000 nodes in 100 clusters, and a pod of a policy over all of them
// that asks for more than any node has.
func large(b *testing.B) (*plugintest.Scheduler, *corev1.Pod) {
	b.Helper()
	const clusters, nodes = 100, 5000
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
	d := plugintest.Deployment("nginx", clusters)
	rs := plugintest.ReplicaSet(d, "v1")
	s := plugintest.New(b, append(objects, policy.Obj(), d, rs))
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
