// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package schedulerproc

import (
	"context"

	"github.com/onsi/ginkgo/v2"

	"berth.dev/berth/pkg/localplane"
)

// Fleet are the schedulers of a suite that have a name and share the clusters, by their names. One
// that a spec ends otherwise than by Kill has to be deleted from it.
type Fleet map[string]*Scheduler

// Start starts a scheduler with a name and further flags.
func (f Fleet) Start(ctx context.Context, plane *localplane.ControlPlane, name string, args ...string) {
	ginkgo.GinkgoHelper()
	f[name] = Start(ctx, plane, Options{Name: Name + "-" + name, Args: append([]string{"--scheduler-name=" + name}, args...)})
}

// Kill ends a scheduler without a word to anybody.
func (f Fleet) Kill(name string) {
	ginkgo.GinkgoHelper()
	f[name].Crash()
	delete(f, name)
}
