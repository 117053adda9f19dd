// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package processes measures schedulers and controllers as processes of their own, with a real etcd
// and a real API server on the loopback interface: what a user's machines would spend on them.
//
// There are no kubelets: a pod that is bound stays as it is, and one that is deleted is gone at
// once. So nothing but the programs that are compared, the API server and the load works while they
// are measured.
package processes

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"

	"berth.dev/berth/test/perf/report"
)

// Options says how much is measured.
type Options struct {
	// Shipped and AddsOnly are the configurations that Berth ships.
	Shipped, AddsOnly string
	// Env is the environment that the shipped scheduler has, and ControllersEnv that of the
	// controllers.
	Env, ControllersEnv []string
	// Folder is where the files of the run lie until it is over; empty for the default of the system.
	Folder string
	// Only limits the run to the parts whose names match: "drain", "freed", "controllers". Nil for
	// all.
	Only *regexp.Regexp
	// Peers limits the peers of a drain to those whose names match; nil for all.
	Peers *regexp.Regexp
	// Rounds is how often each peer of a drain takes its turn for which there is a goal, FewRounds how
	// often the others do.
	Rounds, FewRounds int
	// Nodes and Pods are the size of a backlog, Pods a multiple of 25.
	Nodes, Pods int
	// Waiting is how many pods wait for a place, Freed how many places become free in each of
	// FreedRounds.
	Waiting, Freed, FreedRounds int
	// Policies and PodsEach are what the controllers start with, Starts how often they do, and
	// IdleSeconds how long they have nothing to do then.
	Policies, PodsEach, Starts, IdleSeconds int
}

// Usual is what a full run measures, in about three and a half minutes on two processors.
func Usual() Options {
	return Options{
		Rounds: 5, FewRounds: 1, Nodes: 1000, Pods: 1000, Waiting: 1000, Freed: 150, FreedRounds: 1,
		Policies: 100, PodsEach: 100, Starts: 2, IdleSeconds: 15,
	}
}

// Smoke is enough to see that everything works, in half a minute.
func Smoke() Options {
	return Options{
		Rounds: 1, FewRounds: 1, Nodes: 100, Pods: 100, Waiting: 100, Freed: 10, FreedRounds: 1,
		Policies: 10, PodsEach: 20, Starts: 1, IdleSeconds: 5,
		Peers: regexp.MustCompile(`^(stock|berth|policy|resource)$`),
	}
}

// Run measures. It ends everything that it starts, also when the context ends. What was measured
// before an error is returned together with the error.
func Run(ctx context.Context, out io.Writer, o Options) (*report.Processes, error) {
	results := &report.Processes{}
	fmt.Fprintln(out, "processes: starting etcd and the API server")
	err := within(ctx, out, &o, func(w *world) error {
		for _, part := range []struct {
			name string
			run  func(context.Context, *report.Processes) error
		}{{"drain", w.drains}, {"freed", w.freedPlaces}, {"controllers", w.controllers}} {
			if o.Only != nil && !o.Only.MatchString(part.name) {
				continue
			}
			if err := part.run(ctx, results); err != nil {
				return fmt.Errorf("processes, %s: %w", part.name, err)
			}
		}
		return nil
	})
	return results, err
}

// within measures something beside a control plane of its own, which ends with it.
func within(ctx context.Context, out io.Writer, o *Options, measure func(*world) error) (err error) {
	folder, err := os.MkdirTemp(o.Folder, "berth-perf-processes-")
	if err != nil {
		return fmt.Errorf("making a folder for the processes: %w", err)
	}
	defer os.RemoveAll(folder)
	w, err := start(ctx, folder, out, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.plane.Stop()) }()
	return measure(w)
}

// chosen returns the peers that are asked for.
func (w *world) chosen(all []peer) []peer {
	return slices.DeleteFunc(all, func(p peer) bool { return w.Peers != nil && !w.Peers.MatchString(p.name) })
}
