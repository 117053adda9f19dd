// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"os"
	"path/filepath"
	"testing"

	"berth.dev/berth/cmd/internal/flagtest"
)

func TestSchedulerProfile(t *testing.T) {
	const header = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
	for name, test := range map[string]struct{ content, wantErr string }{
		"a profile of Berth": {header + "profiles: [{schedulerName: berth-scheduler, plugins: {filter: {enabled: [{name: ClusterResource}]}}}]\n", ""},
		"the stock plugins": {
			header + "profiles: [{schedulerName: berth-scheduler}]\n",
			"--scheduler-config: the scheduler's configuration has no profile of Berth: that of berth-scheduler enables none of its plugins",
		},
		"nothing":          {"", "--scheduler-config: reading the scheduler's configuration: it is no KubeSchedulerConfiguration of kubescheduler.config.k8s.io/v1"},
		"no YAML":          {"a: b: c", "--scheduler-config: reading the scheduler's configuration: "},
		"another kind":     {"apiVersion: v1\nkind: Pod\n", "--scheduler-config: reading the scheduler's configuration: it is no KubeSchedulerConfiguration"},
		"an unknown field": {header + "profile: []\n", "--scheduler-config: reading the scheduler's configuration: "},
		"no profile of Berth": {
			header + "profiles: [{schedulerName: east}, {schedulerName: west}]\n",
			"--scheduler-config: the scheduler's configuration has no profile berth-scheduler, only east, west",
		},
		"plugins that are not compiled in": {
			header + "profiles: [{schedulerName: berth-scheduler, plugins: {filter: {enabled: [{name: Tetris}, {name: NodePorts}, {name: Chess}]}}}]\n",
			"--scheduler-config: the scheduler's configuration has plugins in profile berth-scheduler that this program does not have: Chess, Tetris",
		},
		"a plugin at all points that is not compiled in": {
			header + "profiles: [{schedulerName: berth-scheduler, plugins: {multiPoint: {enabled: [{name: Tetris}]}}}]\n",
			"--scheduler-config: the scheduler's configuration has plugins in profile berth-scheduler that this program does not have: Tetris",
		},
		"plugins that are not compiled in, of another profile": {
			header + "profiles: [{schedulerName: berth-scheduler, plugins: {multiPoint: {enabled: [{name: NodeGroupPolicy}]}}}, " +
				"{schedulerName: b, plugins: {filter: {enabled: [{name: Chess}]}}}]\n", "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			opts := NewOptions()
			opts.SchedulerConfig = filepath.Join(t.TempDir(), "config.yaml")
			if err := os.WriteFile(opts.SchedulerConfig, []byte(test.content), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := schedulerProfile(opts)
			flagtest.CheckError(t, err, test.wantErr)
		})
	}
}
