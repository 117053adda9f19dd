// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"berth.dev/berth/pkg/localplane"
	"berth.dev/berth/test/perf/decision"
	"berth.dev/berth/test/perf/processes"
	"berth.dev/berth/test/perf/report"
	"berth.dev/berth/test/perf/sharing"
)

// scaleFile is where the results of a full run of -scale are kept.
const scaleFile = "bench/results/scale.json"

// measureScale measures how cost grows with nodes, pods, policies, clusters and schedulers. Only a
// run of full size is kept.
func measureScale(ctx context.Context, out io.Writer, o *options, configurations *decision.Configurations) error {
	scale := &report.Scale{}
	err := inTurn(ctx, o, []part{
		{"processes", func() error {
			measured, err := scaleOfProcesses(ctx, out, o, configurations)
			if measured != nil {
				scale = measured
			}
			return err
		}},
		{"decisions", func() (err error) {
			scale.Decisions, err = decision.Run(ctx, out, append([]decision.Scenario{decision.Huge(o.factor)}, matching(between)...),
				configurations, decision.Options{Rounds: 5, Turn: 80, Placements: 2})
			return err
		}},
		{"sharing", func() (err error) {
			scale.Sharing, err = scaleOfSharing(ctx, out, o, configurations)
			return err
		}},
		{"disturbed", func() (err error) {
			scale.Disturbed, err = disturbedDrains(ctx, out, o, configurations)
			return err
		}},
		{"scheduler_perf", func() (err error) {
			if o.factor < 1 {
				return nil
			}
			scale.Throughputs, err = throughputs(ctx, out, func(name string) bool { return !judged.MatchString(name) }, 1)
			return err
		}},
	})
	scale.Environment = report.ThisEnvironment(ctx, o.factor < 1)
	results := &report.Results{Environment: scale.Environment, Scale: scale}
	err = errors.Join(err, report.Print(out, results))
	if o.only.String() != "" || o.factor < 1 {
		return err
	}
	// Half an hour of measuring is not thrown away because one part has failed.
	return errors.Join(err, report.WriteJSON(scaleFile, scale), rewriteDoc())
}

// rewriteDoc writes the documentation from what was measured last.
func rewriteDoc() error {
	results, err := readResults(resultsFile)
	if err != nil {
		return err
	}
	return writeDoc(results)
}

func scaleOfProcesses(ctx context.Context, out io.Writer, o *options, configurations *decision.Configurations) (*report.Scale, error) {
	lengths := processes.UsualScale()
	lengths.Factor, lengths.Slopes = o.factor, o.part.MatchString("slopes")
	if err := complete(&lengths.Options, o, configurations); err != nil {
		return nil, err
	}
	return processes.RunScale(ctx, out, lengths)
}

func disturbedDrains(ctx context.Context, out io.Writer, o *options, configurations *decision.Configurations) ([]report.Disturbed, error) {
	lengths := processes.UsualDisturbed(o.factor)
	if err := complete(&lengths, o, configurations); err != nil {
		return nil, err
	}
	return processes.RunDisturbed(ctx, out, lengths)
}

// complete adds what is shipped, and what flags ask for.
func complete(lengths *processes.Options, o *options, configurations *decision.Configurations) (err error) {
	lengths.Shipped, lengths.AddsOnly, lengths.Folder = configurations.Shipped, configurations.AddsOnly, memoryFolder()
	if o.peers != nil {
		lengths.Peers = o.peers
	}
	if o.rounds > 0 {
		lengths.Rounds = o.rounds
	}
	if lengths.Env, err = localplane.ShippedEnv("manifests", localplane.BerthScheduler); err != nil {
		return err
	}
	lengths.ControllersEnv, err = localplane.ShippedEnv("manifests", localplane.BerthControllerManager)
	return err
}

func scaleOfSharing(ctx context.Context, out io.Writer, o *options, configurations *decision.Configurations) ([]report.Sharing, error) {
	lengths := sharing.Usual(o.factor)
	lengths.Shipped, lengths.Folder = configurations.Shipped, memoryFolder()
	env, err := localplane.ShippedEnv("manifests", localplane.BerthScheduler)
	if err != nil {
		return nil, err
	}
	lengths.Env = env
	return sharing.Run(ctx, out, &lengths)
}

// readResults reads the results of a run of everything, and those of a run of -scale if there are
// any.
func readResults(file string) (*report.Results, error) {
	results, err := report.ReadJSON[report.Results](file)
	if err != nil {
		return nil, err
	}
	return results, addScale(results)
}

// addScale adds the results of a run of -scale, if there are any.
func addScale(results *report.Results) (err error) {
	results.Scale, err = report.ReadJSON[report.Scale](scaleFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading what was measured of a large cluster: %w", err)
	}
	return nil
}
