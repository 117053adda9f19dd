// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/minor"
)

func apiReachable(s *state) []error { return one(s.versionErr) }

// one returns an error, if it is one.
func one(err error) []error {
	if err == nil {
		return nil
	}
	return []error{err}
}

// servedMinor returns the minor version of Kubernetes 1 that the API server is of.
func servedMinor(s *state) (int, error) {
	served, err := strconv.Atoi(strings.TrimRight(s.version.Minor, "+"))
	if err != nil || s.version.Major != "1" {
		return 0, fmt.Errorf("the API server says it is of version %q, which is none", s.version.GitVersion)
	}
	return served, nil
}

// supportedVersion looks for a build of Berth that could be installed.
func supportedVersion(s *state) []error {
	served, err := servedMinor(s)
	if err == nil && (served < minor.Oldest || served > minor.Newest) {
		err = fmt.Errorf("the API server is %s: this Berth is for 1.%d to 1.%d", s.version.GitVersion, minor.Oldest, minor.Newest)
	}
	return one(err)
}

// kubernetesVersion compares the API server with what the scheduler is compiled with, which may be
// one minor older, and not newer.
func kubernetesVersion(s *state) []error {
	served, err := servedMinor(s)
	if err != nil {
		return one(err)
	}
	compiled := s.compiledWith()
	switch {
	case served < compiled:
		err = fmt.Errorf("the API server is %s: a scheduler that is compiled with 1.%d needs 1.%d or 1.%d",
			s.version.GitVersion, compiled, compiled, compiled+1)
	case served > compiled+1:
		err = fmt.Errorf("the API server is %s, and a scheduler may be one minor version older, not more: one that is compiled with 1.%d is for 1.%d and 1.%d",
			s.version.GitVersion, compiled, compiled, compiled+1)
	}
	return one(err)
}

func rightsToInstall(s *state) []error {
	if s.missingRights.err != nil {
		return one(s.missingRights.err)
	}
	if len(s.missingRights.items) > 0 {
		return one(fmt.Errorf("you may not create %s", strings.Join(s.missingRights.items, ", ")))
	}
	return nil
}

func installedAlready(s *state) []error {
	if s.deployments.err != nil {
		return one(s.deployments.err)
	}
	for i := range s.deployments.items {
		if name := s.deployments.items[i].Name; strings.HasPrefix(name, schedulerProgram) {
			return one(warnf("there is a Deployment %s/%s: what you install takes its place", berthv1alpha1.SystemNamespace, name))
		}
	}
	return nil
}

// defaultScheduler warns of a cluster where nobody would place Berth's pods.
func defaultScheduler(s *state) []error {
	switch {
	case s.schedulerLeases.err != nil || s.nowErr != nil:
		return one(errors.Join(s.schedulerLeases.err, s.nowErr))
	case len(s.schedulerLeases.items) == 0:
		return one(warnf("nobody has the lease %s/%s; if no scheduler works, name the node of Berth's in scheduler.nodeName of the chart",
			stockNamespace, stockLease))
	}
	if expired(&s.schedulerLeases.items[0], s.now) {
		return one(warnf("the lease %s/%s has run out; if no scheduler works, name the node of Berth's in scheduler.nodeName of the chart",
			stockNamespace, stockLease))
	}
	return nil
}

func injectionServed(s *state) []error {
	if s.injectionVersion != "" {
		return nil
	}
	return one(warnf("the API server serves no MutatingAdmissionPolicy, so inject.namespaceSelector of the chart cannot be used: " +
		"Kubernetes 1.36 has it, 1.35 with the feature gate MutatingAdmissionPolicy and the API version v1beta1 turned on"))
}
