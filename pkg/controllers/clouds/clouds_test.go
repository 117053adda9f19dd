// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package clouds_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/controllers/clouds"
	"berth.dev/berth/pkg/controllers/internal/schemetest"
)

// made is when everything was made.
var made = time.Unix(1_800_000_000, 0)

// newAPI returns a fake API server that counts writes.
func newAPI(t *testing.T, writes *int, objects ...client.Object) client.Client {
	t.Helper()
	scheme := schemetest.New()
	return fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).
		WithStatusSubresource(&berthv1alpha1.Cluster{}, &berthv1alpha1.MagnumCluster{}).
		WithInterceptorFuncs(interceptor.Funcs{SubResourcePatch: func(
			ctx context.Context, c client.Client, sub string, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption,
		) error {
			*writes++
			return c.SubResource(sub).Patch(ctx, o, p, opts...)
		}}).Build()
}

// one is a reference to a metric, and value its last value.
func one(value float64) ([]berthv1alpha1.MetricReference, []berthv1alpha1.MetricSample) {
	return []berthv1alpha1.MetricReference{{Name: "load", Weight: 1}},
		[]berthv1alpha1.MetricSample{{Name: "load", Value: &value, Normalized: &value}}
}

func cloud(namespace, name, location string) *berthv1alpha1.Cloud {
	return &berthv1alpha1.Cloud{ObjectMeta: metav1.ObjectMeta{
		Namespace: namespace, Name: name, Labels: map[string]string{"location": location},
	}}
}

func measured(c *berthv1alpha1.Cloud, value float64) *berthv1alpha1.Cloud {
	c.Spec.Metrics, c.Status.Metrics = one(value)
	return c
}

func globalCloud(name string, value float64) *berthv1alpha1.GlobalCloud {
	c := &berthv1alpha1.GlobalCloud{ObjectMeta: metav1.ObjectMeta{Name: name}}
	c.Spec.Metrics, c.Status.Metrics = one(value)
	return c
}

func newCluster(provision *berthv1alpha1.ClusterProvision) *berthv1alpha1.Cluster {
	return &berthv1alpha1.Cluster{
		ObjectMeta: metav1.ObjectMeta{Name: "new", UID: "u", CreationTimestamp: metav1.NewTime(made)},
		Spec:       berthv1alpha1.ClusterSpec{Provision: provision},
	}
}

// outcome writes where something is bound, and its condition.
func outcome(to *berthv1alpha1.CloudReference, kind string, conditions []metav1.Condition) string {
	text := "unbound"
	if to != nil {
		text = strings.TrimSpace(to.Kind + " " + to.Namespace + "/" + to.Name)
	}
	if c := apimeta.FindStatusCondition(conditions, kind); c != nil {
		text += ", " + c.Reason + ": " + c.Message
	}
	return text
}

func TestClusterToCloud(t *testing.T) {
	unread := measured(cloud("team", "unread", "DE"), 0.9)
	unread.Status.Metrics = nil
	failing := measured(cloud("team", "failing", "DE"), 0.9)
	failing.Status.Metrics = []berthv1alpha1.MetricSample{{Name: "load", Reason: "Timeout"}}
	bound := newCluster(&berthv1alpha1.ClusterProvision{})
	bound.Status.ScheduledTo = &berthv1alpha1.CloudReference{Kind: "Cloud", Namespace: "team", Name: "old"}
	gone := cloud("team", "gone", "DE")
	gone.DeletionTimestamp, gone.Finalizers = &metav1.Time{Time: made}, []string{"x/y"}
	in := func(labels ...string) *berthv1alpha1.Cluster {
		return newCluster(&berthv1alpha1.ClusterProvision{CloudNamespace: "team", CloudLabels: labels})
	}
	tests := map[string]struct {
		cluster *berthv1alpha1.Cluster
		clouds  []client.Object
		age     time.Duration
		want    string
		again   bool
	}{
		"the best cloud of all kinds": {
			cluster: in(), clouds: []client.Object{measured(cloud("team", "a", "DE"), 0.5), globalCloud("g", 0.6)},
			want: "GlobalCloud /g, CloudChosen: GlobalCloud g is the best of 2",
		},
		"a cloud of another namespace": {
			cluster: in(), clouds: []client.Object{measured(cloud("bank", "a", "DE"), 0.9), globalCloud("g", 0.6)},
			want: "GlobalCloud /g, CloudChosen: GlobalCloud g is the best of 1",
		},
		"a cluster that names no namespace": {
			cluster: newCluster(&berthv1alpha1.ClusterProvision{}),
			clouds:  []client.Object{measured(cloud("team", "a", "DE"), 0.9), globalCloud("g", 0.6)},
			want:    "GlobalCloud /g, CloudChosen: GlobalCloud g is the best of 1",
		},
		"clouds with metrics come first": {
			cluster: in(), clouds: []client.Object{cloud("team", "plain", "DE"), measured(cloud("team", "m", "DE"), 0)},
			want: "Cloud team/m, CloudChosen: Cloud team/m is the best of 2",
		},
		"a label": {
			cluster: in("location is IT"), clouds: []client.Object{cloud("team", "de", "DE"), cloud("team", "it", "IT")},
			want: "Cloud team/it, CloudChosen: Cloud team/it is the best of 2",
		},
		"a metric": {
			cluster: newCluster(&berthv1alpha1.ClusterProvision{CloudNamespace: "team", CloudMetrics: []string{"load < 0.5"}}),
			clouds:  []client.Object{measured(cloud("team", "high", "DE"), 0.9), measured(cloud("team", "low", "DE"), 0.1)},
			want:    "Cloud team/low, CloudChosen: Cloud team/low is the best of 2",
		},
		"all metrics fail": {
			cluster: in(), clouds: []client.Object{failing}, want: "Cloud team/failing, CloudChosen: Cloud team/failing is the best of 1",
		},
		"none matches": {
			cluster: in("location is IT"), clouds: []client.Object{cloud("team", "x", "DE"), cloud("team", "y", "DE"), globalCloud("g", 1), gone},
			want: "unbound, NoCloudMatches: 2 not meeting location is IT, 1 being deleted, 1 without label location",
		},
		"there is none": {cluster: in(), want: "unbound, NoCloudMatches: there is none to choose from"},
		"a wrong constraint": {
			cluster: in("location > IT"), clouds: []client.Object{cloud("team", "a", "IT")},
			want: `unbound, InvalidConstraints: spec.provision.cloudLabels[0]: constraint "location > IT": column 10: ` +
				`a label has no order, expected is, is not, =, ==, !=, in or not in, found "> IT"`,
		},
		"metrics that are not read yet are waited for": {
			cluster: in(), clouds: []client.Object{unread, globalCloud("g", 0.1)}, age: 59 * time.Second, again: true,
			want: "unbound, WaitingForMetrics: the metrics of some places have not been read yet",
		},
		"but not for ever": {
			cluster: in(), clouds: []client.Object{unread, globalCloud("g", 0.1)}, age: time.Minute,
			want: "GlobalCloud /g, CloudChosen: GlobalCloud g is the best of 2",
		},
		"a choice is final": {
			cluster: bound, clouds: []client.Object{globalCloud("g", 1), cloud("team", "old", "DE")}, want: "Cloud team/old",
		},
		"a cluster that exists": {cluster: newCluster(nil), clouds: []client.Object{globalCloud("g", 1)}, want: "unbound"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			objects := []client.Object{tc.cluster.DeepCopy()}
			for _, o := range tc.clouds {
				objects = append(objects, o.DeepCopyObject().(client.Object))
			}
			writes := 0
			api := newAPI(t, &writes, objects...)
			r := clouds.ForClusters(api, clocktesting.NewFakePassiveClock(made.Add(tc.age)))
			request := ctrl.Request{NamespacedName: client.ObjectKey{Name: "new"}}
			result, err := r.Reconcile(t.Context(), request)
			if err != nil {
				t.Fatal(err)
			}
			var got berthv1alpha1.Cluster
			if err := api.Get(t.Context(), request.NamespacedName, &got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, outcome(got.Status.ScheduledTo, "CloudBound", got.Status.Conditions)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if (result.RequeueAfter > 0) != tc.again {
				t.Errorf("it looks again after %v", result.RequeueAfter)
			}
			before := writes
			if _, err := r.Reconcile(t.Context(), request); err != nil || writes != before {
				t.Errorf("a second pass writes again: %v", err)
			}
		})
	}
}

// step reconciles, and returns what stands in the status then.
func step(t *testing.T, api client.Client) string {
	t.Helper()
	request := ctrl.Request{NamespacedName: client.ObjectKey{Name: "new"}}
	if _, err := clouds.ForClusters(api, clocktesting.NewFakePassiveClock(made)).Reconcile(t.Context(), request); err != nil {
		t.Fatal(err)
	}
	var got berthv1alpha1.Cluster
	if err := api.Get(t.Context(), request.NamespacedName, &got); err != nil {
		t.Fatal(err)
	}
	return outcome(got.Status.ScheduledTo, "CloudBound", got.Status.Conditions)
}

func TestWhatACloudWasChosenForTellsThatItHasGone(t *testing.T) {
	writes := 0
	chosen, other := measured(cloud("team", "a", "DE"), 0.5), globalCloud("g", 0.6)
	chosen.Labels["tier"] = "one"
	bound := newCluster(&berthv1alpha1.ClusterProvision{CloudNamespace: "team", CloudLabels: []string{"tier is one"}})
	api := newAPI(t, &writes, bound, chosen, other)
	check := func(what, want string) {
		t.Helper()
		if diff := cmp.Diff(want, step(t, api)); diff != "" {
			t.Errorf("%s (-want +got)\n%s", what, diff)
		}
	}
	check("at first", "Cloud team/a, CloudChosen: Cloud team/a is the best of 2")
	for what, change := range map[string]func() error{
		"another cloud goes": func() error { return api.Delete(t.Context(), other) },
		"nothing happens":    func() error { return nil },
	} {
		if err := change(); err != nil {
			t.Fatal(err)
		}
		check(what, "Cloud team/a, CloudChosen: Cloud team/a is the best of 2")
	}
	cluster := &berthv1alpha1.Cluster{}
	key := client.ObjectKeyFromObject(bound)
	if err := api.Get(t.Context(), key, cluster); err != nil {
		t.Fatal(err)
	}
	cluster.Generation = 7
	if err := api.Update(t.Context(), cluster); err != nil {
		t.Fatal(err)
	}
	check("its spec changes", "Cloud team/a, CloudChosen: Cloud team/a is the best of 2")
	if err := api.Get(t.Context(), key, cluster); err != nil {
		t.Fatal(err)
	}
	if got := cluster.Status.Conditions[0].ObservedGeneration; got != 7 {
		t.Errorf("the condition is of generation %d, want 7", got)
	}
	if err := api.Delete(t.Context(), chosen); err != nil {
		t.Fatal(err)
	}
	const gone = "Cloud team/a, CloudGone: Cloud team/a, to which it is bound, does not exist any more; the choice is final"
	check("it goes", gone)
	before := writes
	check("it is still gone", gone)
	if writes != before {
		t.Errorf("%d writes although nothing changed", writes-before)
	}
	again := cloud("team", "a", "DE")
	if err := api.Create(t.Context(), again); err != nil {
		t.Fatal(err)
	}
	check("it is there again", "Cloud team/a, CloudChosen: Cloud team/a is there again")
}

func TestMagnumClusterToProject(t *testing.T) {
	project := func(name, location string, value float64) *berthv1alpha1.OpenStackProject {
		p := &berthv1alpha1.OpenStackProject{ObjectMeta: metav1.ObjectMeta{
			Namespace: "os", Name: name, Labels: map[string]string{"location": location},
		}, Spec: berthv1alpha1.OpenStackProjectSpec{Template: "template-of-" + name}}
		p.Spec.Metrics, p.Status.Metrics = one(value)
		return p
	}
	magnum := &berthv1alpha1.MagnumCluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: "os", Name: "m", UID: "u"},
		Spec: berthv1alpha1.MagnumClusterSpec{
			Constraints: berthv1alpha1.ProjectConstraints{ProjectLabels: []string{"location in (IT, DE)"}},
		},
	}
	foreign := project("better", "DE", 1)
	foreign.Namespace = "bank"
	writes := 0
	api := newAPI(t, &writes, magnum, project("a", "IT", 0.3), project("b", "DE", 0.7), project("c", "SK", 0.9), foreign)
	r := clouds.ForMagnumClusters(api, clocktesting.NewFakePassiveClock(made))
	if _, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(magnum)}); err != nil {
		t.Fatal(err)
	}
	var got berthv1alpha1.MagnumCluster
	if err := api.Get(t.Context(), client.ObjectKeyFromObject(magnum), &got); err != nil {
		t.Fatal(err)
	}
	want := "OpenStackProject os/b, CloudChosen: OpenStackProject os/b is the best of 3"
	if text := outcome(got.Status.ScheduledTo, "Bound", got.Status.Conditions); text != want || got.Status.Template != "template-of-b" {
		t.Errorf("got %q with %s, want %q", text, got.Status.Template, want)
	}
	ranking := []berthv1alpha1.RankedPlace{
		{Name: "OpenStackProject os/b", Eligible: true, Score: 0.7, Parts: []berthv1alpha1.ScorePart{{Name: "load", Value: 0.7, Weight: 1}}},
		{Name: "OpenStackProject os/a", Eligible: true, Score: 0.3, Parts: []berthv1alpha1.ScorePart{{Name: "load", Value: 0.3, Weight: 1}}},
		{Name: "OpenStackProject os/c", Reasons: []string{"not meeting location in (IT, DE)"}},
	}
	if diff := cmp.Diff(ranking, got.Status.Ranking); diff != "" {
		t.Errorf("ranking (-want +got)\n%s", diff)
	}
}

// A choice is final, so what follows it is of the newest spec, whatever that says.
func TestABoundMagnumClusterTellsTheGenerationOfItsSpec(t *testing.T) {
	writes := 0
	magnum := &berthv1alpha1.MagnumCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "os", Name: "m", UID: "u", Generation: 1}}
	project := &berthv1alpha1.OpenStackProject{ObjectMeta: metav1.ObjectMeta{Namespace: "os", Name: "a"}}
	api := newAPI(t, &writes, magnum, project)
	for generation := range int64(2) {
		var m berthv1alpha1.MagnumCluster
		key := client.ObjectKeyFromObject(magnum)
		if err := api.Get(t.Context(), key, &m); err != nil {
			t.Fatal(err)
		}
		m.Generation = generation + 1
		if err := api.Update(t.Context(), &m); err != nil {
			t.Fatal(err)
		}
		r := clouds.ForMagnumClusters(api, clocktesting.NewFakePassiveClock(made))
		if _, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: key}); err != nil {
			t.Fatal(err)
		}
		if err := api.Get(t.Context(), key, &m); err != nil {
			t.Fatal(err)
		}
		if got := m.Status.ObservedGeneration; got != generation+1 || m.Status.ScheduledTo == nil {
			t.Errorf("the status is of generation %d and bound to %v, want %d and a project", got, m.Status.ScheduledTo, generation+1)
		}
	}
}

// A Cluster that turns out to exist is not looked for a cloud any more.
func TestAClusterThatExistsAfterAllTellsOfNoCloud(t *testing.T) {
	writes := 0
	api := newAPI(t, &writes, newCluster(&berthv1alpha1.ClusterProvision{}))
	if got, want := step(t, api), "unbound, NoCloudMatches: there is none to choose from"; got != want {
		t.Errorf("it tells %q at first, want %q", got, want)
	}
	var c berthv1alpha1.Cluster
	if err := api.Get(t.Context(), client.ObjectKey{Name: "new"}, &c); err != nil {
		t.Fatal(err)
	}
	c.Spec.Provision = nil
	if err := api.Update(t.Context(), &c); err != nil {
		t.Fatal(err)
	}
	if got, want := step(t, api), "unbound"; got != want {
		t.Errorf("it tells %q afterwards, want %q", got, want)
	}
}
