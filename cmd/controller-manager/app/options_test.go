// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package app_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"berth.dev/berth/cmd/controller-manager/app"
	"berth.dev/berth/cmd/internal/flagtest"
)

func TestDefaults(t *testing.T) {
	opts := app.NewOptions()
	if err := flagtest.Parse(opts); err != nil {
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
	flagtest.Run(t, app.NewOptions, map[string]flagtest.Case{
		"several schedulers":       {Args: []string{"--scheduler-names=a,b"}},
		"a negative stickiness":    {Args: []string{"--stickiness-weight=-1"}, Want: "--stickiness-weight"},
		"a stickiness that is NaN": {Args: []string{"--stickiness-value=NaN"}, Want: "--stickiness-value"},
		"a review without pause":   {Args: []string{"--reschedule-after=0s"}, Want: "--reschedule-after"},
		"no account to write as": {
			Args: []string{"--default-service-account="}, Want: "--default-service-account",
		},
		"an account that can be none": {
			Args: []string{"--default-service-account=a:b"}, Want: "--default-service-account",
		},
		"no scheduler":             {Args: []string{"--scheduler-names="}, Want: "--scheduler-names"},
		"a scheduler with no name": {Args: []string{"--scheduler-names=a,"}, Want: "--scheduler-names"},
		"no namespace for the lease": {
			Args: []string{"--leader-election-namespace="}, Want: "--leader-election-namespace",
		},
		"no namespace is needed without leader election": {
			Args: []string{"--leader-election-namespace=", "--leader-elect=false"},
		},
		"a lease that ends before it is renewed": {
			Args: []string{"--leader-elect-lease-duration=5s"}, Want: "--leader-elect-lease-duration (5s) must exceed",
		},
		"a renewal that is tried only once": {
			Args: []string{"--leader-elect-retry-period=10s"}, Want: "--leader-elect-retry-period",
		},
		"no pause between two attempts":    {Args: []string{"--leader-elect-retry-period=0s"}, Want: "must be positive"},
		"no requests to the API server":    {Args: []string{"--kube-api-qps=0"}, Want: "--kube-api-qps"},
		"some parsers of feeds":            {Args: []string{"--feed-parsers=Deployment,Job"}},
		"no parser of feeds":               {Args: []string{"--feed-parsers="}},
		"a parser that does not exist":     {Args: []string{"--feed-parsers=Deployment,Dice"}, Want: `there is no parser for "Dice"`},
		"no namespace for credentials":     {Args: []string{"--metrics-credentials-namespace="}, Want: "--metrics-credentials-namespace"},
		"metrics read too often":           {Args: []string{"--metrics-interval=10ms"}, Want: "--metrics-interval"},
		"a threshold that lets nothing by": {Args: []string{"--metrics-write-threshold=1"}, Want: "--metrics-write-threshold"},
		"a cluster that goes offline before it comes online": {
			Args: []string{"--cluster-offline-share=0.9"}, Want: "--cluster-online-share",
		},
		"no limit of moves":                {Args: []string{"--max-moves-per-minute=0", "--max-moves-per-cluster=0"}},
		"a negative limit of moves":        {Args: []string{"--max-moves-per-cluster=-1"}, Want: "--max-moves-per-cluster"},
		"no time for pods to be made":      {Args: []string{"--promise-timeout=1s"}, Want: "--promise-timeout"},
		"room that is kept for ever":       {Args: []string{"--promise-timeout=10000h"}, Want: "--promise-timeout"},
		"a feature switched off":           {Args: []string{"--feature-gates=FeedInventory=false"}},
		"a feature that does not exist":    {Args: []string{"--feature-gates=Magic=true"}, Want: "unrecognized feature gate"},
		"no burst":                         {Args: []string{"--kube-api-burst=-1"}, Want: "--kube-api-burst"},
		"a flag that does not exist":       {Args: []string{"--nonsense"}, Want: "unknown flag"},
		"several faults, all of them told": {Args: []string{"--kube-api-qps=0", "--scheduler-names="}, Want: "--scheduler-names"},
	})
}

func TestCommandRefusesArguments(t *testing.T) {
	flagtest.CheckRefusesArguments(t, app.NewCommand())
}
