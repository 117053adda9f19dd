// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/util/flowcontrol"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/controllers/adviser/advisertest"
	"berth.dev/berth/pkg/controllers/internal/schemetest"
	"berth.dev/berth/pkg/controllers/policy"
	"berth.dev/berth/pkg/controllers/state"
	"berth.dev/berth/pkg/history"
	"berth.dev/berth/pkg/model/stamp"
	"berth.dev/berth/pkg/model/workload"
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
	ring          *history.Ring
	// writes are the writes to the server, as "verb kind name". Several may be under way.
	writes  []string
	writing sync.Mutex
	// fail makes requests to the server fail.
	fail func(verb string, object runtime.Object) error
	last reconcile.Result
	// wholes is how often all pods of the namespace have been read from the cache, and looks how often
	// those of a controller.
	wholes, looks int
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

// scheme is that of all clients. To make one takes longer than most tests do.
var scheme = sync.OnceValue(schemetest.New)

func builder(t *testing.T) *fake.ClientBuilder {
	t.Helper()
	b := fake.NewClientBuilder().WithScheme(scheme()).WithStatusSubresource(&berthv1alpha1.PropagationPolicy{}).
		WithIndex(&berthv1alpha1.Cluster{}, "metadata.name", func(o client.Object) []string { return []string{o.GetName()} })
	if err := policy.IndexPods(t.Context(), schemetest.Indexer{Builder: b}); err != nil {
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
	h.ring = history.New(history.DefaultLimits(), h.clock)
	past := history.NewBackground(h.ring)
	go past.Run(t.Context())
	h.Reconciler = policy.New(policy.Options{
		Client: splitClient{Client: h.server, reader: readCache{h}}, Stamps: h.server, Live: h.server, Topology: h.tracker,
		Evictor: h.evictor, Recorder: h.recorder, Clock: h.clock, Schedulers: []string{"berth-scheduler"},
		Restamps: flowcontrol.NewFakeAlwaysRateLimiter(), History: past,
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
	h.writing.Lock()
	defer h.writing.Unlock()
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
		SubResourceUpdate: h.scale,
	}
}

// scale updates the number of replicas of a Deployment, and nothing else: the fake client would put
// what it is called with in place of the whole object.
func (h *harness) scale(ctx context.Context, c client.Client, sub string, o client.Object, opts ...client.SubResourceUpdateOption) error {
	if sub != "scale" {
		return c.SubResource(sub).Update(ctx, o, opts...)
	}
	if err := h.write("update scale", o); err != nil {
		return err
	}
	options := client.SubResourceUpdateOptions{}
	options.ApplyOptions(opts)
	body := options.SubResourceBody.(*autoscalingv1.Scale)
	d := &appsv1.Deployment{}
	if err := c.Get(ctx, client.ObjectKeyFromObject(o), d); err != nil {
		return err
	}
	if d.UID != body.UID {
		return apierrors.NewConflict(appsv1.Resource("deployments"), d.Name, errors.New("another UID"))
	}
	d.Spec.Replicas = &body.Spec.Replicas
	return c.Update(ctx, d)
}

// readCache reads what was on the server at the last sync.
type readCache struct{ h *harness }

func (r readCache) Get(ctx context.Context, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	return r.h.cache.Get(ctx, key, o, opts...)
}

func (r readCache) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	options := client.ListOptions{}
	options.ApplyOptions(opts)
	if _, pods := list.(*corev1.PodList); pods && options.FieldSelector == nil {
		r.h.wholes++
	} else if pods {
		r.h.looks++
	}
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
	h.refresh()
	h.tracker.Invalidate()
}

// refresh is sync where no Cluster and no node has changed.
func (h *harness) refresh() {
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

func deploymentList() *appsv1.DeploymentList   { return &appsv1.DeploymentList{} }
func replicaSetList() *appsv1.ReplicaSetList   { return &appsv1.ReplicaSetList{} }
func statefulSetList() *appsv1.StatefulSetList { return &appsv1.StatefulSetList{} }
func jobList() *batchv1.JobList                { return &batchv1.JobList{} }

// meta makes the metadata of an object whose UID is its name, an hour before the tests.
func meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Namespace: namespace, Name: name, UID: types.UID(name), Generation: 1, CreationTimestamp: metav1.NewTime(birth),
	}
}

// newPolicy shares the Deployment "web" out: beijing 2, hangzhou 3. Its guards let everything pass.
func newPolicy(name string, changes ...func(*berthv1alpha1.PropagationPolicySpec)) *berthv1alpha1.PropagationPolicy {
	p := &berthv1alpha1.PropagationPolicy{
		ObjectMeta: meta(name),
		Spec: berthv1alpha1.PropagationPolicySpec{
			ResourceSelectors: []berthv1alpha1.ResourceSelector{{APIVersion: "apps/v1", Kind: "Deployment", Name: "web"}},
			Placement:         berthv1alpha1.Placement{StaticWeightList: weigh(2, 3)},
			Rebalance: berthv1alpha1.Rebalance{
				Mode: berthv1alpha1.RebalanceEvict, MaxUnavailable: new(intstr.FromInt32(5)),
				Cooldown: &metav1.Duration{Duration: 10 * time.Second}, MinPodAge: &metav1.Duration{},
			},
		},
	}
	for _, change := range changes {
		change(&p.Spec)
	}
	return p
}

func weigh(beijing, hangzhou int64) []berthv1alpha1.StaticClusterWeight {
	return []berthv1alpha1.StaticClusterWeight{
		{ClusterNames: []string{"beijing"}, Weight: beijing}, {ClusterNames: []string{"hangzhou"}, Weight: hangzhou},
	}
}

// reweighed changes the weights.
func reweighed(beijing, hangzhou int64) func(*berthv1alpha1.PropagationPolicySpec) {
	return func(spec *berthv1alpha1.PropagationPolicySpec) {
		spec.Placement.StaticWeightList = weigh(beijing, hangzhou)
	}
}

// newNode makes a ready node with 16 CPUs; the part of its name before the dash is its cluster.
func newNode(name string, changes ...func(*corev1.Node)) *corev1.Node {
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelHostname: name}},
		Status: corev1.NodeStatus{
			Allocatable: corev1.ResourceList{
				corev1.ResourceCPU: resource.MustParse("16"), corev1.ResourcePods: resource.MustParse("110"),
			},
			Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}},
		},
	}
	for _, change := range changes {
		change(node)
	}
	return node
}

func newCluster(name string, nodes ...string) *berthv1alpha1.Cluster {
	return &berthv1alpha1.Cluster{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: berthv1alpha1.ClusterSpec{Nodes: nodes},
	}
}

// sites are the clusters beijing and hangzhou, with a node each.
func sites() []client.Object {
	return []client.Object{
		newNode("beijing-0"), newNode("hangzhou-0"), newCluster("beijing", "beijing-0"), newCluster("hangzhou", "hangzhou-0"),
	}
}

func template() corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "web"}},
		Spec:       corev1.PodSpec{SchedulerName: "berth-scheduler"},
	}
}

// newDeployment is the Deployment "web", of which everything has been rolled out.
func newDeployment(replicas int32, changes ...func(*appsv1.Deployment)) *appsv1.Deployment {
	d := &appsv1.Deployment{
		ObjectMeta: meta("web"),
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}, Template: template(),
		},
		Status: appsv1.DeploymentStatus{ObservedGeneration: 1, Replicas: replicas, UpdatedReplicas: replicas},
	}
	d.Annotations = map[string]string{workload.RevisionAnnotation: "1"}
	for _, change := range changes {
		change(d)
	}
	return d
}

// newReplicaSet is a revision of the Deployment "web".
func newReplicaSet(name, revision string, replicas int32) *appsv1.ReplicaSet {
	rs := &appsv1.ReplicaSet{
		ObjectMeta: meta(name),
		Spec: appsv1.ReplicaSetSpec{
			Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}, Template: template(),
		},
	}
	rs.Labels = map[string]string{"app": "web"}
	rs.Annotations = map[string]string{workload.RevisionAnnotation: revision}
	rs.OwnerReferences = []metav1.OwnerReference{owner("apps/v1", "Deployment", "web")}
	return rs
}

func owner(apiVersion, kind, name string) metav1.OwnerReference {
	return metav1.OwnerReference{APIVersion: apiVersion, Kind: kind, Name: name, UID: types.UID(name), Controller: new(true)}
}

// webPod is a ready pod of the Deployment "web" that the policy "p" placed on a node; an empty node
// leaves it pending.
func webPod(name, node string, seat int32, changes ...func(*corev1.Pod)) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: meta(name),
		Spec: corev1.PodSpec{
			NodeName: node, SchedulerName: "berth-scheduler",
			Containers: []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{
				Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")},
			}}},
		},
		Status: corev1.PodStatus{Phase: corev1.PodPending},
	}
	pod.Labels = map[string]string{"app": "web"}
	pod.OwnerReferences = []metav1.OwnerReference{owner("apps/v1", "ReplicaSet", "rs1")}
	if node != "" {
		pod.Status.Phase = corev1.PodRunning
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
		given := stamp.Stamp{Policy: "p", Cluster: node[:len(node)-2], Seat: seat}
		pod.Annotations = given.Annotations(pod, node)
	}
	for _, change := range changes {
		change(pod)
	}
	return pod
}

func notReady(p *corev1.Pod) { p.Status.Conditions[0].Status = corev1.ConditionFalse }

func annotated(key, value string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		if p.Annotations == nil {
			p.Annotations = map[string]string{}
		}
		p.Annotations[key] = value
	}
}

func unstamped(p *corev1.Pod) { p.Annotations = nil }

// placed are beijing 2 and hangzhou 3 of the Deployment "web" with 5 replicas, as the weights 2 and
// 3 want it: beijing owns the seats 1 and 3.
func placed(changes ...func(*corev1.Pod)) []client.Object {
	objects := []client.Object{newDeployment(5), newReplicaSet("rs1", "1", 5)}
	for seat, site := range []string{"hangzhou", "beijing", "hangzhou", "beijing", "hangzhou"} {
		objects = append(objects, webPod(fmt.Sprintf("web-%d", seat), site+"-0", int32(seat), changes...))
	}
	return objects
}

// world joins groups of objects.
func world(groups ...[]client.Object) []client.Object {
	var all []client.Object
	for _, group := range groups {
		all = append(all, group...)
	}
	return all
}

func these(objects ...client.Object) []client.Object { return objects }
