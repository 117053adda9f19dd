// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Berth-playground runs Berth on one machine, with a whole Kubernetes control plane and fake nodes
// around it, to try it out and to show what it does. Nothing but the programs of this repository is
// needed.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"berth.dev/berth/cmd/playground/app"
)

// exitInterrupted is what shells report for a program that SIGINT ended.
const exitInterrupted = 130

func main() {
	os.Exit(run())
}

// run exists so that deferred calls happen before the exit.
func run() int {
	// A second signal must not interrupt the cleanup, so the handler stays until the end. SIGPIPE
	// is what a reader of the output causes that ends early, and would otherwise end the process on
	// the spot.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE)
	defer stop()
	err := app.NewCommand().ExecuteContext(ctx)
	switch {
	case err == nil:
		return 0
	case ctx.Err() != nil && errors.Is(err, ctx.Err()):
		fmt.Fprintln(os.Stderr, "Interrupted.")
		return exitInterrupted
	default:
		fmt.Fprintln(os.Stderr, "Error:", err)
		return 1
	}
}
