// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	modelpolicy "berth.dev/berth/pkg/model/policy"
)

// misplaced says how the condition Placed reads of a policy that moves nothing although two pods
// are in the wrong place.
func misplaced(why string) string {
	return "False Misplaced: replicas outside their share: 2 (" + why + ")"
}

// wrong is a policy that wants two of the placed pods in beijing instead of hangzhou.
func wrong(changes ...func(*berthv1alpha1.PropagationPolicySpec)) []client.Object {
	return these(newPolicy("p", append([]func(*berthv1alpha1.PropagationPolicySpec){reweighed(4, 1)}, changes...)...))
}

// guardCase is a world in which two pods are in the wrong place.
type guardCase struct {
	objects []client.Object
	want    string
	// wantEvicted is the number of pods that go all the same.
	wantEvicted int
}

func runGuards(t *testing.T, tests map[string]guardCase) {
	t.Helper()
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t, tc.objects...)
			h.pass()
			if got := h.evicted(); len(got) != tc.wantEvicted {
				t.Errorf("%v are evicted, want %d", got, tc.wantEvicted)
			}
			if got := h.condition(berthv1alpha1.PolicyPlaced); got != tc.want {
				t.Errorf("Placed = %q, want %q", got, tc.want)
			}
		})
	}
}

func TestGuardsOfPods(t *testing.T) {
	critical := func(p *corev1.Pod) { p.Spec.Priority = new(int32(2_000_001_000)) }
	priority := func(p *corev1.Pod) { p.Spec.Priority = new(int32(1_000_000_000)) }
	copied := func(p *corev1.Pod) { p.Annotations[berthv1alpha1.PlacedByAnnotation] = "other/" + p.Spec.NodeName }
	runGuards(t, map[string]guardCase{
		"nothing": {
			objects: world(sites(), placed(), wrong()), wantEvicted: 2,
			want: "False Rebalancing: moving replicas; outside their share: 2",
		},
		"high priority that is not the system's": {
			objects: world(sites(), placed(priority), wrong()), wantEvicted: 2,
			want: "False Rebalancing: moving replicas; outside their share: 2",
		},
		"mode Never": {
			objects: world(sites(), placed(), wrong(func(spec *berthv1alpha1.PropagationPolicySpec) {
				spec.Rebalance.Mode = berthv1alpha1.RebalanceNever
			})),
			want: misplaced("spec.rebalance.mode is Never"),
		},
		"weights that cannot be used": {
			objects: world(sites(), placed(), wrong(func(spec *berthv1alpha1.PropagationPolicySpec) {
				spec.Placement.StaticWeightList = append(weigh(4, 1), weigh(1, 1)...)
			})),
			want: "False InvalidWeights: the weights of the policy cannot be used, so its pods wait",
		},
		"pods without a stamp": {
			objects: world(sites(), placed(unstamped), wrong()), want: misplaced("the pods are being taken over by this policy"),
		},
		"pods with the stamp of another pod": {
			objects: world(sites(), placed(copied), wrong()), want: misplaced("the pods are being taken over by this policy"),
		},
		"pods marked as not safe to evict": {
			objects: world(sites(), placed(annotated(modelpolicy.SafeToEvictAnnotation, "false")), wrong()),
			want:    misplaced("the pods are protected from eviction"),
		},
		"pods critical to the system": {
			objects: world(sites(), placed(critical), wrong()), want: misplaced("the pods are protected from eviction"),
		},
		"static pods": {
			objects: world(sites(), placed(annotated(corev1.MirrorPodAnnotationKey, "x")), wrong()),
			want:    misplaced("the pods are protected from eviction"),
		},
		"young pods": {
			objects: world(sites(), placed(), wrong(func(spec *berthv1alpha1.PropagationPolicySpec) {
				spec.Rebalance.MinPodAge.Duration = 2 * time.Hour
			})),
			want: misplaced("the pods are younger than spec.rebalance.minPodAge"),
		},
		"old pods that started a moment ago": {
			objects: world(sites(), placed(func(p *corev1.Pod) { p.Status.StartTime = new(metav1.NewTime(birth.Add(time.Hour))) }),
				wrong(func(spec *berthv1alpha1.PropagationPolicySpec) { spec.Rebalance.MinPodAge.Duration = time.Minute })),
			want: misplaced("the pods are younger than spec.rebalance.minPodAge"),
		},
	})
}

func TestGuardsOfWorkloadsAndClusters(t *testing.T) {
	deployment := func(change func(*appsv1.Deployment)) []client.Object {
		objects := placed()
		objects[0] = newDeployment(5, change)
		return objects
	}
	runGuards(t, map[string]guardCase{
		"a pod is pending": {
			objects: world(sites(), placed(), wrong(), these(webPod("waits", "", 0))),
			want:    misplaced("pods of the workload are pending"),
		},
		"a pod of an old revision is pending": {
			objects: world(sites(), placed(), wrong(), these(newReplicaSet("rs0", "0", 0), webPod("waits", "", 0, func(p *corev1.Pod) {
				p.OwnerReferences[0] = owner("apps/v1", "ReplicaSet", "rs0")
			}))),
			want: misplaced("a rollout is not finished"),
		},
		"a change of the Deployment that its controller has not seen": {
			objects: world(sites(), wrong(), deployment(func(d *appsv1.Deployment) { d.Generation = 2 })),
			want:    misplaced("a rollout is not finished"),
		},
		"a Deployment that is paused with a new template": {
			objects: world(sites(), wrong(), deployment(func(d *appsv1.Deployment) {
				d.Spec.Paused, d.Status.UpdatedReplicas = true, 0
			})),
			want: misplaced("a rollout is not finished"),
		},
		"a replica is missing": {
			objects: world(sites(), placed()[:6], wrong()),
			want:    "False Misplaced: replicas outside their share: 1 (not all replicas of the workload are running)",
		},
		"the workload shrinks": {
			objects: world(sites(), wrong(), deployment(func(d *appsv1.Deployment) { d.Spec.Replicas = new(int32(4)) })),
			want:    misplaced("the workload is scaling down"),
		},
		"as many are missing as may be": {
			objects: world(sites(), placed(notReady)[:4], placed()[4:], wrong(func(spec *berthv1alpha1.PropagationPolicySpec) {
				spec.Rebalance.MaxUnavailable = new(intstr.FromInt32(1))
			})),
			wantEvicted: 1, // it is one that is missing already
			want:        "False Rebalancing: moving replicas; outside their share: 2",
		},
		"the receiving cluster is full": {
			objects: world(sites(), placed(), wrong(), these(webPod("filler", "beijing-0", 0, func(p *corev1.Pod) {
				p.OwnerReferences, p.Annotations = nil, nil
				p.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = resource.MustParse("14")
			}))),
			want: misplaced("no cluster is short of its share and has room for the pods"),
		},
		"the nodes of the receiving cluster are tainted": {
			objects: world(sites()[1:], placed(), wrong(), these(newNode("beijing-0", func(n *corev1.Node) {
				n.Spec.Taints = []corev1.Taint{{Key: "k", Effect: corev1.TaintEffectNoSchedule}}
			}))),
			want: misplaced("no cluster is short of its share and has room for the pods"),
		},
		"the nodes of the receiving cluster are cordoned": {
			objects: world(sites()[1:], placed(), wrong(), these(newNode("beijing-0", func(n *corev1.Node) {
				n.Spec.Unschedulable = true
			}))),
			want: misplaced("no cluster is short of its share and has room for the pods"),
		},
		"the receiving cluster does not meet the constraints of the policy": {
			objects: world(measured(sites()), placed(), wrong(func(spec *berthv1alpha1.PropagationPolicySpec) {
				spec.Placement.Constraints = &berthv1alpha1.ClusterConstraints{ClusterMetrics: []string{"load < 5"}}
			})),
			want: misplaced("no cluster is short of its share and has room for the pods"),
		},
		"their own cluster does not meet the constraints of the policy": {
			objects: world(relabelled(sites(), "beijing", "location", "DE"), placed(), wrong(func(spec *berthv1alpha1.PropagationPolicySpec) {
				spec.Placement.Constraints = &berthv1alpha1.ClusterConstraints{ClusterLabels: []string{"location is DE"}}
			})),
			want: "False Misplaced: replicas outside their share: 3 (the pods run in a cluster that does not meet the constraints, which are for new pods)",
		},
		"the receiving cluster does not meet the constraints of the pods": {
			objects: world(sites(), wrong(), placed(func(p *corev1.Pod) {
				p.Annotations[berthv1alpha1.ClusterMetricConstraintAnnotation] = "load < 5"
			})),
			want: misplaced("no cluster is short of its share and has room for the pods"),
		},
		"all clusters are gone": {
			objects: world(sites()[:2], placed(), wrong()),
			want:    "False Misplaced: replicas outside their share: 5 (more than half of the clusters of the policy are not ready)",
		},
		"all clusters are gone with their nodes": {
			objects: world(placed(), wrong()),
			want:    misplaced("more than half of the clusters of the policy are not ready"),
		},
	})
}

// measured gives all Clusters a metric load, of which there is no value.
func measured(objects []client.Object) []client.Object {
	for _, o := range objects {
		if c, is := o.(*berthv1alpha1.Cluster); is {
			c.Spec.Metrics = []berthv1alpha1.MetricReference{{Name: "load", Weight: 1}}
		}
	}
	return objects
}

// relabelled labels one of the Clusters.
func relabelled(objects []client.Object, cluster, key, value string) []client.Object {
	for _, o := range objects {
		if c, is := o.(*berthv1alpha1.Cluster); is && c.Name == cluster {
			c.Labels = map[string]string{key: value}
		}
	}
	return objects
}

func TestPodsOnADeadNodeStay(t *testing.T) {
	h := newHarness(t, world(sites(), placed(), wrong())...)
	change(h, newNode("hangzhou-0"), func(n *corev1.Node) { n.Status.Conditions[0].Status = corev1.ConditionUnknown })
	h.sync()
	h.pass()
	if got := h.evicted(); len(got) != 0 {
		t.Errorf("%v are evicted from a node that is not ready", got)
	}
	if got, want := h.condition(berthv1alpha1.PolicyPlaced), misplaced("the pods run on nodes that are not ready"); got != want {
		t.Errorf("Placed = %q, want %q", got, want)
	}
}

func TestPodsStayWhenTheirPolicyIsDeleted(t *testing.T) {
	h := newHarness(t, world(sites(), placed(), wrong())...)
	if err := h.server.Delete(t.Context(), newPolicy("p")); err != nil {
		t.Fatal(err)
	}
	h.pass() // the cache does not know yet
	h.sync()
	h.pass()
	if got := h.evicted(); len(got) != 0 {
		t.Errorf("%v are evicted for a policy that is gone", got)
	}
}

func TestPodsStayWhenTheirPolicyIsBeingDeleted(t *testing.T) {
	leaving := newPolicy("p", reweighed(4, 1))
	leaving.Finalizers = []string{"example.com/wait"}
	for _, known := range []bool{true, false} {
		t.Run(fmt.Sprintf("known=%v", known), func(t *testing.T) {
			h := newHarness(t, world(sites(), placed(), these(leaving.DeepCopy()))...)
			if err := h.server.Delete(t.Context(), newPolicy("p")); err != nil {
				t.Fatal(err)
			}
			if known {
				h.sync()
			}
			h.pass()
			if got := h.evicted(); len(got) != 0 {
				t.Errorf("%v are evicted for a policy that is about to go", got)
			}
		})
	}
}

func TestTheFirstRoundWaitsForTheCooldown(t *testing.T) {
	h := newHarness(t, world(sites(), placed(), wrong())...)
	h.clock.SetTime(birth.Add(4 * time.Second))
	h.pass()
	if got := h.evicted(); len(got) != 0 {
		t.Errorf("%v are evicted by a controller that has just started", got)
	}
	if want := 6 * time.Second; h.last.RequeueAfter != want {
		t.Errorf("the next pass is in %v, want %v", h.last.RequeueAfter, want)
	}
	h.wait(6 * time.Second)
	h.pass()
	if got := h.evicted(); len(got) != 2 {
		t.Errorf("%v are evicted after the cool-down, want 2", got)
	}
}

// The cache says that two pods are to be evicted; in the meantime something has happened on the
// server.
func TestTheServerHasTheLastWord(t *testing.T) {
	pod := func(name string, mutate func(*corev1.Pod)) func(*harness) {
		return func(h *harness) { change(h, webPod(name, "hangzhou-0", 0), mutate) }
	}
	tests := map[string]struct {
		happens func(*harness)
		want    []string
	}{
		"nothing": {happens: func(*harness) {}, want: []string{"web-0", "web-4"}},
		"the policy is deleted": {happens: func(h *harness) {
			if err := h.server.Delete(t.Context(), newPolicy("p")); err != nil {
				t.Fatal(err)
			}
		}},
		"the policy changes": {happens: func(h *harness) {
			h.changePolicy(func(spec *berthv1alpha1.PropagationPolicySpec) { spec.Rebalance.Mode = berthv1alpha1.RebalanceNever })
		}},
		"another policy names the workload and is older": {happens: func(h *harness) {
			older := newPolicy("older")
			older.CreationTimestamp = metav1.NewTime(birth.Add(-time.Hour))
			h.create(older)
		}},
		"a pod of the workload is waiting": {happens: func(h *harness) { h.create(webPod("waits", "", 0)) }},
		"a pod of the workload has gone": {happens: func(h *harness) {
			if err := h.server.Delete(t.Context(), webPod("web-1", "beijing-0", 1)); err != nil {
				t.Fatal(err)
			}
		}},
		"the workload is gone": {happens: func(h *harness) {
			if err := h.server.Delete(t.Context(), newDeployment(5)); err != nil {
				t.Fatal(err)
			}
		}},
		"the workload is scaled": {happens: func(h *harness) {
			change(h, newDeployment(5), func(d *appsv1.Deployment) { d.Spec.Replicas, d.Generation = new(int32(8)), 2 })
		}},
		"the image of the workload changes": {happens: func(h *harness) {
			change(h, newDeployment(5), func(d *appsv1.Deployment) { d.Generation = 2 })
		}},
		"a victim has lost its stamp, and another is taken only if both agree": {
			happens: pod("web-4", func(p *corev1.Pod) { p.Annotations = nil }), want: []string{"web-0"},
		},
		"a victim is protected now": {
			happens: pod("web-0", annotated(modelpolicy.SafeToEvictAnnotation, "false")), want: []string{"web-4"},
		},
		"victims have moved to another node": {
			// Not in this life, but the rule is cheap.
			happens: func(h *harness) {
				for _, name := range []string{"web-0", "web-4"} {
					pod(name, func(p *corev1.Pod) { p.Spec.NodeName = "beijing-0" })(h)
				}
			},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t, world(sites(), placed(), wrong())...)
			tc.happens(h)
			h.pass()
			if diff := cmp.Diff(tc.want, h.evicted()); diff != "" {
				t.Errorf("evicted pods mismatch (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTheServerSeesMorePodsMissing(t *testing.T) {
	h := newHarness(t, world(sites(), placed(), wrong(func(spec *berthv1alpha1.PropagationPolicySpec) {
		spec.Rebalance.MaxUnavailable = new(intstr.FromInt32(1))
	}))...)
	change(h, webPod("web-1", "beijing-0", 1), notReady)
	h.pass()
	if got := h.evicted(); len(got) != 0 {
		t.Errorf("%v are evicted although one replica is missing already", got)
	}
	if h.last.RequeueAfter <= 0 {
		t.Error("nobody comes back")
	}
}

func TestNothingIsEvictedWhileTheServerCannotBeAsked(t *testing.T) {
	broken := errors.New("the server is down")
	for _, verb := range []string{"get", "list"} {
		t.Run(verb, func(t *testing.T) {
			h := newHarness(t, world(sites(), placed(), wrong())...)
			h.fail = func(v string, _ runtime.Object) error {
				if v == verb {
					return broken
				}
				return nil
			}
			if _, err := h.Reconcile(t.Context(), namespace); !errors.Is(err, broken) {
				t.Errorf("Reconcile() = %v, want %v", err, broken)
			}
			if got := h.evicted(); len(got) != 0 {
				t.Errorf("%v are evicted", got)
			}
			h.fail = nil
			if got, want := h.condition(berthv1alpha1.PolicyPlaced), misplaced("their state is being confirmed with the API server"); got != want {
				t.Errorf("Placed = %q, want %q", got, want)
			}
		})
	}
}
