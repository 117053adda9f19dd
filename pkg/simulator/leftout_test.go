// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build !kubernetes_1_36 && !kubernetes_1_37

package simulator_test

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/clock"

	"berth.dev/berth/pkg/plugins"
	"berth.dev/berth/pkg/plugintest"
	"berth.dev/berth/pkg/simulator"
)

// TestPluginsThatReadTheAPIServerAreLeftOut has profiles that enable plugins which make clients of
// their own, at all points or at some. What is left of a profile decides, and the rest is named.
func TestPluginsThatReadTheAPIServerAreLeftOut(t *testing.T) {
	const header = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
	tests := map[string]struct {
		content string
		want    []string
	}{
		"none": {"profiles: [{schedulerName: berth-scheduler}]\n", nil},
		"gangs": {`profiles:
- schedulerName: berth-scheduler
  plugins:
    multiPoint: {enabled: [{name: Coscheduling}]}
    queueSort: {enabled: [{name: Coscheduling}], disabled: [{name: "*"}]}
  pluginConfig: [{name: Coscheduling, args: {permitWaitingTimeSeconds: 3}}]
`, []string{"Coscheduling"}},
		"quotas, and an extender": {`profiles:
- schedulerName: berth-scheduler
  plugins:
    preFilter: {enabled: [{name: CapacityScheduling}]}
    reserve: {enabled: [{name: CapacityScheduling}]}
    postFilter: {enabled: [{name: CapacityScheduling}], disabled: [{name: "*"}]}
extenders: [{urlPrefix: "https://extender.example.com", filterVerb: filter}]
`, []string{"CapacityScheduling", "the extender https://extender.example.com"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			profile, err := simulator.ParseProfile([]byte(header+tc.content), "berth-scheduler")
			if err != nil {
				t.Fatal(err)
			}
			if got := profile.LeftOut(); !slices.Equal(got, tc.want) {
				t.Errorf("left out are %q, want %q", got, tc.want)
			}
			s, err := simulator.New(profile, clock.RealClock{})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			s.SetObjects(&plugins.Objects{})
			node := plugintest.MakeNode("beijing", 0).Capacity(map[corev1.ResourceName]string{corev1.ResourceCPU: "1", corev1.ResourcePods: "9"}).Obj()
			if err := s.Put(node); err != nil {
				t.Fatal(err)
			}
			for cpus, want := range map[string]string{"1": "beijing-0", "2": ""} {
				pod := plugintest.MakePod("p").Req(map[corev1.ResourceName]string{corev1.ResourceCPU: cpus}).Obj()
				if outcome, err := s.TrySchedule(t.Context(), pod); err != nil || outcome.Node != want {
					t.Errorf("a pod of %s CPUs goes to %q (%v), want %q", cpus, outcome.Node, err, want)
				}
			}
		})
	}
}
