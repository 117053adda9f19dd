// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build !race

package policy_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/controllers/state"
	"berth.dev/berth/pkg/placement/movelimit"
)

const (
	storeCount, podsOfAStore = 24, 4
	// movesPerMinute allows two moves a second, and ten at once.
	movesPerMinute, movesAtOnce = 120, 10
)

// shops are namespaces whose policies share the Deployment "web" out among all stores.
type shops struct {
	*harness
	names  []string
	serial int
	evicts map[string]int
}

// openShops has shops whose pods run where their policies want them.
func openShops(t *testing.T, names ...string) *shops {
	t.Helper()
	var objects []client.Object
	for i := range storeCount {
		cluster := newCluster(store(i), store(i)+"-0")
		cluster.Labels = map[string]string{"tier": "store"}
		objects = append(objects, cluster, newNode(store(i)+"-0"))
	}
	s := &shops{names: names, evicts: map[string]int{}}
	for _, name := range names {
		own := these(newDeployment(storeCount*podsOfAStore), newReplicaSet("rs1", "1", storeCount*podsOfAStore), newPolicy("p", amongStores))
		for i := range storeCount * podsOfAStore {
			own = append(own, webPod(fmt.Sprint("web-", i), store(i%storeCount)+"-0", int32(i)))
		}
		objects = append(objects, inNamespace(name, own)...)
	}
	s.harness = newHarness(t, objects...)
	s.evictor.refuse = func(pod *corev1.Pod) error {
		s.evicts[pod.Namespace]++
		return nil
	}
	return s
}

func store(i int) string { return fmt.Sprintf("store-%02d", i) }

func amongStores(spec *berthv1alpha1.PropagationPolicySpec) {
	spec.Placement = berthv1alpha1.Placement{ClusterGroups: []berthv1alpha1.ClusterGroup{{
		Name: "stores", ClusterSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"tier": "store"}},
	}}}
	spec.Rebalance.MaxUnavailable, spec.Rebalance.Cooldown = new(intstr.FromString("100%")), &metav1.Duration{}
}

// relabel takes the label from every second store.
func (s *shops) relabel() {
	s.t.Helper()
	for i := 0; i < storeCount; i += 2 {
		c := &berthv1alpha1.Cluster{}
		if err := s.server.Get(s.t.Context(), client.ObjectKey{Name: store(i)}, c); err != nil {
			s.t.Fatal(err)
		}
		c.Labels["tier"] = "closed"
		if err := s.server.Update(s.t.Context(), c); err != nil {
			s.t.Fatal(err)
		}
	}
}

// reconcile makes a pass over a shop. It returns how many pods were evicted, how many are still
// outside their share, and what its policy says.
func (s *shops) reconcile(shop string) (evicted, outside int, said string) {
	s.t.Helper()
	before := s.evicts[shop]
	if _, err := s.Reconcile(s.t.Context(), shop); err != nil {
		s.t.Fatal(err)
	}
	p := &berthv1alpha1.PropagationPolicy{}
	if err := s.server.Get(s.t.Context(), client.ObjectKey{Namespace: shop, Name: "p"}, p); err != nil {
		s.t.Fatal(err)
	}
	if c := apimeta.FindStatusCondition(p.Status.Conditions, berthv1alpha1.PolicyPlaced); c != nil {
		said = c.Message
	}
	var pods corev1.PodList
	if err := s.server.List(s.t.Context(), &pods, client.InNamespace(shop)); err != nil {
		s.t.Fatal(err)
	}
	for i := range pods.Items {
		var n int
		if _, err := fmt.Sscanf(pods.Items[i].Spec.NodeName, "store-%d-0", &n); err == nil && n%2 == 0 {
			outside++
		}
	}
	evicted = s.evicts[shop] - before
	s.replace(shop, p, evicted)
	return evicted, outside, said
}

// replace makes so many pods in the stores that are short of them.
func (s *shops) replace(shop string, p *berthv1alpha1.PropagationPolicy, missing int) {
	s.t.Helper()
	if missing == 0 {
		return
	}
	for _, c := range p.Status.Workloads[0].Clusters {
		for range min(int32(missing), c.Desired-c.Current) {
			missing--
			s.serial++
			pod := webPod(fmt.Sprint("new-", s.serial), c.Name+"-0", int32(1000+s.serial))
			s.create(inNamespace(shop, these(pod))[0])
		}
	}
	if missing > 0 {
		s.t.Fatalf("%d pods of %s have no place", missing, shop)
	}
}

// When somebody takes the label from half of the clusters, the pods of all policies that move have
// one limit together, and each policy says what its pods wait for.
func TestTheLimitOfAllMovesHoldsWhenHalfOfTheClustersAreRelabelled(t *testing.T) {
	s := openShops(t, "east", "west")
	s.Moves = state.NewMoves(movelimit.Limits{PerMinute: movesPerMinute}, s.clock)
	s.relabel()
	began, moved := s.clock.Now(), 0
	for left := 1; left > 0; {
		if s.clock.Since(began) > 2*time.Minute {
			t.Fatalf("after %v %d pods are left", s.clock.Since(began), left)
		}
		left = 0
		s.sync()
		for _, shop := range s.names {
			evicted, outside, said := s.reconcile(shop)
			moved, left = moved+evicted, left+outside
			if outside > 0 && evicted == 0 && !strings.Contains(said, "waiting for --max-moves-per-minute") {
				t.Errorf("after %v %d pods of %s stay, and its policy says %q", s.clock.Since(began), outside, shop, said)
			}
		}
		if allowed := movesAtOnce + int(s.clock.Since(began).Minutes()*movesPerMinute); moved > allowed {
			t.Errorf("after %v %d pods have moved, more than %d", s.clock.Since(began), moved, allowed)
		}
		s.wait(time.Second)
	}
	if want := len(s.names) * storeCount * podsOfAStore / 2; moved != want {
		t.Errorf("%d pods have moved, want the %d of the stores without the label", moved, want)
	}
	for _, shop := range s.names {
		forget(s.harness, shop)
	}
	t.Logf("%d pods have moved in %v", moved, s.clock.Since(began))
}

// A policy whose moves wait for the limit takes no room that others may want, and wakes nobody.
func TestWhoWaitsForTheLimitOfAllMovesTakesNoRoom(t *testing.T) {
	h := newHarness(t, world(beijingHas("6"), placed(), wrong())...)
	h.Moves = state.NewMoves(movelimit.Limits{PerMinute: 6}, h.clock)
	h.Moves.Begin(movelimit.Claim{Key: "another", Pods: 2})
	woken := 0
	h.Adviser.OnChange(func() { woken++ })
	for range 3 {
		h.wait(time.Second)
		h.pass()
	}
	if got := h.evicted(); len(got) != 0 {
		t.Errorf("%v are evicted beyond the limit", got)
	}
	if woken > 0 {
		t.Errorf("those who wait for room are woken %d times, and no room has become free", woken)
	}
	h.wait(time.Minute)
	h.pass()
	if got := h.evicted(); len(got) != 1 {
		t.Errorf("%v are evicted when the limit allows one", got)
	}
}

// A policy that may move pods, and cannot, is in nobody's way until it may again.
func TestWhoMovesNothingLeavesTheLineOfAllMoves(t *testing.T) {
	h := newHarness(t, world(sites(), placed(), wrong())...)
	h.Moves = state.NewMoves(movelimit.Limits{PerMinute: 6}, h.clock)
	h.Moves.Begin(movelimit.Claim{Key: "another", Pods: 2})
	h.pass()
	h.wait(21 * time.Second)
	broken := errors.New("the server is down")
	h.fail = func(string, runtime.Object) error { return broken }
	if _, err := h.Reconcile(t.Context(), namespace); !errors.Is(err, broken) {
		t.Fatalf("Reconcile() = %v, want %v", err, broken)
	}
	if wait := h.Moves.Begin(movelimit.Claim{Key: "one more"}); wait > 0 {
		t.Errorf("another one is to wait for %v, behind one that moves nothing", wait)
	}
}
