// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package check holds the command that tells whether an installation of Berth is sound, and what is
// wrong with it if it is not.
package check

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/utils/clock"

	"berth.dev/berth/pkg/cli/internal/client"
	"berth.dev/berth/pkg/cli/internal/output"
)

const (
	long = `Check whether a cluster is ready for Berth, and whether Berth works in it. Nothing is changed.

Each check has an ID, under which docs/reference/checks.md tells what is wrong when it fails and what helps. A warning
does not make the command fail.

Exit status is 0 if no check failed, 1 otherwise.`

	examples = `  # Does everything work?
  berthctl check

  # May I install Berth here?
  berthctl check --pre

  # Wait until it works, at most two minutes
  berthctl check --wait --wait-duration 2m

  # The IDs of what failed
  berthctl check -o json | jq -r '.categories[].checks[] | select(.result == "error").id'`

	// retry is the pause between two attempts with --wait.
	retry = 2 * time.Second
)

// short prints what is wrong, and nothing else.
const short output.Format = "short"

type command struct {
	streams genericiooptions.IOStreams
	factory *client.Factory
	format  *output.Flag
	clock   clock.Clock

	pre, wait bool
	duration  time.Duration
}

// NewCommand returns the command check.
func NewCommand(streams genericiooptions.IOStreams, factory *client.Factory) *cobra.Command {
	c := &command{
		streams: streams, factory: factory, clock: clock.RealClock{},
		format: output.NewFlag(output.Table, output.JSON, short),
	}
	cmd := &cobra.Command{
		Use:               "check",
		Short:             "Check whether Berth works, or could be installed",
		Long:              long,
		Example:           examples,
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, _ []string) error { return c.run(cmd.Context()) },
	}
	cmd.Flags().BoolVar(&c.pre, "pre", false, "check whether Berth could be installed, instead of whether it works")
	cmd.Flags().BoolVar(&c.wait, "wait", false, "try again until no check fails")
	cmd.Flags().DurationVar(&c.duration, "wait-duration", 5*time.Minute, "how long --wait tries")
	c.format.AddTo(cmd)
	return cmd
}

func (c *command) run(ctx context.Context) error {
	if c.duration <= 0 {
		return errors.New("--wait-duration: must be more than 0")
	}
	clients, err := c.factory.Clients()
	if err != nil {
		return err
	}
	deadline := c.clock.Now().Add(c.duration)
	for {
		result := c.attempt(ctx, clients)
		if result.Success || !c.wait || !c.clock.Now().Before(deadline) || ctx.Err() != nil {
			return c.print(result)
		}
		select {
		case <-ctx.Done():
		case <-c.clock.After(retry):
		}
	}
}

func (c *command) attempt(ctx context.Context, clients client.Clients) report {
	if c.pre {
		return examine(preChecks, readPre(ctx, clients))
	}
	return examine(checks, read(ctx, clients))
}

func (c *command) print(result report) error {
	err := c.format.Print(c.streams.Out, result, result.write(c.format.String() == string(short)))
	if err != nil || result.Success {
		return err
	}
	return fmt.Errorf("%d of %d checks failed", result.count(failed), result.count(passed)+result.count(warned)+result.count(failed))
}
