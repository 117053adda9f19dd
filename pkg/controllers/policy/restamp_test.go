// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/util/flowcontrol"
	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// never keeps running pods where they are.
func never(spec *berthv1alpha1.PropagationPolicySpec) {
	spec.Rebalance.Mode = berthv1alpha1.RebalanceNever
}

const surplusCost = "-2147483648"

type restampCase struct {
	objects []client.Object
	// want are policy, cluster, seat and deletion cost of each pod.
	want map[string]string
}

func runRestamp(t *testing.T, tests map[string]restampCase) {
	t.Helper()
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t, tc.objects...)
			h.settle()
			got := map[string]string{}
			for name := range h.pods() {
				got[name] = h.stampOf(name)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("stamps mismatch (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRestamp(t *testing.T) {
	deployment := func(replicas int32) []client.Object {
		return these(newDeployment(replicas), newReplicaSet("rs1", "1", replicas))
	}
	runRestamp(t, map[string]restampCase{
		"the weights change": {
			// With 4 and 1 hangzhou owns the seat 2 only, beijing 0, 1, 3 and 4.
			objects: world(sites(), placed(), these(newPolicy("p", reweighed(4, 1), never))),
			want: map[string]string{
				"web-0": "p hangzhou -1 " + surplusCost, "web-1": "p beijing 1 -1000", "web-2": "p hangzhou 2 -2000",
				"web-3": "p beijing 3 -3000", "web-4": "p hangzhou -1 " + surplusCost,
			},
		},
		"a deletion cost of the user's own is left alone": {
			objects: world(sites(), placed(annotated(corev1.PodDeletionCost, "7")), these(newPolicy("p", reweighed(4, 1), never))),
			want: map[string]string{
				"web-0": "p hangzhou -1 7", "web-1": "p beijing 1 7", "web-2": "p hangzhou 2 7",
				"web-3": "p beijing 3 7", "web-4": "p hangzhou -1 7",
			},
		},
		"a pod without a stamp is taken over with the deletion cost that it has": {
			objects: world(sites(), deployment(1), these(webPod("web-0", "beijing-0", 3, unstamped, annotated(corev1.PodDeletionCost, "-3")), newPolicy("p", never))),
			want:    map[string]string{"web-0": "p beijing -1 -3"},
		},
		"the node has moved to another cluster": {
			objects: world(deployment(2), these(newPolicy("p", never), newNode("beijing-0"), newCluster("hangzhou", "beijing-0"),
				webPod("web-0", "beijing-0", 1))),
			want: map[string]string{"web-0": "p hangzhou 1 -1000"},
		},
		"the node has left all clusters": {
			objects: world(deployment(2), these(newPolicy("p", never), newNode("beijing-0"), newCluster("hangzhou"),
				webPod("web-0", "beijing-0", 1))),
			want: map[string]string{"web-0": "p  -1 " + surplusCost},
		},
		"another policy is in force now": {
			objects: world(sites(), deployment(2), these(newPolicy("q", never), newPolicy("p", func(spec *berthv1alpha1.PropagationPolicySpec) {
				spec.ResourceSelectors[0].Name = "other"
			}), webPod("web-0", "beijing-0", 1))),
			want: map[string]string{"web-0": "q beijing 1 -1000"},
		},
		"a workload that shrinks keeps the seats by which it does": {
			objects: world(sites(), deployment(4), placed()[2:], these(newPolicy("p", reweighed(4, 1), never))),
			want: map[string]string{
				"web-0": "p hangzhou 0 0", "web-1": "p beijing 1 -1000", "web-2": "p hangzhou 2 -2000",
				"web-3": "p beijing 3 -3000", "web-4": "p hangzhou 4 -4000",
			},
		},
		"weights that cannot be used change nothing": {
			objects: world(sites(), placed(), these(newPolicy("p", func(spec *berthv1alpha1.PropagationPolicySpec) {
				spec.Placement.StaticWeightList = append(weigh(4, 1), weigh(1, 1)...)
			}))),
			want: map[string]string{
				"web-0": "p hangzhou 0 0", "web-1": "p beijing 1 -1000", "web-2": "p hangzhou 2 -2000",
				"web-3": "p beijing 3 -3000", "web-4": "p hangzhou 4 -4000",
			},
		},
	})
}

// The label of the Cluster comes, and changes, with the annotation.
func TestTheClusterIsALabelToo(t *testing.T) {
	one := these(newDeployment(2), newReplicaSet("rs1", "1", 2), newPolicy("p", never), newNode("beijing-0"))
	tests := map[string]struct {
		objects []client.Object
		want    string
	}{
		"taken over": {world(one, these(newCluster("beijing", "beijing-0"), webPod("web-0", "beijing-0", 0, unstamped))), "beijing"},
		"the node has moved to another cluster": {world(one, these(newCluster("hangzhou", "beijing-0"), webPod("web-0", "beijing-0", 1, func(p *corev1.Pod) {
			p.Labels["berth.dev/cluster"] = "beijing"
		}))), "hangzhou"},
		"the node has left all clusters": {world(one, these(newCluster("hangzhou"), webPod("web-0", "beijing-0", 1, func(p *corev1.Pod) {
			p.Labels["berth.dev/cluster"] = "beijing"
		}))), ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t, tc.objects...)
			h.settle()
			if got, found := h.pods()["web-0"].Labels["berth.dev/cluster"]; got != tc.want || found != (tc.want != "") {
				t.Errorf("the label is %q, want %q", got, tc.want)
			}
		})
	}
}

func TestRestampOfOtherKinds(t *testing.T) {
	ordinalPod := func(name, node string) *corev1.Pod {
		return webPod(name, node, 0, func(p *corev1.Pod) {
			p.OwnerReferences[0] = owner("apps/v1", "StatefulSet", "db")
			p.Labels[appsv1.ControllerRevisionHashLabelKey] = "r"
		})
	}
	set := &appsv1.StatefulSet{
		ObjectMeta: meta("db"),
		Spec: appsv1.StatefulSetSpec{
			Replicas: new(int32(2)), Template: template(), Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
		},
		Status: appsv1.StatefulSetStatus{ObservedGeneration: 1, CurrentRevision: "r", UpdateRevision: "r"},
	}
	job := &batchv1.Job{
		ObjectMeta: meta("batch"),
		Spec: batchv1.JobSpec{
			Parallelism: new(int32(1)), Completions: new(int32(9)), CompletionMode: new(batchv1.IndexedCompletion), Template: template(),
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
		},
	}
	indexed := func(index, node string, seat int32) *corev1.Pod {
		return webPod("batch-"+index, node, seat, annotated(batchv1.JobCompletionIndexAnnotation, index), func(p *corev1.Pod) {
			p.OwnerReferences[0] = owner("batch/v1", "Job", "batch")
		})
	}
	forKind := func(apiVersion, kind string) []client.Object {
		return these(newPolicy("p", never, func(spec *berthv1alpha1.PropagationPolicySpec) {
			spec.ResourceSelectors[0] = berthv1alpha1.ResourceSelector{APIVersion: apiVersion, Kind: kind}
		}))
	}
	runRestamp(t, map[string]restampCase{
		"an ordinal is a seat only in the cluster that owns it": {
			objects: world(sites(), forKind("apps/v1", "StatefulSet"), these(set, ordinalPod("db-0", "beijing-0"), ordinalPod("db-1", "beijing-0"))),
			want:    map[string]string{"db-0": "p beijing -1 " + surplusCost, "db-1": "p beijing 1 -1000"},
		},
		"the index of a Job goes beyond the pods that run at a time": {
			objects: world(sites(), forKind("batch/v1", "Job"), these(job, indexed("4", "hangzhou-0", 4))),
			want:    map[string]string{"batch-4": "p hangzhou 4 -4000"},
		},
		"workloads whose replicas are not known are left alone": {
			objects: world(sites(), forKind("v1", "Pod"), these(webPod("bare", "beijing-0", 9, func(p *corev1.Pod) { p.OwnerReferences = nil }))),
			want:    map[string]string{"bare": "p beijing 9 -9000"},
		},
	})
}

func TestHandOverToAnotherPolicyComesBeforeEvictions(t *testing.T) {
	h := newHarness(t, world(sites(), placed(), these(newPolicy("q", reweighed(4, 1))))...)
	h.pass()
	if got := h.evicted(); len(got) != 0 {
		t.Errorf("%v are evicted with the stamp of another policy", got)
	}
	if got := h.pods()["web-0"].Annotations[berthv1alpha1.PolicyAnnotation]; got != "q" {
		t.Errorf("the pod says that policy %q placed it, want q", got)
	}
	h.sync()
	h.pass()
	if got := h.evicted(); len(got) != 2 {
		t.Errorf("%v are evicted after the hand-over, want 2", got)
	}
}

func TestTheUsersOwnRequestSurvivesAHandOver(t *testing.T) {
	h := newHarness(t, world(sites(), placed(annotated(berthv1alpha1.PolicyAnnotation, "mine")), these(newPolicy("q", never)))...)
	h.settle()
	pod := h.pods()["web-0"]
	if got := pod.Annotations[berthv1alpha1.PolicyAnnotation]; got != "mine" {
		t.Errorf("the request of the user reads %q now", got)
	}
	if got := pod.Annotations[berthv1alpha1.PlacedPolicyAnnotation]; got != "q" {
		t.Errorf("the pod says that policy %q placed it, want q", got)
	}
}

func TestRestampsAreLimited(t *testing.T) {
	h := newHarness(t, world(sites(), placed(), these(newPolicy("p", reweighed(4, 1), never)))...)
	h.Restamps = flowcontrol.NewFakeNeverRateLimiter()
	h.pass()
	if got := h.stampOf("web-0"); got != "p hangzhou 0 0" {
		t.Errorf("the stamp is %q beyond the limit", got)
	}
	if h.last.RequeueAfter <= 0 {
		t.Error("nobody comes back")
	}
}

func TestWhatHasNotBeenHeardOfTakesNoSeat(t *testing.T) {
	deployment := these(newDeployment(2), newReplicaSet("rs1", "1", 2), newPolicy("p"))
	beijing := func() client.Object { return newCluster("beijing", "beijing-0") }
	node := func() client.Object { return newNode("beijing-0") }
	tests := map[string]struct {
		// cached is what the controller has heard of, later what it hears of after the first pass.
		cached, later []client.Object
		fail          error
		want          string
		wantAgain     time.Duration
	}{
		"the cluster": {
			cached: these(newCluster("hangzhou"), node()), later: these(beijing()), want: "p beijing 1 -1000", wantAgain: time.Second,
		},
		"the node": {
			cached: these(newCluster("hangzhou"), beijing()), later: these(node()), want: "p beijing 1 -1000",
		},
		"the cluster, and nobody can tell whether it exists": {
			cached: these(newCluster("hangzhou"), node()), fail: errors.New("no answer"), want: "p beijing 1 -1000", wantAgain: 10 * time.Second,
		},
		"a cluster that is gone": {
			cached: these(newCluster("hangzhou"), node()), want: "p  -1 " + surplusCost,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t, world(deployment, tc.cached, these(webPod("web-0", "beijing-0", 1)))...)
			for _, object := range tc.later {
				h.create(object)
			}
			asked := 0
			h.fail = func(verb string, list runtime.Object) error {
				if _, clusters := list.(*berthv1alpha1.ClusterList); clusters && verb == "list" {
					asked++
					return tc.fail
				}
				return nil
			}
			h.wait(time.Hour)
			h.pass()
			if got := h.stampOf("web-0"); got != tc.want {
				t.Errorf("the stamp is %q, want %q", got, tc.want)
			}
			if tc.wantAgain > 0 && h.last.RequeueAfter != tc.wantAgain {
				t.Errorf("the next pass comes after %v, want %v", h.last.RequeueAfter, tc.wantAgain)
			}
			before := asked
			h.pass()
			if asked != before {
				t.Error("the next pass asks the API server again")
			}
			if got := h.evicted(); len(got) > 0 {
				t.Errorf("evicted %v", got)
			}
		})
	}
}

func TestRestampOfAPodThatHasChanged(t *testing.T) {
	h := newHarness(t, world(sites(), placed(), these(newPolicy("p", reweighed(4, 1), never)))...)
	change(h, webPod("web-0", "hangzhou-0", 0), annotated(corev1.PodDeletionCost, "100"))
	h.pass()
	if got := h.stampOf("web-0"); got != "p hangzhou 0 100" {
		t.Errorf("the stamp is %q, written over a change that was not seen", got)
	}
	h.settle()
	if got := h.stampOf("web-0"); got != "p hangzhou -1 100" {
		t.Errorf("the stamp is %q, want the seat gone and the cost of the user", got)
	}
}

func TestOnePodThatCannotBeStampedDoesNotStopTheOthers(t *testing.T) {
	h := newHarness(t, world(sites(), placed(), these(newPolicy("p", reweighed(4, 1), never)))...)
	h.fail = func(verb string, o runtime.Object) error {
		if pod, is := o.(*corev1.Pod); is && verb == "patch" && pod.Name == "web-0" {
			return apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "web-0", errors.New("no"))
		}
		return nil
	}
	if _, err := h.Reconcile(t.Context(), namespace); err == nil {
		t.Error("nobody is told that a pod cannot be stamped")
	}
	h.fail = nil
	if got, want := h.stampOf("web-4"), "p hangzhou -1 "+surplusCost; got != want {
		t.Errorf("the stamp of the other pod is %q, want %q", got, want)
	}
}
