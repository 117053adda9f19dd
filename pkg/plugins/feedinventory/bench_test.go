// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package feedinventory_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"berth.dev/berth/pkg/plugins/feedinventory"
	"berth.dev/berth/pkg/plugintest"
)

func BenchmarkPreEnqueue(b *testing.B) {
	deployment := plugintest.Deployment("web", 3)
	set, ofFeed := podOf(deployment)
	s := plugintest.New(b, append(plugintest.Sites(1, "a"), deployment, set, makeSubscription(divided(3)), policy()))
	for name, pod := range map[string]*corev1.Pod{
		"of a feed": ofFeed, "a stranger": plugintest.MakePod("bare").Namespace("elsewhere").Obj(),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for _, plugin := range s.Framework.PreEnqueuePlugins() {
				if plugin.Name() != feedinventory.Name {
					continue
				}
				ctx := s.Context()
				for b.Loop() {
					plugin.PreEnqueue(ctx, pod)
				}
			}
		})
	}
}
