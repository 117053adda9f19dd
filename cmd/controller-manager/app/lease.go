// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"fmt"
	"os"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/tools/record"
	ctrl "sigs.k8s.io/controller-runtime"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/fence"
)

// lockLease gives the manager the lock of its lease. A process whose lease lies in another
// namespace than usual leads only while it holds the usual one, too: two that do not know of each
// other would each keep books of what is given out and of how much moves. It returns what is to
// be called with the manager once that is made.
func lockLease(manager *ctrl.Options, opts *Options, config *rest.Config) (func(ctrl.Manager), error) {
	if !opts.LeaderElect {
		return func(ctrl.Manager) {}, nil
	}
	host, err := os.Hostname()
	if err != nil {
		return nil, fmt.Errorf("naming this process in its lease: %w", err)
	}
	events := &events{}
	about := resourcelock.ResourceLockConfig{Identity: host + "_" + string(uuid.NewUUID()), EventRecorder: events}
	namespaces := []string{opts.LeaderElectionNamespace}
	if opts.LeaderElectionNamespace != berthv1alpha1.SystemNamespace {
		namespaces = append(namespaces, berthv1alpha1.SystemNamespace)
	}
	var locks []resourcelock.Interface
	for _, namespace := range namespaces {
		lock, err := resourcelock.NewFromKubeconfig(resourcelock.LeasesResourceLock, namespace, leaseName, about, config, opts.RenewDeadline)
		if err != nil {
			return nil, fmt.Errorf("making the lock of lease %s/%s: %w", namespace, leaseName, err)
		}
		locks = append(locks, lock)
	}
	manager.LeaderElectionResourceLockInterface = fence.NewLasting(locks[0])
	if len(locks) > 1 {
		manager.LeaderElectionResourceLockInterface = fence.NewPair(locks[0], locks[1])
	}
	return func(mgr ctrl.Manager) {
		// A linter that takes what it knows of other packages from a cache does not see that this is
		// deprecated, and takes the remark for one too many.
		recorder := mgr.GetEventRecorderFor(about.Identity) //nolint:staticcheck,nolintlint // leases know only this kind of events
		events.recorder.Store(&recorder)
	}, nil
}

// events records events of leases once there is a manager to do it.
type events struct {
	recorder atomic.Pointer[record.EventRecorder]
}

// Eventf implements resourcelock.EventRecorder.
func (e *events) Eventf(about runtime.Object, kind, reason, message string, args ...any) {
	if recorder := e.recorder.Load(); recorder != nil {
		(*recorder).Eventf(about, kind, reason, message, args...)
	}
}
