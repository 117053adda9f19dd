// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package spending

import (
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clienttesting "k8s.io/client-go/testing"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/fence"
	"berth.dev/berth/pkg/placement/pool"
	"berth.dev/berth/pkg/plugins/internal/catalog"
	"berth.dev/berth/pkg/plugins/internal/ledger"
	"berth.dev/berth/pkg/plugins/internal/waitlist"
)

func TestWhatIsReported(t *testing.T) {
	first := waiting("first")
	first.Spec.Priority = new(int32)
	*first.Spec.Priority = 7
	wishes := map[pool.Key][]waitlist.Wish{all: {{Wanted: 6, Least: 2, First: first}}}
	several := map[pool.Key][]waitlist.Wish{all: {{Wanted: 6, Least: 2, First: first}, {Wanted: 8, Least: 4, First: waiting("second")}}}
	done := holder("done", charge("a", "3"))
	done.Status.Phase = corev1.PodSucceeded
	for name, tc := range map[string]struct {
		grants  []berthv1alpha1.PoolGrant
		floor   int64
		charged []*corev1.Pod
		pending map[types.UID][]pool.Charge
		wishes  map[pool.Key][]waitlist.Wish
		leaving bool
		// claims are pods that the process before may still bind.
		claims []*corev1.Pod
		want   []string
	}{
		"nothing, while less is held than granted": {
			grants: []berthv1alpha1.PoolGrant{grant("a", "5", "", 3)}, charged: []*corev1.Pod{holder("p", charge("a", "2"))}, want: []string{},
		},
		"what is held, when the grant is to shrink below it": {
			grants:  []berthv1alpha1.PoolGrant{grant("a", "5", "1", 3)},
			charged: []*corev1.Pod{holder("p", charge("a", "2")), holder("q", charge("a", "1"))}, want: []string{"all revision 3 limit 3"},
		},
		"the target, when less is held": {
			grants: []berthv1alpha1.PoolGrant{grant("a", "5", "4", 3)}, charged: []*corev1.Pod{holder("p", charge("a", "2"))},
			want: []string{"all revision 3 limit 4"},
		},
		"a target between two units is rounded down": {
			grants: []berthv1alpha1.PoolGrant{grant("a", "5", "1300m", 3)}, want: []string{"all revision 3 limit 1"},
		},
		"what is being bound is held": {
			grants: []berthv1alpha1.PoolGrant{grant("a", "5", "1", 3)}, charged: []*corev1.Pod{holder("p", charge("a", "2"))},
			pending: map[types.UID][]pool.Charge{"q": charge("a", "1")}, want: []string{"all revision 3 limit 3"},
		},
		"a pod that is known as bound and as being bound is counted once": {
			grants: []berthv1alpha1.PoolGrant{grant("a", "5", "1", 3)}, charged: []*corev1.Pod{holder("p", charge("a", "2"))},
			pending: map[types.UID][]pool.Charge{"p": charge("a", "2")}, want: []string{"all revision 3 limit 2"},
		},
		"a finished pod holds nothing": {
			grants: []berthv1alpha1.PoolGrant{grant("a", "5", "1", 3)}, charged: []*corev1.Pod{done}, want: []string{"all revision 3 limit 1"},
		},
		"more than was granted": {
			grants: []berthv1alpha1.PoolGrant{grant("a", "1", "", 3)}, charged: []*corev1.Pod{holder("p", charge("a", "2"))},
			want: []string{"all revision 3 limit 2"},
		},
		"what is held without a grant": {
			charged: []*corev1.Pod{holder("p", charge("a", "2"))}, want: []string{"all limit 2"},
		},
		"the grant of another one is not its business": {
			grants: []berthv1alpha1.PoolGrant{grant("b", "5", "1", 3)}, want: []string{},
		},
		"what pods want": {
			grants: []berthv1alpha1.PoolGrant{grant("a", "5", "", 3)}, wishes: wishes, want: []string{"all wanted 3 least 1 priority 7"},
		},
		"what pods of each priority want": {
			wishes: several, want: []string{"all wanted 3 least 1 priority 7 then 4 least 2 priority 0"},
		},
		"who is next when there is more": {
			wishes: map[pool.Key][]waitlist.Wish{all: {{Wanted: 6, Least: 2, First: first}, {Wanted: 10, Least: 10, First: first, Short: true}}},
			want:   []string{"all wanted 3 least 1 priority 7 next 5 priority 7"},
		},
		"who is next, if nobody can be served": {
			wishes: map[pool.Key][]waitlist.Wish{all: {{Wanted: 10, Least: 10, First: first, Short: true}}},
			want:   []string{"all next 5 priority 7"},
		},
		"nothing of grants that were meant for the process before": {
			grants: []berthv1alpha1.PoolGrant{grant("a", "5", "1", 3)}, floor: 4, wishes: wishes, want: []string{},
		},
		"a Scheduler that leaves wants nothing": {
			grants: []berthv1alpha1.PoolGrant{grant("a", "5", "0", 3)}, wishes: wishes, leaving: true, want: []string{"closed", "all revision 3 limit 0"},
		},
		"no answer while the process before may still charge something": {
			grants: []berthv1alpha1.PoolGrant{grant("a", "5", "1", 3)}, claims: []*corev1.Pod{wants("q", "1")}, want: []string{},
		},
		"no answer while the process before may still charge one unit": {
			grants: []berthv1alpha1.PoolGrant{grant("a", "5", "1", 3)}, claims: []*corev1.Pod{wants("q", "500m")}, want: []string{},
		},
		"it has not closed while the process before may still charge something": {
			grants: []berthv1alpha1.PoolGrant{grant("a", "5", "", 3)}, claims: []*corev1.Pod{wants("q", "1")}, leaving: true, want: []string{},
		},
		"it has not closed while it binds": {
			grants: []berthv1alpha1.PoolGrant{grant("a", "5", "0", 3)}, leaving: true,
			pending: map[types.UID][]pool.Charge{"q": charge("a", "1")}, want: []string{"all revision 3 limit 1"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.floors = map[types.UID]int64{"licence": tc.floor}
			b.charged, b.demand.wishes = tc.charged, tc.wishes
			for uid, charges := range tc.pending {
				b.Pending.Put(ledger.PodRef{Namespace: "default", Name: string(uid), UID: uid}, charges)
			}
			list := &Reader{Pending: b.Pending, Late: b.Late, Known: known, Bound: unbounded, Ended: func() {}}
			list.Begin()
			for _, pod := range tc.claims {
				list.Read(pod, true)
			}
			list.End()
			got := b.statement(&catalog.Homes{Leaving: tc.leaving}, resources(licence(3, tc.grants...)))
			if diff := cmp.Diff(tc.want, textsOf(got)); diff != "" {
				t.Errorf("reported (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWhatMayBeGivenOut(t *testing.T) {
	for name, tc := range map[string]struct {
		recorded int64 // the revision in the API server when the process began to lead
		resource *berthv1alpha1.ClusterResource
		homes    catalog.Homes
		want     map[pool.Key]int64
	}{
		"its grant, in units": {
			resource: licence(1, grant("a", "3", "", 1), grant("b", "4", "", 1)),
			want:     map[pool.Key]int64{all: 6},
		},
		"no part of a unit": {
			resource: licence(1, grant("a", "1300m", "", 1)), want: map[pool.Key]int64{all: 2},
		},
		"the target of a grant that shrinks": {
			resource: licence(1, grant("a", "3", "1", 1)), want: map[pool.Key]int64{all: 2},
		},
		"no more than a grant below its target": {
			resource: licence(1, grant("a", "1", "3", 1)), want: map[pool.Key]int64{all: 2},
		},
		"nothing of what the one before had": {
			recorded: 2, resource: licence(1, grant("a", "3", "", 1)), want: map[pool.Key]int64{},
		},
		"that, once it was recorded anew": {
			recorded: 2, resource: licence(2, grant("a", "3", "", 1)), want: map[pool.Key]int64{all: 6},
		},
		"nothing while it is being deleted": {
			resource: licence(1, grant("a", "3", "", 1)), homes: catalog.Homes{Shared: true, Leaving: true},
			want: map[pool.Key]int64{},
		},
		"nothing while it is not registered yet": {
			resource: licence(1, grant("a", "3", "", 1)), homes: catalog.Homes{Shared: true},
			want: map[pool.Key]int64{},
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, scheduler("a"), scheduler("b"), licence(tc.recorded))
			if b.resources = resources(tc.resource); tc.homes.Shared {
				b.homes = &tc.homes
			}
			b.demand.serves = []*corev1.Pod{waiting("first")}
			b.mustPass(t)
			got := b.Grants.Allowance()
			if diff := cmp.Diff(tc.want, got.caps); diff != "" || !got.Limited {
				t.Errorf("limited: %t (-want +got):\n%s", got.Limited, diff)
			}
			if woken := len(b.woken) == 1; woken != (len(tc.want) > 0) {
				t.Errorf("woken: %v", b.woken)
			}
		})
	}
}

// A Scheduler whose lease ran out counts as dead until the controllers see it renewed.
func TestASchedulerThatCountedAsDeadSpendsItsGrantsAgain(t *testing.T) {
	b := newBench(t, scheduler("a"), scheduler("b"))
	b.resources = resources(licence(1, grant("a", "3", "", 1)))
	b.homes = &catalog.Homes{Shared: true}
	b.mustPass(t)
	b.homes, b.demand.serves = &catalog.Homes{Registered: true, Shared: true}, []*corev1.Pod{waiting("first")}
	b.mustPass(t)
	if diff := cmp.Diff(map[pool.Key]int64{all: 6}, b.Grants.Allowance().caps); diff != "" {
		t.Errorf("what it may give out (-want +got):\n%s", diff)
	}
	if len(b.woken) != 1 {
		t.Errorf("woken: %v, want the pod that this serves", b.woken)
	}
}

func TestASchedulerThatIsAlone(t *testing.T) {
	leaving, spending := scheduler("a"), scheduler("a")
	leaving.DeletionTimestamp, leaving.Finalizers = &metav1.Time{Time: time.Unix(1, 0)}, []string{"keep"}
	spending.Status.Spending = &berthv1alpha1.Spending{}
	for name, tc := range map[string]struct {
		there []kruntime.Object
		// own is what the informer shows of its own status.
		own        *berthv1alpha1.Spending
		wantLifted bool
		wantWrites int
	}{
		"gives out everything": {there: []kruntime.Object{scheduler("a")}, wantLifted: true},
		"says first that it keeps to no grants": {
			there: []kruntime.Object{spending}, own: spending.Status.Spending, wantLifted: true, wantWrites: 1,
		},
		"not while the API server still says so":  {there: []kruntime.Object{spending}},
		"not if there is another one":             {there: []kruntime.Object{scheduler("a"), scheduler("b")}},
		"not if there is only another one":        {there: []kruntime.Object{scheduler("b")}},
		"not if it is being deleted":              {there: []kruntime.Object{leaving}},
		"not if there is none, not even this one": {},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, tc.there...)
			b.homes, b.waiting = &catalog.Homes{Registered: true, Spending: tc.own}, []*corev1.Pod{waiting("first")}
			b.mustPass(t)
			if got := !b.Grants.Allowance().Limited; got != tc.wantLifted || (len(b.woken) == 1) != tc.wantLifted {
				t.Errorf("gives out everything: %t, woken: %v, want %t", got, b.woken, tc.wantLifted)
			}
			if got := b.writes(); got != tc.wantWrites {
				t.Errorf("%d writes, want %d", got, tc.wantWrites)
			}
		})
	}
}

func TestWhoIsAloneIsAskedOnceASecond(t *testing.T) {
	b := newBench(t, scheduler("a"), scheduler("b"))
	b.homes = &catalog.Homes{Registered: true}
	lists := func() (n int) {
		for _, action := range b.api.Actions() {
			if action.Matches("list", "schedulers") {
				n++
			}
		}
		return n
	}
	got := []int{}
	for range 3 {
		b.mustPass(t)
		got = append(got, lists())
		b.clock.Step(alonePause / 2)
	}
	if diff := cmp.Diff([]int{1, 1, 2}, got); diff != "" {
		t.Errorf("lists after each half second (-want +got):\n%s", diff)
	}
}

func TestDemandIsWrittenLessOftenThanAnswers(t *testing.T) {
	b := newBench(t, scheduler("a"), scheduler("b"))
	b.resources = resources(licence(1, grant("a", "3", "", 1)))
	writes := []int{}
	pass := func() {
		b.mustPass(t)
		writes = append(writes, b.writes())
	}
	pass() // an empty statement: it keeps to its grants
	b.demand.wishes = map[pool.Key][]waitlist.Wish{all: {{Wanted: 1, Least: 1, First: waiting("first")}}}
	pass()
	b.clock.Step(demandPause)
	pass()
	pass()
	b.resources = resources(licence(2, grant("a", "3", "1", 2)))
	pass() // an answer does not wait
	if diff := cmp.Diff([]int{1, 1, 2, 2, 3}, writes); diff != "" {
		t.Errorf("writes after each pass (-want +got):\n%s", diff)
	}
}

func TestAMergePatchLeavesNothingBehind(t *testing.T) {
	own := scheduler("a")
	own.Status.Spending = &berthv1alpha1.Spending{Closed: true, Pools: []berthv1alpha1.PoolSpending{{Resource: "old", Pool: "old"}}}
	b := newBench(t, own, scheduler("b"))
	b.homes.Spending = own.Status.Spending
	b.mustPass(t)
	if diff := cmp.Diff([]string{}, textsOf(b.homes.Spending)); diff != "" {
		t.Errorf("reported (-want +got):\n%s", diff)
	}
}

func TestWhenNothingIsWritten(t *testing.T) {
	for name, spoil := range map[string]func(*bench){
		"the lease is not held":        func(b *bench) { b.Fence = fence.New() },
		"the Scheduler is gone":        func(b *bench) { b.homes = &catalog.Homes{Shared: true} },
		"Schedulers are not known":     func(b *bench) { b.homes = nil },
		"ClusterResources are unknown": func(b *bench) { b.resources = nil },
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			spoil(b)
			if err := b.pass(t.Context()); err != nil || b.writes() != 0 {
				t.Errorf("%d writes, error %v", b.writes(), err)
			}
		})
	}
}

func TestErrorsOfThePass(t *testing.T) {
	broken := errors.New("broken")
	for name, tc := range map[string]struct {
		verb, resource string
		alone          bool
		want           string
	}{
		"the floors cannot be read": {
			verb: "list", resource: "clusterresources", want: "listing cluster resources: broken",
		},
		"the status cannot be set": {
			verb: "patch", resource: "schedulers", want: "writing the status of scheduler a: broken",
		},
		"nobody knows who is there": {
			verb: "list", resource: "schedulers", alone: true, want: "listing schedulers: broken",
		},
		"it cannot take its word back": {
			verb: "patch", resource: "schedulers", alone: true,
			want: "writing the status of scheduler a: broken",
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, scheduler("a"))
			if tc.alone {
				b.homes = &catalog.Homes{Registered: true, Spending: &berthv1alpha1.Spending{}}
			}
			b.api.PrependReactor(tc.verb, tc.resource, func(clienttesting.Action) (bool, kruntime.Object, error) { return true, nil, broken })
			if err := b.pass(t.Context()); err == nil || err.Error() != tc.want || !errors.Is(err, broken) {
				t.Errorf("error %v, want %s", err, tc.want)
			}
			if !b.Grants.Allowance().Limited {
				t.Error("everything may be given out")
			}
		})
	}
}

func TestRunWaitsForTheLeadAndThenPassesAtEveryInterval(t *testing.T) {
	b := newBench(t, scheduler("a"), scheduler("b"))
	passes := make(chan struct{})
	homes := b.homes
	b.Homes = func() *catalog.Homes {
		passes <- struct{}{}
		return homes
	}
	b.Fence = fence.New()
	go b.Run(t.Context())
	if b.clock.HasWaiters() {
		t.Error("it runs without the lead")
	}
	b.Fence.KeepOpen()
	for range 2 {
		for !b.clock.HasWaiters() {
			runtime.Gosched()
		}
		b.clock.Step(interval)
		<-passes
	}
}
