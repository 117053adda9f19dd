// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package adviser answers the controllers what fits where. It keeps one snapshot of the cluster in
// step with their informers and asks the plugins of the scheduler's own profile, so that what a
// controller promises is what the scheduler then does.
package adviser

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	modelpolicy "berth.dev/berth/pkg/model/policy"
	"berth.dev/berth/pkg/simulator"
	"berth.dev/berth/pkg/simulator/defaults"
)

// Adviser is safe for concurrent use: one question is answered at a time.
type Adviser struct {
	// reader knows Berth's own objects.
	reader client.Reader
	// handlers are those of Watch, and ready is closed once they have seen everything that there was.
	handlers []toolscache.ResourceEventHandlerRegistration
	ready    chan struct{}
	// server makes pods of templates.
	server *defaults.Server

	// version counts the changes by which pods may find a node that found none.
	version atomic.Uint64

	mu       sync.Mutex
	snapshot *simulator.Snapshot
	// changes counts those of Berth's own objects, taken up those that the snapshot knows of.
	changes, takenUp uint64
	// err is the first object that could not be taken up. The answers are not to be trusted then.
	err error
	// listeners are told of changes.
	listeners []func()
	// promises are what was promised last, by who has.
	promises map[string][]Promise
	// shortages are those told last, by namespace. The snapshot has the same map.
	shortages map[string]modelpolicy.Shortages
	// lacks are what was said last to be lacking, by who has, and onLack is told of changes.
	lacks  map[string][]Lack
	onLack func()
}

// New returns an adviser that knows nothing yet; Watch tells it. The reader, a cache, has Berth's
// own objects.
func New(profile *simulator.Profile, reader client.Reader) (*Adviser, error) {
	snapshot, err := simulator.New(profile, clock.RealClock{})
	if err != nil {
		return nil, err
	}
	server, err := defaults.New()
	if err != nil {
		return nil, err
	}
	shortages := map[string]modelpolicy.Shortages{}
	snapshot.Confine(shortages)
	return &Adviser{
		reader: reader, snapshot: snapshot, server: server, ready: make(chan struct{}), changes: 1, shortages: shortages,
	}, nil
}

// Close ends what the plugins may have begun.
func (a *Adviser) Close() { a.snapshot.Close() }

// Ask lets a question be put to the snapshot as it is at this moment, with pods for everything that
// has been promised, but for certain promises, such as those to the pods that it is about; nil
// excepts none. What the question places there is undone afterwards. It must not wait for anything
// while it asks. Ask waits until everything that there is has been seen once. Whoever relies on the
// answer afterwards uses Reserve.
func (a *Adviser) Ask(ctx context.Context, except func(*Promise) bool, question func(*simulator.Snapshot) error) error {
	if err := a.waitUntilReady(ctx); err != nil {
		return err
	}
	objects, changes, err := a.changed(ctx)
	if err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.err != nil {
		return a.err
	}
	if changes > a.takenUp {
		a.snapshot.SetObjects(objects)
		a.takenUp = changes
	}
	a.snapshot.Fork()
	defer a.snapshot.Revert()
	if err := a.keepPromises(ctx, except); err != nil {
		return err
	}
	return question(a.snapshot)
}

// waitUntilReady waits until everything that there is has been seen once.
func (a *Adviser) waitUntilReady(ctx context.Context) error {
	select {
	case <-a.ready:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// changed returns Berth's own objects if the snapshot does not have them as they are, and which of
// their changes they know. Handlers do not wait meanwhile: a cache that is asked for a kind for the
// first time waits for its list.
func (a *Adviser) changed(ctx context.Context) (*simulator.Objects, uint64, error) {
	a.mu.Lock()
	changes, takenUp := a.changes, a.takenUp
	a.mu.Unlock()
	if changes == takenUp {
		return nil, takenUp, nil
	}
	objects, err := a.objects(ctx)
	return objects, changes, err
}

// objects reads Berth's own objects. Which policies there are makes no difference: what a cluster
// could take is asked before a policy says what it is to take. So nobody asks here whose a pod is,
// and what its reference to an owner says does not count.
func (a *Adviser) objects(ctx context.Context) (*simulator.Objects, error) {
	var (
		clusters  berthv1alpha1.ClusterList
		resources berthv1alpha1.ClusterResourceList
	)
	for _, list := range []client.ObjectList{&clusters, &resources} {
		if err := a.reader.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil && !missing(err) {
			return nil, fmt.Errorf("listing %T: %w", list, err)
		}
	}
	objects := &simulator.Objects{}
	for i := range clusters.Items {
		objects.Clusters = append(objects.Clusters, &clusters.Items[i])
	}
	for i := range resources.Items {
		objects.Resources = append(objects.Resources, &resources.Items[i])
	}
	return objects, nil
}
