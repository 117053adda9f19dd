// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Command perf runs the benchmarks that compare Berth with its peers, prints their results, and
// keeps them in files.
//
// It is run from the root of the repository, by `make bench` and `make bench-smoke`.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"slices"
	"syscall"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	"berth.dev/berth/pkg/localplane"
	"berth.dev/berth/test/perf/decision"
	"berth.dev/berth/test/perf/processes"
	"berth.dev/berth/test/perf/report"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Stdout, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "perf:", err)
		os.Exit(1)
	}
}

// The configurations that Berth ships, seen from the root of the repository.
const (
	shippedFile  = "manifests/base/scheduler-config.yaml"
	addsOnlyFile = "manifests/components/adds-only/scheduler-config.yaml"
)

// The files that are written.
const (
	resultsFile = "bench/results/bench.json"
	smokeFile   = "bench/results/smoke.json.tmp"
	docFile     = "docs/reference/benchmarks.md"
)

// options are what the flags say.
type options struct {
	smoke                   bool
	only                    *regexp.Regexp
	allocations, statements bool
	update                  bool
	from                    string
}

func parse(args []string) (*options, error) {
	flags := flag.NewFlagSet("perf", flag.ContinueOnError)
	smoke := flags.Bool("smoke", false, "measure for about two minutes, only enough to see what is far off, and leave the documentation alone")
	only := flags.String("only", "", "measure only what matches this regular expression, and write no files; "+
		"\"points\" stands for the benchmarks of single extension points, \"scheduler_perf\" for the throughput, and "+
		"\"processes\" for separate processes beside a real API server")
	countsAllocations := flags.Bool("allocations", false, "only compare the allocations of decisions with "+allocations.file)
	countsStatements := flags.Bool("statements", false,
		"only compare the statements that calls of the plugins execute with "+statements.file)
	update := flags.Bool("update", false, "with -allocations or -statements, write the file instead")
	from := flags.String("from", "", "measure nothing, and write the documentation from this file of results")
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	names, err := regexp.Compile(*only)
	if err != nil {
		return nil, fmt.Errorf("flag -only: %w", err)
	}
	return &options{
		smoke: *smoke, only: names, allocations: *countsAllocations, statements: *countsStatements, update: *update, from: *from,
	}, nil
}

func run(ctx context.Context, out io.Writer, args []string) error {
	o, err := parse(args)
	if err != nil {
		return err
	}
	if o.from != "" {
		results, err := report.ReadJSON(o.from)
		if err != nil {
			return err
		}
		return errors.Join(report.Print(out, results), writeDoc(results))
	}
	// Whatever the schedulers log would be part of what is measured.
	klog.SetLogger(logr.Discard())
	ctrl.SetLogger(logr.Discard())
	ctx = klog.NewContext(ctx, logr.Discard())
	configurations, err := readConfigurations()
	if err != nil {
		return err
	}
	switch {
	case o.allocations:
		measured, err := countAllocations(ctx, out, configurations)
		if err != nil {
			return err
		}
		return allocations.check(measured, o.update)
	case o.statements:
		measured, err := countStatements(ctx, out)
		if err != nil {
			return err
		}
		return statements.check(measured, o.update)
	}
	results := &report.Results{Environment: report.ThisEnvironment(ctx, o.smoke)}
	// Minutes of measuring are not thrown away because the last part has failed.
	err = measure(ctx, out, o, configurations, results)
	return errors.Join(err, report.Print(out, results), keep(o, results))
}

// keep writes the results to their files.
func keep(o *options, results *report.Results) error {
	switch {
	case o.only.String() != "" || len(results.Decisions) == 0:
		return nil
	case o.smoke:
		return report.WriteJSON(smokeFile, results)
	}
	return errors.Join(report.WriteJSON(resultsFile, results), writeDoc(results))
}

func measure(
	ctx context.Context, out io.Writer, o *options, configurations *decision.Configurations, results *report.Results,
) (err error) {
	lengths, benchtime, skip, runs := decision.Options{Rounds: 6, Turn: 80, Placements: 2}, "20ms", "", 1
	if o.smoke {
		// Sizes between others, and the peers that take longest.
		leftOut := regexp.MustCompile(`^((all-sites|tenth|resources)-1000|dra|extender-literal)$`)
		lengths = decision.Options{Rounds: 3, Turn: 40, Placements: 1, MaxNodes: 5000, Without: leftOut}
		benchtime, skip, runs = "10ms", ".*/nodes=50000|.*/.*/nodes=50000", 0
	}
	// One part that fails does not keep the others from being measured.
	var errs []error
	if results.Decisions, err = decision.Run(ctx, out, matching(o.only), configurations, lengths); err != nil {
		errs = append(errs, err)
	}
	if ctx.Err() == nil && o.only.MatchString("points") {
		fmt.Fprintln(out, "points: single extension points")
		results.Points, err = points(ctx, benchtime, skip)
		errs = append(errs, err)
	}
	if ctx.Err() == nil && o.only.MatchString("processes") {
		results.Processes, err = separately(ctx, out, o, configurations)
		errs = append(errs, err)
	}
	if ctx.Err() == nil && runs > 0 && o.only.MatchString("scheduler_perf") {
		fmt.Fprintln(out, "scheduler_perf: pods bound a second")
		results.Throughputs, err = throughputs(ctx, out, runs)
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// separately measures schedulers and controllers as processes of their own.
func separately(ctx context.Context, out io.Writer, o *options, configurations *decision.Configurations) (*report.Processes, error) {
	lengths := processes.Usual()
	if o.smoke {
		lengths = processes.Smoke()
	}
	lengths.Shipped, lengths.AddsOnly, lengths.Folder = configurations.Shipped, configurations.AddsOnly, memoryFolder()
	env, err := localplane.SchedulerEnv("manifests")
	if err != nil {
		return nil, err
	}
	lengths.Env = env
	return processes.Run(ctx, out, lengths)
}

// matching returns the scenarios whose names match.
func matching(names *regexp.Regexp) []decision.Scenario {
	return slices.DeleteFunc(decision.Scenarios(), func(s decision.Scenario) bool { return !names.MatchString(s.Name) })
}

func writeDoc(results *report.Results) error {
	file, err := os.Create(docFile)
	if err != nil {
		return fmt.Errorf("writing the documentation: %w", err)
	}
	if err := errors.Join(report.WriteMarkdown(file, results), file.Close()); err != nil {
		return fmt.Errorf("writing the documentation: %w", err)
	}
	return nil
}

func readConfigurations() (*decision.Configurations, error) {
	shipped, err := os.ReadFile(shippedFile)
	if err != nil {
		return nil, fmt.Errorf("reading the shipped configuration: %w", err)
	}
	addsOnly, err := os.ReadFile(addsOnlyFile)
	if err != nil {
		return nil, fmt.Errorf("reading the configuration that only adds: %w", err)
	}
	return &decision.Configurations{Shipped: string(shipped), AddsOnly: string(addsOnly)}, nil
}
