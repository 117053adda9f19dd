// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package homescheduler_test

import (
	"errors"
	"strconv"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clienttesting "k8s.io/client-go/testing"
	st "k8s.io/kubernetes/pkg/scheduler/testing"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/plugins/homescheduler"
	"berth.dev/berth/pkg/plugintest"
)

// shard makes a Scheduler.
func shard(name string, commons *berthv1alpha1.Commons) *berthv1alpha1.Scheduler {
	return &berthv1alpha1.Scheduler{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID("scheduler-" + name)},
		Status:     berthv1alpha1.SchedulerStatus{Commons: commons},
	}
}

// bound makes a Cluster that is bound to a scheduler.
func bound(cluster, scheduler string, revision int64) *berthv1alpha1.Cluster {
	c := plugintest.Site(cluster)
	c.Status.HomeScheduler, c.Status.HomeRevision = scheduler, revision
	return c
}

// world is two clusters of two nodes, one bound to a and one to b, and a node in no cluster.
func world() []runtime.Object {
	return []runtime.Object{
		shard("a", nil), shard("b", nil), bound("mine", "a", 1), bound("other", "b", 1),
		plugintest.MakeNode("mine", 0).Obj(), plugintest.MakeNode("mine", 1).Obj(),
		plugintest.MakeNode("other", 0).Obj(), plugintest.MakeNode("other", 1).Obj(),
		st.MakeNode().Name("loose").Capacity(map[corev1.ResourceName]string{corev1.ResourcePods: "110"}).Obj(),
	}
}

// pod is one whose home is the scheduler.
func pod(number int, scheduler string) *corev1.Pod {
	return st.MakePod().Namespace(plugintest.Namespace).Name("pod-"+strconv.Itoa(number)).UID("pod-"+strconv.Itoa(number)).
		SchedulerName(plugintest.Profile).Label(berthv1alpha1.HomeSchedulerLabel, scheduler).Obj()
}

// site of the node of a pod that must be placed once the scheduler has adopted what is its own.
func place(t *testing.T, s *plugintest.Scheduler, p *corev1.Pod) string {
	t.Helper()
	s.WaitFor("a node", func() bool { return s.Try(p).Node != "" })
	return plugintest.SiteOf(s.MustPlace(p).Spec.NodeName)
}

// change writes the status of a Cluster as the binding controller would.
func change(t *testing.T, s *plugintest.Scheduler, name string, change func(*berthv1alpha1.ClusterStatus)) {
	t.Helper()
	clusters := s.Berth.BerthV1alpha1().Clusters()
	c, err := clusters.Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	change(&c.Status)
	if _, err := clusters.UpdateStatus(t.Context(), c, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
}

func drained(t *testing.T, s *plugintest.Scheduler, name string) []berthv1alpha1.Drained {
	t.Helper()
	object, err := s.Berth.BerthV1alpha1().Schedulers().Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return object.Status.Drained
}

// failure makes requests fail for a while, and counts them.
type failure struct {
	failed atomic.Int64
	over   atomic.Bool
}

func fail(s *plugintest.Scheduler, verb, resource string) *failure {
	f := &failure{}
	s.Kube.PrependReactor(verb, resource, func(clienttesting.Action) (bool, runtime.Object, error) {
		if f.over.Load() {
			return false, nil, nil
		}
		f.failed.Add(1)
		return true, nil, errors.New("unreachable")
	})
	return f
}

func (f *failure) count() int64 { return f.failed.Load() }

func (f *failure) end() { f.over.Store(true) }

// podLists returns how often pods have been listed.
func podLists(s *plugintest.Scheduler) int { return lists(s.Kube.Actions(), "pods") }

// clusterLists returns how often clusters have been listed.
func clusterLists(s *plugintest.Scheduler) int { return lists(s.Berth.Actions(), "clusters") }

// lists returns how many of the requests list a resource.
func lists(requests []clienttesting.Action, resource string) (n int) {
	for _, request := range requests {
		if request.Matches("list", resource) {
			n++
		}
	}
	return n
}

func pluginOf(t testing.TB, s *plugintest.Scheduler) *homescheduler.HomeScheduler {
	t.Helper()
	for _, plugin := range s.Framework.PreEnqueuePlugins() {
		if p, ok := plugin.(*homescheduler.HomeScheduler); ok {
			return p
		}
	}
	t.Fatal("the profile has no plugin HomeScheduler")
	return nil
}
