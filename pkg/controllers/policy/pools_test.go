// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// licence is a ClusterResource with pools of so many units on the nodes of the names; an empty name
// is every node.
func licence(mode berthv1alpha1.PoolMode, pools map[string]string, changes ...func(*berthv1alpha1.ClusterResource)) client.Object {
	r := &berthv1alpha1.ClusterResource{ObjectMeta: meta("licence"), Spec: berthv1alpha1.ClusterResourceSpec{Mode: mode}}
	r.Namespace = ""
	for node, amount := range pools {
		pool := berthv1alpha1.ClusterResourceQuantity{Name: "all", Quantity: resource.MustParse(amount)}
		if node != "" {
			pool.Name, pool.NodeSelector = node, map[string]string{corev1.LabelHostname: node}
		}
		r.Spec.Capacity, r.Status.Allocatable = append(r.Spec.Capacity, pool), append(r.Status.Allocatable, pool)
	}
	for _, change := range changes {
		change(r)
	}
	return r
}

// asking are the two ways in which a pod asks for a licence.
var asking = map[string]func(*corev1.Pod){
	"resource": func(p *corev1.Pod) {
		p.Spec.Containers[0].Resources.Requests["cluster-resource.berth.dev/licence"] = resource.MustParse("1")
	},
	"annotation": annotated("pod.alpha.kubernetes.io/cluster-resource-licence", "1"),
}

// holding returns what makes a pod one that holds a licence: of the pool of its node, or of the one
// pool of all.
func holding(asks func(*corev1.Pod), pool, grantee string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		asks(p)
		charged := pool
		if charged == "" {
			charged = p.Spec.NodeName
		}
		p.Annotations[berthv1alpha1.ChargedAnnotation] = "licence/" + charged + "=1"
		if grantee != "" {
			p.Annotations[berthv1alpha1.GranteeAnnotation] = grantee
		}
	}
}

func grants(of ...berthv1alpha1.PoolGrant) func(*berthv1alpha1.ClusterResource) {
	return func(r *berthv1alpha1.ClusterResource) { r.Status.Grants, r.Status.GrantsRevision = of, 1 }
}

func grant(scheduler, amount string) berthv1alpha1.PoolGrant {
	return berthv1alpha1.PoolGrant{Scheduler: scheduler, Pool: "all", Quantity: resource.MustParse(amount), Revision: 1}
}

// fullyGranted is a pool of which everything is held, out of the grants of the schedulers that
// share it.
func fullyGranted() client.Object {
	return licence(berthv1alpha1.AnyOf, map[string]string{"": "5"}, grants(grant("of-beijing", "2"), grant("of-hangzhou", "3")))
}

// homes are the sites, each bound to a Scheduler of its own.
func homes() []client.Object {
	objects := sites()
	for _, object := range objects {
		if c, is := object.(*berthv1alpha1.Cluster); is {
			c.Status.HomeScheduler = "of-" + c.Name
		}
	}
	return objects
}

// stranger asks for a licence and has no node.
func stranger(asks func(*corev1.Pod), changes ...func(*corev1.Pod)) client.Object {
	pod := webPod("stranger", "", 0, append(changes, asks)...)
	pod.OwnerReferences, pod.Labels = nil, nil
	return pod
}

func gated(p *corev1.Pod) { p.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "later"}} }

func both(first, second func(*corev1.Pod)) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		first(p)
		second(p)
	}
}

// waitingAt is a workload "db" of a policy with its own weights, of which two pods ask for a
// licence and have no node.
func waitingAt(
	asks func(*corev1.Pod), weights []berthv1alpha1.StaticClusterWeight, changes ...func(*berthv1alpha1.PropagationPolicySpec),
) []client.Object {
	of := func(o client.Object, name string, by ...metav1.OwnerReference) client.Object {
		o.SetName(name)
		o.SetUID(types.UID(name))
		o.SetOwnerReferences(by)
		return o
	}
	objects := these(
		of(newDeployment(2), "db"), of(newReplicaSet("", "1", 2), "db-rs", owner("apps/v1", "Deployment", "db")),
		newPolicy("db", func(spec *berthv1alpha1.PropagationPolicySpec) {
			spec.ResourceSelectors[0].Name, spec.Placement.StaticWeightList = "db", weights
			for _, change := range changes {
				change(spec)
			}
		}),
	)
	for _, name := range []string{"db-0", "db-1"} {
		objects = append(objects, of(webPod(name, "", 0, asks), name, owner("apps/v1", "ReplicaSet", "db-rs")))
	}
	return objects
}

func TestHoldersOfUnitsMoveOnlyToWhereTheyGetSome(t *testing.T) {
	// Beijing runs the seats 1 and 3, hangzhou 0, 2 and 4. By 4:1 two of hangzhou are misplaced, by
	// 0:1 both of beijing.
	tests := map[string]struct {
		objects     func(asks func(*corev1.Pod)) []client.Object
		wantEvicted int
	}{
		"a pool with room for both": {func(asks func(*corev1.Pod)) []client.Object {
			pools := licence(berthv1alpha1.AnyOf, map[string]string{"beijing-0": "4", "hangzhou-0": "3"})
			return world(sites(), placed(holding(asks, "", "")), wrong(), these(pools))
		}, 2},
		"a pool with room for one": {func(asks func(*corev1.Pod)) []client.Object {
			pools := licence(berthv1alpha1.AnyOf, map[string]string{"beijing-0": "3", "hangzhou-0": "3"})
			return world(sites(), placed(holding(asks, "", "")), wrong(), these(pools))
		}, 1},
		"a full pool": {func(asks func(*corev1.Pod)) []client.Object {
			pools := licence(berthv1alpha1.AnyOf, map[string]string{"beijing-0": "2", "hangzhou-0": "3"})
			return world(sites(), placed(holding(asks, "", "")), wrong(), these(pools))
		}, 0},
		"a full pool, which the first of the workload's pods draws on": {func(asks func(*corev1.Pod)) []client.Object {
			pools := licence(berthv1alpha1.AnyOf, map[string]string{"beijing-0": "2", "hangzhou-0": "3"})
			return world(sites(), placed(holding(asks, "", "")), these(newPolicy("p", reweighed(1, 4)), pools))
		}, 0},
		"a full pool of all, of which each gives its own unit back": {func(asks func(*corev1.Pod)) []client.Object {
			return world(sites(), placed(holding(asks, "all", "")), wrong(), these(licence(berthv1alpha1.AnyOf, map[string]string{"": "5"})))
		}, 1},
		"a full pool of all, for which another one waits": {func(asks func(*corev1.Pod)) []client.Object {
			pools := licence(berthv1alpha1.AnyOf, map[string]string{"": "5"})
			return world(sites(), placed(holding(asks, "all", "")), wrong(), these(pools, stranger(asks)))
		}, 0},
		"a pool with room for both, while others wait for units elsewhere": {func(asks func(*corev1.Pod)) []client.Object {
			pools := licence(berthv1alpha1.AnyOf, map[string]string{"beijing-0": "4", "hangzhou-0": "3"})
			return world(sites(), placed(holding(asks, "", "")), wrong(), these(pools), waitingAt(asks, weigh(0, 1)[1:]))
		}, 2},
		"a pool with room for both, which others have been waiting for": {func(asks func(*corev1.Pod)) []client.Object {
			pools := licence(berthv1alpha1.AnyOf, map[string]string{"beijing-0": "4", "hangzhou-0": "3"})
			return world(sites(), placed(holding(asks, "", "")), wrong(), these(pools), waitingAt(asks, weigh(1, 0)[:1]))
		}, 0},
		"a pool with room for both, which others want that are gated": {func(asks func(*corev1.Pod)) []client.Object {
			pools := licence(berthv1alpha1.AnyOf, map[string]string{"beijing-0": "4", "hangzhou-0": "3"})
			return world(sites(), placed(holding(asks, "", "")), wrong(), these(pools), waitingAt(both(asks, gated), weigh(1, 0)[:1]))
		}, 2},
		"a pool with room for both, from which others are kept by a constraint of their policy": {func(asks func(*corev1.Pod)) []client.Object {
			pools := licence(berthv1alpha1.AnyOf, map[string]string{"beijing-0": "4", "hangzhou-0": "3"})
			others := waitingAt(asks, weigh(1, 0)[:1], func(spec *berthv1alpha1.PropagationPolicySpec) {
				spec.Placement.Constraints = &berthv1alpha1.ClusterConstraints{ClusterLabels: []string{"location is DE"}}
			})
			return world(sites(), placed(holding(asks, "", "")), wrong(), these(pools), others)
		}, 2},
		"a pool with room for both, which others want that ask for a policy that does not exist": {func(asks func(*corev1.Pod)) []client.Object {
			pools := licence(berthv1alpha1.AnyOf, map[string]string{"beijing-0": "4", "hangzhou-0": "3"})
			astray := both(asks, annotated(berthv1alpha1.PolicyAnnotation, "typo"))
			others := waitingAt(astray, weigh(1, 0)[:1])
			for _, o := range others {
				if d, is := o.(*appsv1.Deployment); is {
					metav1.SetMetaDataAnnotation(&d.Spec.Template.ObjectMeta, berthv1alpha1.PolicyAnnotation, "typo")
				}
			}
			return world(sites(), placed(holding(asks, "", "")), wrong(), these(pools), others)
		}, 2},
		"a full pool of all, for which one waits that has to wait longer": {func(asks func(*corev1.Pod)) []client.Object {
			pools := licence(berthv1alpha1.AnyOf, map[string]string{"": "5"})
			return world(sites(), placed(holding(asks, "all", "")), wrong(), these(pools, stranger(asks, gated)))
		}, 1},
		"the scheduler there was granted enough": {func(asks func(*corev1.Pod)) []client.Object {
			pools := licence(berthv1alpha1.AnyOf, map[string]string{"": "10"}, grants(grant("of-beijing", "4"), grant("of-hangzhou", "5")))
			return world(homes(), placed(granted(asks)), wrong(), these(pools))
		}, 2},
		"the scheduler there has what its pods hold, and the pool is full": {func(asks func(*corev1.Pod)) []client.Object {
			return world(homes(), placed(granted(asks)), wrong(), these(fullyGranted()))
		}, 1},
		"the same, and another one waits": {func(asks func(*corev1.Pod)) []client.Object {
			return world(homes(), placed(granted(asks)), wrong(), these(fullyGranted(), stranger(asks)))
		}, 0},
		"the same, and the rest is of use elsewhere only": {func(asks func(*corev1.Pod)) []client.Object {
			pools := licence(berthv1alpha1.AnyOf, map[string]string{"beijing-0": "2", "hangzhou-0": "4"})
			return world(homes(), placed(holding(asks, "", "")), wrong(), these(pools))
		}, 0},
		"the scheduler there was granted no more than its pods hold": {func(asks func(*corev1.Pod)) []client.Object {
			pools := licence(berthv1alpha1.AnyOf, map[string]string{"": "10"}, grants(grant("of-beijing", "2"), grant("of-hangzhou", "8")))
			return world(homes(), placed(granted(asks)), wrong(), these(pools))
		}, 0},
	}
	for name, tc := range tests {
		for form, asks := range asking {
			t.Run(name+", asked for as "+form, func(t *testing.T) {
				h := newHarness(t, tc.objects(asks)...)
				h.pass()
				if got := h.evicted(); len(got) != tc.wantEvicted {
					t.Errorf("%v are evicted, want %d: %s", got, tc.wantEvicted, h.condition(berthv1alpha1.PolicyPlaced))
				}
			})
		}
	}
}

// What a Scheduler would have to be granted so that replicas could move to its Cluster is told, as
// far as the pools have it.
func TestWhatReplicasLackThatAreToMoveIsTold(t *testing.T) {
	asks := asking["resource"]
	// By 4:1 two of hangzhou's three are to move to beijing.
	for name, tc := range map[string]struct {
		beijing, hangzhou, all string
		want                   map[string]int
	}{
		"granted enough":                       {"4", "5", "10", map[string]int{}},
		"granted too little for both":          {"3", "7", "10", map[string]int{"of-beijing": 1}},
		"granted what its pods hold":           {"2", "8", "10", map[string]int{"of-beijing": 2}},
		"the pool has one more, and one's own": {"2", "4", "6", map[string]int{"of-beijing": 2}},
		"the pool has no more than one's own":  {"2", "3", "5", map[string]int{"of-beijing": 1}},
	} {
		t.Run(name, func(t *testing.T) {
			pools := licence(berthv1alpha1.AnyOf, map[string]string{"": tc.all}, grants(grant("of-beijing", tc.beijing), grant("of-hangzhou", tc.hangzhou)))
			h := newHarness(t, world(homes(), placed(granted(asks)), wrong(), these(pools))...)
			h.pass()
			got := map[string]int{}
			for _, lack := range h.Adviser.Lacks() {
				got[lack.Scheduler] += lack.Copies
				if len(lack.Nodes) == 0 || lack.Nodes[0] != "beijing-0" {
					t.Errorf("it is lacking on %v", lack.Nodes)
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("lacking (-want +got):\n%s", diff)
			}
		})
	}
}

// A search that found nothing is good for a while, but what has been granted since is not left
// unused until somebody happens to look again.
func TestWhatWasGrantedSinceIsUsedAtOnce(t *testing.T) {
	asks := asking["resource"]
	before := licence(berthv1alpha1.AnyOf, map[string]string{"": "10"}, grants(grant("of-beijing", "2"), grant("of-hangzhou", "8")))
	h := newHarness(t, world(homes(), placed(granted(asks)), wrong(), these(before))...)
	h.pass()
	now := &berthv1alpha1.ClusterResource{}
	if err := h.server.Get(t.Context(), client.ObjectKeyFromObject(before), now); err != nil {
		t.Fatal(err)
	}
	grants(grant("of-beijing", "4"), grant("of-hangzhou", "6"))(now)
	if err := h.server.Update(t.Context(), now); err != nil {
		t.Fatal(err)
	}
	h.wait(time.Second)
	h.sync()
	h.pass()
	if want := 4 * time.Second; h.last.RequeueAfter != want || len(h.evicted()) > 0 {
		t.Errorf("%v are evicted, and the next pass is in %v, want %v", h.evicted(), h.last.RequeueAfter, want)
	}
	h.wait(h.last.RequeueAfter)
	h.pass()
	if got := h.evicted(); len(got) != 2 {
		t.Errorf("%v are evicted, want 2: %s", got, h.condition(berthv1alpha1.PolicyPlaced))
	}
}

func TestNothingIsLackingOnceNothingIsMisplaced(t *testing.T) {
	asks := asking["resource"]
	pools := licence(berthv1alpha1.AnyOf, map[string]string{"": "10"}, grants(grant("of-beijing", "2"), grant("of-hangzhou", "8")))
	h := newHarness(t, world(homes(), placed(granted(asks)), wrong(), these(pools))...)
	h.pass()
	if len(h.Adviser.Lacks()) == 0 {
		t.Fatal("nothing is lacking")
	}
	right := newPolicy("p", reweighed(2, 3))
	if err := h.server.Get(t.Context(), client.ObjectKeyFromObject(right), right); err != nil {
		t.Fatal(err)
	}
	right.Spec.Placement = newPolicy("p", reweighed(2, 3)).Spec.Placement
	right.Generation++
	if err := h.server.Update(t.Context(), right); err != nil {
		t.Fatal(err)
	}
	h.sync()
	h.pass()
	if got := h.Adviser.Lacks(); len(got) > 0 {
		t.Errorf("%d are lacking", len(got))
	}
}

// granted returns what makes a pod one that holds a licence of the pool of all, out of the grant of
// the Scheduler of its site.
func granted(asks func(*corev1.Pod)) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		holding(asks, "all", "of-"+p.Spec.NodeName[:len(p.Spec.NodeName)-2])(p)
	}
}
