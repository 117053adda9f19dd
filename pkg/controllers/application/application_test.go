// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package application_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

func TestTheBestClusterGetsTheApplication(t *testing.T) {
	w := newWorld(t, cluster("berlin", 0.4), cluster("madrid", 0.9), newApplication(deployment+"---\n"+configMap))
	w.passes()
	status := w.app().Status
	if status.ScheduledTo != "madrid" || status.Scheduled == nil || !status.Scheduled.Equal(status.KubeControllerTriggered) {
		t.Errorf("scheduled to %q at %v, triggered at %v; want madrid, at the same time", status.ScheduledTo, status.Scheduled, status.KubeControllerTriggered)
	}
	if got := w.policy(); got != "madrid" {
		t.Errorf("the policy names %q, want madrid", got)
	}
	w.checkDeployment()
	if got := w.condition("Scheduled"); !strings.HasPrefix(got, "True ClusterChosen") {
		t.Errorf("Scheduled is %s", got)
	}
	if got := w.condition("Ready"); got != "False PodsNotReady: deployment front: 0 of 2 pods are available in cluster madrid" {
		t.Errorf("Ready is %s", got)
	}
	w.run("madrid", 0, true)
	w.run("madrid", 1, true)
	w.passes()
	if got := w.condition("Ready"); got != "True Running: everything runs in cluster madrid" {
		t.Errorf("Ready is %s", got)
	}
}

// checkDeployment checks that the Deployment belongs to the Application, which places its pods.
func (w *world) checkDeployment() {
	w.t.Helper()
	d := w.deployment()
	if !metav1.IsControlledBy(d, w.app()) || d.Labels["berth.dev/application"] != "web" || *d.Spec.Replicas != 2 {
		w.t.Errorf("the Deployment is not the Application's: %+v, %d replicas", d.ObjectMeta, *d.Spec.Replicas)
	}
	template := &d.Spec.Template
	if template.Spec.SchedulerName != "berth-scheduler" || template.Annotations["groupingpolicy.kubeedge.io"] != "web-deployment-front" {
		w.t.Errorf("its pods are not placed by the Application: %+v", template)
	}
}

// settled returns a world in which the Application runs in berlin.
func settled(t *testing.T, edit func(*berthv1alpha1.Application)) *world {
	t.Helper()
	app := newApplication(deployment)
	if edit != nil {
		edit(app)
	}
	w := newWorld(t, cluster("berlin", 0.5), cluster("madrid", 0.4), app)
	w.passes()
	w.run("berlin", 0, true)
	w.run("berlin", 1, true)
	w.passes()
	return w
}

func TestNothingIsWrittenWhenNothingChanges(t *testing.T) {
	w := settled(t, nil)
	w.after(61 * time.Second) // Now berlin has the stickiness in its score.
	before := w.writes
	for range 5 {
		w.after(61 * time.Second)
	}
	if w.writes != before {
		t.Errorf("%d writes, want none", w.writes-before)
	}
}

func TestEventsDoNotPutOffTheReview(t *testing.T) {
	w := settled(t, nil)
	w.measure("madrid", func(c *berthv1alpha1.Cluster) { sample(c, 1) })
	for range 11 {
		w.after(5 * time.Second)
		if got := w.app().Status.ScheduledTo; got != "berlin" {
			t.Fatalf("it moves to %s before its time", got)
		}
	}
	w.after(6 * time.Second)
	if got := w.app().Status.ScheduledTo; got != "madrid" {
		t.Errorf("scheduled to %s, want madrid", got)
	}
}

func TestAChangeOfTheSpecIsDecidedAtOnce(t *testing.T) {
	w := settled(t, nil)
	scheduled := *w.app().Status.Scheduled
	w.after(10 * time.Second)
	w.edit(func(spec *berthv1alpha1.ApplicationSpec) {
		spec.Constraints.ClusterLabels = []string{"location in (berlin, madrid)"}
	})
	w.passes()
	status := w.app().Status
	if !status.Scheduled.Equal(&scheduled) || !status.KubeControllerTriggered.After(scheduled.Time) {
		t.Errorf("scheduled %v, triggered %v; want the former as before (%v) and the latter after it", status.Scheduled, status.KubeControllerTriggered, scheduled)
	}
	w.edit(func(spec *berthv1alpha1.ApplicationSpec) {
		spec.Constraints.ClusterLabels = []string{"location is madrid"}
	})
	w.passes()
	if got := w.app().Status.ScheduledTo; got != "madrid" {
		t.Errorf("scheduled to %s, want madrid", got)
	}
}

func TestACordonKeepsAndADrainMovesAnApplication(t *testing.T) {
	w := settled(t, nil)
	w.change("berlin", func(c *berthv1alpha1.Cluster) { c.Spec.Unschedulable = true })
	w.after(2 * time.Minute)
	if got := w.app().Status.ScheduledTo; got != "berlin" {
		t.Errorf("scheduled to %s in a cordoned cluster, want berlin", got)
	}
	// A drain does not wait for the next review.
	w.change("berlin", func(c *berthv1alpha1.Cluster) { c.Spec.Drain = true })
	w.passes()
	if got := w.app().Status.ScheduledTo; got != "madrid" {
		t.Errorf("scheduled to %s out of a cluster that is drained, want madrid", got)
	}
}

func TestStartFirst(t *testing.T) {
	w := settled(t, nil)
	w.measure("madrid", func(c *berthv1alpha1.Cluster) { sample(c, 1) })
	step := func(what, wantPolicy string, wantReplicas int32) {
		t.Helper()
		w.restart() // How far a migration is must not hang on memory.
		w.clock.SetTime(w.clock.Now().Add(3 * time.Second))
		w.pass()
		if replicas := *w.deployment().Spec.Replicas; replicas != wantReplicas {
			t.Fatalf("%s: %d replicas after the first pass, want %d", what, replicas, wantReplicas)
		}
		w.passes()
		if got, moving := w.rebalance(), strings.Contains(wantPolicy, " "); (got == berthv1alpha1.RebalanceNever) != moving {
			t.Fatalf("%s: the policy moves running pods: %s", what, got)
		}
		if policy, replicas := w.policy(), *w.deployment().Spec.Replicas; policy != wantPolicy || replicas != wantReplicas {
			t.Fatalf("%s: policy %q and %d replicas, want %q and %d", what, policy, replicas, wantPolicy, wantReplicas)
		}
	}
	w.clock.SetTime(w.clock.Now().Add(time.Minute))
	w.pass()
	if got := *w.deployment().Spec.Replicas; got != 2 {
		t.Fatalf("%d replicas before the policy is known, want 2", got)
	}
	step("the policy is known", "madrid>=2 berlin", 4)
	w.run("madrid", 0, true)
	late := w.run("madrid", 1, false)
	step("one new pod is not ready", "madrid>=2 berlin", 4)
	late.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	w.must(w.client.Status().Update(t.Context(), late))
	step("the old pods have the seats that stay", "madrid>=2 berlin", 4)
	var pods corev1.PodList
	w.must(w.client.List(t.Context(), &pods))
	for i := range pods.Items {
		if pods.Items[i].Annotations["berth.dev/cluster"] == "berlin" {
			pods.Items[i].Annotations[corev1.PodDeletionCost] = "-3000"
			pods.Items[i].Annotations["berth.dev/seat"] = "3"
			w.must(w.client.Update(t.Context(), &pods.Items[i]))
		}
	}
	step("the new pods are ready", "madrid>=2 berlin", 2)
	if got := w.condition("Ready"); !strings.HasPrefix(got, "False Migrating") {
		t.Errorf("Ready is %s", got)
	}
	for i := range pods.Items {
		if pods.Items[i].Annotations["berth.dev/cluster"] == "berlin" {
			w.must(w.client.Delete(t.Context(), &pods.Items[i]))
		}
	}
	step("the old pods are gone", "madrid", 2)
	if got := w.condition("Ready"); !strings.HasPrefix(got, "True Running") {
		t.Errorf("Ready is %s", got)
	}
}

func TestWhatStays(t *testing.T) {
	never := func(app *berthv1alpha1.Application) { app.Spec.Migration = berthv1alpha1.MigrationNever }
	tests := map[string]struct {
		edit          func(*berthv1alpha1.Application)
		happens       func(*world)
		wantScheduled string
	}{
		"a provider dies": {nil, func(w *world) {
			w.measure("berlin", func(c *berthv1alpha1.Cluster) {
				c.Status.Metrics[0].Stale, c.Status.Metrics[0].Reason = true, "Unreachable"
			})
		}, "True ClusterChosen"},
		"a value vanishes": {nil, func(w *world) {
			w.measure("berlin", func(c *berthv1alpha1.Cluster) { c.Status.Metrics = nil })
		}, "True ClusterChosen"},
		"migration is Never": {never, func(w *world) {
			w.measure("madrid", func(c *berthv1alpha1.Cluster) { sample(c, 1) })
		}, "True ClusterChosen: cluster berlin meets the constraints; cluster madrid is better by more than the stickiness, " +
			"and migration is Never, so it stays there"},
		"migration is Never and nothing holds any more": {never, func(w *world) {
			w.edit(func(spec *berthv1alpha1.ApplicationSpec) {
				spec.Constraints.ClusterLabels = []string{"location is madrid"}
			})
		}, "False NoClusterMatches: cluster berlin does not suit any more: not meeting location is madrid; migration is Never, so it stays there"},
		"no cluster matches": {nil, func(w *world) {
			w.edit(func(spec *berthv1alpha1.ApplicationSpec) {
				spec.Constraints.ClusterLabels = []string{"location is rome"}
			})
		}, "False NoClusterMatches: no cluster matches: 2 not meeting location is rome"},
		"a constraint cannot be read": {nil, func(w *world) {
			w.edit(func(spec *berthv1alpha1.ApplicationSpec) { spec.Constraints.ClusterMetrics = []string{"green ? 1"} })
		}, `False InvalidConstraints: clusterMetrics[0]: constraint "green ? 1": column 7: expected`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := settled(t, tc.edit)
			tc.happens(w)
			w.after(2 * time.Minute)
			if got := w.app().Status.ScheduledTo; got != "berlin" {
				t.Errorf("scheduled to %q, want berlin", got)
			}
			if got := w.condition("Scheduled"); !strings.HasPrefix(got, tc.wantScheduled) {
				t.Errorf("Scheduled is %s, want %s", got, tc.wantScheduled)
			}
		})
	}
}

func TestItWaitsUntilAClusterMatches(t *testing.T) {
	offline := cluster("berlin", 0.5)
	offline.Status.Conditions = []metav1.Condition{{Type: "Online", Status: metav1.ConditionFalse, Reason: "X"}}
	w := newWorld(t, offline, newApplication(deployment))
	w.passes()
	if got := w.condition("Scheduled"); got != "False NoClusterMatches: no cluster matches: 1 offline" {
		t.Errorf("Scheduled is %s", got)
	}
	if got := w.condition("Ready"); !strings.HasPrefix(got, "False WaitingForCluster") {
		t.Errorf("Ready is %s", got)
	}
	if got := w.app().Status.Ready; got != "0/2" {
		t.Errorf("%q are ready, want 0/2", got)
	}
	w.measure("berlin", func(c *berthv1alpha1.Cluster) { c.Status.Conditions[0].Status = metav1.ConditionTrue })
	w.passes()
	if got := w.app().Status.ScheduledTo; got != "berlin" {
		t.Errorf("scheduled to %q, want berlin", got)
	}
}

func TestManifestsThatCannotBeCarriedOut(t *testing.T) {
	pods := func(addition string) string {
		return strings.Replace(deployment, "spec: {containers", "spec: {"+addition+"containers", 1)
	}
	tests := map[string]struct{ text, want string }{
		"cluster-scoped":          {"{apiVersion: v1, kind: Namespace, metadata: {name: a}}", "manifests[0]: namespace a is in no namespace"},
		"in another namespace":    {"{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: b}}", `manifests[0]: configmap a is of namespace "b"`},
		"the same twice":          {configMap + "---\n" + configMap, "manifests[1]: configmap settings is in manifests[0] already"},
		"no name":                 {"{apiVersion: v1, kind: ConfigMap, metadata: {generateName: a}}", "manifests[0]: metadata.name is missing"},
		"no kind":                 {"{apiVersion: v1, metadata: {name: a}}", "manifests[0]: it is not an object"},
		"a kind nobody knows":     {"{apiVersion: example.com/v1, kind: Ship, metadata: {name: a}}", "manifests[0]: the API server knows no Ship in example.com/v1"},
		"a list":                  {"{apiVersion: v1, kind: List, metadata: {name: a}, items: []}", "manifests[0]: it is a list"},
		"a DaemonSet":             {"{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: a}}", "manifests[0]: daemonset a runs on all nodes"},
		"one of Berth":            {"{apiVersion: berth.dev/v1alpha1, kind: Application, metadata: {name: a}}", "manifests[0]: application a is of Berth itself"},
		"another scheduler":       {pods("schedulerName: default-scheduler, "), `manifests[0]: deployment front: its pods ask for scheduler "default-scheduler"`},
		"replicas that are none":  {strings.Replace(deployment, "replicas: 2", "replicas: two", 1), "manifests[0]: deployment front: spec.replicas is not a number"},
		"metadata that is a text": {"{apiVersion: v1, kind: ConfigMap, metadata: a}", "manifests[0]: "},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, cluster("berlin", 0.5), newApplication(tc.text))
			w.passes()
			if got := w.condition("Ready"); !strings.HasPrefix(got, "False InvalidManifests: "+tc.want) {
				t.Errorf("Ready is %s, want %s", got, tc.want)
			}
		})
	}
	t.Run("none at all", func(t *testing.T) {
		app := newApplication(configMap)
		app.Spec.Manifests = nil
		w := newWorld(t, cluster("berlin", 0.5), app)
		w.passes()
		if got := w.condition("Ready"); got != "False InvalidManifests: there are no manifests" {
			t.Errorf("Ready is %s", got)
		}
	})
}

func TestAManifestThatTheAPIServerRefuses(t *testing.T) {
	const unfit = "failed to create typed patch object (shop/settings; /v1, Kind=ConfigMap): .typo: field not declared in schema"
	webhook := errors.New(`failed calling webhook "a.example.com": connection refused`)
	for want, refusal := range map[string]error{
		`configmaps "settings" is forbidden`: apierrors.NewForbidden(schema.GroupResource{Resource: "configmaps"}, "settings", errors.New("no")),
		unfit:                                &apierrors.StatusError{ErrStatus: metav1.Status{Code: http.StatusInternalServerError, Message: unfit}},
		"Internal error occurred: failed calling webhook": apierrors.NewInternalError(webhook),
	} {
		t.Run(want, func(t *testing.T) {
			w := newWorld(t, cluster("berlin", 0.5), newApplication(configMap+"---\n"+deployment))
			w.refuse = func(kind, _ string) error {
				if kind == "ConfigMap" {
					return refusal
				}
				return nil
			}
			w.passes()
			if got := w.condition("Ready"); !strings.HasPrefix(got, "False ManifestRefused: configmap settings: "+want) {
				t.Errorf("Ready is %s", got)
			}
			w.deployment() // The others are made all the same.
			w.refuse = nil
			w.passes()
			w.must(w.client.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "settings"}, &corev1.ConfigMap{}))
		})
	}
}

func TestWhatBelongsToOthersIsLeftAlone(t *testing.T) {
	foreign := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "settings", Namespace: namespace}, Data: map[string]string{"a": "theirs"}}
	w := newWorld(t, cluster("berlin", 0.5), foreign, newApplication(configMap))
	w.passes()
	if got := w.condition("Ready"); !strings.HasPrefix(got, "False ManifestRefused: configmap settings: one of this name is there already") {
		t.Errorf("Ready is %s", got)
	}
	found := &corev1.ConfigMap{}
	w.must(w.client.Get(t.Context(), client.ObjectKeyFromObject(foreign), found))
	if found.Data["a"] != "theirs" {
		t.Error("it was overwritten")
	}
	found.Labels = map[string]string{"berth.dev/application": "web"}
	w.must(w.client.Update(t.Context(), found))
	w.passes()
	if got := w.condition("Ready"); !strings.HasPrefix(got, "True Running") {
		t.Errorf("handed over, Ready is %s", got)
	}
}

func TestWhatLeavesTheSpecIsDeleted(t *testing.T) {
	w := newWorld(t, cluster("berlin", 0.5), newApplication(deployment+"---\n"+configMap))
	w.passes()
	w.restart()
	w.edit(func(spec *berthv1alpha1.ApplicationSpec) { spec.Manifests = manifests(configMap) })
	w.passes()
	var policies berthv1alpha1.PropagationPolicyList
	w.must(w.client.List(t.Context(), &policies))
	err := w.client.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "front"}, &appsv1.Deployment{})
	if !apierrors.IsNotFound(err) || len(policies.Items) != 0 {
		t.Errorf("reading the Deployment gives %v, and there are %d policies; want neither there", err, len(policies.Items))
	}
	if got := len(w.app().Status.Objects); got != 1 {
		t.Errorf("%d objects in the status, want 1", got)
	}
}

// An autoscaler has given the Deployment three replicas.
func TestStartFirstOfWhatOthersScale(t *testing.T) {
	w := settled(t, func(app *berthv1alpha1.Application) {
		app.Spec.Manifests = manifests(strings.Replace(deployment, "replicas: 2, ", "", 1))
	})
	scale := func(replicas int32) {
		d := w.deployment()
		d.Spec.Replicas = &replicas
		w.must(w.client.Update(t.Context(), d))
	}
	scale(3)
	w.run("berlin", 2, true)
	w.after(10 * time.Second)
	if got := *w.deployment().Spec.Replicas; got != 3 {
		t.Fatalf("%d replicas, want the 3 of the autoscaler", got)
	}
	w.measure("madrid", func(c *berthv1alpha1.Cluster) { sample(c, 1) })
	w.after(time.Minute)
	w.after(3 * time.Second)
	if policy, replicas := w.policy(), *w.deployment().Spec.Replicas; policy != "madrid>=3 berlin" || replicas != 6 {
		t.Fatalf("policy %q and %d replicas, want \"madrid>=3 berlin\" and 6", policy, replicas)
	}
	var pods corev1.PodList
	w.must(w.client.List(t.Context(), &pods))
	for i := range pods.Items { // The whole cluster is lost.
		w.must(w.client.Delete(t.Context(), &pods.Items[i]))
	}
	w.after(3 * time.Second)
	w.after(3 * time.Second)
	if policy, replicas := w.policy(), *w.deployment().Spec.Replicas; policy != "madrid" || replicas != 3 {
		t.Errorf("policy %q and %d replicas, want \"madrid\" and 3", policy, replicas)
	}
}
