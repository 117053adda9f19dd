// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package conditions_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/controllers/conditions"
	"berth.dev/berth/pkg/controllers/internal/schemetest"
)

// gathered returns the samples, as "KIND CONDITION STATUS REASON".
func gathered(t *testing.T) map[string]float64 {
	t.Helper()
	families, err := metrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	samples := map[string]float64{}
	for _, family := range families {
		if family.GetName() != "berth_object_conditions" {
			continue
		}
		for _, metric := range family.GetMetric() {
			values := map[string]string{}
			for _, label := range metric.GetLabel() {
				values[label.GetName()] = label.GetValue()
			}
			key := []string{values["kind"], values["condition"], values["status"], values["reason"]}
			samples[strings.Join(key, " ")] = metric.GetGauge().GetValue()
		}
	}
	return samples
}

func condition(kind, status, reason string) []metav1.Condition {
	return []metav1.Condition{{Type: kind, Status: metav1.ConditionStatus(status), Reason: reason}}
}

func cluster(name, status, reason string) *berthv1alpha1.Cluster {
	c := &berthv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: name}}
	c.Status.Conditions = condition("Ready", status, reason)
	return c
}

func exported(t *testing.T, served func(string) bool, objects ...client.Object) map[string]float64 {
	t.Helper()
	scheme := schemetest.New()
	reader := fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).Build()
	var samples map[string]float64
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		go conditions.Export(ctx, reader, served)
		synctest.Wait()
		samples = gathered(t)
		cancel()
		synctest.Wait()
		if left := gathered(t); len(left) > 0 {
			t.Errorf("an instance that no longer leads exports %v", left)
		}
	})
	return samples
}

func TestExport(t *testing.T) {
	all := func(string) bool { return true }
	app := &berthv1alpha1.Application{ObjectMeta: metav1.ObjectMeta{Namespace: "x", Name: "a"}}
	app.Status.Conditions = condition("Scheduled", "False", "NoCluster")
	policy := &berthv1alpha1.PropagationPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: "x", Name: "p"}}
	policy.Status.Conditions = condition("Placed", "True", "Placed")
	pool := &berthv1alpha1.ClusterResource{ObjectMeta: metav1.ObjectMeta{Name: "r"}}
	pool.Status.Conditions = condition("Overcommitted", "True", "MoreHeld")
	scheduler := &berthv1alpha1.Scheduler{ObjectMeta: metav1.ObjectMeta{Name: "s"}}
	scheduler.Status.Conditions = condition("Ready", "Unknown", "LeaseExpired")
	tests := map[string]struct {
		served  func(string) bool
		objects []client.Object
		want    map[string]float64
	}{
		"nothing": {served: all, want: map[string]float64{}},
		"objects that say the same": {
			served:  all,
			objects: []client.Object{cluster("a", "True", "NodesReady"), cluster("b", "True", "NodesReady"), cluster("c", "False", "NoNodes")},
			want:    map[string]float64{"Cluster Ready True NodesReady": 2, "Cluster Ready False NoNodes": 1},
		},
		"every kind": {
			served: all, objects: []client.Object{app, policy, pool, scheduler},
			want: map[string]float64{
				"Application Scheduled False NoCluster": 1, "PropagationPolicy Placed True Placed": 1,
				"ClusterResource Overcommitted True MoreHeld": 1, "Scheduler Ready Unknown LeaseExpired": 1,
			},
		},
		"a kind that is not served": {
			served:  func(kind string) bool { return kind != "Application" },
			objects: []client.Object{app, policy},
			want:    map[string]float64{"PropagationPolicy Placed True Placed": 1},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, exported(t, tc.served, tc.objects...)); diff != "" {
				t.Errorf("samples (-want +got):\n%s", diff)
			}
		})
	}
}

// Whoever may write a status can make up reasons.
func TestReasonsWithoutEndAreSummedUp(t *testing.T) {
	var objects []client.Object
	for i := range 400 {
		objects = append(objects, cluster(fmt.Sprintf("c%d", i), "False", fmt.Sprintf("Reason%d", i)),
			cluster(fmt.Sprintf("d%d", i), "True", "NodesReady"))
	}
	samples := exported(t, func(string) bool { return true }, objects...)
	if len(samples) != 300 || samples["Cluster Ready True NodesReady"] != 400 || samples["_other _other _other _other"] != 102 {
		t.Errorf("%d series, %v of them ready and %v others; want 300, 400 and 102", len(samples),
			samples["Cluster Ready True NodesReady"], samples["_other _other _other _other"])
	}
}
