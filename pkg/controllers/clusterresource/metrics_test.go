// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package clusterresource_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// gathered returns the values of the metrics of the controller, by "NAME{LABELS}".
func gathered(t *testing.T) map[string]float64 {
	t.Helper()
	families, err := metrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]float64{}
	for _, family := range families {
		if !strings.HasPrefix(family.GetName(), "berth_cluster_resource_") {
			continue
		}
		for _, metric := range family.GetMetric() {
			var labels []string
			for _, label := range metric.GetLabel() {
				labels = append(labels, label.GetName()+"="+label.GetValue())
			}
			values[family.GetName()+"{"+strings.Join(labels, ",")+"}"] = metric.GetGauge().GetValue()
		}
	}
	return values
}

func TestMetrics(t *testing.T) {
	object := declared(of("a", "5Ki"), of("b", "1"))
	h := newHarness(t, object, pod("x", "waits", "1"), charged(pod("x", "p", "2Ki"), "n", "2Ki", "a"))
	h.mustPass()
	want := map[string]float64{
		"berth_cluster_resource_capacity{pool=a,resource=matlab}": 5120, "berth_cluster_resource_allocated{pool=a,resource=matlab}": 2048,
		"berth_cluster_resource_capacity{pool=b,resource=matlab}": 1, "berth_cluster_resource_allocated{pool=b,resource=matlab}": 0,
		"berth_cluster_resource_waiting{resource=matlab}": 1,
	}
	if diff := cmp.Diff(want, gathered(t)); diff != "" {
		t.Errorf("metrics (-want +got):\n%s", diff)
	}

	empty := newHarness(t)
	empty.mustPass()
	if left := gathered(t); len(left) > 0 {
		t.Errorf("without ClusterResources there is %v", left)
	}
}

func TestMetricsAreBounded(t *testing.T) {
	var objects []client.Object
	for i := range 120 {
		var pools []berthv1alpha1.ClusterResourceQuantity
		if i == 0 {
			for p := range 60 {
				pools = append(pools, of(fmt.Sprintf("p%d", p), "2"))
			}
		}
		object := declared(pools...)
		object.Name = fmt.Sprintf("r%03d", i)
		objects = append(objects, object)
	}
	newHarness(t, objects...).mustPass()
	values := gathered(t)
	waiting := 0
	for name := range values {
		if strings.HasPrefix(name, "berth_cluster_resource_waiting") {
			waiting++
		}
	}
	if waiting != 100 {
		t.Errorf("%d ClusterResources, want 100", waiting)
	}
	if got := values["berth_cluster_resource_capacity{pool=_other,resource=r000}"]; got != 20 {
		t.Errorf("the other ten pools have %v, want 20", got)
	}
	if want := 100 + 2*51; len(values) != want {
		t.Errorf("%d series, want %d", len(values), want)
	}
}
