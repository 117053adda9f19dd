// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package explain_test

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/cli/internal/clitest"
)

// site adds a Cluster with a label and a metric of weight 1.
func site(w *clitest.World, name, location string, value float64) *berthv1alpha1.Cluster {
	c := &berthv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"location": location}}}
	c.Spec.Metrics = []berthv1alpha1.MetricReference{{Name: "green", Weight: 1}}
	c.Status.Metrics = []berthv1alpha1.MetricSample{{Name: "green", Value: &value, Normalized: &value}}
	w.Berth = append(w.Berth, c)
	return c
}

func newShop(t *testing.T) (*clitest.World, *berthv1alpha1.Application) {
	t.Helper()
	w := clitest.NewWorld(t)
	site(w, "berlin", "DE", 0.5)
	site(w, "bonn", "DE", 0.5)
	site(w, "madrid", "ES", 0.9)
	site(w, "munich", "DE", 0).Status.Conditions = []metav1.Condition{{Type: "Online", Status: metav1.ConditionFalse}}
	app := &berthv1alpha1.Application{ObjectMeta: metav1.ObjectMeta{Name: "shop", Namespace: clitest.Namespace, UID: "1"}}
	app.Spec.Constraints.ClusterLabels = []string{"location is DE"}
	app.Status.ScheduledTo = "bonn"
	app.Status.Conditions = []metav1.Condition{{Type: "Scheduled", Status: metav1.ConditionTrue, Reason: "ClusterChosen", Message: "cluster bonn is good"}}
	w.Berth = append(w.Berth, app)
	return w, app
}

func explainApplication(t *testing.T, w *clitest.World, args string) clitest.Result {
	t.Helper()
	return clitest.Run(t.Context(), w.Options(), append([]string{"explain", "application"}, strings.Fields(args)...)...)
}

func TestApplicationForPeople(t *testing.T) {
	w, _ := newShop(t)
	explainApplication(t, w, "shop").CheckOutput(t, strings.TrimPrefix(`
Application: default/shop
Cluster:     bonn
Scheduled:   True (ClusterChosen), cluster bonn is good

CLUSTER   ELIGIBLE   SCORE    PARTS                          SAYS
bonn      true       0.5455   green=0.5*1 stickiness=1*0.1   -
berlin    true       0.4545   green=0.5*1 stickiness=0*0.1   -
madrid    false      -        -                              not meeting location is DE
munich    false      -        -                              offline
`, "\n"))
}

// What the controller remembers is told, and what has no room by its last word is not eligible.
func TestApplicationWithAPast(t *testing.T) {
	w, app := newShop(t)
	later := metav1.NewTime(time.Date(2100, 1, 1, 12, 0, 0, 0, time.UTC))
	app.Status.KubeControllerTriggered = &later
	app.Status.Ranking = []berthv1alpha1.RankedPlace{{
		Name: "berlin", Reasons: []string{"without room for all its pods", "deployment shop: 2 of 6 pods fit: 0/4 nodes are available"},
	}}
	site(w, "trier", "DE", 1)
	site(w, "worms", "DE", 1).Status.Conditions = []metav1.Condition{{Type: "Online", Status: metav1.ConditionTrue, LastTransitionTime: later}}
	app.Spec.Failover = &berthv1alpha1.Failover{}
	app.Status.LeftOut = []berthv1alpha1.LeftOutCluster{{Cluster: "trier", Until: later, Failures: 2, Message: "no node"}}
	app.Status.FailedOver = []berthv1alpha1.FailedOverCluster{{Cluster: "worms", Time: later}}
	app.Status.Decisions = []berthv1alpha1.ApplicationDecision{
		{Time: later, From: "trier", To: "bonn", Reason: "MoveGivenUp", Message: "no node"},
		{Time: later, From: "bonn", To: "trier", Reason: "HigherScore", Score: new(0.9), FromScore: new(0.5)},
		{Time: later, To: "bonn", Reason: "FirstChoice", Score: new(0.5)},
	}
	explainApplication(t, w, "shop").CheckOutput(t, strings.TrimPrefix(`
Application: default/shop
Cluster:     bonn
Scheduled:   True (ClusterChosen), cluster bonn is good
Next review: 2100-01-01T12:01:00Z

CLUSTER   ELIGIBLE   SCORE    PARTS                          SAYS
bonn      true       0.5455   green=0.5*1 stickiness=1*0.1   -
berlin    false      -        -                              without room for all its pods, deployment shop: 2 of 6 pods fit: 0/4 nodes are available
madrid    false      -        -                              not meeting location is DE
munich    false      -        -                              offline
trier     false      -        -                              left out after a move that failed, until 2100-01-01T12:00:00Z after 2 failed moves: no node
worms     false      -        -                              online for too short a time after a failover, it was left because it was offline, and comes into question again at 2100-01-01T12:30:00Z

DECIDED                FROM    SCORE   TO      SCORE   REASON        SAYS
2100-01-01T12:00:00Z   trier   -       bonn    -       MoveGivenUp   no node
2100-01-01T12:00:00Z   bonn    0.5     trier   0.9     HigherScore   -
2100-01-01T12:00:00Z   -       -       bonn    0.5     FirstChoice   -
`, "\n"))
	got := explainApplication(t, w, "shop -o json --reschedule-after 10m")
	for _, want := range []string{
		`"nextReview":"2100-01-01T12:10:00Z"`, `"leftOut":[{"cluster":"trier"`, `"failedOver":[{"cluster":"worms"`,
		`"decisions":[{"time":"2100-01-01T12:00:00Z","from":"trier","to":"bonn","reason":"MoveGivenUp","message":"no node"},`,
	} {
		if !strings.Contains(got.Out, want) {
			t.Errorf("output %s, want %s in it", got.Out, want)
		}
	}
}

// While manifests cannot be read nothing is reviewed.
func TestApplicationThatCannotBeRead(t *testing.T) {
	w, app := newShop(t)
	app.Status.KubeControllerTriggered = new(metav1.NewTime(time.Date(2100, 1, 1, 12, 0, 0, 0, time.UTC)))
	app.Status.Conditions = []metav1.Condition{{
		Type: "Scheduled", Status: metav1.ConditionTrue, Reason: "InvalidManifests", Message: "cluster bonn stays chosen",
	}}
	if got := explainApplication(t, w, "shop").Out; strings.Contains(got, "Next review") || !strings.Contains(got, "InvalidManifests") {
		t.Errorf("output %s, want no review in it", got)
	}
}

func TestApplicationForPrograms(t *testing.T) {
	w, _ := newShop(t)
	got := explainApplication(t, w, "shop -o json --stickiness-weight 1")
	want := `"ranking":[{"cluster":"bonn","eligible":true,"reasons":[],"score":0.75,"parts":[` +
		`{"name":"green","value":0.5,"weight":1},{"name":"stickiness","value":1,"weight":1}]},`
	if got.Code != 0 || !strings.Contains(got.Out, `{"application":"shop","namespace":"default","scheduledTo":"bonn",`) ||
		!strings.Contains(got.Out, want) || !strings.Contains(got.Out, `{"cluster":"munich","eligible":false,"reasons":["offline"],"score":0,"parts":[]}`) {
		t.Errorf("exit status %d, output %s, want %s in it", got.Code, got.Out, want)
	}
}

func TestApplicationThatCannotBeExplained(t *testing.T) {
	tests := map[string]struct{ args, want string }{
		"there is none":             {"other", `application "other" not found in namespace "default"`},
		"none is named":             {"", "0 applications named, name one"},
		"no name":                   {"Shop!", `"Shop!" is no name of an application`},
		"a stickiness below 0":      {"shop --stickiness-value=-1", "--stickiness-value must be from 0"},
		"a review all the time":     {"shop --reschedule-after 1ms", "--reschedule-after must be from 1s to 24h"},
		"a constraint has an error": {"broken", "application broken: clusterLabels[0]: constraint \"location\": column 9"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w, app := newShop(t)
			broken := app.DeepCopy()
			broken.Name, broken.Spec.Constraints.ClusterLabels = "broken", []string{"location"}
			w.Berth = append(w.Berth, broken)
			explainApplication(t, w, tc.args).CheckFailed(t, tc.want)
		})
	}
}
