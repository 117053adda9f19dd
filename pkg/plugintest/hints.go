// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package plugintest

import (
	"testing"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
)

// BenchmarkHint measures, under a name, what a plugin takes to answer whether a change of an object
// concerns a pod that waits.
func BenchmarkHint(
	b *testing.B, name string, plugin fwk.EnqueueExtensions, pod *corev1.Pod, resource fwk.EventResource, before, after any,
) {
	b.Helper()
	b.Run(name, func(b *testing.B) {
		events, err := plugin.EventsToRegister(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		b.ReportAllocs()
		for _, event := range events {
			if event.Event.Resource != resource {
				continue
			}
			for b.Loop() {
				if _, err := event.QueueingHintFn(logr.Discard(), pod, before, after); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
}
