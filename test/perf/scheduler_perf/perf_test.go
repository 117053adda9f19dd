// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build schedulerperf

// Package schedulerperf_test runs Berth's plugins in scheduler_perf, the benchmark of Kubernetes
// itself: nodes and pods are created at a real API server, and a scheduler in the same process
// binds the pods. It needs the program etcd in the PATH, and is run by test/perf.
package schedulerperf_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	_ "k8s.io/component-base/logs/json/register"
	fwk "k8s.io/kube-scheduler/framework"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	perf "k8s.io/kubernetes/test/integration/scheduler_perf"

	"berth.dev/berth/pkg/fence"
	"berth.dev/berth/pkg/plugins"
	"berth.dev/berth/pkg/plugins/nodegrouppolicy"
)

const root = "../../.."

func TestMain(m *testing.M) {
	if err := perf.InitTests(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func BenchmarkPerfScheduling(b *testing.B) {
	folder := b.TempDir()
	config := fill(b, "testdata/workloads.yaml", folder, "FOLDER", folder)
	for name, path := range map[string]string{
		"shipped.yaml":   "manifests/base/scheduler-config.yaml",
		"adds-only.yaml": "manifests/components/adds-only/scheduler-config.yaml",
	} {
		// scheduler_perf looks for pods of the default scheduler, and holds no lease.
		made := fill(b, filepath.Join(root, path), folder, "schedulerName: berth-scheduler", "schedulerName: default-scheduler")
		if err := os.Rename(made, filepath.Join(folder, name)); err != nil {
			b.Fatal(err)
		}
	}
	perf.PluginNames = append(perf.PluginNames, nodegrouppolicy.Name)
	w := &world{folder: folder, states: map[informers.SharedInformerFactory]*plugins.State{}}
	perf.RunBenchmarkPerfScheduling(b, config, "berth", w.registry(), perf.WithPrepareFn(w.prepare))
}

// fill copies a file into a folder, with one text replaced by another, and returns the path of the
// copy.
func fill(tb testing.TB, path, folder, old, replacement string) string {
	tb.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	if !strings.Contains(string(content), old) {
		tb.Fatalf("%s does not contain %q", path, old)
	}
	target := filepath.Join(folder, filepath.Base(path))
	if err := os.WriteFile(target, []byte(strings.ReplaceAll(string(content), old, replacement)), 0o600); err != nil {
		tb.Fatal(err)
	}
	return target
}

// world makes the state of Berth's plugins anew for each scheduler that scheduler_perf starts.
type world struct {
	folder string

	mu     sync.Mutex
	states map[informers.SharedInformerFactory]*plugins.State
	last   *plugins.State
}

// registry returns Berth's plugins. All plugins of one scheduler share a state; they are told apart
// by their informers.
func (w *world) registry() frameworkruntime.Registry {
	registry := frameworkruntime.Registry{}
	for name := range plugins.NewState(fence.New(), nil).Registry() {
		registry[name] = func(ctx context.Context, args runtime.Object, handle fwk.Handle) (fwk.Plugin, error) {
			return w.stateOf(handle).Registry()[name](ctx, args, handle)
		}
	}
	return registry
}

func (w *world) stateOf(handle fwk.Handle) *plugins.State {
	w.mu.Lock()
	defer w.mu.Unlock()
	factory := handle.SharedInformerFactory()
	if w.states[factory] == nil {
		leader := fence.New()
		leader.KeepOpen()
		w.last = plugins.NewState(leader, nil)
		w.states[factory] = w.last
	}
	return w.states[factory]
}
