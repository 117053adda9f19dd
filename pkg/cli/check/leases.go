// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"fmt"
	"slices"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
)

const (
	// stockNamespace and stockLease are the lease of the default scheduler, which Berth has when it
	// stands in for it.
	stockNamespace = "kube-system"
	stockLease     = "kube-scheduler"

	// aheadTolerance is by how much a clock may be ahead of the API server's: what a request takes,
	// and the second to which the latter is told.
	aheadTolerance = 3 * time.Second
)

// lease returns the lease of a program, nil if there is none.
func (s *state) lease(program string) *coordinationv1.Lease {
	from, name := s.leases.items, program
	if program == schedulerProgram && s.standsIn() {
		from, name = s.schedulerLeases.items, stockLease
	}
	for i := range from {
		if from[i].Name == name {
			return &from[i]
		}
	}
	return nil
}

// standsIn reports whether Berth runs instead of the default scheduler.
func (s *state) standsIn() bool {
	d := s.deployment(schedulerProgram)
	if d == nil || len(d.Spec.Template.Spec.Containers) == 0 {
		return false
	}
	return slices.Contains(d.Spec.Template.Spec.Containers[0].Args, "--leader-elect-resource-name="+stockLease)
}

// leading returns the programs that must hold a lease: not those that are not installed, which
// another check tells of, nor a scheduler without a name that is not meant to run.
func (s *state) leading() []string {
	var programs []string
	for _, name := range []string{schedulerProgram, controllersProgram} {
		d := s.deployment(name)
		if d != nil && (d.Spec.Replicas == nil || *d.Spec.Replicas > 0) || d == nil && s.runsApart(name) {
			programs = append(programs, name)
		}
	}
	return programs
}

// runsApart reports whether a program works without a Deployment, outside of the cluster.
func (s *state) runsApart(program string) bool {
	lease := s.lease(program)
	return s.deployment(program) == nil && lease != nil && !expired(lease, s.now)
}

// expired reports whether nobody has renewed a lease for as long as it lasts.
func expired(lease *coordinationv1.Lease, now time.Time) bool {
	spec := &lease.Spec
	if spec.HolderIdentity == nil || *spec.HolderIdentity == "" || spec.RenewTime == nil || spec.LeaseDurationSeconds == nil {
		return true
	}
	return now.After(spec.RenewTime.Add(time.Duration(*spec.LeaseDurationSeconds) * time.Second))
}

func leases(s *state) []error {
	if s.leases.err != nil {
		return one(s.leases.err)
	}
	var found []error
	for _, program := range s.leading() {
		lease := s.lease(program)
		if lease == nil || lease.Spec.HolderIdentity == nil || *lease.Spec.HolderIdentity == "" {
			found = append(found, fmt.Errorf("nobody holds the lease of %s", program))
		}
	}
	return found
}

// eachHeld visits the leases that somebody holds.
func (s *state) eachHeld(visit func(program string, lease *coordinationv1.Lease)) {
	for _, program := range s.leading() {
		lease := s.lease(program)
		if lease != nil && lease.Spec.HolderIdentity != nil && *lease.Spec.HolderIdentity != "" && lease.Spec.RenewTime != nil {
			visit(program, lease)
		}
	}
}

func leasesRenewed(s *state) []error {
	if s.nowErr != nil {
		return one(s.nowErr)
	}
	var found []error
	s.eachHeld(func(program string, lease *coordinationv1.Lease) {
		if expired(lease, s.now) {
			found = append(found, fmt.Errorf("%s holds the lease of %s and has not renewed it for %s",
				*lease.Spec.HolderIdentity, program, s.now.Sub(lease.Spec.RenewTime.Time).Round(time.Second)))
		}
	})
	return found
}

// leaseHolders compares holders with pods, where there are any.
func leaseHolders(s *state) []error {
	var found []error
	s.eachHeld(func(program string, lease *coordinationv1.Lease) {
		if s.systemPods.err != nil || s.deployment(program) == nil || expired(lease, s.now) {
			return
		}
		host, _, _ := strings.Cut(*lease.Spec.HolderIdentity, "_")
		runsAs := func(pod *corev1.Pod) bool { return pod.Name == host || s.hosts.named(pod, host) }
		if slices.ContainsFunc(s.ownPods(), runsAs) {
			return
		}
		if s.hosts.err != nil {
			found = append(found, s.hosts.err)
			return
		}
		found = append(found, fmt.Errorf("the lease of %s is held by %s, which is none of its pods: a second installation, or the default scheduler",
			program, *lease.Spec.HolderIdentity))
	})
	return found
}

func leaseClocks(s *state) []error {
	var found []error
	s.eachHeld(func(program string, lease *coordinationv1.Lease) {
		if ahead := lease.Spec.RenewTime.Sub(s.now); s.nowErr == nil && ahead > aheadTolerance {
			found = append(found, warnf("the clock of %s, which holds the lease of %s, is %s ahead of the API server's",
				*lease.Spec.HolderIdentity, program, ahead.Round(time.Second)))
		}
	})
	return found
}
