// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package application_test

import (
	"cmp"
	"container/heap"
	"context"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta/testrestmapper"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/controllers/accounts"
	"berth.dev/berth/pkg/controllers/adviser/advisertest"
	"berth.dev/berth/pkg/controllers/application"
	"berth.dev/berth/pkg/controllers/internal/schemetest"
	"berth.dev/berth/pkg/controllers/state"
	modelpolicy "berth.dev/berth/pkg/model/policy"
	"berth.dev/berth/pkg/model/workload"
	"berth.dev/berth/pkg/placement/movelimit"
	"berth.dev/berth/pkg/placement/rank"
)

// fleet is the controller of Applications in simulated time, with a model of everything around it:
// the scheduler, the policy controller, the controllers of Deployments, and kubelets.
type fleet struct {
	*memory
	tb         testing.TB
	random     *rand.Rand
	clock      *clocktesting.FakePassiveClock
	controller *application.Reconciler
	// second is another controller that works at the same time; nil for none.
	second   *application.Reconciler
	room     application.Adviser
	limits   movelimit.Limits
	clusters []*place
	apps     []*tenant
	// tenants are the same by their namespaces, of which each has one.
	tenants map[string]*tenant
	timers  timers
	serial  int
	// under is the pass that is being made, nil for none.
	under *under
	// shrunk is called before the controller of a Deployment deletes pods; nil for nobody.
	shrunk func(a *tenant, pods, victims []*corev1.Pod)
	// passed is called after each pass; nil for nobody.
	passed func(a *tenant, before, after *berthv1alpha1.Application)
}

// timer is something that happens at a time.
type timer struct {
	at     time.Time
	serial int
	do     func()
}

// timers are a heap of what is going to happen.
type timers []timer

func (h timers) Len() int { return len(h) }
func (h timers) Less(i, j int) bool {
	return cmp.Or(h[i].at.Compare(h[j].at), cmp.Compare(h[i].serial, h[j].serial)) < 0
}
func (h timers) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *timers) Push(x any)   { *h = append(*h, x.(timer)) }
func (h *timers) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

func newFleet(tb testing.TB, seed uint64) *fleet {
	tb.Helper()
	return &fleet{
		memory: newMemory(), tenants: map[string]*tenant{}, tb: tb, random: rand.New(rand.NewPCG(seed, 1)),
		clock:  clocktesting.NewFakePassiveClock(time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)),
		limits: movelimit.Limits{PerMinute: 600, PerCluster: 300},
	}
}

// addCluster adds a Cluster before the start.
func (f *fleet) addCluster(c *berthv1alpha1.Cluster) {
	f.put(c)
	f.clusters = append(f.clusters, &place{fleet: f, name: c.Name})
}

// start starts the controller. There is always room unless somebody else has been asked to say so:
// what does not run although there is room is what the model is for.
func (f *fleet) start() {
	f.tb.Helper()
	kinds := schemetest.New()
	var objects []client.Object
	for _, c := range f.clusters {
		n := node(c.name, "1000")
		n.Status.Allocatable["pods"] = resource.MustParse("100000")
		objects = append(objects, n, f.objects["Cluster"][client.ObjectKey{Name: c.name}].DeepCopyObject().(client.Object))
	}
	if f.room == nil {
		f.room = advisertest.New(f.tb, fake.NewClientBuilder().WithScheme(kinds).WithObjects(objects...).Build())
	}
	account := func(_ context.Context, namespace, _ string) (*accounts.Account, error) {
		return &accounts.Account{Client: f.memory, Namespace: namespace, Name: "default"}, nil
	}
	f.controller = watching(application.Options{
		Client: f.memory, Clusters: f.everyCluster, Live: f.memory, Account: account, Mapper: testrestmapper.TestOnlyStaticRESTMapper(kinds),
		Recorder: &events.FakeRecorder{}, Clock: f.clock, Schedulers: []string{"berth-scheduler"}, Stickiness: rank.DefaultStickiness,
		RescheduleAfter: time.Minute, Adviser: f.room, SettleTimeout: 30 * time.Second,
		Moves: state.NewMoves(f.limits, f.clock),
	})
	f.wrote = f.react
}

// watching returns a controller that remembers nothing, and watches what it makes.
func watching(options application.Options) *application.Reconciler {
	r := application.New(options)
	r.Watch(appsv1.SchemeGroupVersion.WithKind("Deployment"), corev1.SchemeGroupVersion.WithKind("ConfigMap"))
	return r
}

// restart starts a controller that remembers nothing.
func (f *fleet) restart() {
	f.controller = watching(f.controller.Options)
	if f.second != nil && f.random.IntN(2) == 0 {
		f.controller, f.second = f.second, f.controller
	}
	for _, a := range f.apps {
		a.poke()
	}
}

// after has something done after a while.
func (f *fleet) after(d time.Duration, do func()) {
	f.serial++
	heap.Push(&f.timers, timer{f.clock.Now().Add(d), f.serial, do})
}

// between returns a time between two others.
func (f *fleet) between(least, most time.Duration) time.Duration {
	return least + time.Duration(f.random.Int64N(int64(most-least)+1))
}

// run lets time pass.
func (f *fleet) run(d time.Duration) {
	f.until(d, func() bool { return false })
}

// until lets time pass until something holds, and reports whether it does.
func (f *fleet) until(most time.Duration, holds func() bool) bool {
	end := f.clock.Now().Add(most)
	for !holds() {
		if len(f.timers) == 0 || f.timers[0].at.After(end) {
			f.clock.SetTime(end)
			return holds()
		}
		next := heap.Pop(&f.timers).(timer)
		f.clock.SetTime(next.at)
		next.do()
	}
	return true
}

// react lets everybody see what was written.
func (f *fleet) react(object client.Object) {
	a := f.tenants[object.GetNamespace()]
	switch written := object.(type) {
	case *berthv1alpha1.PropagationPolicy:
		if written.Status.ObservedGeneration < written.Generation {
			f.after(f.between(50*time.Millisecond, time.Second), a.observe)
		}
		a.poke()
	default:
		if kindOf(object) == "Deployment" {
			a.fill()
			a.poke()
		}
	}
}

// tenant is an Application with what the model knows of it.
type tenant struct {
	fleet *fleet
	// key is the name of the Application, and policyKey that of the policy of its Deployment.
	key, policyKey client.ObjectKey
	starts         time.Duration
	// next is when the next pass is due, the zero time for not at all, and before is the Application
	// as it was before this one.
	next   time.Time
	before *berthv1alpha1.Application
	// quota keeps pods from being made.
	quota bool
	names int
	// calm is since when nothing has disturbed it, resumed when it was suspended last, returning since
	// when it is on its way back from a move, limited since when it waits for its turn to move, and
	// worse since when another cluster would be better.
	calm, resumed, returning, limited, worse time.Time
	// load is how many replicas an autoscaler wants; 0 if there is none. It waits for five minutes
	// before it wants fewer if it is patient, and lower is since when it would. Lowered is how often
	// it has done so.
	load    int
	patient bool
	lower   time.Time
	lowered int
	scaling bool
	// settled reports whether it was in a cluster that suits when it was looked at last.
	settled bool
}

// addApplication adds an Application.
func (f *fleet) addApplication(app *berthv1alpha1.Application, name string) *tenant {
	app.Namespace, app.Name, app.UID, app.Generation = name, name, "", 1
	f.put(app)
	a := &tenant{
		fleet: f, key: client.ObjectKeyFromObject(app), starts: f.between(5*time.Second, 180*time.Second), calm: f.clock.Now(),
		policyKey: client.ObjectKey{Namespace: name, Name: modelpolicy.NameForApplication(name, "Deployment", "front")},
	}
	f.apps, f.tenants[name] = append(f.apps, a), a
	a.poke()
	return a
}

// stored returns the Application as it is, nil once it is gone.
func (a *tenant) stored() *berthv1alpha1.Application {
	stored, _ := a.fleet.objects["Application"][a.key].(*berthv1alpha1.Application)
	return stored
}

// poke asks for a pass at once, and at for one at a time.
func (a *tenant) poke() { a.at(a.fleet.clock.Now()) }

func (a *tenant) at(at time.Time) {
	if !a.next.IsZero() && !at.Before(a.next) {
		return
	}
	a.next = at
	a.fleet.after(at.Sub(a.fleet.clock.Now()), func() {
		if a.next.Equal(at) {
			a.next = time.Time{}
			a.reconcile()
		}
	})
}

// reconcile makes a pass, by either controller if there are two.
func (a *tenant) reconcile() {
	by := a.fleet.controller
	if a.fleet.second != nil && a.fleet.random.IntN(2) == 0 {
		by = a.fleet.second
	}
	a.reconcileBy(by)
}

func (a *tenant) reconcileBy(by *application.Reconciler) {
	outer := a.fleet.under
	a.fleet.under, a.before = &under{a, by, outer}, a.stored()
	result, err := by.Reconcile(context.Background(), reconcile.Request{NamespacedName: a.key})
	a.fleet.under = outer
	switch {
	case err != nil:
		a.at(a.fleet.clock.Now().Add(time.Second))
	case result.RequeueAfter > 0:
		a.at(a.fleet.clock.Now().Add(result.RequeueAfter))
	}
	if after := a.stored(); a.fleet.passed != nil && a.before != nil && after != nil {
		a.fleet.passed(a, a.before, after)
		a.before = after // What comes after it was not done by this one.
	}
}

// under is a pass that is being made.
type under struct {
	over  *tenant
	by    *application.Reconciler
	outer *under
}

// pods returns the pods that are not being deleted, the oldest first.
func (a *tenant) pods() []*corev1.Pod {
	var found []*corev1.Pod
	for _, pod := range a.allPods() {
		if workload.Lives(pod) {
			found = append(found, pod)
		}
	}
	slices.SortFunc(found, func(x, y *corev1.Pod) int { return cmp.Compare(numberOf(x), numberOf(y)) })
	return found
}

// allPods returns the pods with those that are being deleted.
func (a *tenant) allPods() map[client.ObjectKey]*corev1.Pod {
	return a.fleet.memory.pods[a.policyKey]
}

// leaving reports whether a pod is being deleted and has not ended.
func (a *tenant) leaving() bool { return len(a.allPods()) > len(a.pods()) }

// numberOf returns the number in the name of a pod.
func numberOf(pod *corev1.Pod) int {
	n, _ := strconv.Atoi(strings.TrimPrefix(pod.Name, "front-"))
	return n
}

// ready returns how many pods are ready.
func (a *tenant) ready() (count int) {
	for _, pod := range a.pods() {
		if workload.Ready(pod) {
			count++
		}
	}
	return count
}
