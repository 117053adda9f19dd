// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package clusterresource_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/stamp"
	"berth.dev/berth/pkg/placement/pool"
)

// gathered returns the values of the metrics whose names begin so, by "NAME{LABELS}".
func gathered(t *testing.T, prefix string) map[string]float64 {
	t.Helper()
	families, err := metrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]float64{}
	for _, family := range families {
		if !strings.HasPrefix(family.GetName(), prefix) {
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
	if diff := cmp.Diff(want, gathered(t, "berth_cluster_resource_")); diff != "" {
		t.Errorf("metrics (-want +got):\n%s", diff)
	}

	empty := newHarness(t)
	empty.mustPass()
	if left := gathered(t, "berth_cluster_resource_"); len(left) > 0 {
		t.Errorf("without ClusterResources there is %v", left)
	}
}

func TestMetricsTellWhatIsGranted(t *testing.T) {
	object := declared(of("a", "5"), of("b", "1"))
	for _, scheduler := range []string{"one", "two"} {
		object.Status.Grants = append(object.Status.Grants,
			berthv1alpha1.PoolGrant{Scheduler: scheduler, Pool: "a", Quantity: resource.MustParse("2"), Revision: 1})
	}
	newHarness(t, object).mustPass()
	want := map[string]float64{"berth_cluster_resource_granted{pool=a,resource=matlab}": 4}
	if diff := cmp.Diff(want, gathered(t, "berth_cluster_resource_granted")); diff != "" {
		t.Errorf("metrics (-want +got):\n%s", diff)
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
	values := gathered(t, "berth_cluster_resource_")
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

func TestOvercommittedPoolsAreCountedInUnits(t *testing.T) {
	inKibibytes := declared(of("a", "5Ki"), of("b", "1Ki"))
	unit := resource.MustParse("1Ki")
	inKibibytes.Spec.Unit = &unit
	for name, tc := range map[string]struct {
		object *berthv1alpha1.ClusterResource
		pods   []client.Object
		want   map[string]float64
	}{
		"as much as there is": {
			object: declared(of("a", "2")), pods: []client.Object{charged(pod("x", "p", "2"), "n", "2", "a")},
			want: map[string]float64{"berth_pool_overcommitted_units{pool=a,resource=matlab}": 0},
		},
		"more than there is, by two pods": {
			object: declared(of("a", "2")),
			pods:   []client.Object{charged(pod("x", "p", "2"), "n", "2", "a"), charged(pod("x", "q", "2"), "n", "2", "a")},
			want:   map[string]float64{"berth_pool_overcommitted_units{pool=a,resource=matlab}": 2},
		},
		"what one pool lacks another one has": {
			object: inKibibytes, pods: []client.Object{charged(pod("x", "p", "2500"), "n", "2500", "b")},
			want: map[string]float64{
				"berth_pool_overcommitted_units{pool=a,resource=matlab}": 0,
				"berth_pool_overcommitted_units{pool=b,resource=matlab}": 2,
			},
		},
		"a pool that is declared no more": {
			object: declared(of("a", "2")), pods: []client.Object{charged(pod("x", "p", "1"), "n", "1", "gone")},
			want: map[string]float64{
				"berth_pool_overcommitted_units{pool=a,resource=matlab}":    0,
				"berth_pool_overcommitted_units{pool=gone,resource=matlab}": 1,
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			newHarness(t, append(tc.pods, tc.object)...).mustPass()
			if diff := cmp.Diff(tc.want, gathered(t, "berth_pool_")); diff != "" {
				t.Errorf("metrics (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNoOvercommittedPoolIsHiddenByTheBounds(t *testing.T) {
	var objects []client.Object
	for i := range 102 {
		object := declared(of("a", "1"))
		object.Name = fmt.Sprintf("r%03d", i)
		objects = append(objects, object)
	}
	over := pod("x", "p", "1")
	maps.Copy(over.Annotations, stamp.ChargeAnnotations(over, "n", []pool.Charge{
		{Resource: "r100", Pool: "a", Quantity: resource.MustParse("3")},
	}))
	newHarness(t, append(objects, on(over, "n"))...).mustPass()
	if got := gathered(t, "berth_pool_")["berth_pool_overcommitted_units{pool=_other,resource=_other}"]; got != 2 {
		t.Errorf("beyond the bounds there are %v units too many, want 2", got)
	}
}

func TestTheOldestThatWait(t *testing.T) {
	waiting := func(name, quantity string, age time.Duration, edits ...func(*corev1.Pod)) *corev1.Pod {
		p := pod("x", name, quantity)
		p.CreationTimestamp = metav1.NewTime(now.Add(-age))
		for _, edit := range edits {
			edit(p)
		}
		return p
	}
	taker := func(name, rack string, edits ...func(*corev1.Node)) *corev1.Node {
		n := node(name, map[string]string{"rack": rack})
		n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
		for _, edit := range edits {
			edit(n)
		}
		return n
	}
	onRack := func(rack string) func(*corev1.Pod) {
		return func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{"rack": rack} }
	}
	racks := declared(of("a", "1", "rack", "a"), of("b", "3", "rack", "b"))
	for name, tc := range map[string]struct {
		objects            []client.Object
		wantFits, wantElse float64
	}{
		"nobody": {},
		"one that fits and one that does not": {
			objects:  []client.Object{taker("b1", "b"), waiting("p", "2", time.Minute), waiting("q", "9", time.Hour)},
			wantFits: 60, wantElse: 3600,
		},
		"of several the oldest": {
			objects:  []client.Object{taker("b1", "b"), waiting("p", "2", time.Minute), waiting("q", "2", time.Hour)},
			wantFits: 3600,
		},
		"enough in no single pool": {
			objects: []client.Object{taker("a1", "a"), taker("b1", "b"), waiting("p", "4", time.Minute)}, wantElse: 60,
		},
		"enough, but not where the pod may run": {
			objects: []client.Object{taker("a1", "a"), taker("b1", "b"), waiting("p", "2", time.Minute, onRack("a"))}, wantElse: 60,
		},
		"enough, where the pod may run": {
			objects: []client.Object{taker("a1", "a"), taker("b1", "b"), waiting("p", "2", time.Minute, onRack("b"))}, wantFits: 60,
		},
		"enough, on nodes that take no pods": {
			objects: []client.Object{
				taker("b1", "b", func(n *corev1.Node) { n.Spec.Unschedulable = true }),
				taker("b2", "b", func(n *corev1.Node) {
					n.Spec.Taints = []corev1.Taint{{Key: "k", Effect: corev1.TaintEffectNoSchedule}}
				}),
				waiting("p", "2", time.Minute),
			},
			wantElse: 60,
		},
		"enough until other pods took it": {
			objects: []client.Object{
				taker("b1", "b"), charged(pod("x", "holder", "2"), "b1", "2", "b"), waiting("p", "2", time.Minute),
			},
			wantElse: 60,
		},
		"what no request can be read of": {objects: []client.Object{taker("b1", "b"), waiting("p", "x", time.Minute)}, wantElse: 60},
		"one with a gate, one that is finished": {objects: []client.Object{
			taker("b1", "b"),
			waiting("p", "1", time.Minute, func(p *corev1.Pod) { p.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "g"}} }),
			waiting("q", "1", time.Minute, func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }),
		}},
	} {
		t.Run(name, func(t *testing.T) {
			newHarness(t, append(tc.objects, racks.DeepCopy())...).mustPass()
			want := map[string]float64{
				"berth_waiting_oldest_seconds{fits=true}": tc.wantFits, "berth_waiting_oldest_seconds{fits=false}": tc.wantElse,
			}
			if diff := cmp.Diff(want, gathered(t, "berth_waiting_")); diff != "" {
				t.Errorf("metrics (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPoolsAreCountedAgainEveryMinute(t *testing.T) {
	h := newHarness(t, declared(of("a", "1")))
	if again, err := h.pass(); err != nil || again != time.Minute {
		t.Errorf("again in %v, error %v, want a minute", again, err)
	}
}
