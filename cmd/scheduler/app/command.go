// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package app is the command line of berth-scheduler.
package app

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/apiserver/pkg/server"
	cliflag "k8s.io/component-base/cli/flag"
	basecompatibility "k8s.io/component-base/compatibility"
	"k8s.io/component-base/featuregate"
	logsapi "k8s.io/component-base/logs/api/v1"
	"k8s.io/component-base/version/verflag"
	"k8s.io/klog/v2"
	schedulerapp "k8s.io/kubernetes/cmd/kube-scheduler/app"
	"k8s.io/kubernetes/cmd/kube-scheduler/app/options"
	"k8s.io/kubernetes/pkg/features"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/cmd/internal/flagsets"
)

// NewCommand returns the command berth-scheduler. It takes all flags of kube-scheduler. It may be
// called once per process.
func NewCommand() *cobra.Command {
	opts := options.NewOptions()
	var share sharing
	var remembers remembering
	cmd := &cobra.Command{
		Use:   "berth-scheduler",
		Short: "Share the replicas of workloads out over clusters of nodes",
		Long: `Berth-scheduler is kube-scheduler with Berth's plugins. It runs beside the default scheduler and places the pods that
name one of its profiles in spec.schedulerName, usually berth-scheduler.

It takes the flags of kube-scheduler and needs --config: a KubeSchedulerConfiguration with a profile that enables the
plugins. Start from manifests/base/scheduler-config.yaml.`,
		Args:          cobra.NoArgs,
		SilenceUsage:  true,
		SilenceErrors: true,
		PersistentPreRunE: func(*cobra.Command, []string) error {
			return opts.ComponentGlobalsRegistry.Set()
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			verflag.PrintAndExitIfRequested()
			return run(cmd, opts, &share, &remembers)
		},
	}
	share.addFlags(opts.Flags.FlagSet("berth"))
	remembers.addFlags(opts.Flags.FlagSet("berth"))
	flagsets.AddTo(cmd, opts.Flags)
	return cmd
}

func run(cmd *cobra.Command, opts *options.Options, share *sharing, remembers *remembering) error {
	if err := share.validate(); err != nil {
		return err
	}
	gates := opts.ComponentGlobalsRegistry.FeatureGateFor(basecompatibility.DefaultKubeComponent)
	if err := logsapi.ValidateAndApply(opts.Logs, gates); err != nil {
		return fmt.Errorf("logging flags: %w", err)
	}
	if gates.Enabled(features.SchedulerAsyncAPICalls) {
		return errAsyncCalls
	}
	cliflag.PrintFlags(cmd.Flags())
	if err := ownLease(opts, share); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	stop := server.SetupSignalHandler()
	go func() {
		<-stop
		cancel()
	}()

	process := NewProcess(share.name)
	remembers.begin(process.State)
	cc, sched, err := schedulerapp.Setup(ctx, opts, process.State.Options()...)
	if err != nil {
		return err
	}
	if err := share.lease(cc, process.State); err != nil {
		return err
	}
	share.holdCommon(cc.LeaderElection)
	process.Guard(cc.LeaderElection)
	if mutable, ok := gates.(featuregate.MutableFeatureGate); ok {
		mutable.AddMetrics()
	}
	opts.ComponentGlobalsRegistry.AddMetrics()
	if err := remembers.serve(ctx, cc); err != nil {
		return err
	}

	process.Start(ctx, sched)
	return schedulerapp.Run(ctx, cc, sched)
}

// leaseName is the lease of berth-scheduler unless the user names another.
const leaseName = "berth-scheduler"

// stockLeaseName is the lease of the default scheduler, and what a configuration that names none
// gets.
const stockLeaseName = "kube-scheduler"

var errNoConfig = errors.New(
	"--config is required: without it this would be a second default scheduler; start from manifests/base/scheduler-config.yaml")

// errAsyncCalls refuses a feature gate. With it a write to the status of a pod may be sent after
// the pod has been bound or decided on anew, and would void the Binding of a pod that holds a seat
// or a unit.
var errAsyncCalls = errors.New("the feature gate SchedulerAsyncAPICalls cannot be used with Berth: turn it off in --feature-gates")

// ownLease keeps the scheduler away from the lease of the default scheduler, which is what a
// configuration that names none would contend for. Only an explicit flag gives it that one.
func ownLease(opts *options.Options, share *sharing) error {
	if opts.ConfigFile == "" {
		return errNoConfig
	}
	flags := opts.Flags.FlagSet("leader election")
	if flags.Changed("leader-elect-resource-name") {
		return nil
	}
	configuration, err := options.LoadConfigFromFile(klog.Background(), opts.ConfigFile)
	if err != nil {
		return fmt.Errorf("reading %s: %w", opts.ConfigFile, err)
	}
	name, given := leaseName, configuration.LeaderElection.ResourceName
	switch {
	case share.name != "" && (given == stockLeaseName || given == leaseName):
		name = berthv1alpha1.DefaultLeasePrefix + share.name
		if !flags.Changed("leader-elect-resource-namespace") {
			if err := flags.Set("leader-elect-resource-namespace", berthv1alpha1.DefaultLeaseNamespace); err != nil {
				return fmt.Errorf("naming the namespace of the lease: %w", err)
			}
		}
	case given != stockLeaseName:
		return nil
	}
	if err := flags.Set("leader-elect-resource-name", name); err != nil {
		return fmt.Errorf("naming the lease: %w", err)
	}
	return nil
}
