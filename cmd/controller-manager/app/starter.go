// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/controllers/adviser"
	"berth.dev/berth/pkg/controllers/cluster"
	"berth.dev/berth/pkg/controllers/clusterresource"
	"berth.dev/berth/pkg/controllers/policy"
	"berth.dev/berth/pkg/controllers/state"
	"berth.dev/berth/pkg/history"
	"berth.dev/berth/pkg/ownership"
)

// crdPoll is how often absent CRDs are looked for.
const crdPoll = 2 * time.Second

// required are the kinds without which the controllers have nothing to do.
var required = []schema.GroupKind{
	berthv1alpha1.SchemeGroupVersion.WithKind("Cluster").GroupKind(),
	berthv1alpha1.SchemeGroupVersion.WithKind("PropagationPolicy").GroupKind(),
}

// starter starts the controllers once the CRDs are there and the lease is held. Until then the
// process waits: a manager that is installed before its CRDs, or together with them, must not
// crash.
type starter struct {
	mgr  ctrl.Manager
	opts *Options
	fits *adviser.Adviser
	// moves limits what moves pods.
	moves *state.Moves
	// owners of kinds beyond the table.
	owners *ownership.Directory
	// past remembers what is done to pods.
	past *history.Background
	// found is closed when the CRDs have been found.
	found chan struct{}
	// missing is why they have not, syncing is true from the start of the controllers until their
	// caches are filled.
	missing atomic.Pointer[error]
	syncing atomic.Bool
}

func newStarter(
	mgr ctrl.Manager, opts *Options, fits *adviser.Adviser, moves *state.Moves, owners *ownership.Directory, past *history.Background,
) *starter {
	s := &starter{mgr: mgr, opts: opts, fits: fits, moves: moves, owners: owners, past: past, found: make(chan struct{})}
	err := errors.New("not looked for the CustomResourceDefinitions yet")
	s.missing.Store(&err)
	return s
}

func (s *starter) register() error {
	if err := s.mgr.Add(search{s}); err != nil {
		return fmt.Errorf("adding the search for the CRDs: %w", err)
	}
	if err := s.mgr.Add(manager.RunnableFunc(s.start)); err != nil {
		return fmt.Errorf("adding the controllers: %w", err)
	}
	// The endpoint shows the names of the checks that fail and keeps their errors to itself.
	checks := map[string]healthz.Checker{
		"custom-resource-definitions-installed": s.crdsFound,
		"caches-filled":                         s.cachesFilled,
	}
	for name, check := range checks {
		if err := s.mgr.AddReadyzCheck(name, check); err != nil {
			return fmt.Errorf("adding the readiness check %s: %w", name, err)
		}
	}
	return nil
}

// crdsFound is the readiness check of the CRDs. An instance without the lease is ready when it
// could start.
func (s *starter) crdsFound(_ *http.Request) error {
	if missing := s.missing.Load(); missing != nil {
		return *missing
	}
	return nil
}

// cachesFilled is the readiness check of the instance with the lease.
func (s *starter) cachesFilled(_ *http.Request) error {
	if s.syncing.Load() {
		return errors.New("the caches are not filled yet")
	}
	return nil
}

// search looks for the CRDs, with or without the lease.
type search struct{ *starter }

// NeedLeaderElection implements manager.LeaderElectionRunnable.
func (search) NeedLeaderElection() bool { return false }

// Start implements manager.Runnable.
func (s search) Start(ctx context.Context) error {
	logger := s.mgr.GetLogger()
	told := false
	err := wait.PollUntilContextCancel(ctx, crdPoll, true, func(context.Context) (bool, error) {
		err := s.checkCRDs()
		if err == nil {
			return true, nil
		}
		s.missing.Store(&err)
		if !told {
			logger.Info("Waiting for the CustomResourceDefinitions of Berth", "reason", err.Error())
			told = true
		}
		return false, nil
	})
	if err != nil {
		// The process is told to end.
		return nil //nolint:nilerr // not a failure
	}
	s.missing.Store(nil)
	close(s.found)
	return nil
}

func (s search) checkCRDs() error {
	for _, kind := range required {
		_, err := s.mgr.GetRESTMapper().RESTMapping(kind, berthv1alpha1.SchemeGroupVersion.Version)
		if apimeta.IsNoMatchError(err) {
			return fmt.Errorf("the CustomResourceDefinition of %s is not installed", kind)
		}
		if err != nil {
			return fmt.Errorf("looking for the CustomResourceDefinition of %s: %w", kind, err)
		}
	}
	return nil
}

// start sets the controllers up. It runs while the lease is held.
func (s *starter) start(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return nil
	case <-s.found:
	}
	s.syncing.Store(true)
	clientset, err := kubernetes.NewForConfigAndClient(s.mgr.GetConfig(), s.mgr.GetHTTPClient())
	if err != nil {
		return fmt.Errorf("making a client: %w", err)
	}
	tracker := state.NewTracker(s.mgr.GetClient())
	err = setUp(s.mgr,
		&cluster.Reconciler{Client: s.mgr.GetClient(), Topology: tracker, Clock: clock.RealClock{}},
		&cluster.OnlineReconciler{Client: s.mgr.GetClient(), Shares: s.opts.OnlineShares},
		&cluster.PoolReconciler{Client: s.mgr.GetClient(), Topology: tracker, Clock: clock.RealClock{}},
		&cluster.RoomReconciler{Client: s.mgr.GetClient(), Topology: tracker, Clock: clock.RealClock{}},
		&clusterresource.Reconciler{
			Client: s.mgr.GetClient(), Live: s.mgr.GetAPIReader(), Clock: clock.RealClock{},
			Recorder: s.mgr.GetEventRecorder(leaseName),
		},
	)
	if err != nil {
		return err
	}
	if err := s.watchWhatFits(ctx); err != nil {
		return err
	}
	if err := s.startPolicies(tracker, clientset); err != nil {
		return err
	}
	s.waitForCaches(ctx)
	<-ctx.Done()
	return nil
}

// startPolicies sets the controller of PropagationPolicies up.
func (s *starter) startPolicies(tracker *state.Tracker, clientset kubernetes.Interface) error {
	stamps, err := podClient(s.mgr, policy.StampsPerSecond, policy.StampsAtOnce)
	if err != nil {
		return err
	}
	policies := policy.New(policy.Options{
		Client:     s.mgr.GetClient(),
		Stamps:     stamps,
		Live:       s.mgr.GetAPIReader(),
		Topology:   tracker,
		Owners:     s.owners,
		Adviser:    s.fits,
		Evictor:    policy.NewEvictor(clientset.CoreV1().RESTClient()),
		Recorder:   s.mgr.GetEventRecorder(leaseName),
		History:    s.past,
		Clock:      clock.RealClock{},
		Schedulers: s.opts.SchedulerNames,
		Restamps:   flowcontrol.NewTokenBucketRateLimiter(policy.StampsPerSecond, policy.StampsAtOnce),
		Moves:      s.moves,

		PromiseLife: s.opts.PromiseTimeout,
	})
	return setUp(s.mgr, policies)
}

// watchWhatFits lets the adviser follow the cluster. It answers once it has seen everything.
func (s *starter) watchWhatFits(ctx context.Context) error {
	informers := s.mgr.GetCache()
	if err := s.fits.Watch(ctx, informers); err != nil {
		return err
	}
	if err := s.fits.WatchObjects(ctx, informers); err != nil {
		return err
	}
	go func() {
		if err := s.fits.WaitForSync(ctx); err != nil && ctx.Err() == nil {
			s.mgr.GetLogger().Error(err, "Cannot find out what fits where")
		}
	}()
	return nil
}

// waitForCaches waits until everything that the controllers read has been listed.
func (s *starter) waitForCaches(ctx context.Context) {
	kinds := []client.Object{
		&berthv1alpha1.Cluster{}, &berthv1alpha1.PropagationPolicy{}, &corev1.Node{}, &corev1.Pod{},
		&appsv1.Deployment{}, &appsv1.ReplicaSet{}, &appsv1.StatefulSet{}, &batchv1.Job{}, &corev1.ReplicationController{},
	}
	for _, kind := range kinds {
		// An error means that the process is told to end, or that the kind is gone again: then it
		// is not ready.
		if _, err := s.mgr.GetCache().GetInformer(ctx, kind); err != nil {
			return
		}
	}
	s.syncing.Store(false)
}
