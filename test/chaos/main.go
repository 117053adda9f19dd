// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Command chaos runs Berth's programs as processes, disturbs them, the network, the machines and
// Kubernetes, as a seed decides, and judges every revision of what is stored.
//
// It is run from the root of the repository, by `make chaos` and `make chaos-smoke`. It ends with 1
// if it cannot judge, and with 2 if a promise was broken.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"
)

const (
	exitUnjudged = 1
	exitViolated = 2
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := command(ctx, os.Args[1:])
	stop()
	os.Exit(code)
}

func command(ctx context.Context, args []string) int {
	o, err := parse(args)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "chaos:", err)
		return exitUnjudged
	}
	fmt.Fprintf(os.Stdout, "seed %d: %d pods, %s\n", o.seed, o.pods, o.duration)
	done, err := run(ctx, os.Stdout, o)
	if problem := keep(o.record, done, err); problem != nil {
		fmt.Fprintln(os.Stderr, "chaos:", problem)
		return exitUnjudged
	}
	switch {
	case err == nil:
		return 0
	case errors.Is(err, errBroken):
		fmt.Fprintf(os.Stdout, "seed %d: %v\nRepeat it with: make chaos SEED=%d PODS=%d DURATION=%s\n", o.seed, err, o.seed, o.pods, o.duration)
		return exitViolated
	default:
		fmt.Fprintf(os.Stderr, "chaos: seed %d: %v\n", o.seed, err)
		return exitUnjudged
	}
}

// bounds of what the flags may say.
const (
	fewestPods, mostPods = 10, 10_000
	mostPages            = 100
	shortestStorm        = 5 * time.Second
)

func parse(args []string) (options, error) {
	var o options
	flags := flag.NewFlagSet("chaos", flag.ContinueOnError)
	flags.Uint64Var(&o.seed, "seed", uint64(time.Now().Unix()), "what decides what happens, and when")
	flags.DurationVar(&o.duration, "duration", 15*time.Minute, "how long storms begin; there is one at least")
	flags.IntVar(&o.pods, "pods", 2000, "about how many pods there are")
	flags.DurationVar(&o.storm, "storm", time.Minute, "how long a storm is")
	flags.IntVar(&o.pages, "pages", 0, "how many pages of Berth are open, half of them of the gateway")
	flags.StringVar(&o.record, "record", "", "folder of the record to add to, and of its page")
	flags.DurationVar(&o.outage, "outage", time.Minute, "how long no API server is there")
	flags.SetOutput(io.Discard) // One message says what is wrong.
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			flags.SetOutput(os.Stdout)
			flags.PrintDefaults()
		}
		return o, err
	}
	world := o.pods >= fewestPods && o.pods <= mostPods && o.pages >= 0 && o.pages <= mostPages
	if !world || o.duration < 0 || o.storm < shortestStorm || o.outage < 0 || flags.NArg() > 0 {
		return o, fmt.Errorf("want %d to %d pods, no more than %d pages, a storm of %s or more, no negative time, and nothing but flags",
			fewestPods, mostPods, mostPages, shortestStorm)
	}
	return o, nil
}
