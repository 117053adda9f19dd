// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package plugins

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	fwk "k8s.io/kube-scheduler/framework"

	"berth.dev/berth/pkg/plugins/feedinventory"
	"berth.dev/berth/pkg/plugins/internal/catalog"
)

func (s *State) newFeedInventory(_ context.Context, _ runtime.Object, handle fwk.Handle) (fwk.Plugin, error) {
	shared, err := s.feedInventory(handle)
	if err != nil {
		return nil, fmt.Errorf("preparing plugin %s: %w", feedinventory.Name, err)
	}
	return feedinventory.New(shared), nil
}

// feedInventory is nodeGroups for FeedInventory.
func (s *State) feedInventory(handle fwk.Handle) (*feedinventory.Shared, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.feeds != nil {
		return s.feeds, nil
	}
	base, definitions, err := s.define(handle)
	if err != nil {
		return nil, err
	}
	shared := &feedinventory.Shared{Policies: definitions, Owners: base.owners, Early: s.early}
	shared.Subscriptions, err = s.sources.subscriptions(defaultPatience, s.wakeForSubscriptions)
	if err != nil {
		return nil, err
	}
	s.feeds = shared
	return shared, nil
}

// wakeForSubscriptions wakes the pods that a change of Subscriptions may concern.
func (s *State) wakeForSubscriptions(before, after *catalog.Subscriptions) {
	if before == nil || after == nil {
		s.wake(s.base.owners.Pending(""))
		return
	}
	for namespace, changed := range after.ChangedFrom(before) {
		s.wake(s.feeds.Concerned(changed, s.base.owners.Pending(namespace)))
	}
}
