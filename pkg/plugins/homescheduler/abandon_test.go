// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package homescheduler_test

import (
	"sync/atomic"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/plugintest"
)

// Nobody asks it to give up a cluster that it has used because it was alone.
func TestABindingToAClusterThatAnotherGetsIsAbandoned(t *testing.T) {
	s := plugintest.New(t, []runtime.Object{
		shard("a", nil), plugintest.Site("one"), plugintest.Site("two"), plugintest.MakeNode("one", 0).Obj(), plugintest.MakeNode("two", 0).Obj(),
	}, plugintest.Named("a"))
	p := pod(0, "")
	s.WaitFor("a node", func() bool { return s.Try(p).Node != "" })
	attempt := s.Try(p)
	var abandoned atomic.Bool
	s.State.OnWay(s.Assume(p, attempt), func() { abandoned.Store(true) })

	if _, err := s.Berth.BerthV1alpha1().Schedulers().Create(t.Context(), shard("b", nil), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	to, beside := "one", "two"
	if plugintest.SiteOf(attempt.Node) == beside {
		to, beside = beside, to
	}
	give := func(cluster, home string) {
		change(t, s, cluster, func(c *berthv1alpha1.ClusterStatus) { c.HomeScheduler, c.HomeRevision = home, c.HomeRevision+1 })
	}
	give(beside, "b")
	give(to, "a")
	s.WaitFor("the cluster to be its own", func() bool { return s.Try(pod(1, "a")).Node == attempt.Node })
	if abandoned.Load() {
		t.Error("a Binding is abandoned to a cluster that has become its own")
	}
	give(to, "b")
	s.WaitFor("the Binding to be abandoned", abandoned.Load)
}
