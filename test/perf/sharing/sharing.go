// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package sharing measures whether several schedulers add up: what a pod costs all of them together
// while each has clusters and pods of its own. They are processes of their own; the API server is
// in memory, so that it is no part of what limits them.
package sharing

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"berth.dev/berth/pkg/localplane"
	"berth.dev/berth/test/perf/internal/proc"
	"berth.dev/berth/test/perf/report"
	"berth.dev/berth/test/simulation/apiserver"
)

// Options says how much is measured.
type Options struct {
	// Shipped is the configuration that Berth ships, Env the environment of the scheduler.
	Shipped string
	Env     []string
	// Folder is where the files of the run lie until it is over; empty for the default of the system.
	Folder string
	// Schedulers is how many there are in each run.
	Schedulers []int
	// Nodes and Pods are those of each scheduler. The pods come in each of Rounds.
	Nodes, Pods, Rounds int
}

// Usual is what a full run measures, a part of which factor says.
func Usual(factor float64) Options {
	return Options{
		Schedulers: []int{1, 2, 4, 8}, Nodes: max(100, int(5000*factor)), Pods: max(20, int(100*factor)), Rounds: 5,
	}
}

// Run measures. It ends everything that it starts.
func Run(ctx context.Context, out io.Writer, o *Options) ([]report.Sharing, error) {
	var found []report.Sharing
	for _, schedulers := range o.Schedulers {
		one, err := run(ctx, out, o, schedulers)
		if err != nil {
			return found, fmt.Errorf("%d schedulers: %w", schedulers, err)
		}
		found = append(found, *one)
	}
	return found, nil
}

// fleet is a number of schedulers at work.
type fleet struct {
	*Options

	out       io.Writer
	server    *server
	address   string
	folder    string
	processes []*localplane.Process
}

func run(ctx context.Context, out io.Writer, o *Options, schedulers int) (result *report.Sharing, err error) {
	folder, err := os.MkdirTemp(o.Folder, "berth-perf-sharing-")
	if err != nil {
		return nil, fmt.Errorf("making a folder: %w", err)
	}
	defer os.RemoveAll(folder)
	definitions, err := apiserver.Definitions(filepath.Join("manifests", "crds"))
	if err != nil {
		return nil, err
	}
	memory, err := apiserver.New(definitions)
	if err != nil {
		return nil, fmt.Errorf("making the API server: %w", err)
	}
	f := &fleet{Options: o, out: out, server: newServer(memory), folder: folder}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listening: %w", err)
	}
	f.address = "http://" + listener.Addr().String()
	serving := &http.Server{Handler: f.server, ReadHeaderTimeout: time.Minute}
	go func() { _ = serving.Serve(listener) }() // ends with Close
	defer serving.Close()
	defer func() { err = errors.Join(err, f.stop()) }()
	for s := range schedulers {
		if err := f.fill(s); err != nil {
			return nil, err
		}
	}
	for s := range schedulers {
		if err := f.start(ctx, s); err != nil {
			return nil, err
		}
	}
	return f.measure(ctx, schedulers)
}

// stop ends all schedulers.
func (f *fleet) stop() error {
	errs := make([]error, len(f.processes))
	for i, p := range f.processes {
		errs[i] = p.Stop(stopGrace)
	}
	return errors.Join(errs...)
}

const (
	stopGrace = 10 * time.Second
	// patience is how long anything may take on a machine that is busy with something else.
	patience = 5 * time.Minute
)

// measure lets all schedulers place pods, round by round. Before the first one that counts, each
// places as many, so that all are at work and their caches are warm. Of a round, the first half is
// one scheduler after the other: each has the processors to itself, as it would have on a machine
// of its own, and the others hear of its pods. In the second half all are at work at the same time.
func (f *fleet) measure(ctx context.Context, schedulers int) (*report.Sharing, error) {
	result := &report.Sharing{Schedulers: schedulers, Nodes: f.Nodes, Pods: f.Pods}
	all := make([]int, schedulers)
	for s := range all {
		all[s] = s
	}
	if err := f.place(ctx, all, f.Pods, "first"); err != nil {
		return nil, err
	}
	for round := range f.Rounds {
		f.server.take()
		inTurn, err := f.cost(all, func() error {
			for _, s := range all {
				if err := f.place(ctx, []int{s}, f.Pods, fmt.Sprintf("turn-%d", round)); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		asked, pods := f.server.take(), float64(schedulers*f.Pods)
		together, err := f.cost(all, func() error { return f.place(ctx, all, f.Pods, strconv.Itoa(round)) })
		if err != nil {
			return nil, err
		}
		result.CPUMilliseconds, result.TogetherCPUMilliseconds = append(result.CPUMilliseconds, inTurn), append(result.TogetherCPUMilliseconds, together)
		result.Requests = append(result.Requests, float64(asked.requests)/pods)
		result.Bytes = append(result.Bytes, float64(asked.bytes)/pods)
		result.Contended += asked.refused + f.server.take().refused
		fmt.Fprintf(f.out, "sharing, %d schedulers, round %d of %d: %.2f ms CPU, all at once %.2f, %.2f requests and %.0f bytes a pod\n",
			schedulers, round+1, f.Rounds, inTurn, together, float64(asked.requests)/pods, float64(asked.bytes)/pods)
	}
	return result, nil
}

// cost returns the work of all processors, in milliseconds, for each pod that some schedulers place
// meanwhile.
func (f *fleet) cost(schedulers []int, place func() error) (float64, error) {
	before, err := f.cpuTime()
	if err != nil {
		return 0, err
	}
	if err := place(); err != nil {
		return 0, err
	}
	after, err := f.cpuTime()
	return float64(after-before) / float64(time.Millisecond) / float64(len(schedulers)*f.Pods), err
}

// place makes pods for each of some schedulers, and waits until all are bound.
func (f *fleet) place(ctx context.Context, schedulers []int, pods int, round string) error {
	want := f.server.boundPods() + len(schedulers)*pods
	for i := range pods {
		for _, s := range schedulers {
			if err := f.createPod(s, fmt.Sprintf("pod-%s-%d-%d", round, s, i)); err != nil {
				return err
			}
		}
	}
	timeout := time.NewTimer(patience)
	defer timeout.Stop()
	for f.server.boundPods() < want {
		select {
		case <-f.server.news:
		case <-ctx.Done():
			return ctx.Err()
		case <-timeout.C:
			return fmt.Errorf("after %s %d pods are bound, not %d", patience, f.server.boundPods(), want)
		}
	}
	return nil
}

// cpuTime returns how long processors have worked for all schedulers.
func (f *fleet) cpuTime() (time.Duration, error) {
	total := time.Duration(0)
	for _, p := range f.processes {
		worked, err := proc.CPUTime(p.PID())
		if err != nil {
			return 0, err
		}
		total += worked
	}
	return total, nil
}

// start starts the s-th scheduler.
func (f *fleet) start(ctx context.Context, s int) error {
	binaries, err := localplane.FindBinDir()
	if err != nil {
		return err
	}
	name := nameOf(s)
	kubeconfig := filepath.Join(f.folder, name+".kubeconfig")
	if err := os.WriteFile(kubeconfig, fmt.Appendf(nil, kubeconfigFormat, f.address), 0o600); err != nil {
		return fmt.Errorf("writing a kubeconfig: %w", err)
	}
	configuration, err := configurationOf(f.Shipped, kubeconfig)
	if err != nil {
		return err
	}
	config := filepath.Join(f.folder, name+".yaml")
	if err := os.WriteFile(config, configuration, 0o600); err != nil {
		return fmt.Errorf("writing a configuration: %w", err)
	}
	port, err := localplane.FreePort()
	if err != nil {
		return err
	}
	process, err := localplane.StartProcess(ctx, localplane.ProcessOptions{
		Name: name, Path: filepath.Join(binaries, localplane.BerthScheduler), Env: append(os.Environ(), f.Env...),
		LogPath: filepath.Join(f.folder, name+".log"),
		Args: []string{
			"--config=" + config, "--scheduler-name=" + name, "--register-scheduler=false", "--v=0", "--bind-address=127.0.0.1",
			"--secure-port=" + strconv.Itoa(port), "--cert-dir=" + filepath.Join(f.folder, name),
		},
	})
	if err != nil {
		return err
	}
	f.processes = append(f.processes, process)
	return nil
}
