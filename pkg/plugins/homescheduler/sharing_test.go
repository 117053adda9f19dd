// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package homescheduler_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"berth.dev/berth/pkg/plugintest"
)

// The only scheduler uses clusters that nobody has. Nobody asks it to give those up, so it says
// when nothing of its own can arrive there any more.
func TestClustersThatNobodyHasAreLeftAloneOnceNothingIsOnItsWayThere(t *testing.T) {
	s := plugintest.New(t, []runtime.Object{
		shard("a", nil), plugintest.Site("one"), plugintest.MakeNode("one", 0).Obj(),
	}, plugintest.Named("a"))
	schedulers := s.Berth.BerthV1alpha1().Schedulers()
	sharing := func() bool {
		a, err := schedulers.Get(t.Context(), "a", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return a.Status.Sharing
	}
	p := pod(0, "")
	s.WaitFor("a node", func() bool { return s.Try(p).Node != "" })
	attempt := s.Try(p)
	onItsWay := s.Assume(p, attempt)

	if _, err := schedulers.Create(t.Context(), shard("b", nil), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	s.WaitFor("the cluster to be left alone", func() bool { return s.Try(pod(1, "a")).Node == "" })
	if sharing() {
		t.Error("it says that nothing is on its way to the cluster, a pod is")
	}
	s.Forget(onItsWay, attempt)
	s.WaitFor("word that it is left alone", sharing)

	if err := schedulers.Delete(t.Context(), "b", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	s.WaitFor("that word to be taken back", func() bool { return !sharing() })
	s.WaitFor("the cluster to be used", func() bool { return s.Try(pod(2, "")).Node != "" })
}
