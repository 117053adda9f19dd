// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"fmt"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// controller is one that registers itself with a manager.
type controller interface {
	SetupWithManager(mgr ctrl.Manager) error
}

// setUp sets controllers up while the manager runs. A controller that is given to a running manager
// starts at once: with the watches that it has by then, which it waits for under a lock that each
// further watch has to take. So each is given to the manager only when it has all of its watches,
// and reconciles nothing before all of them are in step.
func setUp(mgr ctrl.Manager, controllers ...controller) error {
	for _, c := range controllers {
		waiting := &postponed{Manager: mgr}
		if err := c.SetupWithManager(waiting); err != nil {
			return err //nolint:wrapcheck // it names the controller
		}
		for _, runnable := range waiting.runnables {
			if err := mgr.Add(runnable); err != nil {
				return fmt.Errorf("starting a controller: %w", err)
			}
		}
	}
	return nil
}

// postponed is a manager that keeps what it is to run.
type postponed struct {
	ctrl.Manager
	runnables []manager.Runnable
}

// Add implements manager.Manager.
func (p *postponed) Add(runnable manager.Runnable) error {
	p.runnables = append(p.runnables, runnable)
	return nil
}
