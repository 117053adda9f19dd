// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package feedinventory_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/meta/testrestmapper"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	metadatafake "k8s.io/client-go/metadata/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/yaml"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/controllers/feedinventory"
	"berth.dev/berth/pkg/controllers/internal/schemetest"
)

const timeout = 30 * time.Second

// world is an API server made of fakes, and a controller.
type world struct {
	t          *testing.T
	scheme     *runtime.Scheme
	client     client.Client
	metadata   *metadatafake.FakeMetadataClient
	objects    *dynamicfake.FakeDynamicClient
	controller *feedinventory.Reconciler

	version       int
	writes, reads atomic.Int64
	refuse        func(*berthv1alpha1.FeedInventory) error
	recorder      *events.FakeRecorder
}

func newWorld(t *testing.T, existing ...client.Object) *world {
	t.Helper()
	w := &world{t: t, scheme: schemetest.New()}
	w.client = fake.NewClientBuilder().WithScheme(w.scheme).WithObjects(existing...).
		WithStatusSubresource(&berthv1alpha1.Subscription{}, &berthv1alpha1.FeedInventory{}, &berthv1alpha1.FeedParser{}).
		WithInterceptorFuncs(w.counting()).Build()
	w.recorder = events.NewFakeRecorder(100)
	w.metadata = metadatafake.NewSimpleMetadataClient(w.scheme)
	w.objects = dynamicfake.NewSimpleDynamicClient(w.scheme)
	w.objects.PrependReactor("get", "*", func(clienttesting.Action) (bool, runtime.Object, error) {
		w.reads.Add(1)
		return false, nil, nil
	})
	w.start()
	return w
}

// start makes a controller that knows nothing yet, as after a restart.
func (w *world) start() {
	w.t.Helper()
	var err error
	w.controller, err = feedinventory.New(feedinventory.Options{
		Client: w.client, Mapper: testrestmapper.TestOnlyStaticRESTMapper(w.scheme), Metadata: w.metadata, Objects: w.objects,
		Recorder: w.recorder,
		// The clock stands still: whatever happens has been asked for.
		Clock: clocktesting.NewFakePassiveClock(time.Unix(0, 0)),
	})
	if err != nil {
		w.t.Fatal(err)
	}
	w.rules()
}

// counting counts what is written of inventories.
func (w *world) counting() interceptor.Funcs {
	count := func(object client.Object) error {
		inventory, ok := object.(*berthv1alpha1.FeedInventory)
		if !ok {
			return nil
		}
		if w.refuse != nil {
			if err := w.refuse(inventory); err != nil {
				return err
			}
		}
		w.writes.Add(1)
		return nil
	}
	return interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, object client.Object, opts ...client.CreateOption) error {
			if err := count(object); err != nil {
				return err
			}
			return c.Create(ctx, object, opts...)
		},
		Update: func(ctx context.Context, c client.WithWatch, object client.Object, opts ...client.UpdateOption) error {
			if err := count(object); err != nil {
				return err
			}
			return c.Update(ctx, object, opts...)
		},
		SubResourcePatch: func(
			ctx context.Context, c client.Client, sub string, object client.Object, patch client.Patch, opts ...client.SubResourcePatchOption,
		) error {
			if err := count(object); err != nil {
				return err
			}
			return c.SubResource(sub).Patch(ctx, object, patch, opts...)
		},
	}
}

// rules lets the controller look at FeedParsers and definitions.
func (w *world) rules() {
	w.t.Helper()
	if _, err := feedinventory.ReconcileRules(w.t.Context(), w.controller); err != nil {
		w.t.Fatal(err)
	}
}

// put makes or replaces an object that is written as YAML.
func (w *world) put(resource, text string) {
	w.t.Helper()
	object := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &object.Object); err != nil {
		w.t.Fatal(err)
	}
	w.version++
	object.SetNamespace("shop")
	object.SetResourceVersion(strconv.Itoa(w.version))
	object.SetUID("1")
	gvr := object.GroupVersionKind().GroupVersion().WithResource(resource)
	meta := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
		Namespace: "shop", Name: object.GetName(), ResourceVersion: object.GetResourceVersion(), UID: object.GetUID(),
		Labels: object.GetLabels(), Annotations: object.GetAnnotations(), OwnerReferences: object.GetOwnerReferences(),
	}}
	meta.SetGroupVersionKind(object.GroupVersionKind())
	if err := errors.Join(
		replace(w.objects.Tracker(), gvr, object), replace(w.metadata.Tracker(), gvr, meta)); err != nil {
		w.t.Fatal(err)
	}
}

func replace(tracker clienttesting.ObjectTracker, gvr schema.GroupVersionResource, object runtime.Object) error {
	err := tracker.Create(gvr, object, "shop")
	if apierrors.IsAlreadyExists(err) {
		return tracker.Update(gvr, object, "shop")
	}
	return err
}

func (w *world) remove(gvr schema.GroupVersionResource, name string) {
	w.t.Helper()
	w.untilWatched(gvr.Resource)
	if err := errors.Join(w.objects.Tracker().Delete(gvr, "shop", name), w.metadata.Tracker().Delete(gvr, "shop", name)); err != nil {
		w.t.Fatal(err)
	}
}

var deployments = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}

// untilWatched waits until a resource is watched that an informer has listed. The tracker does not
// notify a watch of what came before it.
func (w *world) untilWatched(resource string) {
	w.t.Helper()
	err := wait.PollUntilContextTimeout(w.t.Context(), time.Millisecond, timeout, true, func(context.Context) (bool, error) {
		lists, watches := 0, 0
		for _, action := range w.metadata.Actions() {
			switch {
			case action.GetResource().Resource != resource:
			case action.GetVerb() == "list":
				lists++
			case action.GetVerb() == "watch":
				watches++
			}
		}
		return watches >= lists, nil
	})
	if err != nil {
		w.t.Fatalf("%s are listed and not watched", resource)
	}
}

func (w *world) deploy(name string, replicas int) {
	w.t.Helper()
	w.untilWatched("deployments")
	w.put("deployments", fmt.Sprintf(
		"{apiVersion: apps/v1, kind: Deployment, metadata: {name: %s}, spec: {replicas: %d, template: {spec: {containers: []}}}}", name, replicas))
}

// subscribe makes or changes the Subscription.
func (w *world) subscribe(change func(*berthv1alpha1.SubscriptionSpec)) {
	w.t.Helper()
	s := &berthv1alpha1.Subscription{}
	err := w.client.Get(w.t.Context(), request.NamespacedName, s)
	if apierrors.IsNotFound(err) {
		s.Name, s.Namespace, s.UID, s.Generation = request.Name, request.Namespace, "s", 1
		s.Spec.SchedulingStrategy = berthv1alpha1.DynamicDividingStrategy
		change(&s.Spec)
		err = w.client.Create(w.t.Context(), s)
	} else if err == nil {
		s.Generation++
		change(&s.Spec)
		err = w.client.Update(w.t.Context(), s)
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

func listing(feeds ...berthv1alpha1.Feed) func(*berthv1alpha1.SubscriptionSpec) {
	return func(spec *berthv1alpha1.SubscriptionSpec) { spec.Feeds = feeds }
}

func deployment(name string) berthv1alpha1.Feed {
	return berthv1alpha1.Feed{APIVersion: "apps/v1", Kind: "Deployment", Name: name}
}

var request = reconcile.Request{NamespacedName: client.ObjectKey{Namespace: "shop", Name: "bundle"}}

// pass lets the controller work until it waits for nothing but the next change.
func (w *world) pass() {
	w.t.Helper()
	if _, err := w.tryPass(); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) tryPass() (reconcile.Result, error) {
	return w.controller.Reconcile(w.t.Context(), request)
}

// until passes until the inventory tells what is wanted.
func (w *world) until(want ...string) {
	w.t.Helper()
	var got string
	w.eventually(func() bool {
		got = w.lines()
		return got == strings.Join(want, "; ")
	}, func() string { return fmt.Sprintf("the inventory tells %q, want %q", got, strings.Join(want, "; ")) })
}

// eventually passes until something holds.
func (w *world) eventually(holds func() bool, otherwise func() string) {
	w.t.Helper()
	err := wait.PollUntilContextTimeout(w.t.Context(), 5*time.Millisecond, timeout, true, func(context.Context) (bool, error) {
		w.pass()
		return holds(), nil
	})
	if err != nil {
		w.t.Fatal(otherwise())
	}
}

func (w *world) inventory() *berthv1alpha1.FeedInventory {
	w.t.Helper()
	inventory := &berthv1alpha1.FeedInventory{}
	if err := w.client.Get(w.t.Context(), request.NamespacedName, inventory); err != nil {
		if apierrors.IsNotFound(err) {
			return nil
		}
		w.t.Fatal(err)
	}
	return inventory
}

// lines tells of each feed in the inventory what is known.
func (w *world) lines() string {
	w.t.Helper()
	inventory := w.inventory()
	if inventory == nil {
		return "none"
	}
	var list []string
	for i, order := range inventory.Spec.Feeds {
		replicas := "-"
		if order.DesiredReplicas != nil {
			replicas = strconv.Itoa(int(*order.DesiredReplicas))
		}
		reason := "?"
		if i < len(inventory.Status.Feeds) {
			c := apimeta.FindStatusCondition(inventory.Status.Feeds[i].Conditions, berthv1alpha1.FeedParsed)
			reason = string(c.Status) + " " + c.Reason
		}
		list = append(list, fmt.Sprintf("%s %s %s", order.Name, replicas, reason))
	}
	return strings.Join(list, "; ")
}
