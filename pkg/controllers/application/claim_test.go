// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package application_test

import (
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// unscaled is the manifest of a Deployment that leaves the number of replicas to others.
var unscaled = strings.Replace(deployment, "replicas: 2, ", "", 1)

// usersDeployment is a Deployment of the name in the manifests that an Application did not make.
func usersDeployment(replicas int32) *appsv1.Deployment {
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{
		Name: "front", Namespace: namespace, UID: "users",
		ManagedFields: []metav1.ManagedFieldsEntry{{
			Manager: "kubectl-client-side-apply", Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "apps/v1",
			Time: &metav1.Time{Time: time.Unix(1, 0)}, FieldsType: "FieldsV1", FieldsV1: &metav1.FieldsV1{Raw: []byte(`{}`)},
		}},
	}}
	d.Spec.Replicas = &replicas
	return d
}

// controlled makes an object one of another owner.
func controlled[T client.Object](o T, kind, name string, uid types.UID) T {
	controller := true
	apiVersion := "helm.example.com/v1"
	if kind == "Application" {
		apiVersion = berthv1alpha1.SchemeGroupVersion.String()
	}
	o.SetOwnerReferences([]metav1.OwnerReference{
		{APIVersion: apiVersion, Kind: kind, Name: name, UID: uid, Controller: &controller},
	})
	return o
}

func TestNothingIsWrittenForAnObjectOfAnotherOwner(t *testing.T) {
	labelled := controlled(usersDeployment(5), "Release", "shop", "release")
	labelled.Labels = map[string]string{berthv1alpha1.ApplicationLabel: "web"}
	tests := map[string]struct {
		text      string
		existing  *appsv1.Deployment
		wantReady string
	}{
		"replicas in the manifest": {
			deployment, usersDeployment(5),
			"False ManifestRefused: deployment front: one of this name is there already, written by kubectl-client-side-apply; " +
				"the label berth.dev/application=web on it hands it over to this Application",
		},
		"no replicas in the manifest": {
			unscaled, usersDeployment(5),
			"False ManifestRefused: deployment front: one of this name is there already, written by kubectl-client-side-apply; " +
				"the label berth.dev/application=web on it hands it over to this Application",
		},
		"it has a controller": {
			deployment, controlled(usersDeployment(5), "Release", "shop", "release"),
			"False ManifestRefused: deployment front: one of this name is there already and belongs to Release shop; " +
				"remove that owner reference and set the label berth.dev/application=web to hand it over to this Application",
		},
		"it has a controller and the label": {
			deployment, labelled,
			"False ManifestRefused: deployment front: one of this name is there already and belongs to Release shop; " +
				"remove that owner reference and set the label berth.dev/application=web to hand it over to this Application",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, cluster("berlin", 0.5), cluster("madrid", 0.4), tc.existing, newApplication(tc.text))
			var policies []string
			w.refuse = func(kind, _ string) error {
				policies = append(policies, kind)
				return nil
			}
			w.passes()
			w.measure("madrid", func(c *berthv1alpha1.Cluster) { sample(c, 1) })
			w.after(2 * time.Minute)
			if len(policies) != 0 {
				t.Errorf("%v were applied, want nothing", policies)
			}
			if got := w.policy(); got != "none" {
				t.Errorf("there is a policy for %s, want none", got)
			}
			if d := w.deployment(); *d.Spec.Replicas != 5 || len(d.Spec.Template.Labels) != 0 {
				t.Errorf("the Deployment has %d replicas and a template labelled %v, want it as it was", *d.Spec.Replicas, d.Spec.Template.Labels)
			}
			if got := w.condition("Ready"); got != tc.wantReady {
				t.Errorf("Ready is %s, want %s", got, tc.wantReady)
			}
		})
	}
}

func TestAnObjectThatChangesItsOwnerLosesThePolicy(t *testing.T) {
	w := settled(t, nil)
	d := w.deployment()
	d.OwnerReferences, d.Labels = nil, nil
	w.must(w.client.Update(t.Context(), d))
	w.passes()
	if got := w.policy(); got != "none" {
		t.Errorf("there is a policy for %s, want none", got)
	}
	d = w.deployment()
	d.Labels = map[string]string{berthv1alpha1.ApplicationLabel: "web"}
	w.must(w.client.Update(t.Context(), d))
	w.after(time.Minute)
	if got := w.policy(); got != "berlin" {
		t.Errorf("there is a policy for %s after the Deployment was handed over again, want berlin", got)
	}
	if !metav1.IsControlledBy(w.deployment(), w.app()) {
		t.Error("the Deployment does not belong to the Application after it was handed over again")
	}
}

// between makes something happen right before an object is applied.
func (w *world) between(kind string, happens func()) {
	w.refuse = func(k, _ string) error {
		if k == kind {
			w.refuse = nil
			happens()
		}
		return nil
	}
}

func TestWritesAreBoundToWhatWasRead(t *testing.T) {
	t.Run("somebody makes the object meanwhile", func(t *testing.T) {
		w := newWorld(t, cluster("berlin", 0.5), newApplication(configMap))
		w.between("ConfigMap", func() {
			w.must(w.client.Create(t.Context(), &corev1.ConfigMap{
				ObjectMeta: metav1.ObjectMeta{Name: "settings", Namespace: namespace}, Data: map[string]string{"a": "users"},
			}))
		})
		w.passes()
		found := &corev1.ConfigMap{}
		w.must(w.client.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "settings"}, found))
		if found.Data["a"] != "users" || len(found.OwnerReferences) != 0 {
			t.Errorf("the user's object has data %v and owners %v", found.Data, found.OwnerReferences)
		}
	})
	t.Run("it is given away meanwhile", func(t *testing.T) {
		w := newWorld(t, cluster("berlin", 0.5), newApplication(configMap))
		w.passes()
		w.edit(func(spec *berthv1alpha1.ApplicationSpec) {
			spec.Manifests = manifests(strings.Replace(configMap, "a: b", "a: c", 1))
		})
		w.between("ConfigMap", func() {
			mine := &corev1.ConfigMap{}
			w.must(w.client.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "settings"}, mine))
			mine.OwnerReferences, mine.Labels = nil, nil
			w.must(w.client.Update(t.Context(), mine))
		})
		w.passes()
		found := &corev1.ConfigMap{}
		w.must(w.client.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "settings"}, found))
		if found.Data["a"] != "b" || len(found.OwnerReferences) != 0 {
			t.Errorf("the object that was given away has data %v and owners %v", found.Data, found.OwnerReferences)
		}
	})
	t.Run("it is given away before it is deleted", func(t *testing.T) {
		w := newWorld(t, cluster("berlin", 0.5), newApplication(deployment+"---\n"+configMap))
		w.passes()
		w.edit(func(spec *berthv1alpha1.ApplicationSpec) { spec.Manifests = manifests(deployment) })
		w.fail = func(verb string, _ runtime.Object) error {
			if verb == "delete" {
				w.fail = nil
				mine := &corev1.ConfigMap{}
				w.must(w.client.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "settings"}, mine))
				mine.OwnerReferences, mine.Labels = nil, nil
				w.must(w.client.Update(t.Context(), mine))
			}
			return nil
		}
		w.passes()
		w.must(w.client.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "settings"}, &corev1.ConfigMap{}))
	})
}

func TestTheOlderOfTwoApplicationsHasAnObject(t *testing.T) {
	other := func(seconds int64) *berthv1alpha1.Application {
		app := newApplication(deployment)
		app.Name, app.UID, app.CreationTimestamp = "zoo", "other", metav1.Unix(seconds, 0)
		return app
	}
	tests := map[string]struct {
		other       *berthv1alpha1.Application
		gone        bool
		wantReady   string
		wantControl types.UID
	}{
		"the other one is older": {
			other(1), false,
			"False ManifestRefused: deployment front: one of this name is there already and belongs to Application zoo, " +
				"which is older; take it out of the manifests of that one",
			"other",
		},
		"the other one is of the same second and has it": {
			other(2), false,
			"False ManifestRefused: deployment front: one of this name is there already and belongs to Application zoo, " +
				"which is older; take it out of the manifests of that one",
			"other",
		},
		"the other one is younger": {other(3), false, "False PodsNotReady", "app"},
		"the other one is gone": {
			other(1), true,
			"False ManifestRefused: deployment front: one of this name is there already and belongs to Application zoo; " +
				"remove that owner reference and set the label berth.dev/application=web to hand it over to this Application",
			"other",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			mine := newApplication(deployment)
			mine.CreationTimestamp = metav1.Unix(2, 0)
			w := newWorld(t, cluster("berlin", 0.5), mine, tc.other)
			_, err := w.controller.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(tc.other)})
			w.must(err)
			if tc.gone {
				w.must(w.client.Delete(t.Context(), tc.other))
			}
			w.passes()
			if got := w.condition("Ready"); !strings.HasPrefix(got, tc.wantReady) {
				t.Errorf("Ready is %s, want %s", got, tc.wantReady)
			}
			if got := metav1.GetControllerOf(w.deployment()); got == nil || got.UID != tc.wantControl {
				t.Errorf("the Deployment belongs to %v, want %s", got, tc.wantControl)
			}
			if got, want := w.policy() != "none", tc.wantControl == "app"; got != want {
				t.Errorf("there is a policy: %t, want %t", got, want)
			}
		})
	}
}
