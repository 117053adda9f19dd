// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package application_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/controllers/accounts"
	"berth.dev/berth/pkg/controllers/internal/metricstest"
)

// failing makes the requests of a verb for objects of a type fail.
func failing[T runtime.Object](verb string, err error) func(string, runtime.Object) error {
	return func(v string, object runtime.Object) error {
		if _, ok := object.(T); ok && v == verb {
			return err
		}
		return nil
	}
}

func TestRequestsThatFail(t *testing.T) {
	down := errors.New("down")
	conflict := apierrors.NewConflict(schema.GroupResource{Resource: "applications"}, "web", down)
	tests := map[string]struct {
		fail        func(string, runtime.Object) error
		wantError   string
		wantRequeue time.Duration
	}{
		"reading the Application": {
			fail: failing[*berthv1alpha1.Application]("get", down), wantError: "down",
		},
		"reading policies": {
			fail:      failing[*berthv1alpha1.PropagationPolicy]("get", down),
			wantError: "reading policy shop/web-deployment-front: down",
		},
		"listing pods": {
			fail: failing[*corev1.PodList]("list", down), wantError: "listing the pods of policy shop/web-deployment-front: down",
		},
		"reading the live object": {
			fail: failing[*appsv1.Deployment]("get", down), wantError: "reading deployment front: down",
		},
		"reading metadata": {
			fail: failing[*metav1.PartialObjectMetadata]("get", down), wantError: "writing deployment front: down",
		},
		"writing the status": {
			fail:      failing[*berthv1alpha1.Application]("status", down),
			wantError: "writing the status of application shop/web: down",
		},
		"somebody else wrote in between": {
			fail: failing[*berthv1alpha1.Application]("status", conflict), wantRequeue: 200 * time.Millisecond,
		},
		"somebody else wrote an object in between": {
			fail: failing[*metav1.PartialObjectMetadata]("get", conflict), wantRequeue: 200 * time.Millisecond,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := settled(t, nil)
			w.edit(func(spec *berthv1alpha1.ApplicationSpec) {
				spec.Manifests = manifests(strings.Replace(deployment, "replicas: 2", "replicas: 3", 1))
			})
			w.fail = tc.fail
			result, err := w.controller.Reconcile(t.Context(), request)
			if got := fmt.Sprint(err); (err == nil) != (tc.wantError == "") || err != nil && got != tc.wantError {
				t.Errorf("Reconcile() = %v, want %q", err, tc.wantError)
			}
			if tc.wantRequeue != 0 && result.RequeueAfter != tc.wantRequeue {
				t.Errorf("the next pass is in %v, want %v", result.RequeueAfter, tc.wantRequeue)
			}
			w.fail = nil
			w.passes()
			if got := *w.deployment().Spec.Replicas; got != 3 {
				t.Errorf("%d replicas once all requests succeed again, want 3", got)
			}
		})
	}
}

// TestAReviewThatCannotBeWrittenIsMadeAgain lets the write of a review fail that finds a better
// cluster. The next regular one is a minute away.
func TestAReviewThatCannotBeWrittenIsMadeAgain(t *testing.T) {
	conflict := apierrors.NewConflict(schema.GroupResource{Resource: "applications"}, "web", errors.New("changed"))
	for name, failure := range map[string]error{"somebody else wrote in between": conflict, "the API server is down": errors.New("down")} {
		t.Run(name, func(t *testing.T) {
			w := settled(t, nil)
			w.after(61 * time.Second)
			w.measure("madrid", func(c *berthv1alpha1.Cluster) { sample(c, 1) })
			w.clock.SetTime(w.clock.Now().Add(61 * time.Second))
			w.fail = failing[*berthv1alpha1.Application]("status", failure)
			if _, err := w.controller.Reconcile(t.Context(), request); err != nil && apierrors.IsConflict(failure) {
				t.Error(err)
			}
			w.fail = nil
			w.passes()
			if got := w.app().Status.ScheduledTo; got != "madrid" {
				t.Errorf("it is in %s, want madrid", got)
			}
		})
	}
}

func TestAnApplicationThatIsGoneIsForgotten(t *testing.T) {
	leaving := newApplication(deployment)
	leaving.Finalizers, leaving.DeletionTimestamp = []string{"a/b"}, &metav1.Time{Time: time.Unix(1, 0)}
	for name, w := range map[string]*world{
		"it is gone": newWorld(t, cluster("berlin", 0.5)), "it is being deleted": newWorld(t, cluster("berlin", 0.5), leaving),
	} {
		t.Run(name, func(t *testing.T) {
			if result := w.pass(); result.RequeueAfter != 0 || w.writes != 0 {
				t.Errorf("%d writes, and the next pass in %v; want neither", w.writes, result.RequeueAfter)
			}
		})
	}
}

func TestEventsTellOfChoices(t *testing.T) {
	before := metricstest.Value(t, "berth_application_moves_total", "")
	w := newWorld(t, cluster("berlin", 0.5), cluster("madrid", 0.4), newApplication(configMap))
	w.passes()
	w.measure("madrid", func(c *berthv1alpha1.Cluster) { sample(c, 1) })
	w.after(2 * time.Minute)
	want := "[Normal Scheduled Chose cluster berlin Normal Rescheduled Chose cluster madrid instead of berlin]"
	if got := fmt.Sprint(w.events()); got != want {
		t.Errorf("events = %s, want %s", got, want)
	}
	if got := metricstest.Value(t, "berth_application_moves_total", "") - before; got != 1 {
		t.Errorf("%v moves are counted, want 1: the first choice is none", got)
	}
}

func TestAnApplicationMaySayHowLongAChoiceStands(t *testing.T) {
	w := settled(t, func(app *berthv1alpha1.Application) {
		app.Spec.RescheduleAfter = &metav1.Duration{Duration: 10 * time.Second}
	})
	w.measure("madrid", func(c *berthv1alpha1.Cluster) { sample(c, 1) })
	w.after(11 * time.Second)
	if got := w.app().Status.ScheduledTo; got != "madrid" {
		t.Errorf("scheduled to %s, want madrid", got)
	}
}

func TestWithoutClustersItWaits(t *testing.T) {
	w := newWorld(t, newApplication(configMap))
	w.passes()
	if got := w.condition("Scheduled"); got != "False NoClusterMatches: there are no Clusters" {
		t.Errorf("Scheduled is %s", got)
	}
}

func TestALongMessageIsCut(t *testing.T) {
	w := newWorld(t, cluster("berlin", 0.5), newApplication(configMap))
	w.refuse = func(string, string) error { return apierrors.NewBadRequest(strings.Repeat("x", 2000)) }
	w.passes()
	got := w.condition("Ready")
	if message := strings.TrimPrefix(got, "False ManifestRefused: "); len(message) != 1024 {
		t.Errorf("the message of %d bytes is %s, want 1024 bytes", len(message), got)
	}
}

func TestAnObjectThatIsBeingDeletedIsWaitedFor(t *testing.T) {
	leaving := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Name: "settings", Namespace: namespace, Finalizers: []string{"a/b"}, DeletionTimestamp: &metav1.Time{Time: time.Unix(1, 0)},
	}}
	w := newWorld(t, cluster("berlin", 0.5), leaving, newApplication(configMap))
	w.passes()
	if got := w.condition("Ready"); got != "False ManifestRefused: configmap settings: one of this name is being deleted" {
		t.Errorf("Ready is %s", got)
	}
}

func TestWhatCannotBeDeletedStaysListed(t *testing.T) {
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "configmaps"}, "settings", errors.New("no"))
	for name, fail := range map[string]func(string, runtime.Object) error{
		"it cannot be read":    failing[*metav1.PartialObjectMetadata]("get", forbidden),
		"it cannot be deleted": failing[client.Object]("delete", forbidden),
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, cluster("berlin", 0.5), newApplication(deployment+"---\n"+configMap))
			w.passes()
			w.edit(func(spec *berthv1alpha1.ApplicationSpec) { spec.Manifests = manifests(deployment) })
			w.fail = fail
			w.passes()
			if got := w.condition("Ready"); !strings.HasPrefix(got, "False ManifestRefused") || !strings.Contains(got, "forbidden") {
				t.Errorf("Ready is %s", got)
			}
			if got := len(w.app().Status.Objects); got != 2 {
				t.Errorf("%d objects in the status, want 2", got)
			}
			w.fail = nil
			w.passes()
			if got := len(w.app().Status.Objects); got != 1 {
				t.Errorf("%d objects in the status after it could be deleted, want 1", got)
			}
		})
	}
}

// TestAnObjectOfAKindThatIsGoneIsGone takes an object out of the manifests after its kind has been
// uninstalled, and its objects with it.
func TestAnObjectOfAKindThatIsGoneIsGone(t *testing.T) {
	w := newWorld(t, cluster("berlin", 0.5), newApplication(deployment+"---\n"+configMap))
	w.passes()
	w.edit(func(spec *berthv1alpha1.ApplicationSpec) { spec.Manifests = manifests(deployment) })
	w.fail = failing[*metav1.PartialObjectMetadata]("get", &apimeta.NoKindMatchError{GroupKind: schema.GroupKind{Kind: "ConfigMap"}})
	w.passes()
	if got := len(w.app().Status.Objects); got != 1 {
		t.Errorf("%d objects in the status, want 1", got)
	}
}

func TestAWorkloadThatOthersScaleIsNotScaledOverAConflict(t *testing.T) {
	w := settled(t, func(app *berthv1alpha1.Application) {
		app.Spec.Manifests = manifests(strings.Replace(deployment, "replicas: 2, ", "", 1))
	})
	w.measure("madrid", func(c *berthv1alpha1.Cluster) { sample(c, 1) })
	w.after(time.Minute)
	conflict := apierrors.NewConflict(schema.GroupResource{Resource: "deployments"}, "front", errors.New("changed"))
	two := int32(2)
	d := w.deployment()
	d.Spec.Replicas = &two
	w.must(w.client.Update(t.Context(), d))
	w.fail = failing[*appsv1.Deployment]("patch", conflict)
	if result := w.pass(); result.RequeueAfter != 200*time.Millisecond {
		t.Errorf("the next pass is in %v, want 200ms", result.RequeueAfter)
	}
}

// TestWithoutAnAccountNothingIsWritten checks that an account that cannot be written as is told,
// and costs nothing but the wait.
func TestWithoutAnAccountNothingIsWritten(t *testing.T) {
	w := newWorld(t, newApplication(deployment), cluster("a", 1))
	w.noAccount = &accounts.Refusal{Text: "not allowed"}
	for range 3 {
		if result := w.pass(); result.RequeueAfter <= 0 || result.RequeueAfter > time.Minute {
			t.Errorf("the next pass is after %v", result.RequeueAfter)
		}
	}
	if got := w.condition(berthv1alpha1.ApplicationReady); !strings.HasPrefix(got, "False NotAllowed") {
		t.Errorf("condition %s", got)
	}
	var deployments appsv1.DeploymentList
	w.must(w.client.List(t.Context(), &deployments))
	if got := w.policy(); len(deployments.Items) > 0 || got != "none" {
		t.Errorf("policy %s and %d Deployments are made", got, len(deployments.Items))
	}
	w.noAccount = nil
	w.passes()
	w.deployment()
}
