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
	from, json              string
	// part, peers and rounds limit what is measured of separate processes.
	part, peers *regexp.Regexp
	rounds      int
	// scale says that growth is measured, in a cluster that is factor times as large as the full one.
	scale  bool
	factor float64
}

func parse(args []string) (*options, error) {
	flags := flag.NewFlagSet("perf", flag.ContinueOnError)
	smoke := flags.Bool("smoke", false, "measure for about two minutes, only enough to see what is far off, and leave the documentation alone")
	only := flags.String("only", "", "measure only what matches this regular expression, and write no files; "+
		"\"points\" stands for the benchmarks of single extension points, \"scheduler_perf\" for the throughput, "+
		"\"newest\" for decisions with the newest Kubernetes, "+
		"\"profiles\" for those that are kept of some decisions, and "+
		"\"processes\" for separate processes beside a real API server")
	countsAllocations := flags.Bool("allocations", false, "only compare the allocations of decisions with "+allocations.file)
	countsStatements := flags.Bool("statements", false,
		"only compare the statements that calls of the plugins execute with "+statements.file)
	update := flags.Bool("update", false, "with -allocations or -statements, write the file instead")
	scale := flags.Bool("scale", false, "measure how cost grows, in a cluster of 5,000 nodes and 150,000 pods; -only then knows "+
		"\"processes\", \"decisions\", \"sharing\" and \"disturbed\"")
	factor := flags.Float64("factor", 1, "with -scale, how large the cluster is in parts of the full one; results of less than 1 are not kept")
	part := flags.String("part", "", "of separate processes measure only the parts that match: drain, freed, controllers; with -scale, slopes")
	peers := flags.String("peers", "", "of a drain measure only the peers whose names match; the first is what others are compared with")
	rounds := flags.Int("rounds", 0, "how often the peers of a drain have their turn, if it is not 0")
	from := flags.String("from", "", "measure nothing, and write the documentation from this file of results")
	keepIn := flags.String("json", "", "write what was measured to this file, and to no other")
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	names, err := regexp.Compile(*only)
	if err != nil {
		return nil, fmt.Errorf("flag -only: %w", err)
	}
	o := &options{
		smoke: *smoke, only: names, allocations: *countsAllocations, statements: *countsStatements, update: *update, from: *from, json: *keepIn, rounds: *rounds,
		scale: *scale, factor: *factor,
	}
	if o.part, err = regexp.Compile(*part); err != nil {
		return nil, fmt.Errorf("flag -part: %w", err)
	}
	if *peers != "" {
		if o.peers, err = regexp.Compile(*peers); err != nil {
			return nil, fmt.Errorf("flag -peers: %w", err)
		}
	}
	return o, nil
}

func run(ctx context.Context, out io.Writer, args []string) error {
	o, err := parse(args)
	if err != nil {
		return err
	}
	if o.from != "" {
		results, err := readResults(o.from)
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
	case o.scale:
		return measureScale(ctx, out, o, configurations)
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
	case o.json != "":
		return report.WriteJSON(o.json, results)
	case o.only.String() != "" || len(results.Decisions) == 0:
		return nil
	case o.smoke:
		return report.WriteJSON(smokeFile, results)
	}
	if err := addScale(results); err != nil {
		return err
	}
	return errors.Join(report.WriteJSON(resultsFile, results), writeDoc(results))
}

// between are scenarios whose sizes lie between those of others, without a goal. Together with the
// workloads of scheduler_perf without one they are left to -scale.
var between = regexp.MustCompile(`^(all-sites|tenth|resources)-1000$`)

func measure(
	ctx context.Context, out io.Writer, o *options, configurations *decision.Configurations, results *report.Results,
) error {
	lengths, benchtime, skip, runs := decision.Options{Rounds: 6, Turn: 80, Placements: 2, Without: between}, "20ms", "", judgedRuns
	if o.smoke {
		// And the peers that take longest.
		leftOut := regexp.MustCompile(between.String() + `|^(dra|extender-literal)$`)
		lengths = decision.Options{Rounds: 3, Turn: 40, Placements: 1, MaxNodes: 5000, Without: leftOut}
		benchtime, skip, runs = "10ms", ".*/nodes=50000|.*/.*/nodes=50000", 0
	}
	return inTurn(ctx, o, []part{
		{"", func() (err error) {
			results.Decisions, err = decision.Run(ctx, out, matching(o.only), configurations, lengths)
			return err
		}},
		{"newest", func() (err error) {
			if o.smoke {
				return nil
			}
			results.Newest, err = withNewest(ctx, out)
			return err
		}},
		{"profiles", func() error {
			if o.smoke {
				return nil
			}
			return writeProfiles(ctx, out, configurations)
		}},
		{"points", func() (err error) {
			fmt.Fprintln(out, "points: single extension points")
			results.Points, err = points(ctx, benchtime, skip)
			return err
		}},
		{"processes", func() (err error) {
			results.Processes, err = separately(ctx, out, o, configurations)
			return err
		}},
		{"scheduler_perf", func() (err error) {
			if runs == 0 {
				return nil
			}
			fmt.Fprintln(out, "scheduler_perf: pods bound a second")
			results.Throughputs, err = throughputs(ctx, out, judged.MatchString, runs)
			return err
		}},
	})
}

// part is a part of a run. One without a name chooses itself what of it is wanted.
type part struct {
	name    string
	measure func() error
}

// inTurn measures the parts that are wanted. One that fails does not keep the others from being
// measured.
func inTurn(ctx context.Context, o *options, parts []part) error {
	var errs []error
	for _, p := range parts {
		if ctx.Err() == nil && (p.name == "" || o.only.MatchString(p.name)) {
			errs = append(errs, p.measure())
		}
	}
	return errors.Join(errs...)
}

// separately measures schedulers and controllers as processes of their own.
func separately(ctx context.Context, out io.Writer, o *options, configurations *decision.Configurations) (*report.Processes, error) {
	lengths := processes.Usual()
	if o.smoke {
		lengths = processes.Smoke()
	}
	lengths.Only = o.part
	if o.rounds > 0 {
		lengths.FewRounds = o.rounds
	}
	if err := complete(&lengths, o, configurations); err != nil {
		return nil, err
	}
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
