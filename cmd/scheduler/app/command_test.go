// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	featuregatetesting "k8s.io/component-base/featuregate/testing"
	schedulerconfig "k8s.io/kubernetes/cmd/kube-scheduler/app/config"
	"k8s.io/kubernetes/cmd/kube-scheduler/app/options"
	"k8s.io/kubernetes/pkg/features"

	"berth.dev/berth/cmd/internal/flagtest"
	"berth.dev/berth/pkg/fence"
	"berth.dev/berth/pkg/plugins"
)

func TestOwnLease(t *testing.T) {
	const header = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
	for name, test := range map[string]struct {
		// configuration is the text of the file, empty for no file.
		configuration string
		args          []string
		scheduler     string
		// want is the flag that names the lease; "kube-scheduler", its default, leaves it to the
		// configuration.
		want, wantNamespace string
		wantErr             string
	}{
		"a configuration that names none": {configuration: header, want: "berth-scheduler", wantNamespace: "kube-system"},
		"a configuration that names one": {
			configuration: header + "leaderElection: {resourceName: mine}\n", want: "kube-scheduler", wantNamespace: "kube-system",
		},
		"the stock lease, asked for by flag": {
			configuration: header, args: []string{"--leader-elect-resource-name=kube-scheduler"},
			want: "kube-scheduler", wantNamespace: "kube-system",
		},
		"one of several schedulers": {
			configuration: header, scheduler: "east", want: "berth-scheduler-east", wantNamespace: "berth-schedulers",
		},
		"one of several, with the configuration that is shipped": {
			configuration: header + "leaderElection: {resourceName: berth-scheduler}\n",
			scheduler:     "east", want: "berth-scheduler-east", wantNamespace: "berth-schedulers",
		},
		"one of several, in a namespace of its own": {
			configuration: header, scheduler: "east", args: []string{"--leader-elect-resource-namespace=east"},
			want: "berth-scheduler-east", wantNamespace: "east",
		},
		"one of several, with a lease of its own": {
			configuration: header + "leaderElection: {resourceName: mine}\n", scheduler: "east",
			want: "kube-scheduler", wantNamespace: "kube-system",
		},
		"no configuration":             {wantErr: "--config is required"},
		"a configuration that is none": {configuration: "kind: Nothing\n", wantErr: "reading "},
	} {
		t.Run(name, func(t *testing.T) {
			opts := options.NewOptions()
			if test.configuration != "" {
				opts.ConfigFile = filepath.Join(t.TempDir(), "scheduler.yaml")
				if err := os.WriteFile(opts.ConfigFile, []byte(test.configuration), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			flags := opts.Flags.FlagSet("leader election")
			if err := flags.Parse(test.args); err != nil {
				t.Fatal(err)
			}
			err := ownLease(opts, &sharing{name: test.scheduler})
			flagtest.CheckError(t, err, test.wantErr)
			if err != nil {
				return
			}
			lease, namespace := value(t, flags, "leader-elect-resource-name"), value(t, flags, "leader-elect-resource-namespace")
			if lease != test.want || namespace != test.wantNamespace {
				t.Errorf("the lease is %s in %s, want %s in %s", lease, namespace, test.want, test.wantNamespace)
			}
		})
	}
}

func value(t *testing.T, flags *pflag.FlagSet, name string) string {
	t.Helper()
	text, err := flags.GetString(name)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestSchedulerName(t *testing.T) {
	for name, test := range map[string]struct {
		scheduler, want string
	}{
		"none":                  {},
		"a label":               {scheduler: "east-1"},
		"the longest":           {scheduler: strings.Repeat("a", maxName)},
		"one letter too long":   {scheduler: strings.Repeat("a", maxName+1), want: "must be no more than 40 characters"},
		"capitals":              {scheduler: "East", want: `--scheduler-name="East"`},
		"a name of a subdomain": {scheduler: "east.one", want: "--scheduler-name"},
		"much too long":         {scheduler: strings.Repeat("a", 10_000), want: "must be no more than"},
	} {
		t.Run(name, func(t *testing.T) {
			flagtest.CheckError(t, (&sharing{name: test.scheduler}).validate(), test.want)
		})
	}
}

func TestSeveralSchedulersNeedLeases(t *testing.T) {
	state := plugins.NewState(fence.New(), nil)
	withoutElection := (&schedulerconfig.Config{}).Complete()
	for name, test := range map[string]struct{ scheduler, want string }{
		"the only one":   {},
		"one of several": {scheduler: "east", want: "--scheduler-name needs leader election"},
	} {
		t.Run(name, func(t *testing.T) {
			flagtest.CheckError(t, (&sharing{name: test.scheduler}).lease(&withoutElection, state), test.want)
		})
	}
}

func TestCommandRefusesArguments(t *testing.T) {
	flagtest.CheckRefusesArguments(t, NewCommand())
}

func TestAsynchronousCallsAreRefused(t *testing.T) {
	featuregatetesting.SetFeatureGateDuringTest(t, utilfeature.DefaultFeatureGate, features.SchedulerAsyncAPICalls, true)
	err := run(&cobra.Command{}, options.NewOptions(), &sharing{}, &remembering{})
	flagtest.CheckError(t, err, "SchedulerAsyncAPICalls cannot be used with Berth: turn it off in --feature-gates")
}
