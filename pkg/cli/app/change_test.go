// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package app_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clienttesting "k8s.io/client-go/testing"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/cli/internal/clitest"
)

const (
	service    = "apiVersion: v1\nkind: Service\nmetadata: {name: shop}\n"
	deployment = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: shop}\nspec: {replicas: 2}\n"
)

// file writes a file for --filename.
func file(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "shop.yaml")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// manifestOf is an object as the API server keeps it.
func manifestOf(raw string) berthv1alpha1.Manifest {
	return berthv1alpha1.Manifest{RawExtension: runtime.RawExtension{Raw: []byte(raw)}}
}

// running is a world with one Application.
func running(t *testing.T) *clitest.World {
	t.Helper()
	w := clitest.NewWorld(t)
	score := 0.68123
	scheduled := metav1.NewTime(time.Now().Add(-90 * time.Minute))
	w.Berth = append(w.Berth, &berthv1alpha1.Application{
		ObjectMeta: metav1.ObjectMeta{Namespace: clitest.Namespace, Name: "shop", Labels: map[string]string{"tier": "gold"}},
		Spec: berthv1alpha1.ApplicationSpec{
			Manifests: []berthv1alpha1.Manifest{manifestOf(`{"apiVersion":"v1","kind":"Service","metadata":{"name":"shop"}}`)},
			Migration: berthv1alpha1.MigrationStartFirst,
			Constraints: berthv1alpha1.ClusterConstraints{
				ClusterLabels: berthv1alpha1.LabelConstraints{"location is DE"}, ClusterMetrics: berthv1alpha1.MetricConstraints{"load < 5"},
			},
		},
		Status: berthv1alpha1.ApplicationStatus{
			ScheduledTo: "hamburg", Score: &score, Scheduled: &scheduled,
			Conditions: []metav1.Condition{
				{Type: berthv1alpha1.ApplicationScheduled, Status: metav1.ConditionTrue, Reason: "ClusterChosen", Message: "hamburg is\nbest"},
				{Type: berthv1alpha1.ApplicationReady, Status: metav1.ConditionFalse, Reason: "PodsNotReady"},
			},
		},
	})
	return w
}

// application returns the Application shop of a world.
func application(t *testing.T, w *clitest.World) *berthv1alpha1.Application {
	t.Helper()
	app, err := w.Clients.Berth.BerthV1alpha1().Applications(clitest.Namespace).Get(t.Context(), "shop", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return app
}

func TestCreate(t *testing.T) {
	path := file(t, service+"---\n"+deployment)
	objects := []berthv1alpha1.Manifest{
		manifestOf(`{"apiVersion":"v1","kind":"Service","metadata":{"name":"shop"}}`),
		manifestOf(`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"shop"},"spec":{"replicas":2}}`),
	}
	tests := map[string]struct {
		args       []string
		wantLabels map[string]string
		want       berthv1alpha1.ApplicationSpec
	}{
		"nothing but objects": {},
		"constraints": {
			args: []string{
				"-L", "location is DE", "-L", "tier not in (bronze, tin)", "-M", "load < 5", "-R", "crontabs.stable.example.com",
			},
			want: berthv1alpha1.ApplicationSpec{Constraints: berthv1alpha1.ClusterConstraints{
				ClusterLabels:   berthv1alpha1.LabelConstraints{"location is DE", "tier not in (bronze, tin)"},
				ClusterMetrics:  berthv1alpha1.MetricConstraints{"load < 5"},
				CustomResources: []string{"crontabs.stable.example.com"},
			}},
		},
		"the long names of the flags": {
			args: []string{
				"--cluster-label-constraint", "location=DE", "--cluster-metric-constraint=load less than 5",
				"--cluster-resource-constraint", "a.b",
			},
			want: berthv1alpha1.ApplicationSpec{Constraints: berthv1alpha1.ClusterConstraints{
				ClusterLabels:   berthv1alpha1.LabelConstraints{"location=DE"},
				ClusterMetrics:  berthv1alpha1.MetricConstraints{"load less than 5"},
				CustomResources: []string{"a.b"},
			}},
		},
		"the same twice": {
			args: []string{"-L", "location is DE", "-L", "location is DE", "-R", "a.b", "-R", "a.b"},
			want: berthv1alpha1.ApplicationSpec{Constraints: berthv1alpha1.ClusterConstraints{
				ClusterLabels: berthv1alpha1.LabelConstraints{"location is DE"}, CustomResources: []string{"a.b"},
			}},
		},
		"labels, and no migration": {
			args:       []string{"-l", "tier=gold", "--label", "team=web", "--disable-migration", "--reschedule-after", "5m"},
			wantLabels: map[string]string{"tier": "gold", "team": "web"},
			want: berthv1alpha1.ApplicationSpec{
				Migration: berthv1alpha1.MigrationNever, RescheduleAfter: &metav1.Duration{Duration: 5 * time.Minute},
			},
		},
		"migration": {
			args: []string{"--enable-migration"}, want: berthv1alpha1.ApplicationSpec{Migration: berthv1alpha1.MigrationStartFirst},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := clitest.NewWorld(t)
			args := append([]string{"app", "create", "shop", "-f", path}, tc.args...)
			clitest.Run(t.Context(), w.Options(), args...).CheckOutput(t, "application shop created\n")
			got := application(t, w)
			tc.want.Manifests = objects
			if diff := cmp.Diff(tc.want, got.Spec); diff != "" {
				t.Errorf("spec mismatch (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.wantLabels, got.Labels); diff != "" {
				t.Errorf("labels mismatch (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWrongCommandLinesSendNothing(t *testing.T) {
	good := file(t, service)
	create := func(more ...string) []string { return append([]string{"app", "create", "shop", "-f", good}, more...) }
	content := func(text string) []string { return []string{"app", "create", "shop", "-f", file(t, text)} }
	tests := map[string]struct {
		args []string
		want string
	}{
		"a misspelt operator":         {create("-L", "location si DE"), `--cluster-label-constraint: column 10: expected `},
		"an unbalanced bracket":       {create("-L", "location in (DE"), "--cluster-label-constraint: column 16: expected "},
		"no number":                   {create("-M", "load < five"), "--cluster-metric-constraint: column 8: expected a number"},
		"a label language metric":     {create("-M", "load in (1)"), "--cluster-metric-constraint: column 6: "},
		"10 kB":                       {create("-L", strings.Repeat("x", 10_000)), "--cluster-label-constraint: column 1025: "},
		"21 constraints":              {create(slices.Repeat([]string{"-L", "a=b"}, 21)...), "there are more than 20 constraints"},
		"a custom resource":           {create("-R", "crontabs"), `--cluster-resource-constraint: "crontabs" is no custom resource: write PLURAL.GROUP`},
		"a version in it":             {create("-R", "apps/v1.crontabs"), "is no custom resource"},
		"a wrong label":               {create("-l", "tier=a b"), `--label: "a b": `},
		"a label without a value":     {create("-l", "tier"), `--label: "tier" is not of the form NAME=VALUE`},
		"to stay and to go":           {create("--disable-migration", "--enable-migration"), "[enable-migration disable-migration]"},
		"rescheduled all the time":    {create("--reschedule-after", "1ms"), "--reschedule-after: must be from 1s to 24h"},
		"never rescheduled":           {create("--reschedule-after", "-1s"), "--reschedule-after: must be from 1s to 24h"},
		"no name":                     {[]string{"app", "create", "-f", good}, "name one application, not 0"},
		"two names":                   {create("cart"), "name one application, not 2"},
		"a name that cannot be":       {[]string{"app", "create", "My_Shop", "-f", good}, `"My_Shop" cannot be the name of the application`},
		"no file":                     {[]string{"app", "create", "shop"}, `application "shop" would have no objects: --filename is missing`},
		"a file that is not there":    {[]string{"app", "create", "shop", "-f", "nowhere.yaml"}, "open nowhere.yaml"},
		"an empty file":               {content("# nothing\n"), "shop.yaml: there is no object in it"},
		"no kind":                     {content("apiVersion: v1\nmetadata: {name: a}\n"), "document 1: "},
		"no name in the object":       {content("apiVersion: v1\nkind: Service\n"), "document 1: "},
		"no YAML":                     {content("a: b: c\n"), "shop.yaml: "},
		"another namespace":           {content("apiVersion: v1\nkind: Service\nmetadata: {name: a, namespace: other}\n"), `document 1: Service "a" is of namespace "other", and the Application of "default"`},
		"the same object twice":       {content(service + "---\n" + service), `document 2: Service "shop" is in document 1 already`},
		"an object of Berth":          {content("apiVersion: berth.dev/v1alpha1\nkind: Application\nmetadata: {name: a}\n"), `document 1: Application "a" is of Berth itself`},
		"101 objects":                 {content(strings.Repeat(service+"---\n", 101)), "there are 101 objects in it, and an Application can have 100"},
		"an update of nothing":        {[]string{"app", "update", "shop"}, "name what is to change"},
		"an update of only the form":  {[]string{"app", "update", "shop", "-o", "json"}, "name what is to change"},
		"an update with a wrong file": {[]string{"app", "update", "shop", "-f", file(t, "a: b: c")}, "shop.yaml: "},
		"delete without a name":       {[]string{"app", "delete"}, "name one application, not 0"},
		"list with a name":            {[]string{"app", "list", "shop"}, `there is "shop", did you mean berthctl app get NAME?`},
		"an unknown form":             {[]string{"app", "get", "shop", "-o", "xml"}, `unknown output format "xml"`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := clitest.NewWorld(t)
			options := w.Options()
			clitest.Run(t.Context(), options, tc.args...).CheckFailed(t, tc.want)
			if sent := w.Clients.Berth.Actions(); len(sent) > 0 {
				t.Errorf("sent %v", sent)
			}
		})
	}
}

func TestUpdate(t *testing.T) {
	path := file(t, deployment)
	tests := map[string]struct {
		args []string
		want func(*berthv1alpha1.Application)
	}{
		"constraints are added": {
			args: []string{"-L", "tier is gold", "-M", "price < 2", "-R", "a.b"},
			want: func(app *berthv1alpha1.Application) {
				app.Spec.Constraints.ClusterLabels = berthv1alpha1.LabelConstraints{"location is DE", "tier is gold"}
				app.Spec.Constraints.ClusterMetrics = berthv1alpha1.MetricConstraints{"load < 5", "price < 2"}
				app.Spec.Constraints.CustomResources = []string{"a.b"}
			},
		},
		"constraints are replaced": {
			args: []string{"--remove-existing-label-constraints", "-L", "location is SK", "--remove-existing-metric-constraints"},
			want: func(app *berthv1alpha1.Application) {
				app.Spec.Constraints.ClusterLabels = berthv1alpha1.LabelConstraints{"location is SK"}
				app.Spec.Constraints.ClusterMetrics = nil
			},
		},
		"labels are added": {
			args: []string{"-l", "team=web"},
			want: func(app *berthv1alpha1.Application) { app.Labels["team"] = "web" },
		},
		"labels are replaced": {
			args: []string{"-l", "team=web", "--remove-existing-labels"},
			want: func(app *berthv1alpha1.Application) { app.Labels = map[string]string{"team": "web"} },
		},
		"objects are replaced": {
			args: []string{"-f", path},
			want: func(app *berthv1alpha1.Application) {
				app.Spec.Manifests = []berthv1alpha1.Manifest{
					manifestOf(`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"shop"},"spec":{"replicas":2}}`),
				}
			},
		},
		"it is to stay": {
			args: []string{"--disable-migration"},
			want: func(app *berthv1alpha1.Application) { app.Spec.Migration = berthv1alpha1.MigrationNever },
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := running(t)
			options := w.Options()
			want := application(t, w).DeepCopy()
			tc.want(want)
			args := append([]string{"app", "update", "shop"}, tc.args...)
			clitest.Run(t.Context(), options, args...).CheckOutput(t, "application shop updated\n")
			if diff := cmp.Diff(want, application(t, w)); diff != "" {
				t.Errorf("application mismatch (-want +got):\n%s", diff)
			}
		})
	}
}

// TestUpdateTriesAgain lets somebody else write first.
func TestUpdateTriesAgain(t *testing.T) {
	w := running(t)
	options := w.Options()
	failed := false
	w.Clients.Berth.PrependReactor("update", "applications", func(clienttesting.Action) (bool, runtime.Object, error) {
		if failed {
			return false, nil, nil
		}
		failed = true
		return true, nil, apierrors.NewConflict(schema.GroupResource{Group: "berth.dev", Resource: "applications"}, "shop", nil)
	})
	clitest.Run(t.Context(), options, "app", "update", "shop", "-l", "a=b").CheckOutput(t, "application shop updated\n")
	if got := application(t, w).Labels["a"]; !failed || got != "b" {
		t.Errorf("label %q, failed before: %t", got, failed)
	}
}
