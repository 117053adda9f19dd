// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package subscription_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/controllers/accounts"
	"berth.dev/berth/pkg/controllers/adviser/advisertest"
	"berth.dev/berth/pkg/controllers/internal/schemetest"
	"berth.dev/berth/pkg/controllers/internal/singleton"
	"berth.dev/berth/pkg/controllers/state"
	"berth.dev/berth/pkg/controllers/subscription"
	rules "berth.dev/berth/pkg/placement/subscription"
)

const namespace = "shop"

// world is an API server made of fakes, and a controller.
type world struct {
	t       *testing.T
	client  client.Client
	tracker *state.Tracker
	clock   *clocktesting.FakeClock
	r       *subscription.Reconciler
	// statusWrites and policyWrites count.
	statusWrites, policyWrites int
	pods                       int
	recorder                   *events.FakeRecorder
	// stale is what the cache has of Subscriptions if it lags behind.
	stale *berthv1alpha1.SubscriptionList
	// beforeApply happens before the next copy is applied; applies counts.
	beforeApply func()
	applies     int
	// hidden is the name of a Deployment that the cache does not know yet, and beforeDelete happens
	// before the next deletion of one.
	hidden       string
	beforeDelete func()
	// ownInventories takes effect with the next restart.
	ownInventories bool
	// owners takes effect with the next restart, too.
	owners state.Owners
	// refuse reports whether the status of an object cannot be written; nil if all can.
	refuse func(client.Object) bool
	// eventReads counts for how many pods events are read.
	eventReads int
	// noAccount is why there is no account to write as; nil if there is one.
	noAccount error
}

func newWorld(t *testing.T) *world {
	t.Helper()
	scheme := schemetest.New()
	w := &world{t: t, recorder: events.NewFakeRecorder(100_000), clock: clocktesting.NewFakeClock(time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC))}
	w.client = fake.NewClientBuilder().WithScheme(scheme).
		WithStatusSubresource(&berthv1alpha1.Subscription{}, &berthv1alpha1.FeedInventory{}).
		WithIndex(&corev1.Event{}, "involvedObject.uid", func(o client.Object) []string {
			event, _ := o.(*corev1.Event)
			return []string{string(event.InvolvedObject.UID)}
		}).
		WithInterceptorFuncs(interceptor.Funcs{
			SubResourcePatch: func(ctx context.Context, c client.Client, sub string, o client.Object, p client.Patch,
				opts ...client.SubResourcePatchOption,
			) error {
				w.statusWrites++
				if w.refuse != nil && w.refuse(o) {
					return errors.New("the API server refuses that")
				}
				return c.SubResource(sub).Patch(ctx, o, p, opts...)
			},
			List:   w.list,
			Delete: w.remove,
			Apply:  w.apply,
			Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
				w.count(o)
				return c.Create(ctx, o, opts...)
			},
			Update: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.UpdateOption) error {
				w.count(o)
				return c.Update(ctx, o, opts...)
			},
		}).Build()
	w.restart()
	return w
}

// list answers from a cache that may lag behind.
func (w *world) list(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
	if _, ok := list.(*corev1.EventList); ok {
		w.eventReads++
	}
	if subscriptions, ok := list.(*berthv1alpha1.SubscriptionList); ok && w.stale != nil {
		w.stale.DeepCopyInto(subscriptions)
		return nil
	}
	if err := c.List(ctx, list, opts...); err != nil {
		return err
	}
	if deployments, ok := list.(*appsv1.DeploymentList); ok {
		deployments.Items = slices.DeleteFunc(deployments.Items, func(d appsv1.Deployment) bool { return d.Name == w.hidden })
	}
	return nil
}

// remove deletes an object, once what is to happen before has happened.
func (w *world) remove(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
	if _, ok := o.(*appsv1.Deployment); ok && w.beforeDelete != nil {
		before := w.beforeDelete
		w.beforeDelete = nil
		before()
	}
	return c.Delete(ctx, o, opts...)
}

// apply applies a copy, once what is to happen before has happened.
func (w *world) apply(ctx context.Context, c client.WithWatch, o runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
	if before := w.beforeApply; before != nil {
		w.beforeApply = nil
		before()
	}
	w.applies++
	if err := c.Apply(ctx, o, opts...); err != nil {
		return err
	}
	return giveUIDs(ctx, c)
}

// giveUIDs gives every Deployment a UID, as the API server does and the fake does not.
func giveUIDs(ctx context.Context, c client.Client) error {
	var list appsv1.DeploymentList
	if err := c.List(ctx, &list); err != nil {
		return err
	}
	for i := range list.Items {
		if d := &list.Items[i]; d.UID == "" {
			d.UID = types.UID("uid-" + d.Name)
			if err := c.Update(ctx, d); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *world) count(o client.Object) {
	if _, policy := o.(*berthv1alpha1.PropagationPolicy); policy {
		w.policyWrites++
	}
}

// account returns the account that Applications and copies are written as.
func (w *world) account(_ context.Context, namespace, name string) (*accounts.Account, error) {
	if w.noAccount != nil {
		return nil, w.noAccount
	}
	return &accounts.Account{Client: w.client, Namespace: namespace, Name: cmp.Or(name, "default")}, nil
}

// restart makes a controller that remembers nothing.
func (w *world) restart() {
	w.tracker = state.NewTracker(w.client)
	w.r = subscription.New(subscription.Options{
		Client: w.client, Live: w.client, Account: w.account, Topology: w.tracker, Clock: w.clock, Recorder: w.recorder,
		OwnInventories: w.ownInventories, Owners: w.owners, Adviser: advisertest.New(w.t, w.client),
	})
}

func (w *world) create(objects ...client.Object) {
	w.t.Helper()
	for _, o := range objects {
		if err := w.client.Create(w.t.Context(), o); err != nil {
			w.t.Fatal(err)
		}
	}
}

// pass lets the controller work.
func (w *world) pass() {
	w.t.Helper()
	w.r.Adviser = advisertest.New(w.t, w.client)
	w.again()
}

// again lets the controller work with the adviser that it has.
func (w *world) again() {
	w.t.Helper()
	w.tracker.Invalidate()
	if _, err := w.r.Reconcile(w.t.Context(), singleton.Key{}); err != nil {
		w.t.Fatal(err)
	}
}

// site makes a Cluster with one node that has so many CPUs.
func (w *world) site(name string, cpus int) {
	w.t.Helper()
	w.create(&berthv1alpha1.Cluster{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), Labels: map[string]string{"site": name}},
		Spec:       berthv1alpha1.ClusterSpec{Nodes: []string{name + "-1"}},
	}, &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name + "-1", Labels: map[string]string{"site": name}},
		Status: corev1.NodeStatus{
			Allocatable: corev1.ResourceList{
				corev1.ResourceCPU: *resource.NewQuantity(int64(cpus), resource.DecimalSI), corev1.ResourcePods: resource.MustParse("110"),
			},
			Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}},
		},
	})
}

func oneCPU() corev1.ResourceRequirements {
	return corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}}
}

func deployment(name string) berthv1alpha1.Feed {
	return berthv1alpha1.Feed{APIVersion: "apps/v1", Kind: "Deployment", Name: name}
}

// deploy makes a Deployment and its ReplicaSet, or scales it.
func (w *world) deploy(name string, replicas int32) {
	w.t.Helper()
	d := &appsv1.Deployment{}
	if w.client.Get(w.t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, d) == nil {
		d.Spec.Replicas = &replicas
		if err := w.client.Update(w.t.Context(), d); err != nil {
			w.t.Fatal(err)
		}
		return
	}
	selector := &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}}
	w.create(&appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID(name)},
		Spec:       appsv1.DeploymentSpec{Replicas: &replicas, Selector: selector},
	}, &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: name + "-1", UID: types.UID(name + "-1"),
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "Deployment", Name: name, UID: types.UID(name), Controller: new(true)}},
		},
	})
}

var ready = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}

// run makes pods of a Deployment that run on the node of a Cluster.
func (w *world) run(deployment, cluster string, n int) {
	w.t.Helper()
	for range n {
		pod := w.newPod(deployment)
		pod.Labels["in"], pod.Spec.NodeName = cluster, cluster+"-1"
		pod.Status.Conditions = ready
		w.create(pod)
	}
}

// pend makes pods of a Deployment that nobody has tried yet.
func (w *world) pend(deployment string, n int) {
	w.t.Helper()
	for range n {
		w.create(w.newPod(deployment))
	}
}

func (w *world) newPod(deployment string) *corev1.Pod {
	w.pods++
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: fmt.Sprintf("p%d", w.pods), Labels: map[string]string{"app": deployment},
			OwnerReferences: []metav1.OwnerReference{*ofDeployment(deployment)},
		},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "a", Resources: oneCPU()}}},
	}
}

// runAsDivided makes pods run as the status tells.
func (w *world) runAsDivided(name string) {
	w.t.Helper()
	for _, f := range w.get(name).Status.Feeds {
		for _, c := range f.Clusters {
			var pods corev1.PodList
			if err := w.client.List(w.t.Context(), &pods, client.MatchingLabels{"app": f.Name, "in": c.Name}); err != nil {
				w.t.Fatal(err)
			}
			w.run(f.Name, c.Name, max(0, int(c.Replicas)-len(pods.Items)))
		}
	}
}

// stop removes pods of a Deployment from a Cluster.
func (w *world) stop(deployment, cluster string, n int) {
	w.t.Helper()
	var pods corev1.PodList
	if err := w.client.List(w.t.Context(), &pods, client.MatchingLabels{"app": deployment, "in": cluster}); err != nil {
		w.t.Fatal(err)
	}
	for i := range n {
		if err := w.client.Delete(w.t.Context(), &pods.Items[i]); err != nil {
			w.t.Fatal(err)
		}
	}
}

type change func(*berthv1alpha1.Subscription)

// subscribe makes a Subscription to Deployments and, unless it divides statically, its inventory.
// Each asks for one CPU.
func (w *world) subscribe(name string, feeds []string, changes ...change) {
	w.t.Helper()
	s := &berthv1alpha1.Subscription{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: name, UID: types.UID(name), Generation: 1,
			CreationTimestamp: metav1.NewTime(w.clock.Now()),
		},
		Spec: berthv1alpha1.SubscriptionSpec{
			SchedulingStrategy: berthv1alpha1.DynamicDividingStrategy, Subscribers: []berthv1alpha1.Subscriber{{}},
		},
	}
	for _, f := range feeds {
		s.Spec.Feeds = append(s.Spec.Feeds, deployment(f))
	}
	for _, c := range changes {
		c(s)
	}
	w.create(s)
	w.clock.Step(time.Second)
	w.inventory(s)
}

// inventory tells what the feeds need.
func (w *world) inventory(s *berthv1alpha1.Subscription) {
	w.t.Helper()
	inventory := &berthv1alpha1.FeedInventory{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: s.Name}}
	for _, f := range s.Spec.Feeds {
		inventory.Spec.Feeds = append(inventory.Spec.Feeds, berthv1alpha1.FeedOrder{
			Feed: f, DesiredReplicas: new(int32(1)), ReplicaJSONPath: "/spec/replicas",
			ReplicaRequirements: berthv1alpha1.ReplicaRequirements{Resources: oneCPU()},
		})
	}
	w.create(inventory)
}

func bundle(s *berthv1alpha1.Subscription) {
	s.Spec.DividingScheduling = &berthv1alpha1.DividingScheduling{
		Type: berthv1alpha1.DynamicDividingType, Admission: berthv1alpha1.BundleAdmission,
	}
}

// static gives Clusters weights.
func static(weights map[string]int32) change {
	return func(s *berthv1alpha1.Subscription) {
		s.Spec.SchedulingStrategy = berthv1alpha1.DividingStrategy
		s.Spec.DividingScheduling = &berthv1alpha1.DividingScheduling{Type: berthv1alpha1.StaticDividingType}
		s.Spec.Subscribers = nil
		for _, site := range slices.Sorted(maps.Keys(weights)) {
			s.Spec.Subscribers = append(s.Spec.Subscribers, berthv1alpha1.Subscriber{
				ClusterAffinity: metav1.LabelSelector{MatchLabels: map[string]string{"site": site}}, Weight: weights[site],
			})
		}
	}
}

func (w *world) get(name string) *berthv1alpha1.Subscription {
	w.t.Helper()
	s := &berthv1alpha1.Subscription{}
	if err := w.client.Get(w.t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, s); err != nil {
		w.t.Fatal(err)
	}
	return s
}

// change changes a Subscription.
func (w *world) change(name string, changes ...change) {
	w.t.Helper()
	s := w.get(name)
	for _, c := range changes {
		c(s)
	}
	s.Generation++
	if err := w.client.Update(w.t.Context(), s); err != nil {
		w.t.Fatal(err)
	}
}

// told tells the feeds of a Subscription, "web a=2 b=3 -1" with one replica that finds no room, for
// instance.
func (w *world) told(name string) string {
	w.t.Helper()
	var feeds []string
	for _, f := range w.get(name).Status.Feeds {
		text := []string{f.Name}
		for _, c := range f.Clusters {
			text = append(text, fmt.Sprintf("%s=%d", c.Name, c.Replicas))
		}
		if f.Unplaced > 0 {
			text = append(text, fmt.Sprintf("-%d", f.Unplaced))
		}
		feeds = append(feeds, strings.Join(text, " "))
	}
	return strings.Join(feeds, ", ")
}

func (w *world) reason(name, condition string) string {
	w.t.Helper()
	c := apimeta.FindStatusCondition(w.get(name).Status.Conditions, condition)
	if c == nil {
		return "none"
	}
	return c.Reason
}

// message returns the message of a condition.
func (w *world) message(name, condition string) string {
	w.t.Helper()
	c := apimeta.FindStatusCondition(w.get(name).Status.Conditions, condition)
	if c == nil {
		return "none"
	}
	return c.Message
}

// policy tells the policy of a Deployment, "5: a=2/2 b=3/3" with weights and limits, for instance;
// "none" if there is none.
func (w *world) policy(name, feed string) string {
	w.t.Helper()
	ref := deployment(feed)
	p := &berthv1alpha1.PropagationPolicy{}
	key := client.ObjectKey{Namespace: namespace, Name: rules.PolicyName(name, &ref)}
	if err := w.client.Get(w.t.Context(), key, p); err != nil {
		return "none"
	}
	text := []string{p.Annotations[berthv1alpha1.DividedAnnotation] + ":"}
	for _, e := range p.Spec.Placement.StaticWeightList {
		entry := fmt.Sprintf("%s=%d", strings.Join(e.ClusterNames, "+"), e.Weight)
		if e.Max != nil {
			entry += fmt.Sprintf("/%d", *e.Max)
		}
		text = append(text, entry)
	}
	return strings.Join(text, " ")
}

func (w *world) want(what, got, want string) {
	w.t.Helper()
	if got != want {
		w.t.Errorf("%s is %q, want %q", what, got, want)
	}
}
