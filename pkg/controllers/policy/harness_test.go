// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/util/flowcontrol"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/controllers/adviser/advisertest"
	"berth.dev/berth/pkg/controllers/policy"
	"berth.dev/berth/pkg/controllers/state"
	"berth.dev/berth/pkg/model/stamp"
)

const namespace = "ns"

// birth is when everything in these tests was made; the clock starts an hour later.
var birth = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// harness runs the reconciler on a cache and an API server that are two different things: what
// happens on the server is in the cache only after sync.
type harness struct {
	*policy.Reconciler
	t *testing.T
	// cache answers the reads of the controller; writes go to the server. server is the truth.
	cache, server client.Client
	clock         *clocktesting.FakePassiveClock
	evictor       *evictor
	recorder      *events.FakeRecorder
	tracker       *state.Tracker
	// writes are the writes to the server, as "verb kind name".
	writes []string
	// fail makes requests to the server fail.
	fail func(verb string, object runtime.Object) error
	last reconcile.Result
}

// evictor deletes pods on the server, unless refuse says otherwise.
type evictor struct {
	server  client.Client
	refuse  func(pod *corev1.Pod) error
	evicted []string
}

func (e *evictor) Evict(ctx context.Context, pod *corev1.Pod) error {
	if e.refuse != nil {
		if err := e.refuse(pod); err != nil {
			return err
		}
	}
	e.evicted = append(e.evicted, pod.Name)
	return e.server.Delete(ctx, pod, client.Preconditions{UID: &pod.UID})
}

func testScheme(t *testing.T) *runtime.Scheme {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, berthv1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	return scheme
}

// indexer takes the index that IndexPods makes over to a fake client.
type indexer struct{ builder *fake.ClientBuilder }

func (i indexer) IndexField(_ context.Context, object client.Object, field string, extract client.IndexerFunc) error {
	i.builder.WithIndex(object, field, extract)
	return nil
}

func builder(t *testing.T) *fake.ClientBuilder {
	t.Helper()
	b := fake.NewClientBuilder().WithScheme(testScheme(t)).WithStatusSubresource(&berthv1alpha1.PropagationPolicy{}).
		WithIndex(&berthv1alpha1.Cluster{}, "metadata.name", func(o client.Object) []string { return []string{o.GetName()} })
	if err := policy.IndexPods(t.Context(), indexer{b}); err != nil {
		t.Fatal(err)
	}
	return b
}

// newHarness starts with the objects on the server and in the cache. The reconciler has been
// running for an hour.
func newHarness(t *testing.T, objects ...client.Object) *harness {
	t.Helper()
	h := &harness{t: t, clock: clocktesting.NewFakePassiveClock(birth), recorder: events.NewFakeRecorder(100)}
	h.server = builder(t).WithObjects(objects...).WithInterceptorFuncs(h.interceptor()).Build()
	h.evictor = &evictor{server: h.server}
	h.tracker = state.NewTracker(readCache{h})
	h.Reconciler = policy.New(policy.Options{
		Client: splitClient{Client: h.server, reader: readCache{h}}, Live: h.server, Topology: h.tracker,
		Evictor: h.evictor, Recorder: h.recorder, Clock: h.clock, Schedulers: []string{"berth-scheduler"},
		Restamps: flowcontrol.NewFakeAlwaysRateLimiter(), Evictions: flowcontrol.NewFakeAlwaysRateLimiter(),
	})
	h.clock.SetTime(birth.Add(time.Hour))
	h.sync()
	h.writes = nil
	return h
}

func (h *harness) failure(verb string, object runtime.Object) error {
	if h.fail == nil {
		return nil
	}
	return h.fail(verb, object)
}

func (h *harness) write(verb string, object client.Object) error {
	h.writes = append(h.writes, fmt.Sprintf("%s %T %s", verb, object, object.GetName()))
	return h.failure(verb, object)
}

func (h *harness) interceptor() interceptor.Funcs {
	return interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			if err := h.failure("get", o); err != nil {
				return err
			}
			return c.Get(ctx, key, o, opts...)
		},
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			if err := h.failure("list", list); err != nil {
				return err
			}
			return c.List(ctx, list, opts...)
		},
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
			if err := h.write("patch", o); err != nil {
				return err
			}
			return c.Patch(ctx, o, p, opts...)
		},
		SubResourcePatch: func(
			ctx context.Context, c client.Client, sub string, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption,
		) error {
			if err := h.write("patch "+sub, o); err != nil {
				return err
			}
			return c.SubResource(sub).Patch(ctx, o, p, opts...)
		},
	}
}

// readCache reads what was on the server at the last sync.
type readCache struct{ h *harness }

func (r readCache) Get(ctx context.Context, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	return r.h.cache.Get(ctx, key, o, opts...)
}

func (r readCache) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	return r.h.cache.List(ctx, list, opts...)
}

// splitClient reads from the cache and writes to the server.
type splitClient struct {
	client.Client
	reader client.Reader
}

func (s splitClient) Get(ctx context.Context, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	return s.reader.Get(ctx, key, o, opts...)
}

func (s splitClient) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	return s.reader.List(ctx, list, opts...)
}

// sync brings the cache up to date with the server.
func (h *harness) sync() {
	h.t.Helper()
	fail := h.fail
	h.fail = nil
	defer func() { h.fail = fail }()
	b := builder(h.t)
	for _, list := range []client.ObjectList{
		&berthv1alpha1.ClusterList{}, &berthv1alpha1.PropagationPolicyList{}, &corev1.NodeList{}, &corev1.PodList{},
		deploymentList(), replicaSetList(), statefulSetList(), jobList(), &corev1.ReplicationControllerList{},
		&corev1.PersistentVolumeClaimList{}, &corev1.PersistentVolumeList{}, &berthv1alpha1.ClusterResourceList{},
	} {
		if err := h.server.List(h.t.Context(), list); err != nil {
			h.t.Fatal(err)
		}
		b.WithLists(list)
	}
	h.cache = b.Build()
	h.tracker.Invalidate()
	h.Adviser = advisertest.New(h.t, h.cache)
}

// pass makes one pass, which must not fail.
func (h *harness) pass() {
	h.t.Helper()
	var err error
	if h.last, err = h.Reconcile(h.t.Context(), namespace); err != nil {
		h.t.Fatalf("Reconcile() = %v", err)
	}
}

// settle makes passes, a second apart and each with an up-to-date cache, until one writes nothing.
func (h *harness) settle() {
	h.t.Helper()
	for range 20 {
		h.sync()
		h.writes = nil
		h.wait(time.Second)
		h.pass()
		if len(h.writes) == 0 {
			h.sync()
			return
		}
	}
	h.t.Fatalf("every pass writes something, the last one %v", h.writes)
}

// wait lets time pass.
func (h *harness) wait(d time.Duration) { h.clock.SetTime(h.clock.Now().Add(d)) }

// policy returns a policy as the server has it.
func (h *harness) policy(name string) *berthv1alpha1.PropagationPolicy {
	h.t.Helper()
	p := &berthv1alpha1.PropagationPolicy{}
	if err := h.server.Get(h.t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, p); err != nil {
		h.t.Fatal(err)
	}
	return p
}

// condition returns "Status Reason: message" of a condition of the policy "p".
func (h *harness) condition(conditionType string) string {
	h.t.Helper()
	c := apimeta.FindStatusCondition(h.policy("p").Status.Conditions, conditionType)
	if c == nil {
		return ""
	}
	return fmt.Sprintf("%s %s: %s", c.Status, c.Reason, c.Message)
}

// pods returns the pods that the server has, by name.
func (h *harness) pods() map[string]*corev1.Pod {
	h.t.Helper()
	var list corev1.PodList
	if err := h.server.List(h.t.Context(), &list, client.InNamespace(namespace)); err != nil {
		h.t.Fatal(err)
	}
	pods := map[string]*corev1.Pod{}
	for i := range list.Items {
		pods[list.Items[i].Name] = &list.Items[i]
	}
	return pods
}

// replace makes the pod that takes the place of an evicted one, on the given node and seat.
func (h *harness) replace(name, node string, seat int32) {
	h.t.Helper()
	h.create(webPod(name, node, seat, func(p *corev1.Pod) {
		p.CreationTimestamp = metav1.NewTime(h.clock.Now())
	}))
}

func (h *harness) create(object client.Object) {
	h.t.Helper()
	if err := h.server.Create(h.t.Context(), object); err != nil {
		h.t.Fatal(err)
	}
}

// change changes an object on the server, with its status.
func change[T client.Object](h *harness, object T, mutate func(T)) {
	h.t.Helper()
	for _, update := range []func(context.Context, client.Object) error{
		func(ctx context.Context, o client.Object) error { return h.server.Update(ctx, o) },
		func(ctx context.Context, o client.Object) error { return h.server.Status().Update(ctx, o) },
	} {
		if err := h.server.Get(h.t.Context(), client.ObjectKeyFromObject(object), object); err != nil {
			h.t.Fatal(err)
		}
		mutate(object)
		if err := update(h.t.Context(), object); err != nil {
			h.t.Fatal(err)
		}
	}
}

// changePolicy changes the spec of the policy "p".
func (h *harness) changePolicy(mutate func(*berthv1alpha1.PropagationPolicySpec)) {
	h.t.Helper()
	p := h.policy("p")
	mutate(&p.Spec)
	p.Generation++
	if err := h.server.Update(h.t.Context(), p); err != nil {
		h.t.Fatal(err)
	}
}

// events returns the events so far, as "Type Reason note", and forgets them.
func (h *harness) events() []string {
	var all []string
	for {
		select {
		case e := <-h.recorder.Events:
			all = append(all, e)
		default:
			return all
		}
	}
}

// evicted returns the pods evicted so far, sorted, and forgets them.
func (h *harness) evicted() []string {
	names := slices.Clone(h.evictor.evicted)
	slices.Sort(names)
	h.evictor.evicted = nil
	return names
}

// stampOf returns "cluster seat cost" of a pod as the server has it.
func (h *harness) stampOf(name string) string {
	h.t.Helper()
	pod := h.pods()[name]
	if pod == nil {
		return "gone"
	}
	given, stamped := stamp.Of(pod)
	if !stamped {
		return "not stamped"
	}
	return strings.Join([]string{given.Policy, given.Cluster, strconv.Itoa(int(given.Seat)), pod.Annotations[corev1.PodDeletionCost]}, " ")
}
