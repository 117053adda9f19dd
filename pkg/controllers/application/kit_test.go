// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package application_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/meta/testrestmapper"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/yaml"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/controllers/accounts"
	"berth.dev/berth/pkg/controllers/adviser"
	"berth.dev/berth/pkg/controllers/adviser/advisertest"
	"berth.dev/berth/pkg/controllers/application"
	"berth.dev/berth/pkg/controllers/internal/schemetest"
	"berth.dev/berth/pkg/model/stamp"
	"berth.dev/berth/pkg/placement/rank"
	"berth.dev/berth/pkg/simulator"
)

const namespace = "shop"

// world is an API server made of fakes, a clock that stands still, and a controller.
type world struct {
	t          testing.TB
	client     client.Client
	mapper     apimeta.RESTMapper
	clock      *clocktesting.FakePassiveClock
	recorder   *events.FakeRecorder
	adviser    *freshAdviser
	controller *application.Reconciler

	writes int
	refuse func(kind, name string) error
	// fail makes requests fail, by their verb ("get", "list", "patch", "delete", "status") and the
	// type of the object.
	fail     func(verb string, object runtime.Object) error
	podCount int
	// noAccount is why there is no account to write as; nil if there is one.
	noAccount error
}

func newWorld(t testing.TB, existing ...client.Object) *world {
	t.Helper()
	scheme := schemetest.New()
	existing = append(existing, nodesOf(existing)...)
	w := &world{t: t, clock: clocktesting.NewFakePassiveClock(time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC))}
	builder := fake.NewClientBuilder().WithScheme(scheme).WithObjects(existing...).WithReturnManagedFields()
	w.must(application.IndexPods(t.Context(), schemetest.Indexer{Builder: builder}))
	w.client = builder.
		WithStatusSubresource(&berthv1alpha1.Application{}, &berthv1alpha1.PropagationPolicy{}, &berthv1alpha1.Cluster{}).
		WithInterceptorFuncs(interceptor.Funcs{
			Apply: func(ctx context.Context, c client.WithWatch, o runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
				raw, err := json.Marshal(o)
				if err != nil {
					return err
				}
				var named struct {
					Kind     string
					Metadata struct{ Name string }
				}
				if err := json.Unmarshal(raw, &named); err != nil {
					return err
				}
				if w.refuse != nil {
					if err := w.refuse(named.Kind, named.Metadata.Name); err != nil {
						return err
					}
				}
				w.writes++
				return c.Apply(ctx, o, opts...)
			},
			Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
				if err := w.failure("get", o); err != nil {
					return err
				}
				return c.Get(ctx, key, o, opts...)
			},
			List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
				if err := w.failure("list", list); err != nil {
					return err
				}
				return c.List(ctx, list, opts...)
			},
			Patch: func(ctx context.Context, c client.WithWatch, o client.Object, patch client.Patch, opts ...client.PatchOption) error {
				if err := w.failure("patch", o); err != nil {
					return err
				}
				return c.Patch(ctx, o, patch, opts...)
			},
			Delete: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
				if err := w.failure("delete", o); err != nil {
					return err
				}
				return c.Delete(ctx, o, opts...)
			},
			SubResourcePatch: func(
				ctx context.Context, c client.Client, sub string, o client.Object, patch client.Patch, opts ...client.SubResourcePatchOption,
			) error {
				if err := w.failure("status", o); err != nil {
					return err
				}
				w.writes++
				return c.SubResource(sub).Patch(ctx, o, patch, opts...)
			},
		}).Build()
	w.mapper = testrestmapper.TestOnlyStaticRESTMapper(scheme)
	w.restart()
	return w
}

func (w *world) failure(verb string, object runtime.Object) error {
	if w.fail == nil {
		return nil
	}
	return w.fail(verb, object)
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
	w.recorder = events.NewFakeRecorder(1000)
	w.adviser = &freshAdviser{w: w, promised: map[string][]adviser.Promise{}}
	w.controller = application.New(application.Options{
		Client: w.client, Clusters: w.clusters, Live: w.client, Account: w.account, Mapper: w.mapper, Recorder: w.recorder, Clock: w.clock,
		Schedulers: []string{"berth-scheduler"}, Stickiness: rank.DefaultStickiness, RescheduleAfter: time.Minute,
		Adviser: w.adviser, SettleTimeout: 30 * time.Second,
	})
}

// clusters returns the Clusters as they are.
func (w *world) clusters() (found []*berthv1alpha1.Cluster) {
	var list berthv1alpha1.ClusterList
	if err := w.client.List(w.t.Context(), &list); err != nil {
		w.t.Error(err)
	}
	for i := range list.Items {
		found = append(found, &list.Items[i])
	}
	return found
}

// freshAdviser answers by what the API server has at the moment of the question.
type freshAdviser struct {
	w *world
	// asked counts the questions, and promised are the promises, by who has made them.
	asked    int
	promised map[string][]adviser.Promise
}

func (a *freshAdviser) Reserve(
	ctx context.Context, by string, except func(*adviser.Promise) bool, question func(*simulator.Snapshot) ([]adviser.Promise, error),
) error {
	a.asked++
	fresh := advisertest.New(a.w.t, a.w.client)
	for who, promises := range a.promised {
		fresh.Promise(who, promises)
	}
	return fresh.Reserve(ctx, by, except, func(snapshot *simulator.Snapshot) ([]adviser.Promise, error) {
		promises, err := question(snapshot)
		if err == nil {
			a.promised[by] = promises
		}
		return promises, err
	})
}

func (a *freshAdviser) Promise(by string, promises []adviser.Promise) { a.promised[by] = promises }

func (a *freshAdviser) Admit(ctx context.Context, pod *corev1.Pod) (*corev1.Pod, error) {
	return advisertest.New(a.w.t, a.w.client).Admit(ctx, pod)
}

func (*freshAdviser) OnChange(func()) {}

// nodesOf returns a node with room for each Cluster that has none.
func nodesOf(existing []client.Object) (nodes []client.Object) {
	there := map[string]bool{}
	for _, object := range existing {
		there[object.GetLabels()["cluster"]] = true
	}
	for _, object := range existing {
		if c, ok := object.(*berthv1alpha1.Cluster); ok && !there[c.Name] {
			nodes = append(nodes, node(c.Name, "8"))
		}
	}
	return nodes
}

// node returns the node of a Cluster with so many CPUs.
func node(cluster, cpus string) *corev1.Node {
	amount := corev1.ResourceList{"cpu": resource.MustParse(cpus), "memory": resource.MustParse("8Gi"), "pods": resource.MustParse("110")}
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: cluster + "-0", Labels: map[string]string{"cluster": cluster}},
		Status:     corev1.NodeStatus{Allocatable: amount, Capacity: amount},
	}
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

var request = reconcile.Request{NamespacedName: client.ObjectKey{Namespace: namespace, Name: "web"}}

// pass lets the controller work once.
func (w *world) pass() reconcile.Result {
	w.t.Helper()
	result, err := w.controller.Reconcile(w.t.Context(), request)
	w.must(err)
	return result
}

// passes lets the controller work until nothing more is written.
func (w *world) passes() {
	w.t.Helper()
	for range 20 {
		before := w.writes
		w.pass()
		w.observePolicies()
		if w.writes == before {
			return
		}
	}
	w.t.Fatal("the controller does not come to rest")
}

// after lets time pass, and the controller work.
func (w *world) after(d time.Duration) {
	w.t.Helper()
	w.clock.SetTime(w.clock.Now().Add(d))
	w.passes()
}

// observePolicies stands in for the policy controller.
func (w *world) observePolicies() {
	w.t.Helper()
	var list berthv1alpha1.PropagationPolicyList
	w.must(w.client.List(w.t.Context(), &list))
	for i := range list.Items {
		list.Items[i].Status.ObservedGeneration = list.Items[i].Generation
		w.must(w.client.Status().Update(w.t.Context(), &list.Items[i]))
	}
}

func (w *world) app() *berthv1alpha1.Application {
	w.t.Helper()
	app := &berthv1alpha1.Application{}
	w.must(w.client.Get(w.t.Context(), request.NamespacedName, app))
	return app
}

// edit changes the spec.
func (w *world) edit(change func(*berthv1alpha1.ApplicationSpec)) {
	w.t.Helper()
	app := w.app()
	change(&app.Spec)
	app.Generation++
	w.must(w.client.Update(w.t.Context(), app))
}

// events returns what was told about the Application.
func (w *world) events() []string {
	var told []string
	for {
		select {
		case event := <-w.recorder.Events:
			told = append(told, event)
		default:
			return told
		}
	}
}

// condition returns status, reason and message of a condition.
func (w *world) condition(kind string) string {
	w.t.Helper()
	c := apimeta.FindStatusCondition(w.app().Status.Conditions, kind)
	if c == nil {
		return "none"
	}
	return fmt.Sprintf("%s %s: %s", c.Status, c.Reason, c.Message)
}

// cluster returns a Cluster with a metric of weight 1 from 0 to 1.
func cluster(name string, value float64) *berthv1alpha1.Cluster {
	c := &berthv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), Labels: map[string]string{"location": name}}}
	c.Spec.Metrics = []berthv1alpha1.MetricReference{{Name: "green", Weight: 1}}
	c.Spec.MatchLabels = map[string]string{"cluster": name}
	c.Status.Conditions = []metav1.Condition{{Type: berthv1alpha1.ClusterOnline, Status: metav1.ConditionTrue, Reason: "X"}}
	sample(c, value)
	return c
}

func sample(c *berthv1alpha1.Cluster, value float64) {
	c.Status.Metrics = []berthv1alpha1.MetricSample{{Name: "green", Value: &value, Normalized: &value}}
}

// measure writes another value of the metric of a Cluster.
func (w *world) measure(name string, change func(*berthv1alpha1.Cluster)) {
	w.t.Helper()
	c := &berthv1alpha1.Cluster{}
	w.must(w.client.Get(w.t.Context(), client.ObjectKey{Name: name}, c))
	change(c)
	w.must(w.client.Status().Update(w.t.Context(), c))
}

// change changes the spec of a Cluster.
func (w *world) change(name string, change func(*berthv1alpha1.Cluster)) {
	w.t.Helper()
	c := &berthv1alpha1.Cluster{}
	w.must(w.client.Get(w.t.Context(), client.ObjectKey{Name: name}, c))
	change(c)
	w.must(w.client.Update(w.t.Context(), c))
}

// manifests reads objects that are separated by lines of dashes.
func manifests(text string) []berthv1alpha1.Manifest {
	var list []berthv1alpha1.Manifest
	for document := range strings.SplitSeq(text, "---\n") {
		raw, err := yaml.YAMLToJSON([]byte(document))
		if err != nil {
			panic(err)
		}
		list = append(list, berthv1alpha1.Manifest{RawExtension: runtime.RawExtension{Raw: raw}})
	}
	return list
}

const deployment = `apiVersion: apps/v1
kind: Deployment
metadata: {name: front}
spec: {replicas: 2, selector: {matchLabels: {app: front}}, template: {metadata: {labels: {app: front}}, spec: {containers: [{name: c, image: i}]}}}
`

const configMap = `apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {a: b}
`

func newApplication(text string) *berthv1alpha1.Application {
	return &berthv1alpha1.Application{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: namespace, UID: "app", Generation: 1},
		Spec:       berthv1alpha1.ApplicationSpec{Manifests: manifests(text), Migration: berthv1alpha1.MigrationStartFirst},
	}
}

// policy tells the clusters of the policy of the Deployment, those of an entry with commas, and the
// least number of replicas where there is one.
func (w *world) policy() string {
	w.t.Helper()
	policy := &berthv1alpha1.PropagationPolicy{}
	err := w.client.Get(w.t.Context(), client.ObjectKey{Namespace: namespace, Name: "web-deployment-front"}, policy)
	if apierrors.IsNotFound(err) {
		return "none"
	}
	w.must(err)
	var entries []string
	for _, entry := range policy.Spec.Placement.StaticWeightList {
		text := strings.Join(entry.ClusterNames, ",")
		if entry.Min != nil {
			text += fmt.Sprintf(">=%d", *entry.Min)
		}
		if entry.Replicas != nil {
			text += fmt.Sprintf(":%d", *entry.Replicas)
		}
		entries = append(entries, text)
	}
	return strings.Join(entries, " ")
}

// rebalance returns whether the policy of the Deployment moves running pods.
func (w *world) rebalance() berthv1alpha1.RebalanceMode {
	w.t.Helper()
	policy := &berthv1alpha1.PropagationPolicy{}
	w.must(w.client.Get(w.t.Context(), client.ObjectKey{Namespace: namespace, Name: "web-deployment-front"}, policy))
	return policy.Spec.Rebalance.Mode
}

func (w *world) deployment() *appsv1.Deployment {
	w.t.Helper()
	d := &appsv1.Deployment{}
	w.must(w.client.Get(w.t.Context(), client.ObjectKey{Namespace: namespace, Name: "front"}, d))
	return d
}

// run puts a pod of the Deployment into a cluster.
func (w *world) run(cluster string, seat int32, ready bool) *corev1.Pod {
	w.t.Helper()
	w.podCount++
	name := fmt.Sprintf("front-%d", w.podCount)
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace, UID: types.UID(name)}}
	pod.Spec.NodeName = cluster + "-0"
	pod.Annotations = stamp.Stamp{Policy: "web-deployment-front", Cluster: cluster, Seat: seat}.Annotations(pod, pod.Spec.NodeName)
	if ready {
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	}
	w.must(w.client.Create(w.t.Context(), pod))
	return pod
}
