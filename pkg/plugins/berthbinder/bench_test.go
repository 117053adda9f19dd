// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package berthbinder_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultbinder"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
)

// BenchmarkPlainPod binds a pod that was given nothing, with the mark that Berth bound it and as
// the stock scheduler does, which leaves none. A fake API server answers at once. "B/request" is
// the size of the Binding on the wire.
func BenchmarkPlainPod(b *testing.B) {
	s := newServer(accept)
	handle, err := frameworkruntime.NewFramework(b.Context(), nil, nil, frameworkruntime.WithClientSet(s))
	if err != nil {
		b.Fatal(err)
	}
	plugin, err := defaultbinder.New(b.Context(), nil, handle)
	if err != nil {
		b.Fatal(err)
	}
	stock, ok := plugin.(fwk.BindPlugin)
	if !ok {
		b.Fatalf("%T binds no pods", plugin)
	}
	pod := st.MakePod().Namespace("default").Name("nginx-7c79c4bf97-x2x5v").UID("0d5ec0a7-9f5d-4b0a-a3dc-6b6cc1a3c3b1").Obj()
	for name, binder := range map[string]fwk.BindPlugin{"stamp": s.binder(b, given{}, open()), "without": stock} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			var last *corev1.Binding
			for b.Loop() {
				if status := binder.Bind(b.Context(), nil, pod, node); !status.IsSuccess() {
					b.Fatal(status.AsError())
				}
				last, s.sent = s.sent[0], s.sent[:0]
				s.ClearActions()
			}
			b.ReportMetric(float64(last.Size()), "B/request")
		})
	}
}
