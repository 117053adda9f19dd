// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package homescheduler_test

import (
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/plugintest"
)

// foreign is a pod that another scheduler has bound to a node of the cluster "other", and that the
// snapshot lacks.
func foreign(number int) *corev1.Pod {
	p := pod(number, "b")
	p.Spec.NodeName = "other-0"
	return p
}

// comes makes the cluster "other" come to scheduler a, and returns a pod that can run only there.
func comes(t *testing.T, s *plugintest.Scheduler) *corev1.Pod {
	t.Helper()
	change(t, s, "other", func(c *berthv1alpha1.ClusterStatus) { c.HomeScheduler, c.HomeRevision = "a", 2 })
	p := pod(9, "a")
	p.Spec.NodeSelector = map[string]string{plugintest.SiteLabel: "other"}
	return p
}

// answer lets the API server answer requests for pods.
func answer(s *plugintest.Scheduler, verb string, how func(clienttesting.Action) (runtime.Object, error)) *atomic.Int64 {
	asked := &atomic.Int64{}
	s.Kube.PrependReactor(verb, "pods", func(action clienttesting.Action) (bool, runtime.Object, error) {
		asked.Add(1)
		object, err := how(action)
		return true, object, err
	})
	return asked
}

func listing(pods ...*corev1.Pod) *corev1.PodList {
	list := &corev1.PodList{}
	for _, p := range pods {
		list.Items = append(list.Items, *p)
	}
	return list
}

// What another scheduler bound counts before anything is placed beside it.
func TestAClusterIsTakenUpOnlyWithAllItsPods(t *testing.T) {
	s := plugintest.New(t, world(), plugintest.Named("a"))
	place(t, s, pod(0, "a"))
	unseen := foreign(1)
	answer(s, "list", func(clienttesting.Action) (runtime.Object, error) { return listing(unseen), nil })
	asked := answer(s, "get", func(clienttesting.Action) (runtime.Object, error) { return unseen, nil })
	p := comes(t, s)
	s.WaitFor("it to be asked for the pod twice", func() bool {
		if node := s.Try(p).Node; node != "" {
			t.Fatalf("the pod goes to %s beside a pod that is not known yet", node)
		}
		return asked.Load() > 1
	})
	s.Add(unseen)
	s.WaitFor("a node", func() bool { return s.Try(p).Node != "" })
}

// The informer may know a node before the snapshot does.
func TestANodeThatTheSnapshotLacksIsWaitedFor(t *testing.T) {
	s := plugintest.New(t, world(), plugintest.Named("a"))
	place(t, s, pod(0, "a"))
	node := plugintest.MakeNode("other", 2).Obj()
	if err := s.Informers.Core().V1().Nodes().Informer().GetIndexer().Add(node); err != nil {
		t.Fatal(err)
	}
	unseen := foreign(1)
	unseen.Spec.NodeName = node.Name
	answer(s, "list", func(clienttesting.Action) (runtime.Object, error) { return listing(unseen), nil })
	asked := answer(s, "get", func(clienttesting.Action) (runtime.Object, error) { return unseen, nil })
	p := comes(t, s)
	s.WaitFor("it to be asked for the pod twice", func() bool {
		if at := s.Try(p).Node; at != "" {
			t.Fatalf("the pod goes to %s beside a node that is not known yet", at)
		}
		return asked.Load() > 1
	})
	s.Add(node, unseen)
	s.WaitFor("a node", func() bool { return s.Try(p).Node != "" })
}

// A cluster can be asked back before it is taken up. Nothing is read for it any more then.
func TestAClusterThatIsGivenUpIsNotTakenUp(t *testing.T) {
	tests := map[string]func(*berthv1alpha1.ClusterStatus){
		"drained": func(c *berthv1alpha1.ClusterStatus) {
			c.HomeTransfer, c.HomeRevision = &berthv1alpha1.HomeTransfer{To: "b"}, 3
		},
		"another's": func(c *berthv1alpha1.ClusterStatus) { c.HomeScheduler, c.HomeRevision = "b", 3 },
	}
	for name, givenUp := range tests {
		t.Run(name, func(t *testing.T) {
			s := plugintest.New(t, append(world(), bound("third", "b", 1), plugintest.MakeNode("third", 0).Obj()), plugintest.Named("a"))
			place(t, s, pod(0, "a"))
			before, after := foreign(1), foreign(2)
			after.Spec.NodeName = "third-0"
			answer(s, "list", func(clienttesting.Action) (runtime.Object, error) { return listing(before, after), nil })
			asked := map[string]*atomic.Int64{before.Name: {}, after.Name: {}}
			answer(s, "get", func(action clienttesting.Action) (runtime.Object, error) {
				get, ok := action.(clienttesting.GetAction)
				if !ok {
					t.Errorf("an unexpected request: %v", action)
					return nil, apierrors.NewBadRequest("unexpected")
				}
				asked[get.GetName()].Add(1)
				if get.GetName() == before.Name {
					return before, nil
				}
				return after, nil
			})
			comes(t, s)
			s.WaitFor("it to be asked for the pod", func() bool { s.Try(pod(8, "a")); return asked[before.Name].Load() > 0 })
			change(t, s, "other", givenUp)
			change(t, s, "third", func(c *berthv1alpha1.ClusterStatus) { c.HomeScheduler, c.HomeRevision = "a", 2 })
			next := func() { // the one for which it is asked next, in the same round if in any
				seen := asked[after.Name].Load()
				s.WaitFor("it to be asked for the other pod", func() bool { s.Try(pod(8, "a")); return asked[after.Name].Load() > seen })
			}
			next()
			last := asked[before.Name].Load()
			next()
			next()
			if got := asked[before.Name].Load(); got != last {
				t.Errorf("it is still asked for what runs there: %d times, then %d", last, got)
			}
		})
	}
}

// What belongs to others is nothing to take up, and nothing is read for it.
func TestClustersOfOthersAreNotRead(t *testing.T) {
	s := plugintest.New(t, append(world(), bound("idle", "a", 1)), plugintest.Named("a"))
	place(t, s, pod(0, "a"))
	s.WaitFor("the clusters to be taken up", func() bool { return podLists(s) > 0 })
	lists := clusterLists(s)
	for revision := int64(2); revision < 8; revision += 2 { // each step waits for a round or more
		change(t, s, "idle", func(c *berthv1alpha1.ClusterStatus) {
			c.HomeTransfer, c.HomeRevision = &berthv1alpha1.HomeTransfer{To: "b"}, revision
		})
		s.WaitFor("the acknowledgement", func() bool { return len(drained(t, s, "a")) == 1 })
		change(t, s, "idle", func(c *berthv1alpha1.ClusterStatus) { c.HomeTransfer, c.HomeRevision = nil, revision+1 })
		s.WaitFor("the acknowledgement to be withdrawn", func() bool { return len(drained(t, s, "a")) == 0 })
	}
	if got := clusterLists(s) - lists; got > 3 {
		t.Errorf("clusters were read %d times for one that came three times", got)
	}
}

// The API server is not asked for all the pods of large clusters at a time.
func TestFewPodsAreAskedForAtATime(t *testing.T) {
	const perCluster, most = 60, 100
	s := plugintest.New(t, append(world(), bound("third", "b", 1), plugintest.MakeNode("third", 0).Obj()), plugintest.Named("a"))
	place(t, s, pod(0, "a"))
	unseen := map[string]*corev1.Pod{}
	var list []*corev1.Pod
	for i := range 2 * perCluster {
		p := foreign(100 + i)
		if i >= perCluster {
			p.Spec.NodeName = "third-0"
		}
		unseen[p.Name], list = p, append(list, p)
	}
	answer(s, "list", func(clienttesting.Action) (runtime.Object, error) { return listing(list...), nil })
	var again atomic.Bool // a pod has been asked for once more
	var first atomic.Int64
	asked := map[string]bool{} // by one goroutine alone
	answer(s, "get", func(action clienttesting.Action) (runtime.Object, error) {
		get, ok := action.(clienttesting.GetAction)
		if !ok {
			return nil, apierrors.NewBadRequest("unexpected")
		}
		if asked[get.GetName()] {
			again.Store(true)
		} else if !again.Load() {
			first.Add(1)
		}
		asked[get.GetName()] = true
		return unseen[get.GetName()], nil
	})
	unreachable := fail(s, "list", "pods") // until both have come, so that both are taken up at once
	for _, name := range []string{"other", "third"} {
		change(t, s, name, func(c *berthv1alpha1.ClusterStatus) { c.HomeScheduler, c.HomeRevision = "a", 2 })
	}
	s.WaitFor("two attempts", func() bool { return unreachable.count() > 1 })
	unreachable.end()
	s.WaitFor("a second round", func() bool { s.Try(pod(8, "a")); return again.Load() })
	if got := first.Load(); got != most {
		t.Errorf("%d pods were asked for at a time, want %d", got, most)
	}
}

// Pods come and go while they are read.
func TestAPodThatHasGoneIsNotWaitedFor(t *testing.T) {
	finished := foreign(1)
	finished.Status.Phase = corev1.PodSucceeded
	another := foreign(1)
	another.UID = "another"
	tests := map[string]func(clienttesting.Action) (runtime.Object, error){
		"deleted": func(clienttesting.Action) (runtime.Object, error) {
			return nil, apierrors.NewNotFound(corev1.Resource("pods"), "it")
		},
		"finished":  func(clienttesting.Action) (runtime.Object, error) { return finished, nil },
		"made anew": func(clienttesting.Action) (runtime.Object, error) { return another, nil },
	}
	for name, got := range tests {
		t.Run(name, func(t *testing.T) {
			s := plugintest.New(t, world(), plugintest.Named("a"))
			place(t, s, pod(0, "a"))
			answer(s, "list", func(clienttesting.Action) (runtime.Object, error) { return listing(foreign(1)), nil })
			before := podLists(s)
			answer(s, "get", got)
			p := comes(t, s)
			s.WaitFor("a node", func() bool { return s.Try(p).Node != "" })
			if lists := podLists(s) - before; lists != 1 {
				t.Errorf("all pods were read %d times, want once", lists)
			}
		})
	}
}

func TestPodsAreReadAgainAfterAFailure(t *testing.T) {
	s := plugintest.New(t, world(), plugintest.Named("a"))
	place(t, s, pod(0, "a"))
	unreachable := fail(s, "list", "pods")
	p := comes(t, s)
	s.WaitFor("an attempt", func() bool { return unreachable.count() > 0 })
	if node := s.Try(p).Node; node != "" {
		t.Fatalf("the pod goes to %s, of which nothing is known", node)
	}
	unreachable.end()
	s.WaitFor("a node", func() bool { return s.Try(p).Node != "" })
}

// The API server forgets a state of the pods before all of them have been read.
func TestALongReadingGoesOnWithTheStateAsItIs(t *testing.T) {
	s := plugintest.New(t, world(), plugintest.Named("a"))
	place(t, s, pod(0, "a"))
	first, last := foreign(1), foreign(2)
	answer(s, "get", func(action clienttesting.Action) (runtime.Object, error) {
		if get, ok := action.(clienttesting.GetAction); ok && get.GetName() == first.Name {
			return first, nil
		}
		return last, nil
	})
	answer(s, "list", func(action clienttesting.Action) (runtime.Object, error) {
		options, ok := action.(clienttesting.ListActionImpl)
		switch {
		case !ok || options.ListOptions.Continue == "":
			page := listing(first)
			page.Continue = "consistent"
			return page, nil
		case options.ListOptions.Continue == "consistent":
			expired := apierrors.NewResourceExpired("too old")
			expired.ErrStatus.Continue = "whatever"
			return nil, expired
		default:
			return listing(last), nil
		}
	})
	p := comes(t, s)
	waits := func() bool { return s.Try(p).Node == "" }
	s.WaitFor("it to be read", func() bool { return podLists(s) >= 3 && waits() })
	s.Add(first)
	if !waits() {
		t.Fatal("the pods of the last page are not waited for")
	}
	s.Add(last)
	s.WaitFor("a node", func() bool { return !waits() })
}
