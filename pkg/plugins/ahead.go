// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package plugins

import (
	"context"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"

	"berth.dev/berth/pkg/plugins/clusterresource"
	"berth.dev/berth/pkg/plugins/internal/takeover"
)

// ahead is what a process that waits for the lease knows of the leader: since which version of the
// pods nothing has been sent any more by that version of the lease.
type ahead struct {
	mu           sync.Mutex
	lease, since string
}

func (a *ahead) set(lease, since string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.lease, a.since = lease, since
}

func (a *ahead) of(lease string) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	if lease == "" || lease != a.lease {
		return ""
	}
	return a.since
}

// since returns a version of the pods: nothing that leaders before have sent can happen to those
// that have a newer one. It is empty if that is not known, and known once this process leads.
func (s *State) since() string {
	if s.oneOfSeveral() {
		return ""
	}
	return s.ahead.of(s.fence.Took())
}

// settleAhead begins to make late Bindings of a leader that does not renew its lease impossible
// once its fence has closed. The lease still lasts for a while then, so that little or nothing is
// left to be settled when it has ended. It ends when this process leads, or the context does.
func (s *State) settleAhead(ctx context.Context, base *base, resources *clusterresource.Shared) {
	if s.oneOfSeveral() {
		return
	}
	ctx, end := context.WithCancel(ctx)
	defer end()
	go func() {
		select {
		case <-ctx.Done():
		case <-s.fence.Opened():
			end()
		}
	}()
	background := &clusterresource.Background{Client: base.handle.ClientSet(), Pod: base.owners.Pod}
	source := &takeover.Source{
		Client: background.Client, Elsewhere: func(*corev1.Pod) bool { return false },
		NothingLate: func() bool { return false }, Since: func() string { return "" },
	}
	for {
		select {
		case <-ctx.Done():
			return
		case lease := <-s.fence.Lapsed():
			if s.ahead.of(lease) != "" {
				continue
			}
			listed := resources.AheadReader()
			version, err := source.Read(ctx, []takeover.ListReader{listed})
			if err != nil {
				klog.FromContext(ctx).V(2).Info("Cannot see whom the leader that has ended may bind", "err", err)
				continue // it is tried again when the lease is read next
			}
			s.ahead.set(lease, version)
			resources.SettleAhead(ctx, background, listed)
		}
	}
}
