// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/pflag"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	schedulerconfig "k8s.io/kubernetes/cmd/kube-scheduler/app/config"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/fence"
	"berth.dev/berth/pkg/plugins"
)

// maxName bounds the name of a Scheduler; the CRD allows no more.
const maxName = 40

// sharing reports whether this process is one of several schedulers.
type sharing struct {
	name string
	// registers is false for a process whose Scheduler somebody else makes, and deletes.
	registers bool
}

func (s *sharing) addFlags(flags *pflag.FlagSet) {
	flags.StringVar(&s.name, "scheduler-name", "", "Name of the Scheduler that this process is, one of several that share the "+
		"clusters. It registers itself and holds the lease "+berthv1alpha1.DefaultLeasePrefix+"NAME in the namespace "+
		berthv1alpha1.DefaultLeaseNamespace+". Without a name it takes all "+
		"clusters for as long as there is no Scheduler.")
	flags.BoolVar(&s.registers, "register-scheduler", true, "Make the Scheduler of --scheduler-name if there is none. "+
		"berth-controller-manager sets it to false for those that it runs.")
}

func (s *sharing) validate() error {
	if s.name == "" {
		return nil
	}
	problems := validation.IsDNS1123Label(s.name)
	if len(s.name) > maxName {
		problems = append(problems, fmt.Sprintf("must be no more than %d characters", maxName))
	}
	if len(problems) > 0 {
		return fmt.Errorf("--scheduler-name=%.64q: %s", s.name, strings.Join(problems, "; "))
	}
	return nil
}

var errNoElection = errors.New("--scheduler-name needs leader election: the lease is what keeps a scheduler that was given up " +
	"for dead from binding pods")

// holdCommon has a process without a name that leads by another lease than the usual one lead only
// while it holds the usual one, too: two that do not know of each other, such as an older build
// beside the default scheduler and a newer one in its place, would give the same unit away twice.
func (s *sharing) holdCommon(election *leaderelection.LeaderElectionConfig) {
	if s.name != "" || election == nil {
		return
	}
	own, ok := election.Lock.(*resourcelock.LeaseLock)
	if !ok || own.LeaseMeta.Namespace == berthv1alpha1.SystemNamespace && own.LeaseMeta.Name == leaseName {
		return
	}
	election.Lock = fence.NewPair(own, &resourcelock.LeaseLock{
		LeaseMeta: metav1.ObjectMeta{Namespace: berthv1alpha1.SystemNamespace, Name: leaseName}, Client: own.Client, LockConfig: own.LockConfig,
		Labels: map[string]string{berthv1alpha1.SettledByLabel: ""}, // what was said there before is void
	})
}

// lease tells the plugins which lease this process registers with.
func (s *sharing) lease(cc *schedulerconfig.CompletedConfig, state *plugins.State) error {
	if s.name == "" {
		return nil
	}
	if cc.LeaderElection == nil {
		return errNoElection
	}
	if !s.registers {
		return nil
	}
	election := cc.ComponentConfig.LeaderElection
	state.ShareAs(s.name, berthv1alpha1.LeaseReference{Namespace: election.ResourceNamespace, Name: election.ResourceName})
	return nil
}
