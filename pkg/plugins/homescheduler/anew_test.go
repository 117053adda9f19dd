// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package homescheduler_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/plugintest"
)

// What another scheduler bound meanwhile has to be known, whatever was known of the cluster before.
// The revisions of one that is made anew begin anew.
func TestAClusterThatComesBackIsTakenUpAnew(t *testing.T) {
	tests := map[string]func(*testing.T, *plugintest.Scheduler){
		"from another scheduler": func(t *testing.T, s *plugintest.Scheduler) {
			t.Helper()
			change(t, s, "mine", func(c *berthv1alpha1.ClusterStatus) { c.HomeScheduler, c.HomeTransfer, c.HomeRevision = "b", nil, 3 })
			s.WaitFor("the acknowledgement to be withdrawn", func() bool { return len(drained(t, s, "a")) == 0 })
			change(t, s, "mine", func(c *berthv1alpha1.ClusterStatus) { c.HomeScheduler, c.HomeRevision = "a", 5 })
		},
		"deleted and made anew": func(t *testing.T, s *plugintest.Scheduler) {
			t.Helper()
			if err := s.Berth.BerthV1alpha1().Clusters().Delete(t.Context(), "mine", metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
			s.WaitFor("the acknowledgement to be withdrawn", func() bool { return len(drained(t, s, "a")) == 0 })
			if _, err := s.Berth.BerthV1alpha1().Clusters().Create(t.Context(), bound("mine", "a", 1), metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
		},
	}
	for name, comesBack := range tests {
		t.Run(name, func(t *testing.T) {
			s := plugintest.New(t, world(), plugintest.Named("a")) // where it has revision 1
			s.WaitFor("a node", func() bool { return s.Try(pod(0, "a")).Node != "" })
			unseen := foreign(1)
			unseen.Spec.NodeName = "mine-0"
			answer(s, "list", func(clienttesting.Action) (runtime.Object, error) { return listing(unseen), nil })
			asked := answer(s, "get", func(clienttesting.Action) (runtime.Object, error) { return unseen, nil })
			change(t, s, "mine", func(c *berthv1alpha1.ClusterStatus) {
				c.HomeTransfer, c.HomeRevision = &berthv1alpha1.HomeTransfer{To: "b"}, 2
			})
			s.WaitFor("the acknowledgement", func() bool { return len(drained(t, s, "a")) == 1 })
			comesBack(t, s)
			p := pod(9, "a")
			s.WaitFor("it to be asked for the pod twice", func() bool {
				if node := s.Try(p).Node; node != "" {
					t.Fatalf("the pod goes to %s beside a pod that is not known yet", node)
				}
				return asked.Load() > 1
			})
			s.Add(unseen)
			s.WaitFor("a node", func() bool { return s.Try(p).Node != "" })
		})
	}
}
