// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/controllers/internal/metricstest"
)

// selecting replaces the selectors of a policy.
func selecting(selectors ...berthv1alpha1.ResourceSelector) func(*berthv1alpha1.PropagationPolicySpec) {
	return func(spec *berthv1alpha1.PropagationPolicySpec) { spec.ResourceSelectors = selectors }
}

func kindOnly(apiVersion, kind string) berthv1alpha1.ResourceSelector {
	return berthv1alpha1.ResourceSelector{APIVersion: apiVersion, Kind: kind}
}

func row(name string, desired, current int32) berthv1alpha1.ClusterPlacement {
	return berthv1alpha1.ClusterPlacement{Name: name, Desired: desired, Current: current, Pending: max(0, desired-current)}
}

type statusCase struct {
	objects []client.Object
	want    []berthv1alpha1.WorkloadPlacement
}

func runStatus(t *testing.T, tests map[string]statusCase) {
	t.Helper()
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t, tc.objects...)
			h.evictor.refuse = refusedByBudget(0)
			h.pass()
			status := h.policy("p").Status
			if diff := cmp.Diff(tc.want, status.Workloads); diff != "" {
				t.Errorf("workloads mismatch (-want +got):\n%s", diff)
			}
			if status.WorkloadCount != int32(len(tc.want)) || status.ObservedGeneration != 1 {
				t.Errorf("workloadCount %d, observedGeneration %d", status.WorkloadCount, status.ObservedGeneration)
			}
		})
	}
}

func TestWorkloadsInStatus(t *testing.T) {
	web := berthv1alpha1.WorkloadReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "web"}
	oldPod := func(name string) *corev1.Pod {
		return webPod(name, "hangzhou-0", 0, func(p *corev1.Pod) { p.OwnerReferences[0] = owner("apps/v1", "ReplicaSet", "rs0") })
	}
	runStatus(t, map[string]statusCase{
		"all where they should be": {
			objects: world(sites(), placed(), these(newPolicy("p"))),
			want: []berthv1alpha1.WorkloadPlacement{{
				Ref: web, Replicas: new(int32(5)),
				Clusters: []berthv1alpha1.ClusterPlacement{row("beijing", 2, 2), row("hangzhou", 3, 3)},
			}},
		},
		"a pod waits": {
			objects: world(sites(), placed()[:6], these(newPolicy("p"), webPod("waits", "", 0))),
			want: []berthv1alpha1.WorkloadPlacement{{
				Ref: web, Replicas: new(int32(5)), Pending: 1,
				Clusters: []berthv1alpha1.ClusterPlacement{row("beijing", 2, 2), row("hangzhou", 3, 2)},
			}},
		},
		"terminating and finished pods do not count": {
			objects: world(sites(), placed()[:4], these(newPolicy("p"),
				webPod("going", "beijing-0", 3, func(p *corev1.Pod) { p.DeletionTimestamp, p.Finalizers = new(metav1.Now()), []string{"x/y"} }),
				webPod("failed", "beijing-0", 3, func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }))),
			want: []berthv1alpha1.WorkloadPlacement{{
				Ref: web, Replicas: new(int32(5)),
				Clusters: []berthv1alpha1.ClusterPlacement{row("beijing", 2, 1), row("hangzhou", 3, 1)},
			}},
		},
		"only the newest revision counts": {
			objects: world(sites(), placed()[:4], these(newPolicy("p"), newReplicaSet("rs0", "0", 3), oldPod("old-0"), oldPod("old-1"))),
			want: []berthv1alpha1.WorkloadPlacement{{
				Ref: web, Replicas: new(int32(5)),
				Clusters: []berthv1alpha1.ClusterPlacement{row("beijing", 2, 1), row("hangzhou", 3, 1)},
			}},
		},
		"the share of a cluster that does not exist waits": {
			objects: world(these(newNode("hangzhou-0"), newCluster("hangzhou", "hangzhou-0")), these(newPolicy("p")),
				these(newDeployment(5), newReplicaSet("rs1", "1", 5), webPod("web-0", "hangzhou-0", 0))),
			want: []berthv1alpha1.WorkloadPlacement{{
				Ref: web, Replicas: new(int32(5)),
				Clusters: []berthv1alpha1.ClusterPlacement{row("beijing", 2, 0), row("hangzhou", 3, 1)},
			}},
		},
		"weights that cannot be used": {
			objects: world(sites(), placed(), these(newPolicy("p", func(spec *berthv1alpha1.PropagationPolicySpec) {
				spec.Placement.StaticWeightList = append(weigh(1, 1), weigh(1, 1)...)
			}))),
			want: []berthv1alpha1.WorkloadPlacement{{Ref: web, Replicas: new(int32(5))}},
		},
	})
}

func TestOtherKindsInStatus(t *testing.T) {
	clone := func(name, node string) *corev1.Pod {
		return webPod(name, node, 0, func(p *corev1.Pod) { p.OwnerReferences[0] = owner("apps.kruise.io/v1alpha1", "CloneSet", "cs") })
	}
	index := func(n, node string) *corev1.Pod {
		return webPod("batch-"+n, node, 0, annotated(batchv1.JobCompletionIndexAnnotation, n), func(p *corev1.Pod) {
			p.OwnerReferences[0] = owner("batch/v1", "Job", "batch")
		})
	}
	job := &batchv1.Job{ObjectMeta: meta("batch"), Spec: batchv1.JobSpec{
		Parallelism: new(int32(2)), Completions: new(int32(9)), Template: template(), Selector: &metav1.LabelSelector{},
	}}
	runStatus(t, map[string]statusCase{
		"an owner that is not read has no shares": {
			objects: world(sites(), these(newNode("other-0"), clone("a", "beijing-0"), clone("b", "beijing-0"), clone("c", "other-0")),
				these(newPolicy("p", selecting(kindOnly("apps.kruise.io/v1alpha1", "CloneSet"))))),
			want: []berthv1alpha1.WorkloadPlacement{{
				Ref:       berthv1alpha1.WorkloadReference{APIVersion: "apps.kruise.io/v1alpha1", Kind: "CloneSet", Name: "cs"},
				Misplaced: 1,
				Clusters:  []berthv1alpha1.ClusterPlacement{row("beijing", 2, 2), row("hangzhou", 0, 0)},
			}},
		},
		"the shares of an Indexed Job are those of its running indexes": {
			// Hangzhou owns 5, beijing 6 of the indexes at hand.
			objects: world(sites(), these(job, index("5", "hangzhou-0"), index("6", "hangzhou-0")),
				these(newPolicy("p", selecting(kindOnly("batch/v1", "Job"))))),
			want: []berthv1alpha1.WorkloadPlacement{{
				Ref:      berthv1alpha1.WorkloadReference{APIVersion: "batch/v1", Kind: "Job", Name: "batch"},
				Replicas: new(int32(2)), Misplaced: 1,
				Clusters: []berthv1alpha1.ClusterPlacement{row("beijing", 1, 0), row("hangzhou", 1, 2)},
			}},
		},
	})
}

func TestWorkloadsThatNoPolicyPlaces(t *testing.T) {
	runStatus(t, map[string]statusCase{
		"a workload that uses another scheduler is not placed": {
			objects: world(sites(), these(newPolicy("p"), newDeployment(5, func(d *appsv1.Deployment) {
				d.Spec.Template.Spec.SchedulerName = "default-scheduler"
			}))),
		},
		"a workload that wants no policy is not placed": {
			objects: world(sites(), these(newPolicy("p"), newDeployment(5, func(d *appsv1.Deployment) {
				d.Spec.Template.Annotations = map[string]string{berthv1alpha1.PolicyAnnotation: berthv1alpha1.PolicyNone}
			}))),
		},
		"a workload that asks for a policy that does not exist is not placed": {
			objects: world(sites(), these(newPolicy("p"), newDeployment(5, func(d *appsv1.Deployment) {
				d.Spec.Template.Annotations = map[string]string{berthv1alpha1.PolicyAnnotation: "absent"}
			}))),
		},
	})
}

// grouped replaces the weights of a policy by groups: beijing and hangzhou by name, stores by a
// label that nothing has, and all.
func grouped(spec *berthv1alpha1.PropagationPolicySpec) {
	spec.Placement = berthv1alpha1.Placement{ClusterGroups: []berthv1alpha1.ClusterGroup{
		{Name: "both", ClusterNames: []string{"hangzhou"}, Weight: new(int64(3))},
		{Name: "stores", ClusterSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"tier": "store"}}},
		{Name: "all", ClusterSelector: &metav1.LabelSelector{}, Weight: new(int64(2))},
	}}
}

// onlyStores leaves the group that has no cluster.
func onlyStores(spec *berthv1alpha1.PropagationPolicySpec) {
	spec.Placement.ClusterGroups = spec.Placement.ClusterGroups[1:2]
}

func TestGroupsInStatus(t *testing.T) {
	runStatus(t, map[string]statusCase{
		"what each gets": {
			objects: world(sites(), placed(), these(newPolicy("p", grouped))),
			want: []berthv1alpha1.WorkloadPlacement{{
				Ref:      berthv1alpha1.WorkloadReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "web"},
				Replicas: new(int32(5)),
				Groups: []berthv1alpha1.GroupPlacement{
					{Name: "both", Clusters: 1, Desired: 3, Current: 3}, {Name: "stores"}, {Name: "all", Clusters: 1, Desired: 2, Current: 2},
				},
				Clusters: []berthv1alpha1.ClusterPlacement{row("beijing", 2, 2), row("hangzhou", 3, 3)},
			}},
		},
	})
}

// inGermany constrains a policy to clusters that have a label.
func inGermany(spec *berthv1alpha1.PropagationPolicySpec) {
	spec.Placement.Constraints = &berthv1alpha1.ClusterConstraints{ClusterLabels: []string{"location is DE"}}
}

func TestConditions(t *testing.T) {
	const (
		accepted   = berthv1alpha1.PolicyAccepted
		resolved   = berthv1alpha1.PolicyClustersResolved
		placedIs   = berthv1alpha1.PolicyPlaced
		conflicted = berthv1alpha1.PolicyConflicted
	)
	labelled := berthv1alpha1.ResourceSelector{APIVersion: "apps/v1", Kind: "Deployment", LabelSelector: &metav1.LabelSelector{
		MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Near"}},
	}}
	foreign := berthv1alpha1.ResourceSelector{APIVersion: "apps/v1", Kind: "Deployment", Name: "web", Namespace: "other"}
	tests := map[string]struct {
		objects       []client.Object
		conditionType string
		want          string
	}{
		"accepted": {
			objects: world(sites(), these(newPolicy("p"))), conditionType: accepted,
			want: "True Accepted: the policy can be carried out",
		},
		"a selector of another namespace": {
			objects: world(sites(), these(newPolicy("p", selecting(foreign)))), conditionType: accepted,
			want: `False ForeignNamespace: spec.resourceSelectors[0]: namespace "other": a policy selects in its own namespace only`,
		},
		"a selector by labels that cannot be understood": {
			objects: world(sites(), these(newPolicy("p", selecting(kindOnly("apps/v1", "Deployment"), labelled)))), conditionType: accepted,
			want: `False InvalidSelector: spec.resourceSelectors[1]: labelSelector: "Near" is not a valid label selector operator`,
		},
		"a cluster that is listed twice": {
			objects: world(sites(), these(newPolicy("p", func(spec *berthv1alpha1.PropagationPolicySpec) {
				spec.Placement.StaticWeightList = append(weigh(1, 1), weigh(1, 1)...)
			}))), conditionType: accepted,
			want: `False InvalidWeights: spec.placement.staticWeightList: cluster "beijing" is listed twice`,
		},
		"weights that cannot be used name no clusters": {
			objects: world(sites(), these(newPolicy("p", func(spec *berthv1alpha1.PropagationPolicySpec) {
				spec.Placement.StaticWeightList = append(weigh(1, 1), weigh(1, 1)...)
			}))), conditionType: resolved,
			want: "Unknown InvalidWeights: the weights of the policy cannot be used",
		},
		"all clusters are there": {
			objects: world(sites(), these(newPolicy("p"))), conditionType: resolved,
			want: "True ClustersFound: all clusters exist and have nodes",
		},
		"a cluster does not meet the constraints": {
			objects: world(relabelled(sites(), "beijing", "location", "DE"), these(newPolicy("p", inGermany))), conditionType: resolved,
			want: "True ClustersFound: all clusters exist and have nodes; these do not meet the constraints, so they get no share: hangzhou",
		},
		"no cluster meets the constraints": {
			objects: world(sites(), these(newPolicy("p", inGermany))), conditionType: resolved,
			want: "False ClustersExcluded: no cluster of the policy meets spec.placement.constraints, so its pods wait: change them, or the clusters; " +
				"these do not meet the constraints, so they get no share: beijing, hangzhou",
		},
		"a cluster is empty": {
			objects: world(sites()[:3], these(newCluster("hangzhou"), newPolicy("p"))), conditionType: resolved,
			want: "False EmptyCluster: these clusters have no nodes, so their shares wait: hangzhou",
		},
		"a cluster does not exist and another is empty": {
			objects: these(newCluster("hangzhou"), newPolicy("p")), conditionType: resolved,
			want: "False UnknownCluster: these clusters do not exist, so their shares wait: beijing; " +
				"these clusters have no nodes, so their shares wait: hangzhou",
		},
		"a group without clusters": {
			objects: world(sites(), these(newPolicy("p", grouped))), conditionType: resolved,
			want: "False EmptyGroup: these groups have no Cluster of their own yet, so the others share the replicas, as far as they may: stores; " +
				"clusters in several groups belong to the first one: hangzhou is in both and in all",
		},
		"no group has a cluster": {
			objects: world(sites(), placed(), these(newPolicy("p", grouped, onlyStores))), conditionType: resolved,
			want: "False EmptyGroup: these groups have no Cluster of their own yet, so all replicas wait: stores",
		},
		"pods stay where no group has a cluster": {
			objects: world(sites(), placed(), these(newPolicy("p", grouped, onlyStores))), conditionType: placedIs,
			want: "False Misplaced: replicas outside their share: 5 (no cluster is short of its share and has room for the pods)",
		},
		"groups are accepted": {
			objects: world(sites(), these(newPolicy("p", grouped))), conditionType: accepted,
			want: "True Accepted: the policy can be carried out",
		},
		"a group that cannot be understood": {
			objects: world(sites(), these(newPolicy("p", grouped, func(spec *berthv1alpha1.PropagationPolicySpec) {
				spec.Placement.ClusterGroups[1].ClusterSelector.MatchExpressions = labelled.LabelSelector.MatchExpressions
			}))), conditionType: accepted,
			want: `False InvalidWeights: spec.placement.clusterGroups[1].clusterSelector: the selector cannot be understood: ` +
				`"Near" is not a valid label selector operator`,
		},
		"no workload": {
			objects: world(sites(), these(newPolicy("p"))), conditionType: placedIs,
			want: "Unknown NoWorkloads: the policy places no workload at present",
		},
		"no workload that uses the scheduler": {
			objects: world(sites(), these(newPolicy("p"), newDeployment(5, func(d *appsv1.Deployment) {
				d.Spec.Template.Spec.SchedulerName = "default-scheduler"
			}))), conditionType: placedIs,
			want: "Unknown NoWorkloads: the policy places no workload at present; " +
				"these selected workloads do not use Berth's scheduler: Deployment web",
		},
		"pods wait": {
			objects: world(sites(), placed()[:6], these(newPolicy("p"), webPod("waits", "", 0))), conditionType: placedIs,
			want: "False PodsPending: pods without a node: 1, replicas missing: 1",
		},
		"a replica has not been made": {
			objects: world(sites(), placed()[:6], these(newPolicy("p"))), conditionType: placedIs,
			want: "False PodsPending: pods without a node: 0, replicas missing: 1",
		},
		"no conflict": {
			objects: world(sites(), placed(), these(newPolicy("p"))), conditionType: conflicted,
			want: "False NoConflict: no other policy places a workload that this one selects",
		},
		"an older policy wins": {
			objects: world(sites(), placed(), these(newPolicy("p"), func() client.Object {
				older := newPolicy("older")
				older.CreationTimestamp = metav1.NewTime(birth.Add(-time.Hour))
				return older
			}())), conditionType: conflicted,
			want: "True OtherPolicyWins: Deployment web is placed by policy older",
		},
		"the pods ask for another policy": {
			objects: world(sites(), these(newPolicy("p"), newPolicy("q", selecting(kindOnly("v1", "Pod"))), newDeployment(5, func(d *appsv1.Deployment) {
				d.Spec.Template.Annotations = map[string]string{berthv1alpha1.PolicyAnnotation: "q"}
			}))), conditionType: conflicted,
			want: "True OtherPolicyWins: Deployment web is placed by policy q",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t, tc.objects...)
			h.pass()
			if got := h.condition(tc.conditionType); got != tc.want {
				t.Errorf("%s = %q, want %q", tc.conditionType, got, tc.want)
			}
		})
	}
}

// manyDeployments makes n Deployments of one replica each without any pod.
func manyDeployments(n int) []client.Object {
	var objects []client.Object
	for i := range n {
		objects = append(objects, newDeployment(1, func(d *appsv1.Deployment) {
			d.Name = fmt.Sprintf("app-%03d", i)
			d.UID = types.UID(d.Name)
		}))
	}
	return objects
}

func TestStatusIsBounded(t *testing.T) {
	every := selecting(kindOnly("apps/v1", "Deployment"))
	tests := map[string]struct {
		clusters, deployments, want int
	}{
		"few":                               {clusters: 2, deployments: 3, want: 3},
		"many workloads":                    {clusters: 2, deployments: 150, want: 100},
		"many clusters":                     {clusters: 300, deployments: 20, want: 20},
		"one workload of a lot of clusters": {clusters: 1000, deployments: 2, want: 2},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			p := newPolicy("p", every, func(spec *berthv1alpha1.PropagationPolicySpec) {
				spec.Placement.StaticWeightList[0].ClusterNames = nil
				for i := range tc.clusters {
					list := &spec.Placement.StaticWeightList[0].ClusterNames
					*list = append(*list, fmt.Sprintf("c%03d", i))
				}
				spec.Placement.StaticWeightList = spec.Placement.StaticWeightList[:1]
			})
			h := newHarness(t, append(manyDeployments(tc.deployments), p)...)
			h.pass()
			status := h.policy("p").Status
			if len(status.Workloads) != tc.want || status.WorkloadCount != int32(tc.deployments) {
				t.Errorf("%d of %d workloads are listed, want %d", len(status.Workloads), status.WorkloadCount, tc.want)
			}
			for _, c := range status.Conditions {
				if len(c.Message) > 1000 {
					t.Errorf("the message of %s has %d bytes", c.Type, len(c.Message))
				}
			}
		})
	}
}

func TestTheWorstWorkloadIsListedFirst(t *testing.T) {
	objects := world(sites(), manyDeployments(150), placed(), these(newPolicy("p", never, reweighed(3, 2), selecting(kindOnly("apps/v1", "Deployment")))))
	h := newHarness(t, objects...)
	h.pass()
	if got := h.policy("p").Status.Workloads[0]; got.Ref.Name != "web" || got.Misplaced != 1 {
		t.Errorf("the first workload is %v", got)
	}
}

func TestNamesInMessagesAreBounded(t *testing.T) {
	p := newPolicy("p", selecting(kindOnly("apps/v1", "Deployment")))
	older := newPolicy("older", selecting(kindOnly("apps/v1", "Deployment")))
	older.CreationTimestamp = metav1.NewTime(birth.Add(-time.Hour))
	h := newHarness(t, world(sites(), manyDeployments(25), these(p, older))...)
	h.pass()
	if got := h.condition(berthv1alpha1.PolicyConflicted); !strings.HasSuffix(got, "Deployment app-009 is placed by policy older, and 15 more") {
		t.Errorf("Conflicted = %q", got)
	}
}

func TestReadyCountsPodsThatAreReady(t *testing.T) {
	objects, starting := placed(), 0
	for _, object := range objects {
		if pod, isPod := object.(*corev1.Pod); isPod && starting < 2 {
			pod.Status.Conditions = nil
			starting++
		}
	}
	h := newHarness(t, world(sites(), objects, these(newPolicy("p")))...)
	h.pass()
	if got := h.policy("p").Status.Ready; got != "3/5" {
		t.Errorf("READY shows %q, want 3/5", got)
	}
}

func TestNothingIsWrittenWhileNothingChanges(t *testing.T) {
	h := newHarness(t, world(sites(), placed(), these(newPolicy("p"), newPolicy("q"), newPolicy("r", reweighed(4, 1), never)))...)
	h.settle()
	for range 3 {
		h.wait(time.Hour)
		h.pass()
	}
	if len(h.writes) != 0 {
		t.Errorf("%v are written", h.writes)
	}
	if h.last.RequeueAfter != 0 {
		t.Errorf("the next pass is in %v although time changes nothing", h.last.RequeueAfter)
	}
}

func TestStatusIsNotWrittenAtEachTurn(t *testing.T) {
	h := newHarness(t, world(sites(), placed()[:3], these(newPolicy("p")))...)
	current := func() int32 { return h.policy("p").Status.Workloads[0].Clusters[1].Current }
	h.pass()
	h.create(webPod("next", "hangzhou-0", 2))
	h.sync()
	h.wait(200 * time.Millisecond)
	h.pass()
	if got := current(); got != 1 {
		t.Errorf("the status is written again after 200 ms and says %d", got)
	}
	if want := 300 * time.Millisecond; h.last.RequeueAfter != want {
		t.Errorf("the next pass is in %v, want %v", h.last.RequeueAfter, want)
	}
	h.wait(300 * time.Millisecond)
	h.pass()
	if got := current(); got != 2 {
		t.Errorf("the status says %d after the pause, want 2", got)
	}
}

func TestStatusConflictIsTriedAgain(t *testing.T) {
	h := newHarness(t, world(sites(), placed(), these(newPolicy("p")))...)
	h.changePolicy(func(spec *berthv1alpha1.PropagationPolicySpec) { spec.Rebalance.Mode = berthv1alpha1.RebalanceNever })
	h.pass()
	if h.policy("p").Status.ObservedGeneration != 0 {
		t.Error("the status is written over a spec that was not seen")
	}
	if h.last.RequeueAfter <= 0 {
		t.Error("nobody comes back")
	}
	h.settle()
	if got := h.policy("p").Status.ObservedGeneration; got != 2 {
		t.Errorf("observedGeneration is %d, want 2", got)
	}
}

func TestReplicasMetric(t *testing.T) {
	h := newHarness(t, world(sites(), placed(), these(newPolicy("p", reweighed(4, 1), never), webPod("waits", "", 0)))...)
	h.pass()
	want := map[string]float64{"desired": 5, "current": 5, "pending": 1, "misplaced": 2}
	if diff := cmp.Diff(want, metricstest.Series(t, "berth_policy_replicas")); diff != "" {
		t.Errorf("berth_policy_replicas mismatch (-want +got):\n%s", diff)
	}
	if err := h.server.Delete(t.Context(), h.policy("p")); err != nil {
		t.Fatal(err)
	}
	h.sync()
	h.pass()
	want = map[string]float64{"desired": 0, "current": 0, "pending": 0, "misplaced": 0}
	if diff := cmp.Diff(want, metricstest.Series(t, "berth_policy_replicas")); diff != "" {
		t.Errorf("berth_policy_replicas mismatch without a policy (-want +got):\n%s", diff)
	}
}
