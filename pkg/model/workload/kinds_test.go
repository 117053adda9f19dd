// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package workload_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"berth.dev/berth/pkg/model/workload"
)

func TestLongName(t *testing.T) {
	for text, want := range map[string]string{
		"Deployment": "deployment", "deploy": "deployment", "STS": "statefulset", "statefulsets": "statefulsets", "Rollout": "rollout", "": "",
	} {
		if got := workload.LongName(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

func TestKindFor(t *testing.T) {
	for name, tc := range map[string]struct{ apiVersion, kind, want string }{
		"a kind of the table":           {"apps/v1", "StatefulSet", "StatefulSet"},
		"in another version":            {"apps/v1beta2", "Deployment", "Deployment"},
		"in another group":              {"apps.kruise.io/v1beta1", "StatefulSet", ""},
		"another kind of the group":     {"apps/v1", "DaemonSet", ""},
		"a kind of the core group":      {"v1", "ReplicationController", "ReplicationController"},
		"another kind of that group":    {"v1", "Pod", ""},
		"a version that cannot be read": {"a/b/c", "Deployment", ""},
	} {
		got := ""
		if kind := workload.KindFor(tc.apiVersion, tc.kind); kind != nil {
			got = kind.Kind
		}
		if got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}

// Of an object that is not of the table nothing is known, of others what they say.
func TestWhatAnObjectSays(t *testing.T) {
	web := deployment("web", "1", 7)
	if got := workload.TemplateOf(web); got != &web.Spec.Template {
		t.Errorf("the template of a Deployment is %v", got)
	}
	if replicas, known := workload.ReplicasOf(web); replicas != 7 || !known {
		t.Errorf("a Deployment wants %d pods, known: %t", replicas, known)
	}
	if got := workload.FirstOrdinal(statefulSet("db", "a", "a")); got != 5 {
		t.Errorf("the first ordinal of a StatefulSet is %d", got)
	}
	other := &corev1.Pod{}
	replicas, known := workload.ReplicasOf(other)
	if template := workload.TemplateOf(other); template != nil || known || replicas != 0 || workload.FirstOrdinal(other) != 0 {
		t.Errorf("of a Pod are known the template %v, %d replicas, the first ordinal %d", template, replicas, workload.FirstOrdinal(other))
	}
}

func TestAdd(t *testing.T) {
	var objects workload.Objects
	if err := objects.Add(&appsv1.DeploymentList{Items: []appsv1.Deployment{*deployment("a", "", 1), *deployment("b", "", 1)}}); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, owner := range objects.Owners {
		names = append(names, owner.GetName())
	}
	if diff := cmp.Diff([]string{"a", "b"}, names); diff != "" {
		t.Errorf("owners (-want +got):\n%s", diff)
	}
	if err := objects.Add(&corev1.PodList{Items: []corev1.Pod{pod("p", nil)}}); err == nil || len(objects.Owners) != 2 {
		t.Errorf("a list of Pods: error %v, %d owners", err, len(objects.Owners))
	}
	if err := objects.Add(&corev1.Pod{}); err == nil {
		t.Error("what is no list is added")
	}
}

func TestSelectorsOfWorkloads(t *testing.T) {
	broken := deployment("broken", "", 1, func(d *appsv1.Deployment) {
		d.Spec.Selector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: "Near"}}}
	})
	for _, o := range workload.Observe(&workload.Objects{Owners: []workload.Object{deployment("web", "", 1), broken}}) {
		if got, want := o.Selector.Matches(labels.Set{"app": "web"}), o.Name == "web"; got != want {
			t.Errorf("the selector of %s matches pods of web: %t, want %t", o.Name, got, want)
		}
		if o.Selector.Matches(labels.Set{"app": "db"}) {
			t.Errorf("the selector of %s matches pods of another workload", o.Name)
		}
	}
}
