// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package ownership_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	metadatafake "k8s.io/client-go/metadata/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/utils/clock"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/workload"
	"berth.dev/berth/pkg/ownership"
)

const (
	namespace    = "ns"
	groupVersion = "example.com/v1"
)

// resources tells which kinds are served.
type resources interface {
	ServerResourcesForGroupVersion(groupVersion string) (*metav1.APIResourceList, error)
}

// kinds serves a Ring with a scale subresource, a Fleet without, and an Orbit that has no
// namespace.
type kinds struct{ err error }

func (k kinds) ServerResourcesForGroupVersion(gv string) (*metav1.APIResourceList, error) {
	if k.err != nil {
		return nil, k.err
	}
	if gv != groupVersion {
		return nil, apierrors.NewNotFound(schema.GroupResource{}, gv)
	}
	return &metav1.APIResourceList{GroupVersion: gv, APIResources: []metav1.APIResource{
		{Name: "fleets", Kind: "Fleet", Namespaced: true}, {Name: "rings", Kind: "Ring", Namespaced: true},
		{Name: "rings/scale", Kind: "Scale", Namespaced: true}, {Name: "orbits", Kind: "Orbit"},
	}}, nil
}

// world is a Directory with an API server of its own.
type world struct {
	*ownership.Directory

	objects *dynamicfake.FakeDynamicClient
	meta    *metadatafake.FakeMetadataClient
	named   bool
	rules   []berthv1alpha1.FeedParser

	mu      sync.Mutex
	changes int
	// owners are those of which something was told.
	owners []types.UID
}

// newWorld must be called in a synctest bubble, but for benchmarks.
func newWorld(tb testing.TB, served resources, objects ...*unstructured.Unstructured) *world {
	tb.Helper()
	lists := map[schema.GroupVersionResource]string{
		{Group: "example.com", Version: "v1", Resource: "rings"}:                              "RingList",
		{Group: "example.com", Version: "v1", Resource: "fleets"}:                             "FleetList",
		{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}: "CustomResourceDefinitionList",
	}
	scheme := metadatafake.NewTestScheme()
	if err := metav1.AddMetaToScheme(scheme); err != nil {
		tb.Fatal(err)
	}
	whole, partial := []runtime.Object{definition()}, []runtime.Object{}
	for _, object := range objects {
		whole = append(whole, object)
		partial = append(partial, &metav1.PartialObjectMetadata{
			TypeMeta:   metav1.TypeMeta{APIVersion: object.GetAPIVersion(), Kind: object.GetKind()},
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: object.GetName(), UID: object.GetUID(), OwnerReferences: object.GetOwnerReferences()},
		})
	}
	w := &world{
		objects: dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), lists, whole...),
		meta:    metadatafake.NewSimpleMetadataClient(scheme, partial...),
	}
	w.Directory = ownership.New(ownership.Options{
		Objects: w.objects, Metadata: w.meta, Discovery: served, Clock: clock.RealClock{},
		Rules: func(context.Context) ([]berthv1alpha1.FeedParser, error) { return w.rules, nil },
		Named: func(schema.GroupKind) bool { return w.named },
	})
	w.Listen(func(in string, owner types.UID) {
		w.mu.Lock()
		defer w.mu.Unlock()
		if in == namespace {
			w.changes++
			w.owners = append(w.owners, owner)
		}
	})
	ctx, stop := context.WithCancel(tb.Context())
	var running sync.WaitGroup
	running.Go(func() { w.Run(ctx) })
	tb.Cleanup(func() {
		stop()
		running.Wait()
	})
	return w
}

// told is how often somebody was told of changes in the namespace.
func (w *world) told() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.changes
}

// toldOf returns the owners of which somebody was told since it was called last, each once.
func (w *world) toldOf() []types.UID {
	w.mu.Lock()
	defer w.mu.Unlock()
	owners := w.owners
	w.owners = nil
	slices.Sort(owners)
	return slices.Compact(owners)
}

// definition is that of Rings, which have their number in an unusual place.
func definition() *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": map[string]any{"name": "rings.example.com"},
		"spec": map[string]any{"versions": []any{map[string]any{
			"name": "v1", "subresources": map[string]any{"scale": map[string]any{"specReplicasPath": ".spec.size"}},
		}}},
	}}
}

func object(kind, name string, spec map[string]any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": groupVersion, "kind": kind, "spec": spec,
		"metadata": map[string]any{"namespace": namespace, "name": name, "uid": name},
	}}
}

func ref(apiVersion, kind, name, uid string) *metav1.OwnerReference {
	return &metav1.OwnerReference{APIVersion: apiVersion, Kind: kind, Name: name, UID: types.UID(uid), Controller: new(true)}
}

// ask asks twice: at first nobody knows.
func (w *world) ask(t *testing.T, reference *metav1.OwnerReference) (*workload.FurtherOwner, error) {
	t.Helper()
	if _, err := w.Further(namespace, reference); !errors.Is(err, workload.ErrOwnerNotFound) {
		t.Errorf("before it is known: error %v, want that it is being looked up", err)
	}
	synctest.Wait()
	return w.Further(namespace, reference)
}

func forbid(fake *clienttesting.Fake) {
	fake.PrependReactor("*", "*", func(action clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewForbidden(action.GetResource().GroupResource(), "x", errors.New("no"))
	})
}

func TestItIsToldOfWhomSomethingIsKnown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, kinds{}, object("Ring", "followed", map[string]any{"size": int64(3)}), object("Fleet", "single", nil))
		for _, step := range []struct {
			what string
			do   func()
			want []types.UID
		}{
			{"one that is asked for by its name", func() { _, _ = w.ask(t, ref(groupVersion, "Fleet", "single", "single")) }, []types.UID{"single"}},
			{"one that is followed", func() { _, _ = w.ask(t, ref(groupVersion, "Ring", "followed", "followed")) }, []types.UID{"followed"}},
			{"a change", func() { w.resize(t, "followed", 4) }, []types.UID{"followed"}},
		} {
			w.toldOf()
			step.do()
			synctest.Wait()
			if diff := cmp.Diff(step.want, w.toldOf()); diff != "" {
				t.Errorf("told after %s (-want +got):\n%s", step.what, diff)
			}
		}
	})
}

// resize changes the number of a Ring.
func (w *world) resize(t *testing.T, name string, size int64) {
	t.Helper()
	rings := w.objects.Resource(schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "rings"}).Namespace(namespace)
	if _, err := rings.Update(t.Context(), object("Ring", name, map[string]any{"size": size}), metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
}

func TestFurther(t *testing.T) {
	tests := map[string]struct {
		ref            *metav1.OwnerReference
		served         kinds
		spec           map[string]any
		change         func(w *world)
		want           int32
		wantKnown      bool
		wantParts      map[string]int32
		wantUnreadable string
		wantErr        string
		wantInformer   bool
	}{
		"a scale subresource":     {ref: ref(groupVersion, "Ring", "a", "a"), spec: map[string]any{"size": int64(3)}, want: 3, wantKnown: true, wantInformer: true},
		"a number that is absent": {ref: ref(groupVersion, "Ring", "a", "a"), spec: map[string]any{}, want: 1, wantKnown: true, wantInformer: true},
		"a number that is text": {
			ref: ref(groupVersion, "Ring", "a", "a"), spec: map[string]any{"size": "three"}, wantInformer: true,
			wantUnreadable: `specReplicasPath of its scale subresource: /spec/size: must be a whole number from 0 to 2147483647, not "three"`,
		},
		"a kind without a number": {ref: ref(groupVersion, "Fleet", "a", "a")},
		"one that a policy names": {ref: ref(groupVersion, "Fleet", "a", "a"), change: func(w *world) { w.named = true }, wantInformer: true},
		"one that a FeedParser reads": {
			ref: ref(groupVersion, "Fleet", "a", "a"), spec: map[string]any{"ships": int64(7)}, want: 7, wantKnown: true, wantInformer: true,
			change: func(w *world) {
				w.rules = []berthv1alpha1.FeedParser{{
					ObjectMeta: metav1.ObjectMeta{Name: "fleets"},
					Spec: berthv1alpha1.FeedParserSpec{
						Group: "example.com", Kind: "Fleet", Replicas: &berthv1alpha1.ReplicasRule{Path: "/spec/ships"},
					},
				}}
			},
		},
		"one with parts": {
			ref: ref(groupVersion, "Fleet", "a", "a"), spec: map[string]any{"ships": int64(7)}, wantParts: map[string]int32{"ship": 7}, wantInformer: true,
			change: func(w *world) {
				w.rules = []berthv1alpha1.FeedParser{{
					ObjectMeta: metav1.ObjectMeta{Name: "fleets"},
					Spec: berthv1alpha1.FeedParserSpec{Group: "example.com", Kind: "Fleet", Components: []berthv1alpha1.ComponentRule{{
						Name: "ship", Replicas: &berthv1alpha1.ReplicasRule{Path: "/spec/ships"},
						PodTemplate: berthv1alpha1.PodTemplateRule{Expression: "{'spec': {}}"},
					}}},
				}}
			},
		},
		"another of that name": {ref: ref(groupVersion, "Fleet", "a", "b"), wantErr: "Fleet ns/a is not the one with UID b"},
		"none of that name":    {ref: ref(groupVersion, "Fleet", "c", "c"), wantErr: "Fleet ns/c does not exist"},
		"a version that is not served": {
			ref: ref("example.com/v9", "Fleet", "a", "a"), wantErr: "Fleet of example.com/v9 is not served, or has no objects in namespaces",
		},
		"a kind that is not served": {ref: ref(groupVersion, "Moon", "a", "a"), wantErr: "Moon of example.com/v1 is not served"},
		"a kind without namespaces": {ref: ref(groupVersion, "Orbit", "a", "a"), wantErr: "Orbit of example.com/v1 is not served, or has no objects in namespaces"},
		"one that may not be read":  {ref: ref(groupVersion, "Fleet", "a", "a"), change: func(w *world) { forbid(&w.meta.Fake) }, wantErr: "berth may not get fleets.example.com"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, tc.served, object("Ring", "a", tc.spec), object("Fleet", "a", tc.spec))
				if tc.change != nil {
					tc.change(w)
				}
				owner, err := w.ask(t, tc.ref)
				if tc.wantErr != "" {
					if !errors.Is(err, workload.ErrUnconfirmed) || !strings.Contains(err.Error(), tc.wantErr) {
						t.Errorf("error %v, want %q", err, tc.wantErr)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				if owner.GetUID() != "a" || owner.Replicas != tc.want || owner.ReplicasKnown != tc.wantKnown {
					t.Errorf("owner %s wants %d, known: %t; want %d, %t", owner.GetUID(), owner.Replicas, owner.ReplicasKnown, tc.want, tc.wantKnown)
				}
				checkRead(t, owner, tc.wantParts, tc.wantUnreadable)
				if w.changes == 0 {
					t.Error("nobody was told")
				}
				if followed := listed(w); followed != tc.wantInformer {
					t.Errorf("the kind is followed: %t, want %t", followed, tc.wantInformer)
				}
			})
		})
	}
}

// checkRead checks what was read of the parts of an owner, and why its number was not.
func checkRead(t *testing.T, owner *workload.FurtherOwner, parts map[string]int32, unreadable string) {
	t.Helper()
	if !maps.Equal(owner.Components, parts) {
		t.Errorf("its parts want %v, want %v", owner.Components, parts)
	}
	if owner.Unreadable != unreadable {
		t.Errorf("it cannot be read because %q, want %q", owner.Unreadable, unreadable)
	}
}

// listed reports whether all objects of some kind were asked for.
func listed(w *world) bool {
	for _, action := range append(w.objects.Actions(), w.meta.Actions()...) {
		if action.GetVerb() == "list" {
			return true
		}
	}
	return false
}

func TestWhatIsFollowedIsKnownAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, kinds{}, object("Ring", "a", map[string]any{"size": int64(3)}))
		if _, err := w.ask(t, ref(groupVersion, "Ring", "a", "a")); err != nil {
			t.Fatal(err)
		}
		rings := w.objects.Resource(schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "rings"}).Namespace(namespace)
		changes := w.changes
		if _, err := rings.Update(t.Context(), object("Ring", "a", map[string]any{"size": int64(5)}), metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if owner, err := w.Further(namespace, ref(groupVersion, "Ring", "a", "a")); err != nil || owner.Replicas != 5 || w.changes != changes+1 {
			t.Errorf("owner %+v, error %v, %d changes told; want 5 replicas, and one change", owner, err, w.changes-changes)
		}
		if _, err := rings.Update(t.Context(), object("Ring", "a", map[string]any{"size": int64(5), "other": true}), metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if w.changes != changes+1 {
			t.Error("a change that means nothing to pods was told")
		}
	})
}

func TestAPodWaitsForItsOwnersOnlySoLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, kinds{err: errors.New("the API server is busy")}, object("Fleet", "a", nil))
		fleet := ref(groupVersion, "Fleet", "a", "a")
		if _, err := w.ask(t, fleet); !errors.Is(err, workload.ErrOwnerNotFound) {
			t.Errorf("error %v, want that it is being looked up", err)
		}
		sleep(ownership.Patience)
		if w.changes != 1 {
			t.Errorf("told %d times that the pod has waited for long, want once", w.changes)
		}
		if _, err := w.Further(namespace, fleet); !errors.Is(err, workload.ErrUnconfirmed) {
			t.Errorf("error %v, want that it cannot be confirmed", err)
		}
	})
}

func TestPodsOfAHundredUnknownKindsCostFewRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, kinds{}, object("Fleet", "a", nil))
		for i := range 100 {
			for range 10 {
				if _, err := w.Further(namespace, ref(fmt.Sprintf("unknown-%d.example.com/v1", i), "Thing", "a", "a")); err == nil {
					t.Fatal("an owner of an unknown kind was confirmed")
				}
			}
		}
		if _, err := w.Further("elsewhere", ref(groupVersion, "Fleet", "a", "a")); err == nil {
			t.Fatal("known at once")
		}
		synctest.Wait()
		if _, err := w.Further("elsewhere", ref(groupVersion, "Fleet", "a", "a")); !errors.Is(err, workload.ErrUnconfirmed) {
			t.Errorf("another namespace waits for this one: %v", err)
		}
		sleep(ownership.Patience)
		for i := range 100 {
			if _, err := w.Further(namespace, ref(fmt.Sprintf("unknown-%d.example.com/v1", i), "Thing", "a", "a")); !errors.Is(err, workload.ErrUnconfirmed) {
				t.Errorf("kind %d: %v", i, err)
			}
		}
		if n := len(w.objects.Actions()) + len(w.meta.Actions()); n > 2 {
			t.Errorf("%d objects were asked for", n)
		}
	})
}

func TestARightThatIsGivenLaterCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, kinds{}, object("Fleet", "a", nil))
		reactors := w.meta.ReactionChain
		forbid(&w.meta.Fake)
		fleet := ref(groupVersion, "Fleet", "a", "a")
		if _, err := w.ask(t, fleet); !errors.Is(err, workload.ErrUnconfirmed) || w.Problem(schema.GroupKind{Group: "example.com", Kind: "Fleet"}) == nil {
			t.Errorf("error %v", err)
		}
		w.meta.ReactionChain = reactors
		sleep(ownership.Patience)
		w.Further(namespace, fleet) //nolint:errcheck // asks again
		synctest.Wait()
		if _, err := w.Further(namespace, fleet); err != nil || w.Problem(schema.GroupKind{Group: "example.com", Kind: "Fleet"}) != nil {
			t.Error(err)
		}
	})
}

func TestFurtherDoesNotAllocate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, kinds{}, object("Ring", "a", nil), object("Fleet", "a", nil))
		for _, kind := range []string{"Ring", "Fleet"} {
			reference := ref(groupVersion, kind, "a", "a")
			if _, err := w.ask(t, reference); err != nil {
				t.Fatal(err)
			}
			if got := testing.AllocsPerRun(10, func() { w.Further(namespace, reference) }); got != 0 { //nolint:errcheck // see above
				t.Errorf("%s: %.0f allocations", kind, got)
			}
		}
	})
}

// sleep lets the time of the bubble pass.
func sleep(d time.Duration) {
	time.Sleep(d) //nolint:forbidigo // the time of the test is not the real one
	synctest.Wait()
}

// crowd serves as many kinds without a number as anybody likes, beside those of kinds.
type crowd struct{ kinds }

func (c crowd) ServerResourcesForGroupVersion(gv string) (*metav1.APIResourceList, error) {
	if gv == groupVersion {
		return c.kinds.ServerResourcesForGroupVersion(gv)
	}
	return &metav1.APIResourceList{GroupVersion: gv, APIResources: []metav1.APIResource{{Name: "things", Kind: "Thing", Namespaced: true}}}, nil
}

// A tenant can have policies name any number of kinds. That leaves room for kinds that say how many
// pods they want, which have to be followed to be divided as they grow.
func TestKindsThatPoliciesNameLeaveRoomForOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, crowd{}, object("Ring", "a", map[string]any{"size": int64(3)}))
		w.named = true
		for i := range 2 * ownership.MaxFollowed {
			w.Further("elsewhere", ref(fmt.Sprintf("g%d.example.com/v1", i), "Thing", "a", "a")) //nolint:errcheck // nobody waits
			sleep(200 * time.Millisecond)
		}
		ring := ref(groupVersion, "Ring", "a", "a")
		if _, err := w.ask(t, ring); err != nil {
			t.Fatal(err)
		}
		w.expectFollowed(t, ring)
	})
}
