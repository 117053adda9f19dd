// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package feedinventory_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/utils/ptr"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/controllers/feedinventory"
	"berth.dev/berth/pkg/feeds"
)

func TestInventory(t *testing.T) {
	w := newWorld(t)
	w.deploy("web", 3)
	w.put("configmaps", "{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}}")
	w.subscribe(listing(
		berthv1alpha1.Feed{APIVersion: "v1", Kind: "ConfigMap", Name: "settings"}, deployment("web"), deployment("late")))
	w.until("settings - True CopiedWhole", "web 3 True Parsed", "late - False NotFound")
	inventory := w.inventory()
	if owner := metav1.GetControllerOf(inventory); owner == nil || owner.UID != "s" || owner.Kind != "Subscription" || owner.BlockOwnerDeletion != nil {
		t.Errorf("the owner is %+v", owner)
	}
	if got := inventory.Spec.Feeds[1].ReplicaJSONPath; got != "/spec/replicas" {
		t.Errorf("path %q", got)
	}
	complete := apimeta.FindStatusCondition(inventory.Status.Conditions, berthv1alpha1.InventoryComplete)
	if want := "1 of 3 feeds are missing: Deployment late (NotFound): the Deployment does not exist yet"; complete.Status != metav1.ConditionFalse || complete.Message != want {
		t.Errorf("condition %+v, want %q", complete, want)
	}
	if got := w.reads.Load(); got != 1 {
		t.Errorf("%d objects were fetched, want the Deployment alone", got)
	}
	w.deploy("late", 0)
	w.until("settings - True CopiedWhole", "web 3 True Parsed", "late 0 True Parsed")
}

func TestNothingIsWrittenWithoutNeed(t *testing.T) {
	w := newWorld(t)
	w.deploy("a", 1)
	w.deploy("b", 2)
	w.subscribe(listing(deployment("a"), deployment("b")))
	w.until("a 1 True Parsed", "b 2 True Parsed")
	if got := w.writes.Load(); got != 2 {
		t.Errorf("%d writes for a new inventory, want the object and its status", got)
	}
	before, read := w.writes.Load(), w.reads.Load()
	for range 5 {
		w.pass()
	}
	if got := w.writes.Load() - before; got != 0 {
		t.Errorf("%d writes although nothing changed", got)
	}
	if got := w.reads.Load() - read; got != 0 {
		t.Errorf("%d objects were fetched although nothing changed", got)
	}
	w.deploy("b", 5)
	w.until("a 1 True Parsed", "b 5 True Parsed")
	if got := w.writes.Load() - before; got != 1 {
		t.Errorf("%d writes for one change, want 1", got)
	}
	if got := w.reads.Load() - read; got != 1 {
		t.Errorf("%d objects were fetched for one change, want 1", got)
	}
	w.start()
	w.until("a 1 True Parsed", "b 5 True Parsed")
	if got := w.writes.Load() - before; got != 1 {
		t.Errorf("a restart wrote %d times", got-1)
	}
}

func TestInventoryMeansNothingToOtherStrategies(t *testing.T) {
	tests := map[string]struct {
		strategy berthv1alpha1.SchedulingStrategy
		dividing *berthv1alpha1.DividingScheduling
		want     string
	}{
		"replication":      {berthv1alpha1.ReplicationStrategy, nil, "none"},
		"by weight":        {berthv1alpha1.DividingStrategy, &berthv1alpha1.DividingScheduling{Type: berthv1alpha1.StaticDividingType}, "none"},
		"by nothing":       {berthv1alpha1.DividingStrategy, nil, "none"},
		"by room":          {berthv1alpha1.DividingStrategy, &berthv1alpha1.DividingScheduling{Type: berthv1alpha1.DynamicDividingType}, "web 3 True Parsed"},
		"by room, shorter": {berthv1alpha1.DynamicDividingStrategy, nil, "web 3 True Parsed"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.deploy("web", 3)
			w.subscribe(listing(deployment("web")))
			w.until("web 3 True Parsed")
			w.subscribe(func(spec *berthv1alpha1.SubscriptionSpec) {
				spec.SchedulingStrategy, spec.DividingScheduling = tc.strategy, tc.dividing
			})
			w.until(tc.want)
			s := &berthv1alpha1.Subscription{}
			if err := w.client.Get(t.Context(), request.NamespacedName, s); err != nil {
				t.Fatal(err)
			}
			if !apimeta.IsStatusConditionTrue(s.Status.Conditions, berthv1alpha1.SubscriptionParsed) {
				t.Errorf("the Subscription is not parsed: %v", s.Status.Conditions)
			}
			if got := feedinventory.Watched(w.controller); got != 1 {
				t.Errorf("%d kinds are followed, want that of the feed", got)
			}
		})
	}
}

func TestAnInventoryOfSomebodyElseStays(t *testing.T) {
	inventory := &berthv1alpha1.FeedInventory{ObjectMeta: metav1.ObjectMeta{
		Namespace: request.Namespace, Name: request.Name,
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Bundle", Name: "a", UID: "b", Controller: ptr.To(true)}},
	}}
	w := newWorld(t, inventory)
	w.subscribe(func(spec *berthv1alpha1.SubscriptionSpec) {
		spec.SchedulingStrategy = berthv1alpha1.ReplicationStrategy
	})
	w.pass()
	if w.inventory() == nil {
		t.Error("it was deleted")
	}
}

func TestMissingFeedsAreOneEvent(t *testing.T) {
	w := newWorld(t)
	w.deploy("web", 3)
	w.subscribe(listing(deployment("web"), deployment("late")))
	w.until("web 3 True Parsed", "late - False NotFound")
	w.deploy("web", 4)
	w.until("web 4 True Parsed", "late - False NotFound")
	w.deploy("late", 1)
	w.until("web 4 True Parsed", "late 1 True Parsed")
	w.pass()
	close(w.recorder.Events)
	var got []string
	for event := range w.recorder.Events {
		got = append(got, event)
	}
	want := []string{
		"Warning FeedsMissing 1 of 2 feeds are missing: Deployment late (NotFound): the Deployment does not exist yet",
		"Normal AllParsed it is known of all feeds what they need",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

func TestEditsAreReverted(t *testing.T) {
	w := newWorld(t)
	w.deploy("web", 3)
	w.subscribe(listing(deployment("web")))
	w.until("web 3 True Parsed")
	edited := w.inventory()
	edited.Spec.Feeds[0].DesiredReplicas, edited.OwnerReferences = ptr.To[int32](9), nil
	edited.Annotations = map[string]string{"mine": "yes"}
	if err := w.client.Update(t.Context(), edited); err != nil {
		t.Fatal(err)
	}
	w.until("web 3 True Parsed")
	if got := w.inventory(); metav1.GetControllerOf(got) == nil || got.Annotations["mine"] != "yes" {
		t.Errorf("owner and annotations are %+v", got.ObjectMeta)
	}
	if err := w.client.Delete(t.Context(), w.inventory()); err != nil {
		t.Fatal(err)
	}
	w.until("web 3 True Parsed")
}

func TestFeedsInTrouble(t *testing.T) {
	foreign := deployment("web")
	foreign.Namespace = "kube-system"
	same := deployment("web")
	same.Namespace = "shop"
	tests := map[string]struct {
		feed berthv1alpha1.Feed
		want string
	}{
		"another namespace": {foreign, "web - False ForeignNamespace"},
		"in no namespace":   {berthv1alpha1.Feed{APIVersion: "v1", Kind: "Namespace", Name: "web"}, "web - False ForeignNamespace"},
		"an unknown kind":   {berthv1alpha1.Feed{APIVersion: "x.io/v1", Kind: "Ring", Name: "web"}, "web - False KindNotServed"},
		"the same object":   {same, "web - False Duplicate"},
		"negative replicas": {deployment("negative"), "negative - False Invalid"},
		"a huge object":     {deployment("huge"), "huge - False Invalid"},
		"what needs a lot":  {deployment("needy"), "needy - False Invalid"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.deploy("web", 3)
			w.deploy("negative", -1)
			w.put("deployments", "{apiVersion: apps/v1, kind: Deployment, metadata: {name: huge}, spec: {a: "+strings.Repeat("a", 2<<20)+"}}")
			w.put("deployments", "{apiVersion: apps/v1, kind: Deployment, metadata: {name: needy}, spec: {template: {spec: {nodeSelector: {a: "+
				strings.Repeat("a", 11<<10)+"}, containers: []}}}}")
			w.subscribe(listing(deployment("web"), tc.feed))
			w.until("web 3 True Parsed", tc.want)
		})
	}
}

func TestForbiddenKinds(t *testing.T) {
	w := newWorld(t)
	w.deploy("web", 3)
	secrets := schema.GroupResource{Resource: "secrets"}
	w.metadata.PrependReactor("list", "secrets", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewForbidden(secrets, "", errors.New("no"))
	})
	w.subscribe(listing(berthv1alpha1.Feed{APIVersion: "v1", Kind: "Secret", Name: "token"}, deployment("web")))
	w.until("token - False Forbidden", "web 3 True Parsed")
	result, err := w.tryPass()
	if err != nil || result.RequeueAfter == 0 {
		t.Errorf("nobody tells when permissions change, and no pass is asked for: %+v, %v", result, err)
	}
}

func TestWhatIsKnownStaysWhileTheAPIServerIsInTrouble(t *testing.T) {
	w := newWorld(t)
	w.deploy("web", 3)
	w.subscribe(listing(deployment("web")))
	w.until("web 3 True Parsed")
	broken := true
	w.objects.PrependReactor("get", "deployments", func(clienttesting.Action) (bool, runtime.Object, error) {
		return broken, nil, apierrors.NewInternalError(errors.New("etcd is gone"))
	})
	w.deploy("web", 5)
	w.until("web 3 Unknown Unreadable")
	broken = false
	w.until("web 5 True Parsed")
}

// The API server checks what is written into an inventory. What it refuses must not hold up the
// other feeds.
func TestARefusedEntryHoldsUpNoOther(t *testing.T) {
	w := newWorld(t)
	w.refuse = func(inventory *berthv1alpha1.FeedInventory) error {
		if inventory.Spec.Feeds[1].DesiredReplicas == nil {
			return nil
		}
		err := apierrors.NewInvalid(schema.GroupKind{Kind: "FeedInventory"}, "bundle", nil)
		err.ErrStatus.Code = http.StatusUnprocessableEntity
		err.ErrStatus.Details.Causes = []metav1.StatusCause{{
			Field: "spec.feeds[1].replicaRequirements.affinity", Message: "Required value",
		}}
		return err
	}
	w.deploy("a", 1)
	w.deploy("b", 2)
	w.subscribe(listing(deployment("a"), deployment("b")))
	w.until("a 1 True Parsed", "b - False Invalid")
}

func TestFeedParsers(t *testing.T) {
	w := newWorld(t)
	w.put("deployments", "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {size: 8, replicas: 3}}")
	w.subscribe(listing(deployment("web")))
	w.until("web 3 True Parsed")
	rule := &berthv1alpha1.FeedParser{ObjectMeta: metav1.ObjectMeta{Name: "mine"}, Spec: berthv1alpha1.FeedParserSpec{
		Group: "apps", Kind: "Deployment", Replicas: &berthv1alpha1.ReplicasRule{Path: "/spec/size"},
	}}
	second := rule.DeepCopy()
	second.Name, second.Spec.Replicas.Path = "z-second", "/spec/replicas"
	wrong := rule.DeepCopy()
	wrong.Name, wrong.Spec.Replicas.Path = "wrong", "/status/size"
	for _, r := range []*berthv1alpha1.FeedParser{rule, second, wrong} {
		if err := w.client.Create(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	w.rules()
	w.until("web 8 True Parsed")
	if got := w.inventory().Status.Feeds[0].Parser; got != "mine" {
		t.Errorf("read by %q", got)
	}
	want := map[string]string{"mine": "Accepted", "z-second": "Shadowed", "wrong": "InvalidRule"}
	list := &berthv1alpha1.FeedParserList{}
	if err := w.client.List(t.Context(), list); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, r := range list.Items {
		got[r.Name] = apimeta.FindStatusCondition(r.Status.Conditions, berthv1alpha1.FeedParserAccepted).Reason
		conflict := apimeta.FindStatusCondition(r.Status.Conditions, berthv1alpha1.FeedParserConflicted)
		if disputed := r.Name != "wrong"; apimeta.IsStatusConditionTrue(r.Status.Conditions, conflict.Type) != disputed {
			t.Errorf("FeedParser %s: %s: %s", r.Name, conflict.Reason, conflict.Message)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("conditions differ (-want +got):\n%s", diff)
	}
	if err := w.client.Delete(t.Context(), rule); err != nil {
		t.Fatal(err)
	}
	if err := w.client.Delete(t.Context(), second); err != nil {
		t.Fatal(err)
	}
	w.rules()
	w.until("web 3 True Parsed")
}

func TestKindsComeAndGo(t *testing.T) {
	w := newWorld(t)
	w.deploy("web", 3)
	w.subscribe(listing(deployment("web"), berthv1alpha1.Feed{APIVersion: "v1", Kind: "ConfigMap", Name: "settings"}))
	w.until("web 3 True Parsed", "settings - False NotFound")
	if got := feedinventory.Watched(w.controller); got != 2 {
		t.Errorf("%d kinds are followed, want 2", got)
	}
	w.subscribe(listing(deployment("web")))
	w.until("web 3 True Parsed")
	if got := feedinventory.Watched(w.controller); got != 1 {
		t.Errorf("%d kinds are followed, want 1", got)
	}
	w.remove(deployments, "web")
	w.until("web - False NotFound")
	s := &berthv1alpha1.Subscription{}
	if err := errors.Join(w.client.Get(t.Context(), request.NamespacedName, s), w.client.Delete(t.Context(), s)); err != nil {
		t.Fatal(err)
	}
	w.pass()
	if got := feedinventory.Watched(w.controller); got != 0 {
		t.Errorf("%d kinds are followed for nobody", got)
	}
}

func TestChangesAreTold(t *testing.T) {
	w := newWorld(t)
	told := make(chan types.NamespacedName, 100)
	feedinventory.Tell(t.Context(), w.controller, func(subscription types.NamespacedName) { told <- subscription })
	await := func(what string) {
		t.Helper()
		select {
		case got := <-told:
			if got != request.NamespacedName {
				t.Errorf("%s: a pass over %s is asked for", what, got)
			}
		case <-time.After(timeout):
			t.Fatalf("%s: nobody is told", what)
		}
	}
	w.deploy("web", 3)
	w.deploy("other", 3)
	w.subscribe(listing(deployment("web"), deployment("late")))
	w.pass()
	await("the first list")
	w.until("web 3 True Parsed", "late - False NotFound")
	for what, change := range map[string]func(){
		"a change":   func() { w.deploy("web", 4) },
		"a creation": func() { w.deploy("late", 1) },
	} {
		change()
		await(what)
	}
	w.remove(deployments, "web")
	await("a deletion")
	w.deploy("other", 4)
	w.deploy("late", 2)
	await("a change after that of an object that nobody wants")
	if len(told) != 0 {
		t.Errorf("%d passes more are asked for", len(told))
	}
}

func TestTrimDefinition(t *testing.T) {
	definition := &apiextensionsv1.CustomResourceDefinition{Spec: apiextensionsv1.CustomResourceDefinitionSpec{
		Group: "x.io", Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
			Name: "v1", Schema: &apiextensionsv1.CustomResourceValidation{},
			Subresources: &apiextensionsv1.CustomResourceSubresources{Scale: &apiextensionsv1.CustomResourceSubresourceScale{SpecReplicasPath: ".spec.a"}},
		}},
	}}
	trimmed, err := feedinventory.TrimDefinition(definition)
	if err != nil || definition.Spec.Versions[0].Schema != nil || definition.Spec.Versions[0].Subresources.Scale.SpecReplicasPath != ".spec.a" {
		t.Errorf("trimmed to %+v, error %v", trimmed, err)
	}
}

func TestNewRefusesParsersOfAnotherKind(t *testing.T) {
	parser := feeds.BuiltIn()[schema.GroupKind{Kind: "Pod"}]
	_, err := feedinventory.New(feedinventory.Options{Parsers: map[schema.GroupKind]feeds.PluginFactory{{Kind: "Ring"}: parser}})
	if err == nil || !strings.Contains(fmt.Sprint(err), "reads objects of kind") {
		t.Errorf("error %v", err)
	}
}
