// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package plugins_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	schedulerconfig "k8s.io/kubernetes/pkg/scheduler/apis/config"

	"berth.dev/berth/pkg/plugins/berthbinder"
	"berth.dev/berth/pkg/plugins/clustermetrics"
	"berth.dev/berth/pkg/plugins/clusterresource"
	"berth.dev/berth/pkg/plugins/feedinventory"
	"berth.dev/berth/pkg/plugins/homescheduler"
	"berth.dev/berth/pkg/plugins/nodegrouppolicy"
	"berth.dev/berth/pkg/plugintest"
)

// shipped are the configurations in manifests/.
var shipped = map[string]string{
	"base":      filepath.Join("..", "..", "manifests", "base", "scheduler-config.yaml"),
	"adds-only": filepath.Join("..", "..", "manifests", "components", "adds-only", "scheduler-config.yaml"),
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func names(set schedulerconfig.PluginSet) []string {
	var names []string
	for _, plugin := range set.Enabled {
		names = append(names, plugin.Name)
	}
	return names
}

// The order that the framework makes of a profile is not the order in which the profile names its
// plugins.
func TestOrderOfPluginsInShippedProfiles(t *testing.T) {
	preempting := []string{nodegrouppolicy.Name, clusterresource.Name}
	rejecting := append([]string{homescheduler.Name}, preempting...)
	judging := append(slices.Clone(rejecting), clustermetrics.Name)
	scoring := append(slices.Clone(preempting), clustermetrics.Name)
	holding := append(slices.Clone(rejecting), feedinventory.Name)
	for name, path := range shipped {
		t.Run(name, func(t *testing.T) {
			s := plugintest.New(t, nil, plugintest.WithConfiguration(read(t, path)))
			effective := s.Framework.ListPlugins()
			for point, first := range map[string]struct {
				set  schedulerconfig.PluginSet
				want []string
			}{
				"PreFilter": {effective.PreFilter, judging}, "Filter": {effective.Filter, judging},
				"PostFilter": {effective.PostFilter, rejecting},
			} {
				if got := names(first.set); len(got) <= len(first.want) || !slices.Equal(got[:len(first.want)], first.want) {
					t.Errorf("%s runs %v, want %v first and the stock plugins behind them", point, got, first.want)
				}
			}
			for point, among := range map[string]struct {
				set  schedulerconfig.PluginSet
				want []string
			}{
				"PreEnqueue": {effective.PreEnqueue, holding}, "Reserve": {effective.Reserve, rejecting},
				"PreScore": {effective.PreScore, scoring}, "Score": {effective.Score, scoring},
			} {
				for _, plugin := range among.want {
					if got := names(among.set); !slices.Contains(got, plugin) {
						t.Errorf("%s runs %v, want %s among them", point, got, plugin)
					}
				}
			}
			if diff := cmp.Diff([]string{berthbinder.Name}, names(effective.Bind)); diff != "" {
				t.Errorf("plugins of Bind (-want +got):\n%s", diff)
			}
		})
	}
}

// The stock plugins stay as they are: the same ones, in the same order, with the same weights.
func TestAddsOnlyOnlyAdds(t *testing.T) {
	stock := plugintest.New(t, nil, plugintest.WithConfiguration(plugintest.StockConfiguration), plugintest.Held())
	berth := plugintest.New(t, nil, plugintest.WithConfiguration(read(t, shipped["adds-only"])))
	ours := func(p schedulerconfig.Plugin) bool {
		return slices.Contains([]string{
			homescheduler.Name, nodegrouppolicy.Name, clusterresource.Name, clustermetrics.Name, feedinventory.Name,
		}, p.Name)
	}
	for point, sets := range map[string]func(*schedulerconfig.Plugins) schedulerconfig.PluginSet{
		"PreEnqueue": func(p *schedulerconfig.Plugins) schedulerconfig.PluginSet { return p.PreEnqueue },
		"QueueSort":  func(p *schedulerconfig.Plugins) schedulerconfig.PluginSet { return p.QueueSort },
		"PreFilter":  func(p *schedulerconfig.Plugins) schedulerconfig.PluginSet { return p.PreFilter },
		"Filter":     func(p *schedulerconfig.Plugins) schedulerconfig.PluginSet { return p.Filter },
		"PostFilter": func(p *schedulerconfig.Plugins) schedulerconfig.PluginSet { return p.PostFilter },
		"PreScore":   func(p *schedulerconfig.Plugins) schedulerconfig.PluginSet { return p.PreScore },
		"Score":      func(p *schedulerconfig.Plugins) schedulerconfig.PluginSet { return p.Score },
		"Reserve":    func(p *schedulerconfig.Plugins) schedulerconfig.PluginSet { return p.Reserve },
		"Permit":     func(p *schedulerconfig.Plugins) schedulerconfig.PluginSet { return p.Permit },
		"PreBind":    func(p *schedulerconfig.Plugins) schedulerconfig.PluginSet { return p.PreBind },
		"PostBind":   func(p *schedulerconfig.Plugins) schedulerconfig.PluginSet { return p.PostBind },
	} {
		want, got := sets(stock.Framework.ListPlugins()).Enabled, sets(berth.Framework.ListPlugins()).Enabled
		if diff := cmp.Diff(want, slices.DeleteFunc(slices.Clone(got), ours), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("stock plugins of %s (-stock +adds-only):\n%s", point, diff)
		}
	}
}
