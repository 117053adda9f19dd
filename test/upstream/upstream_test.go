// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package upstream_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/events"
	configv1 "k8s.io/kube-scheduler/config/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	configtesting "k8s.io/kubernetes/pkg/scheduler/apis/config/testing"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	"k8s.io/kubernetes/pkg/scheduler/profile"
	"k8s.io/utils/ptr"

	"berth.dev/berth/test/upstream"
)

// binder is a plugin that a test brings.
type binder struct{}

func (binder) Name() string { return "Own" }

func (binder) Bind(context.Context, fwk.CycleState, *corev1.Pod, string) *fwk.Status { return nil }

func newBinder(context.Context, runtime.Object, fwk.Handle) (fwk.Plugin, error) { return binder{}, nil }

func enabled(names ...string) configv1.PluginSet {
	var set configv1.PluginSet
	for _, name := range names {
		set.Enabled = append(set.Enabled, configv1.Plugin{Name: name})
	}
	return set
}

func namesOf(set config.PluginSet, most int) []string {
	var names []string
	for _, plugin := range set.Enabled {
		names = append(names, plugin.Name)
	}
	return names[:min(most, len(names))]
}

func TestBerthIsInEveryProfileOfATest(t *testing.T) {
	t.Setenv(upstream.ProfileVariable, filepath.Join("..", "..", "manifests", "components", "adds-only", "scheduler-config.yaml"))
	withoutDefault := enabled("Own")
	withoutDefault.Disabled = []configv1.Plugin{{Name: "DefaultBinder"}}
	both := enabled("Own", "DefaultBinder")
	both.Disabled = []configv1.Plugin{{Name: "*"}}
	for name, tc := range map[string]struct {
		plugins  *configv1.Plugins
		wantBind []string
	}{
		"the stock plugins":                 {wantBind: []string{"BerthBinder"}},
		"a binder instead of the stock one": {plugins: &configv1.Plugins{MultiPoint: withoutDefault}, wantBind: []string{"Own"}},
		"a binder before the stock one":     {plugins: &configv1.Plugins{Bind: both}, wantBind: []string{"Own", "DefaultBinder"}},
		"the stock binder by name": {
			plugins: &configv1.Plugins{Bind: enabled("DefaultBinder")}, wantBind: []string{"BerthBinder"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			options := []scheduler.Option{
				scheduler.WithKubeConfig(&rest.Config{Host: "http://127.0.0.1:0"}),
				scheduler.WithFrameworkOutOfTreeRegistry(frameworkruntime.Registry{"Own": newBinder}),
			}
			if tc.plugins != nil {
				options = append(options, scheduler.WithProfiles(configtesting.V1ToInternalWithDefaults(t, configv1.KubeSchedulerConfiguration{
					Profiles: []configv1.KubeSchedulerProfile{{SchedulerName: ptr.To("default-scheduler"), Plugins: tc.plugins}},
				}).Profiles...))
			}
			client := fake.NewClientset()
			broadcaster := events.NewBroadcaster(&events.EventSinkImpl{Interface: client.EventsV1()})
			defer broadcaster.Shutdown()
			sched, err := upstream.New(t.Context(), client, scheduler.NewInformerFactory(client, 0), nil,
				profile.NewRecorderFactory(broadcaster), options...)
			if err != nil {
				t.Fatal(err)
			}
			got := sched.Profiles["default-scheduler"].ListPlugins()
			want := []string{"HomeScheduler", "NodeGroupPolicy", "ClusterResource", "ClusterMetrics"}
			if diff := cmp.Diff(want, namesOf(got.Filter, len(want))); diff != "" {
				t.Errorf("the first filters (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.wantBind, namesOf(got.Bind, 9)); diff != "" {
				t.Errorf("binders (-want +got):\n%s", diff)
			}
			if len(got.Filter.Enabled) <= len(want) {
				t.Error("the stock filters are missing")
			}
		})
	}
}
