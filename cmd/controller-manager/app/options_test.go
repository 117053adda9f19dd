// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package app_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"

	"berth.dev/berth/cmd/controller-manager/app"
)

// parse returns the options that the flags make.
func parse(t *testing.T, args ...string) (*app.Options, error) {
	t.Helper()
	opts := app.NewOptions()
	flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
	sets := opts.Flags()
	for _, set := range sets.FlagSets {
		flags.AddFlagSet(set)
	}
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	err := opts.Validate()
	return opts, err
}

func TestDefaults(t *testing.T) {
	opts, err := parse(t)
	if err != nil {
		t.Fatalf("the defaults are refused: %v", err)
	}
	if !opts.LeaderElect {
		t.Error("two instances would work at the same time")
	}
	if diff := cmp.Diff([]string{"berth-scheduler"}, opts.SchedulerNames); diff != "" {
		t.Errorf("scheduler names mismatch (-want +got):\n%s", diff)
	}
}

func TestFlags(t *testing.T) {
	tests := map[string]struct {
		args []string
		// want is part of the error, empty for none.
		want string
	}{
		"several schedulers":       {args: []string{"--scheduler-names=a,b"}},
		"a negative stickiness":    {args: []string{"--stickiness-weight=-1"}, want: "--stickiness-weight"},
		"a stickiness that is NaN": {args: []string{"--stickiness-value=NaN"}, want: "--stickiness-value"},
		"a review without pause":   {args: []string{"--reschedule-after=0s"}, want: "--reschedule-after"},
		"no scheduler":             {args: []string{"--scheduler-names="}, want: "--scheduler-names"},
		"a scheduler with no name": {args: []string{"--scheduler-names=a,"}, want: "--scheduler-names"},
		"no namespace for the lease": {
			args: []string{"--leader-election-namespace="}, want: "--leader-election-namespace",
		},
		"no namespace is needed without leader election": {
			args: []string{"--leader-election-namespace=", "--leader-elect=false"},
		},
		"a lease that ends before it is renewed": {
			args: []string{"--leader-elect-lease-duration=5s"}, want: "--leader-elect-lease-duration (5s) must exceed",
		},
		"a renewal that is tried only once": {
			args: []string{"--leader-elect-retry-period=10s"}, want: "--leader-elect-retry-period",
		},
		"no pause between two attempts":    {args: []string{"--leader-elect-retry-period=0s"}, want: "must be positive"},
		"no requests to the API server":    {args: []string{"--kube-api-qps=0"}, want: "--kube-api-qps"},
		"some parsers of feeds":            {args: []string{"--feed-parsers=Deployment,Job"}},
		"no parser of feeds":               {args: []string{"--feed-parsers="}},
		"a parser that does not exist":     {args: []string{"--feed-parsers=Deployment,Dice"}, want: `there is no parser for "Dice"`},
		"metrics read too often":           {args: []string{"--metrics-interval=10ms"}, want: "--metrics-interval"},
		"a threshold that lets nothing by": {args: []string{"--metrics-write-threshold=1"}, want: "--metrics-write-threshold"},
		"a cluster that goes offline before it comes online": {
			args: []string{"--cluster-offline-share=0.9"}, want: "--cluster-online-share",
		},
		"a feature switched off":           {args: []string{"--feature-gates=FeedInventory=false"}},
		"a feature that does not exist":    {args: []string{"--feature-gates=Magic=true"}, want: "unrecognized feature gate"},
		"no burst":                         {args: []string{"--kube-api-burst=-1"}, want: "--kube-api-burst"},
		"a flag that does not exist":       {args: []string{"--nonsense"}, want: "unknown flag"},
		"several faults, all of them told": {args: []string{"--kube-api-qps=0", "--scheduler-names="}, want: "--scheduler-names"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := parse(t, tc.args...)
			switch {
			case tc.want == "" && err != nil:
				t.Errorf("refused: %v", err)
			case tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)):
				t.Errorf("error = %v, want one with %q", err, tc.want)
			}
		})
	}
}

func TestCommandRefusesArguments(t *testing.T) {
	cmd := app.NewCommand()
	cmd.SetArgs([]string{"argument"})
	if err := cmd.Execute(); err == nil {
		t.Error("an argument is accepted")
	}
}
