// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package catalog_test

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/watch"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/utils/clock"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	berthfake "berth.dev/berth/pkg/generated/clientset/versioned/fake"
	"berth.dev/berth/pkg/plugins/internal/catalog"
)

const (
	// patience is what the catalogs of the tests have.
	patience = 10 * time.Second
	// retry is longer than an informer waits before it tries again.
	retry = 2 * time.Minute
)

func TestMain(m *testing.M) {
	// The limiter of logged errors sleeps by the time of the last error, which may have been in
	// another bubble.
	utilruntime.ErrorHandlers = nil
	m.Run()
}

// world is a catalog and what it reads.
type world struct {
	*catalog.Catalog

	client *berthfake.Clientset

	mu      sync.Mutex
	seen    sets.Set[string] // policies of the namespace default, in all snapshots
	fails   map[string]error // lists and watches, by resource
	watches map[string][]*watch.RaceFreeFakeWatcher
	changes []string // "snapshot" or "failure"
}

// newWorld starts a catalog. It must be called in a synctest bubble: time passes when the test
// sleeps.
func newWorld(t *testing.T, fails map[string]error, objects ...runtime.Object) *world {
	t.Helper()
	w := &world{
		client: berthfake.NewSimpleClientset(objects...), fails: fails,
		watches: map[string][]*watch.RaceFreeFakeWatcher{}, seen: sets.New[string](),
	}
	w.client.PrependReactor("list", "*", func(action clienttesting.Action) (bool, runtime.Object, error) {
		w.mu.Lock()
		defer w.mu.Unlock()
		err := w.fails[action.GetResource().Resource]
		return err != nil, nil, err
	})
	w.client.PrependWatchReactor("*", func(action clienttesting.Action) (bool, watch.Interface, error) {
		w.mu.Lock()
		defer w.mu.Unlock()
		stream := watch.NewRaceFreeFake()
		resource := action.GetResource().Resource
		for _, what := range []string{resource, "watch " + resource} {
			if err := w.fails[what]; err != nil {
				return true, nil, err
			}
		}
		w.watches[resource] = append(w.watches[resource], stream)
		return true, stream, nil
	})
	var err error
	w.Catalog, err = catalog.New(w.client, clock.RealClock{}, patience, func(before, after *catalog.Snapshot) {
		w.mu.Lock()
		defer w.mu.Unlock()
		change := "snapshot"
		if before == nil && after == nil {
			change = "failure"
		}
		w.changes = append(w.changes, change)
		for _, name := range []string{"web", "ghost"} {
			if after != nil && after.Policy("default", name) != nil {
				w.seen.Insert(name)
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	go w.Run(t.Context())
	pass(0)
	return w
}

// pass lets time pass, and what is to happen at its end happen.
func pass(d time.Duration) {
	// The catalog itself looks at most every 50 ms.
	time.Sleep(d + 100*time.Millisecond) //nolint:forbidigo // the time of the test is not the real one
	synctest.Wait()
}

// fail makes lists and watches of a resource fail from now on, or not with nil, and ends those
// under way.
func (w *world) fail(resource string, err error) {
	w.mu.Lock()
	w.fails[resource] = err
	streams := w.watches[resource]
	w.watches[resource] = nil
	w.mu.Unlock()
	for _, stream := range streams {
		stream.Stop()
	}
}

// send tells the watches of a resource about a change.
func (w *world) send(resource string, kind watch.EventType, object runtime.Object) {
	w.mu.Lock()
	streams := slices.Clone(w.watches[resource])
	w.mu.Unlock()
	for _, stream := range streams {
		stream.Action(kind, object)
	}
	synctest.Wait()
}

func (w *world) changed() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.changes)
}

func cluster(name string, generation int64, nodes ...string) *berthv1alpha1.Cluster {
	return &berthv1alpha1.Cluster{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: "uid", Generation: generation, ResourceVersion: "1"},
		Spec:       berthv1alpha1.ClusterSpec{Nodes: nodes},
	}
}

func policy(namespace, name string, generation int64, clusters ...string) *berthv1alpha1.PropagationPolicy {
	p := &berthv1alpha1.PropagationPolicy{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: "uid", Generation: generation, ResourceVersion: "1"},
		Spec: berthv1alpha1.PropagationPolicySpec{
			ResourceSelectors: []berthv1alpha1.ResourceSelector{{APIVersion: "apps/v1", Kind: "Deployment"}},
		},
	}
	for i, c := range clusters {
		p.Spec.Placement.StaticWeightList = append(p.Spec.Placement.StaticWeightList,
			berthv1alpha1.StaticClusterWeight{ClusterNames: []string{c}, Weight: int64(i + 1)})
	}
	return p
}

var absent = apierrors.NewNotFound(corev1.Resource("anything"), "")

// clusterOf returns the cluster of a node, "" if it lies in none.
func clusterOf(s *catalog.Snapshot, node string) string {
	name, _ := s.Membership.ClusterOf(node, nil)
	return name
}

func TestSnapshotHoldsWhatWasRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, map[string]error{}, cluster("beijing", 1, "n1"), policy("default", "web", 1, "beijing", "hangzhou"))
		s := w.Snapshot()
		if s == nil {
			t.Fatal("there is no snapshot")
		}
		if got := clusterOf(s, "n1"); got != "beijing" {
			t.Errorf("node n1 lies in cluster %q, want beijing", got)
		}
		p := s.Policy("default", "web")
		if p == nil || p.Err != nil || !p.Names("hangzhou") || p.Names("shanghai") || !p.Strict() {
			t.Errorf("the policy is %+v", p)
		}
		if s.Policy("other", "web") != nil {
			t.Error("there is a policy in a namespace without any")
		}
		if !s.Matcher.Any("default") || s.Matcher.Any("other") {
			t.Error("the matcher knows of other namespaces than default")
		}
		if diff := cmp.Diff([]string{"snapshot"}, w.changed()); diff != "" {
			t.Errorf("changes (-want +got):\n%s", diff)
		}
	})
}

func TestAPolicyThatCannotBeCarriedOutIsThereWithItsError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, map[string]error{}, policy("default", "web", 1, "beijing", "beijing"))
		p := w.Snapshot().Policy("default", "web")
		if p == nil || p.Err == nil || !strings.Contains(p.Err.Error(), "staticWeightList") || p.Names("beijing") {
			t.Errorf("the policy is %+v, want an error that names the field", p)
		}
	})
}

func TestKindsThatAreNotInstalled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, map[string]error{"clusters": absent, "propagationpolicies": absent},
			cluster("beijing", 1, "n1"), policy("default", "web", 1, "beijing"))
		if w.Snapshot() == nil || w.Snapshot().Matcher.Any("default") || w.Unreadable() != nil {
			t.Fatalf("without CRDs there is snapshot %v, unreadable %v; want an empty one", w.Snapshot(), w.Unreadable())
		}
		first := w.Snapshot()
		pass(retry)
		if w.Snapshot() != first {
			t.Error("a new snapshot was made although the CRDs are still absent")
		}

		w.fail("clusters", nil)
		w.fail("propagationpolicies", nil)
		pass(retry)
		if got := clusterOf(w.Snapshot(), "n1"); got != "beijing" {
			t.Errorf("after the CRD came node n1 lies in cluster %q, want beijing", got)
		}
		if w.Snapshot().Policy("default", "web") == nil {
			t.Error("after the CRD came there is no policy")
		}

		w.fail("propagationpolicies", absent)
		pass(retry)
		if w.Snapshot().Policy("default", "web") != nil || w.Snapshot().Matcher.Any("default") {
			t.Error("after the CRD went the policy is still there")
		}
		if got := clusterOf(w.Snapshot(), "n1"); got != "beijing" {
			t.Errorf("the other kind went too: node n1 lies in cluster %q", got)
		}

		w.fail("propagationpolicies", nil)
		pass(retry)
		if w.Snapshot().Policy("default", "web") == nil {
			t.Error("after the CRD came back there is no policy")
		}
	})
}

func TestAKindThatIsInstalledAgainHasNothingOfBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, map[string]error{}, policy("default", "ghost", 1, "beijing"))
		w.fail("propagationpolicies", absent)
		pass(retry)
		if err := w.client.Tracker().Delete(berthv1alpha1.SchemeGroupVersion.WithResource("propagationpolicies"), "default", "ghost"); err != nil {
			t.Fatal(err)
		}
		if err := w.client.Tracker().Add(policy("default", "web", 1, "beijing")); err != nil {
			t.Fatal(err)
		}
		w.mu.Lock()
		w.seen.Clear()
		w.mu.Unlock()
		w.fail("propagationpolicies", nil)
		pass(retry)
		w.mu.Lock()
		defer w.mu.Unlock()
		if diff := cmp.Diff([]string{"web"}, sets.List(w.seen)); diff != "" {
			t.Errorf("policies seen after the CRD came back (-want +got):\n%s", diff)
		}
	})
}

func TestFirstListsThatFail(t *testing.T) {
	forbidden := apierrors.NewForbidden(corev1.Resource("propagationpolicies"), "", errors.New("no RBAC"))
	for name, err := range map[string]error{"forbidden": forbidden, "no connection": errors.New("connection refused")} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, map[string]error{"propagationpolicies": err}, cluster("beijing", 1, "n1"), policy("default", "web", 1))
				pass(patience - time.Second)
				if w.Snapshot() != nil || w.Unreadable() != nil {
					t.Errorf("before its patience ends the catalog says snapshot %v, unreadable %v", w.Snapshot(), w.Unreadable())
				}
				pass(2 * time.Second)
				if w.Snapshot() != nil || !errors.Is(w.Unreadable(), err) {
					t.Errorf("then it says snapshot %v, unreadable %v, want %v", w.Snapshot(), w.Unreadable(), err)
				}
				pass(retry)
				if diff := cmp.Diff([]string{"failure"}, w.changed()); diff != "" {
					t.Errorf("changes (-want +got):\n%s", diff)
				}
				w.fail("propagationpolicies", nil)
				pass(retry)
				if w.Snapshot() == nil || w.Unreadable() != nil {
					t.Errorf("healed, it says snapshot %v, unreadable %v", w.Snapshot(), w.Unreadable())
				}
				if diff := cmp.Diff([]string{"failure", "snapshot"}, w.changed()); diff != "" {
					t.Errorf("changes (-want +got):\n%s", diff)
				}
			})
		})
	}
}

func TestAFailureThatPassesIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, map[string]error{"clusters": errors.New("connection refused")})
		pass(patience / 2)
		w.fail("clusters", nil)
		pass(retry)
		if w.Snapshot() == nil || w.Unreadable() != nil {
			t.Errorf("snapshot %v, unreadable %v", w.Snapshot(), w.Unreadable())
		}
	})
}

func TestLaterFailuresLeaveTheSnapshot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, map[string]error{}, cluster("beijing", 1, "n1"), policy("default", "web", 1, "beijing"))
		w.fail("clusters", errors.New("connection refused"))
		pass(10 * retry)
		if got := clusterOf(w.Snapshot(), "n1"); got != "beijing" {
			t.Errorf("node n1 lies in cluster %q, want beijing", got)
		}
		if w.Unreadable() != nil {
			t.Errorf("unreadable: %v", w.Unreadable())
		}
		if diff := cmp.Diff([]string{"snapshot"}, w.changed()); diff != "" {
			t.Errorf("changes (-want +got):\n%s", diff)
		}
	})
}

func TestOnlyChangesOfTheSpecMakeASnapshot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, map[string]error{}, cluster("beijing", 1, "n1"), policy("default", "web", 1, "beijing"))
		first := w.Snapshot()

		status := cluster("beijing", 1, "n1")
		status.ResourceVersion, status.Status.NodeCount = "2", 7
		w.send("clusters", watch.Modified, status)
		if w.Snapshot() != first {
			t.Error("a write of status made a new snapshot")
		}

		w.send("clusters", watch.Modified, cluster("beijing", 2, "n2"))
		second := w.Snapshot()
		if clusterOf(second, "n1") != "" || clusterOf(second, "n2") != "beijing" {
			t.Error("a change of a Cluster is not seen")
		}
		if second.Policy("default", "web") != first.Policy("default", "web") {
			t.Error("a policy that did not change was made ready again")
		}

		w.send("propagationpolicies", watch.Modified, policy("default", "web", 2, "hangzhou"))
		third := w.Snapshot()
		if p := third.Policy("default", "web"); p == second.Policy("default", "web") || !p.Names("hangzhou") {
			t.Error("a change of a policy is not seen")
		}
		if third.Membership != second.Membership {
			t.Error("a change of a policy made another membership, so that all nodes are counted again")
		}

		w.send("propagationpolicies", watch.Deleted, policy("default", "web", 2, "hangzhou"))
		if w.Snapshot().Policy("default", "web") != nil {
			t.Error("a policy that is deleted is still there")
		}
		reborn := policy("default", "web", 2, "shanghai")
		reborn.UID = "another"
		w.send("propagationpolicies", watch.Added, reborn)
		if p := w.Snapshot().Policy("default", "web"); p == nil || !p.Names("shanghai") {
			t.Error("a policy of the same name and generation is taken for the deleted one")
		}
	})
}

func TestManagedFieldsAreNotKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := policy("default", "web", 1, "beijing")
		p.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubectl"}}
		w := newWorld(t, map[string]error{}, p)
		if got := w.Snapshot().Policy("default", "web").Object.ManagedFields; got != nil {
			t.Errorf("managed fields %v are kept", got)
		}
	})
}

func TestChangedNamespaces(t *testing.T) {
	base := []runtime.Object{
		cluster("beijing", 1, "n1"), cluster("unused", 1, "n2"),
		policy("team-a", "web", 1, "beijing"), policy("team-b", "web", 1, "hangzhou"),
	}
	tests := map[string]struct {
		resource string
		kind     watch.EventType
		object   runtime.Object
		want     []string
	}{
		"a policy appears":  {"propagationpolicies", watch.Added, policy("team-c", "web", 1, "beijing"), []string{"team-c"}},
		"a policy changes":  {"propagationpolicies", watch.Modified, policy("team-a", "web", 2, "beijing"), []string{"team-a"}},
		"a policy goes":     {"propagationpolicies", watch.Deleted, policy("team-b", "web", 1, "hangzhou"), []string{"team-b"}},
		"a cluster appears": {"clusters", watch.Added, cluster("hangzhou", 1, "n3"), []string{"team-a", "team-b"}},
		"a cluster changes": {"clusters", watch.Modified, cluster("beijing", 2, "n3"), []string{"team-a", "team-b"}},
		// A node that an unnamed cluster gives up may join a named one.
		"a cluster that no policy names goes": {"clusters", watch.Deleted, cluster("unused", 1, "n2"), []string{"team-a", "team-b"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, map[string]error{}, base...)
				before := w.Snapshot()
				w.send(tc.resource, tc.kind, tc.object)
				namespaces, moved, all := catalog.ChangedNamespaces(before, w.Snapshot())
				if diff := cmp.Diff(tc.want, sets.List(namespaces)); diff != "" || all || moved != (tc.resource == "clusters") {
					t.Errorf("moved %t, all %t, namespaces (-want +got):\n%s", moved, all, diff)
				}
			})
		})
	}
}

func TestTheFirstSnapshotConcernsAllNamespaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, map[string]error{})
		if _, _, all := catalog.ChangedNamespaces(nil, w.Snapshot()); !all {
			t.Error("some namespaces are left out")
		}
		if _, _, all := catalog.ChangedNamespaces(nil, nil); !all {
			t.Error("a failure leaves some namespaces out")
		}
	})
}

// An API server that has just been told of a kind can list it before it can watch it. What is made
// in between must not be missed.
func TestWhatIsNotWatchedYetIsNotKnown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		initializing := apierrors.NewForbidden(berthv1alpha1.Resource("propagationpolicies"), "", errors.New("no rights to watch"))
		w := newWorld(t, map[string]error{"watch propagationpolicies": initializing})
		if w.Snapshot() != nil {
			t.Error("the first list passes for all there is")
		}
		pass(patience)
		if err := w.Unreadable(); !errors.Is(err, initializing) {
			t.Errorf("unreadable because of %v, want %v", err, initializing)
		}
		w.fail("watch propagationpolicies", nil)
		pass(retry)
		if w.Snapshot() == nil || w.Unreadable() != nil {
			t.Errorf("still unreadable: %v", w.Unreadable())
		}
	})
}
