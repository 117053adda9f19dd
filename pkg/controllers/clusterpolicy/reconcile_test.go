// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package clusterpolicy_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/controllers/clusterpolicy"
	"berth.dev/berth/pkg/controllers/internal/schemetest"
)

type world struct {
	t      *testing.T
	client client.Client
	clock  *clocktesting.FakePassiveClock
	*clusterpolicy.Reconciler
}

func newWorld(t *testing.T, objects ...client.Object) *world {
	t.Helper()
	scheme := schemetest.New()
	w := &world{t: t, clock: clocktesting.NewFakePassiveClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))}
	builder := fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).
		WithStatusSubresource(&berthv1alpha1.ClusterPropagationPolicy{}, &berthv1alpha1.PropagationPolicy{})
	if err := clusterpolicy.IndexPolicies(t.Context(), schemetest.Indexer{Builder: builder}); err != nil {
		t.Fatal(err)
	}
	w.client = builder.Build()
	w.Reconciler = &clusterpolicy.Reconciler{Client: w.client, Clock: w.clock}
	return w
}

// pass makes one pass and returns the policy afterwards.
func (w *world) pass() *berthv1alpha1.ClusterPropagationPolicy {
	w.t.Helper()
	w.clock.SetTime(w.clock.Now().Add(time.Minute))
	key := types.NamespacedName{Name: "stores"}
	if _, err := w.Reconcile(w.t.Context(), reconcile.Request{NamespacedName: key}); err != nil {
		w.t.Fatal(err)
	}
	object := &berthv1alpha1.ClusterPropagationPolicy{}
	if err := w.client.Get(w.t.Context(), key, object); err != nil {
		w.t.Fatal(err)
	}
	return object
}

// policies returns the policies that there are as NAMESPACE/NAME, with the weight of their first
// cluster.
func (w *world) policies() map[string]int64 {
	w.t.Helper()
	var list berthv1alpha1.PropagationPolicyList
	if err := w.client.List(w.t.Context(), &list); err != nil {
		w.t.Fatal(err)
	}
	found := map[string]int64{}
	for i := range list.Items {
		found[list.Items[i].Namespace+"/"+list.Items[i].Name] = list.Items[i].Spec.Placement.StaticWeightList[0].Weight
	}
	return found
}

func conditionOf(object *berthv1alpha1.ClusterPropagationPolicy, conditionType string) string {
	c := apimeta.FindStatusCondition(object.Status.Conditions, conditionType)
	if c == nil {
		return ""
	}
	return fmt.Sprintf("%s %s: %s", c.Status, c.Reason, c.Message)
}

func namespace(name, team string) *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"team": team}}}
}

func specOf(weight int64) berthv1alpha1.PropagationPolicySpec {
	return berthv1alpha1.PropagationPolicySpec{
		ResourceSelectors: []berthv1alpha1.ResourceSelector{{APIVersion: "apps/v1", Kind: "Deployment"}},
		Placement: berthv1alpha1.Placement{StaticWeightList: []berthv1alpha1.StaticClusterWeight{
			{ClusterNames: []string{"beijing"}, Weight: weight},
		}},
	}
}

// stores places Deployments in the namespaces of the team shop.
func stores() *berthv1alpha1.ClusterPropagationPolicy {
	return &berthv1alpha1.ClusterPropagationPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: "stores", UID: "stores", Generation: 1},
		Spec: berthv1alpha1.ClusterPropagationPolicySpec{
			NamespaceSelector:     &metav1.LabelSelector{MatchLabels: map[string]string{"team": "shop"}},
			PropagationPolicySpec: specOf(1),
		},
	}
}

func (w *world) expect(want map[string]int64) {
	w.t.Helper()
	if diff := cmp.Diff(want, w.policies()); diff != "" {
		w.t.Errorf("policies (-want +got):\n%s", diff)
	}
}

func TestAPolicyInEachNamespace(t *testing.T) {
	w := newWorld(t, stores(), namespace("a", "shop"), namespace("b", "shop"), namespace("c", "lab"))
	object := w.pass()
	w.expect(map[string]int64{"a/cluster-stores": 1, "b/cluster-stores": 1})
	if got, want := object.Status.NamespaceCount, int32(2); got != want {
		t.Errorf("%d namespaces, want %d", got, want)
	}
	if got, want := conditionOf(object, berthv1alpha1.PolicyAccepted), "True Accepted: the policy can be carried out; namespaces: 2"; got != want {
		t.Errorf("Accepted = %q, want %q", got, want)
	}

	t.Log("changes and other namespaces are followed, and edits are put right")
	object.Spec.PropagationPolicySpec = specOf(2)
	if err := w.client.Update(t.Context(), object); err != nil {
		t.Fatal(err)
	}
	for name, team := range map[string]string{"b": "lab", "c": "shop"} {
		if err := w.client.Update(t.Context(), namespace(name, team)); err != nil {
			t.Fatal(err)
		}
	}
	w.pass()
	w.expect(map[string]int64{"a/cluster-stores": 2, "c/cluster-stores": 2})
	own := &berthv1alpha1.PropagationPolicy{}
	if err := w.client.Get(t.Context(), client.ObjectKey{Namespace: "a", Name: "cluster-stores"}, own); err != nil {
		t.Fatal(err)
	}
	own.Spec = specOf(9)
	if err := w.client.Update(t.Context(), own); err != nil {
		t.Fatal(err)
	}
	w.pass()
	w.expect(map[string]int64{"a/cluster-stores": 2, "c/cluster-stores": 2})
}

func TestTheNamespaceOfASelector(t *testing.T) {
	object := stores()
	object.Spec.ResourceSelectors[0].Namespace = "b"
	w := newWorld(t, object, namespace("a", "shop"), namespace("b", "shop"))
	w.pass()
	w.expect(map[string]int64{"b/cluster-stores": 1})
}

func TestAPolicyOfAUserIsLeftAlone(t *testing.T) {
	users := &berthv1alpha1.PropagationPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "cluster-stores"}, Spec: specOf(7)}
	w := newWorld(t, stores(), namespace("a", "shop"), namespace("b", "shop"), users)
	object := w.pass()
	w.expect(map[string]int64{"a/cluster-stores": 7, "b/cluster-stores": 1})
	want := "False NamespacesNotAccepted: a: PropagationPolicy cluster-stores there is not of it"
	if got := conditionOf(object, berthv1alpha1.PolicyAccepted); got != want {
		t.Errorf("Accepted = %q, want %q", got, want)
	}
}

func TestStatusSumsUp(t *testing.T) {
	w := newWorld(t, stores(), namespace("a", "shop"), namespace("b", "shop"))
	w.pass()
	for name, c := range map[string]metav1.Condition{
		"a": {Status: metav1.ConditionTrue, Reason: berthv1alpha1.ReasonAsDesired, Message: "all there"},
		"b": {Status: metav1.ConditionFalse, Reason: berthv1alpha1.ReasonPodsPending, Message: "pods without a node: 2"},
	} {
		own := &berthv1alpha1.PropagationPolicy{}
		if err := w.client.Get(t.Context(), client.ObjectKey{Namespace: name, Name: "cluster-stores"}, own); err != nil {
			t.Fatal(err)
		}
		c.Type = berthv1alpha1.PolicyPlaced
		own.Status.Ready, own.Status.WorkloadCount = "3/5", 1
		apimeta.SetStatusCondition(&own.Status.Conditions, c)
		if err := w.client.Status().Update(t.Context(), own); err != nil {
			t.Fatal(err)
		}
	}
	object := w.pass()
	if object.Status.Ready != "6/10" || object.Status.WorkloadCount != 2 {
		t.Errorf("ready %s of %d workloads, want 6/10 of 2", object.Status.Ready, object.Status.WorkloadCount)
	}
	if got, want := conditionOf(object, berthv1alpha1.PolicyPlaced), "False PodsPending: b: pods without a node: 2"; got != want {
		t.Errorf("Placed = %q, want %q", got, want)
	}
}

func TestASelectorThatCannotBeUnderstood(t *testing.T) {
	object := stores()
	object.Spec.NamespaceSelector.MatchExpressions = []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Near"}}
	w := newWorld(t, object, namespace("a", "shop"))
	want := `False InvalidSelector: spec.namespaceSelector: "Near" is not a valid label selector operator`
	if got := conditionOf(w.pass(), berthv1alpha1.PolicyAccepted); got != want {
		t.Errorf("Accepted = %q, want %q", got, want)
	}
	w.expect(map[string]int64{})
}
