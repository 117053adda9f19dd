// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package nodegrouppolicy_test

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-base/metrics/legacyregistry"
	"k8s.io/component-base/metrics/testutil"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/utils/clock"

	berthfake "berth.dev/berth/pkg/generated/clientset/versioned/fake"
	"berth.dev/berth/pkg/model/workload"
	"berth.dev/berth/pkg/plugins/internal/catalog"
	"berth.dev/berth/pkg/plugins/internal/ledger"
	"berth.dev/berth/pkg/plugins/internal/view"
	"berth.dev/berth/pkg/plugins/internal/waitlist"
	"berth.dev/berth/pkg/plugins/nodegrouppolicy"
	"berth.dev/berth/pkg/plugintest"
)

// brokenOwners has a bug.
type brokenOwners struct{ workload.NotRead }

func (brokenOwners) Owner(*workload.Kind, string, string) (metav1.Object, error) { panic("a bug") }

// newBroken returns a plugin whose owners have bugs.
func newBroken(t *testing.T, s *plugintest.Scheduler) *nodegrouppolicy.NodeGroupPolicy {
	t.Helper()
	client := berthfake.NewSimpleClientset(beijingHangzhou().Obj())
	definitions, err := catalog.New(client, clock.RealClock{}, time.Second, func(_, _ *catalog.Snapshot) {})
	if err != nil {
		t.Fatal(err)
	}
	go definitions.Run(s.Context())
	s.WaitFor("the policy", func() bool { return definitions.Snapshot() != nil })
	reservations := view.NewReservations()
	return nodegrouppolicy.New(s.Framework, &nodegrouppolicy.Shared{
		Catalog: definitions, Owners: brokenOwners{}, View: view.New(reservations, nil, ledger.New(ledger.NewPending(), nil)), Reservations: reservations,
		Retries: nodegrouppolicy.NewRetries(), Waiting: waitlist.New(clock.RealClock{}),
		Pod: func(string, string) *corev1.Pod { return nil },
	})
}

func TestAPanicFailsOneAttempt(t *testing.T) {
	d, rs := deployment("nginx", 5)
	s := newTwoSites(t, beijingHangzhou().Obj(), d, rs)
	place(t, s, rs, 0, 3)
	plugin, broken, ctx := find[*nodegrouppolicy.NodeGroupPolicy](t, s), newBroken(t, s), s.Context()
	pod := plugintest.MakePodOf(rs, 3).Obj()
	s.Try(pod)
	nodes, err := s.Framework.SnapshotSharedLister().NodeInfos().List()
	if err != nil {
		t.Fatal(err)
	}
	state := framework.NewCycleState()
	if _, status := plugin.PreFilter(ctx, state, pod, nodes); !status.IsSuccess() {
		t.Fatal(status.AsError())
	}
	// A NodeInfo or PodInfo that is nil stands for whatever bug may come.
	tests := map[string]func() *fwk.Status{
		"PreFilter": func() *fwk.Status {
			_, status := broken.PreFilter(ctx, framework.NewCycleState(), pod, nodes)
			return status
		},
		"SignPod": func() *fwk.Status {
			_, status := broken.SignPod(ctx, pod)
			return status
		},
		"Filter": func() *fwk.Status { return plugin.Filter(ctx, state, pod, nil) },
		"AddPod": func() *fwk.Status {
			return plugin.PreFilterExtensions().AddPod(ctx, state, pod, nil, nodes[0])
		},
		"RemovePod": func() *fwk.Status {
			return plugin.PreFilterExtensions().RemovePod(ctx, state, pod, nil, nodes[0])
		},
		"PostFilter": func() *fwk.Status {
			_, status := plugin.PostFilter(ctx, framework.NewCycleState(), pod, nil)
			return status
		},
		"PreScore": func() *fwk.Status { return plugin.PreScore(ctx, state, pod, []fwk.NodeInfo{nil}) },
		"Score": func() *fwk.Status {
			_, status := plugin.Score(ctx, state, pod, nil)
			return status
		},
		"Reserve": func() *fwk.Status { return plugin.Reserve(ctx, state, nil, "beijing-0") },
	}
	for point, run := range tests {
		t.Run(point, func(t *testing.T) {
			before := panics(t, point)
			status := run()
			if status.Code() != fwk.Error || !strings.Contains(status.Message(), point) {
				t.Errorf("got %v %q, want an error that names %s", status.Code(), status.Message(), point)
			}
			if got := panics(t, point) - before; got != 1 {
				t.Errorf("%v panics were counted, want 1", got)
			}
		})
	}
}

func TestAPanicInAHintLetsThePodBeTried(t *testing.T) {
	_, rs := deployment("nginx", 5)
	s := newTwoSites(t)
	broken := newBroken(t, s)
	events, err := broken.EventsToRegister(s.Context())
	if err != nil {
		t.Fatal(err)
	}
	before := panics(t, "QueueingHint")
	for _, event := range events {
		if event.Event.Resource != fwk.Node {
			continue
		}
		node := plugintest.MakeNode("beijing", 7).Obj()
		hint, err := event.QueueingHintFn(klog.FromContext(s.Context()), plugintest.MakePodOf(rs, 0).Obj(), nil, node)
		if hint != fwk.Queue || err == nil {
			t.Errorf("got %v and error %v, want Queue and an error", hint, err)
		}
	}
	if got := panics(t, "QueueingHint") - before; got != 1 {
		t.Errorf("%v panics were counted, want 1", got)
	}
}

// panics returns how often the plugin has panicked at an extension point.
func panics(t *testing.T, point string) float64 {
	t.Helper()
	return counters(t, "berth_plugin_panics_total", "extension_point")[point]
}

// counters returns the values of a metric by a label; none if nothing has been counted yet.
func counters(t *testing.T, metric, label string) map[string]float64 {
	t.Helper()
	values, err := testutil.GetCounterValuesFromGatherer(legacyregistry.DefaultGatherer, metric, nil, label)
	if err != nil {
		return nil
	}
	return values
}
