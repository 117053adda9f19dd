// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package promserver runs a real Prometheus server on loopback, and an exporter for it to scrape,
// for the suites that read from one.
package promserver

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"berth.dev/berth/pkg/localplane"
	"berth.dev/berth/test/integration/internal/tool"
)

const (
	// startTimeout is for what takes a second on an idle machine.
	startTimeout = 120 * time.Second

	configuration = `
global:
  scrape_interval: 1s
  scrape_timeout: 1s
scrape_configs:
  - job_name: exporter
    static_configs:
      - targets: [%q]
`
)

// Test is what tests of both kinds have: *testing.T and GinkgoT().
type Test interface {
	tool.Test
	TempDir() string
	Cleanup(f func())
}

// Server is a running Prometheus server that scrapes an exporter every second.
type Server struct {
	// URL is where it answers.
	URL string
	// Gauges are what the exporter of Start has: a gauge "berth_test_load" with the label "zone".
	Gauges *prometheus.GaugeVec
}

// Promtool returns the path of the program that tests rules. The test is skipped if this machine
// has none; in CI that fails unless it is known why.
func Promtool(t Test) string {
	t.Helper()
	return tool.Require(t, "promtool", "prometheus")
}

// Start starts a server for one test, and ends it with the test. It scrapes an exporter of the
// test. The test is skipped if this machine has no server; in CI that fails unless it is known why.
func Start(ctx context.Context, t Test) *Server {
	t.Helper()
	gauge := prometheus.GaugeOpts{Name: "berth_test_load", Help: "What the test says."}
	server := &Server{Gauges: prometheus.NewGaugeVec(gauge, []string{"zone"})}
	registry := prometheus.NewRegistry()
	if err := registry.Register(server.Gauges); err != nil {
		t.Fatalf("%v", err)
	}
	exporter := httptest.NewServer(promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	t.Cleanup(exporter.Close)
	server.start(ctx, t, fmt.Sprintf(configuration, strings.TrimPrefix(exporter.URL, "http://")))
	return server
}

// StartWith starts a server for one test with the configuration, and ends it with the test. It has
// no gauges. When it is skipped and fails is as of Start.
func StartWith(ctx context.Context, t Test, configuration string) *Server {
	t.Helper()
	server := &Server{}
	server.start(ctx, t, configuration)
	return server
}

func (s *Server) start(ctx context.Context, t Test, configuration string) {
	t.Helper()
	if err := s.run(ctx, t, tool.Require(t, "prometheus", "prometheus"), configuration); err != nil {
		t.Fatalf("%v", err)
	}
}

func (s *Server) run(ctx context.Context, t Test, program, configuration string) error {
	port, err := localplane.FreePort()
	if err != nil {
		return err
	}
	dir := t.TempDir()
	config := filepath.Join(dir, "prometheus.yml")
	if err := os.WriteFile(config, []byte(configuration), 0o600); err != nil {
		return err
	}
	address := fmt.Sprintf("127.0.0.1:%d", port)
	process, err := localplane.StartProcess(ctx, localplane.ProcessOptions{
		Name: "prometheus", Path: program, LogPath: filepath.Join(dir, "log"), Args: []string{
			"--config.file=" + config, "--storage.tsdb.path=" + filepath.Join(dir, "data"), "--web.listen-address=" + address,
			"--log.level=warn",
		},
	})
	if err != nil {
		return err
	}
	t.Cleanup(func() {
		if err := process.Stop(startTimeout); err != nil {
			t.Fatalf("stopping prometheus: %v", err)
		}
	})
	s.URL = "http://" + address
	return s.await(ctx, process)
}

// await waits until the server says that it is ready.
func (s *Server) await(ctx context.Context, process *localplane.Process) error {
	exited := make(chan error, 1)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-process.Done():
			exited <- process.Wait()
		case <-ctx.Done():
		}
	}()
	return localplane.Await(ctx, startTimeout, exited, func(ctx context.Context) error {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+"/-/ready", http.NoBody)
		if err != nil {
			return err
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return err
		}
		defer response.Body.Close()
		if response.StatusCode != http.StatusOK {
			return fmt.Errorf("prometheus says %s", response.Status)
		}
		return nil
	})
}
