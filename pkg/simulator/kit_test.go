// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package simulator_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/clock"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/plugins"
	"berth.dev/berth/pkg/plugintest"
	"berth.dev/berth/pkg/simulator"
)

// snapshot makes a snapshot of objects of Kubernetes and of Berth, with the plugins of the shipped
// profile.
func snapshot(t testing.TB, objects ...runtime.Object) *simulator.Snapshot {
	t.Helper()
	profile, err := simulator.ParseProfile([]byte(plugintest.Configuration), plugintest.Profile)
	if err != nil {
		t.Fatal(err)
	}
	s, err := simulator.New(profile, clock.RealClock{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	var berth plugins.Objects
	for _, object := range objects {
		switch o := object.(type) {
		case *berthv1alpha1.Cluster:
			berth.Clusters = append(berth.Clusters, o)
		case *berthv1alpha1.PropagationPolicy:
			berth.Policies = append(berth.Policies, o)
		case *berthv1alpha1.ClusterResource:
			berth.Resources = append(berth.Resources, o)
		case *berthv1alpha1.Subscription:
			berth.Subscriptions = append(berth.Subscriptions, o)
		default:
			if err := s.Put(object); err != nil {
				t.Fatal(err)
			}
		}
	}
	s.SetObjects(&berth)
	return s
}
