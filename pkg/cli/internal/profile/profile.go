// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package profile finds the profile of the scheduler that a command simulates.
package profile

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"berth.dev/berth/manifests"
	"berth.dev/berth/pkg/cli/internal/output"
	"berth.dev/berth/pkg/cli/internal/values"
	"berth.dev/berth/pkg/explain/placement"
	"berth.dev/berth/pkg/simulator"
)

// Flags name the configuration of the scheduler and the schedulers that Berth's plugins run in.
type Flags struct {
	file       string
	schedulers *values.Names
}

// AddTo adds the flags to a command.
func (f *Flags) AddTo(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.file, "scheduler-config", "",
		"file with the KubeSchedulerConfiguration of berth-scheduler, if it is not the one that Berth is shipped with")
	f.schedulers = values.AddSchedulersFlag(cmd.Flags())
	// It fails only for a flag that does not exist.
	_ = cmd.MarkFlagFilename("scheduler-config", "yaml", "yml", "json")
}

// Schedulers returns the names of the schedulers that Berth's plugins run in.
func (f *Flags) Schedulers() []string { return placement.SchedulersOf(f.schedulers.Values()) }

// Configuration reads the configuration of the scheduler.
func (f *Flags) Configuration() ([]byte, error) {
	if f.file == "" {
		return manifests.SchedulerConfiguration, nil
	}
	raw, err := os.ReadFile(f.file)
	if err != nil {
		return nil, fmt.Errorf("--scheduler-config: %w", err)
	}
	return raw, nil
}

// TellLeftOut says what has a say in the scheduler and none in an answer.
func TellLeftOut(w io.Writer, p *simulator.Profile) {
	if leftOut := p.LeftOut(); len(leftOut) > 0 {
		fmt.Fprintf(w, "Not asked, though the scheduler asks them: %s.\n", output.OneLine(strings.Join(leftOut, ", ")))
	}
}

// Choose returns the profile that pods get that ask for the scheduler, or the first one of Berth's
// schedulers if that scheduler is none of them.
func (f *Flags) Choose(configuration []byte, asked string) (*simulator.Profile, error) {
	schedulers := f.Schedulers()
	if slices.Contains(schedulers, asked) {
		schedulers = []string{asked}
	}
	chosen, err := simulator.ParseProfile(configuration, schedulers...)
	if err != nil {
		return nil, err
	}
	if err := chosen.CheckBerths(); err != nil {
		return nil, err
	}
	return chosen, nil
}
