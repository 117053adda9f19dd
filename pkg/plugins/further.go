// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package plugins

import (
	"context"
	"errors"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	fwk "k8s.io/kube-scheduler/framework"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/workload"
	"berth.dev/berth/pkg/ownership"
	"berth.dev/berth/pkg/plugins/internal/catalog"
)

// furtherOwners are the owners of kinds beyond the table, and the rules by which they are read.
type furtherOwners struct {
	directory *ownership.Directory
	parsers   *catalog.ParserCatalog
}

// run looks up owners until the context ends.
func (f *furtherOwners) run(ctx context.Context) {
	if f.directory == nil {
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		f.parsers.Run(ctx)
	}()
	f.directory.Run(ctx)
	<-done
}

// changed is to be called when other kinds may be named by policies.
func (f *furtherOwners) changed() {
	if f.directory != nil {
		f.directory.Refresh()
	}
}

// lookUpOwners returns what looks up owners of kinds beyond the table.
func (s *State) lookUpOwners(handle fwk.Handle) (workload.FurtherSource, error) {
	if s.sources.fixed() || handle.KubeConfig() == nil {
		return s.sources.owners(), nil
	}
	var err error
	s.further.parsers, err = catalog.NewParserCatalog(s.client, s.Clock, defaultPatience,
		func(_, _ *catalog.Parsers) { s.further.changed() })
	if err != nil {
		return nil, err
	}
	s.further.directory, err = ownership.NewForConfig(handle.KubeConfig(), nil, ownership.Options{
		Rules: s.further.rules, Named: s.named, Clock: s.Clock,
	})
	if err != nil {
		return nil, err
	}
	s.further.directory.Listen(s.wakeBelow)
	return s.further.directory, nil
}

// wakeBelow wakes the pods of a namespace that wait and are below an owner of which something has
// become known, and all of them if nobody knows of which.
func (s *State) wakeBelow(namespace string, owner types.UID) {
	pods := s.base.owners.Pending(namespace)
	if owner != "" {
		pods = slices.DeleteFunc(pods, func(pod *corev1.Pod) bool { return !workload.Below(pod, owner, s.base.owners) })
	}
	s.wake(pods)
}

var errRulesNotRead = errors.New("the FeedParsers have not been read yet")

// rules returns the FeedParsers.
func (f *furtherOwners) rules(context.Context) ([]berthv1alpha1.FeedParser, error) {
	known := f.parsers.Snapshot()
	if known == nil {
		if err := f.parsers.Unreadable(); err != nil {
			return nil, nil //nolint:nilerr // without them the scale subresource tells
		}
		return nil, errRulesNotRead
	}
	return known.Rules, nil
}

// named reports whether a policy names a kind.
func (s *State) named(kind schema.GroupKind) bool {
	known, _ := s.defined()
	return known != nil && known.Matcher.Names(kind)
}
