// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package flagtest tests the options of programs through their flags.
package flagtest

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	cliflag "k8s.io/component-base/cli/flag"
)

// Options are settings that flags make.
type Options interface {
	Flags() cliflag.NamedFlagSets
	Validate() error
}

// Case is a command line. Want is a part of the error, empty if it is accepted.
type Case struct {
	Args []string
	Want string
}

// Parse makes options of a command line. It returns what is wrong with them.
func Parse(opts Options, args ...string) error {
	flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
	sets := opts.Flags()
	for _, set := range sets.FlagSets {
		flags.AddFlagSet(set)
	}
	if err := flags.Parse(args); err != nil {
		return err
	}
	return opts.Validate()
}

// Run tests each case with options of its own.
func Run[O Options](t *testing.T, defaults func() O, cases map[string]Case) {
	t.Helper()
	for name, test := range cases {
		t.Run(name, func(t *testing.T) { CheckError(t, Parse(defaults(), test.Args...), test.Want) })
	}
}

// CheckError checks that an error has a text in it, or that there is none if the text is empty.
func CheckError(t *testing.T, err error, want string) {
	t.Helper()
	switch {
	case want == "" && err != nil:
		t.Errorf("refused: %v", err)
	case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
		t.Errorf("error = %v, want one with %q", err, want)
	}
}

// CheckRefusesArguments checks that a command takes flags only.
func CheckRefusesArguments(t *testing.T, cmd *cobra.Command) {
	t.Helper()
	cmd.SetArgs([]string{"argument"})
	if err := cmd.Execute(); err == nil {
		t.Error("an argument is accepted")
	}
}
