// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

func failingOver(after berthv1alpha1.FailoverAfter) func(*berthv1alpha1.PropagationPolicySpec) {
	return func(spec *berthv1alpha1.PropagationPolicySpec) {
		spec.Failover = &berthv1alpha1.Failover{After: &after, ReturnAfter: &metav1.Duration{Duration: 30 * time.Minute}}
	}
}

// online sets the condition of a Cluster, as of now.
func (h *harness) online(cluster string, status metav1.ConditionStatus) {
	h.t.Helper()
	c := &berthv1alpha1.Cluster{}
	if err := h.server.Get(h.t.Context(), client.ObjectKey{Name: cluster}, c); err != nil {
		h.t.Fatal(err)
	}
	apimeta.SetStatusCondition(&c.Status.Conditions, metav1.Condition{
		Type: berthv1alpha1.ClusterOnline, Status: status, Reason: "Test", LastTransitionTime: metav1.NewTime(h.clock.Now()),
	})
	if err := h.server.Update(h.t.Context(), c); err != nil {
		h.t.Fatal(err)
	}
}

// look makes two passes, so that what the first one has written counts, and returns what hangzhou
// and beijing should have.
func (h *harness) look() map[string]int32 {
	h.t.Helper()
	for range 2 {
		h.wait(time.Second)
		h.sync()
		h.pass()
	}
	desired := map[string]int32{}
	for _, c := range h.policy("p").Status.Workloads[0].Clusters {
		desired[c.Name] = c.Desired
	}
	return desired
}

func TestTheOthersHaveTheSeatsOfAClusterThatIsOfflineForLong(t *testing.T) {
	h := newHarness(t, world(sites(), placed(), these(newPolicy("p", never, failingOver("5m"))))...)
	expect := func(beijing, hangzhou int32) {
		t.Helper()
		if diff := cmp.Diff(map[string]int32{"beijing": beijing, "hangzhou": hangzhou}, h.look()); diff != "" {
			t.Errorf("replicas wanted (-want +got):\n%s", diff)
		}
	}
	h.online("beijing", metav1.ConditionTrue)
	h.online("hangzhou", metav1.ConditionFalse)
	expect(2, 3)
	h.wait(4 * time.Minute)
	expect(2, 3)
	h.wait(time.Minute)
	expect(5, 0)
	message := h.condition(berthv1alpha1.PolicyPlaced)
	if want := "3 replicas have seats elsewhere; their pods on hangzhou still exist"; !strings.Contains(message, want) {
		t.Errorf("Placed = %q, want it to tell %q", message, want)
	}
	h.online("hangzhou", metav1.ConditionTrue)
	h.wait(29 * time.Minute)
	expect(5, 0)
	h.wait(time.Minute)
	expect(2, 3)
}

// TestAGroupThatChoseClustersThatAreOfflineChoosesOthers has a group of all clusters that chooses
// one of them.
func TestAGroupThatChoseClustersThatAreOfflineChoosesOthers(t *testing.T) {
	choosing := func(spec *berthv1alpha1.PropagationPolicySpec) {
		failingOver("5m")(spec)
		spec.Placement = berthv1alpha1.Placement{ClusterGroups: []berthv1alpha1.ClusterGroup{{
			Name: "all", ClusterSelector: &metav1.LabelSelector{}, MaxClusters: new(int32(1)),
		}}}
	}
	h := newHarness(t, world(sites(), placed(), these(newPolicy("p", never, choosing)))...)
	where := func() string {
		t.Helper()
		for name, n := range h.look() {
			if n == 5 {
				return name
			}
		}
		return "nowhere"
	}
	chosen := where()
	other := map[string]string{"beijing": "hangzhou", "hangzhou": "beijing"}[chosen]
	h.online(other, metav1.ConditionTrue)
	h.online(chosen, metav1.ConditionFalse)
	h.wait(5 * time.Minute)
	if got := where(); got != other {
		t.Fatalf("all replicas are to be in %s, want %s", got, other)
	}
	h.online(other, metav1.ConditionFalse)
	h.wait(5 * time.Minute)
	if got := where(); got != chosen {
		t.Errorf("with all offline, all replicas are to be in %s, want %s", got, chosen)
	}
	h.online(chosen, metav1.ConditionTrue)
	if got := where(); got != chosen {
		t.Errorf("with the first one back, all replicas are to be in %s, want %s", got, chosen)
	}
}

func TestSeatsStayWhereThereIsNobodyElse(t *testing.T) {
	for name, change := range map[string]func(*berthv1alpha1.PropagationPolicySpec){
		"all are offline": failingOver("1m"), "never": failingOver(berthv1alpha1.FailoverNever), "no failover": never,
	} {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t, world(sites(), placed(), these(newPolicy("p", never, change)))...)
			h.online("hangzhou", metav1.ConditionFalse)
			if name == "all are offline" {
				h.online("beijing", metav1.ConditionFalse)
			}
			h.wait(time.Hour)
			if diff := cmp.Diff(map[string]int32{"beijing": 2, "hangzhou": 3}, h.look()); diff != "" {
				t.Errorf("replicas wanted (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAFailoverBeforePodsAreDeletedIsTold(t *testing.T) {
	tests := map[string]struct {
		seconds *int64
		want    string
	}{
		"shorter": {new(int64(30)), "True Accepted: the policy can be carried out"},
		"longer": {new(int64(300)), "True Accepted: the policy can be carried out; failover.after is 1m0s, and pods of Deployment web " +
			"tolerate for 5m0s that their node is away: their replacements wait for that"},
		"for ever": {nil, "True Accepted: the policy can be carried out; failover.after is 1m0s, and pods of Deployment web " +
			"tolerate for ever that their node is away: their replacements wait for that"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			pod := webPod("tolerant", "beijing-0", 0, func(p *corev1.Pod) {
				p.Spec.Tolerations = []corev1.Toleration{{
					Key: corev1.TaintNodeUnreachable, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute,
					TolerationSeconds: tc.seconds,
				}}
			})
			h := newHarness(t, world(sites(), placed()[:2], these(newPolicy("p", never, failingOver("1m")), pod))...)
			h.pass()
			if got := h.condition(berthv1alpha1.PolicyAccepted); got != tc.want {
				t.Errorf("Accepted = %q, want %q", got, tc.want)
			}
		})
	}
}

// A pod that terminates on a node that is away stays there. The controller of a Deployment makes
// another one at once, that of a StatefulSet when it is gone.
func TestPodsThatTerminateInAClusterThatWasLeft(t *testing.T) {
	set := &appsv1.StatefulSet{
		ObjectMeta: meta("db"),
		Spec: appsv1.StatefulSetSpec{
			Replicas: new(int32(2)), Template: template(), Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
		},
		Status: appsv1.StatefulSetStatus{ObservedGeneration: 1, CurrentRevision: "r", UpdateRevision: "r"},
	}
	terminating := func(p *corev1.Pod) {
		p.Finalizers, p.DeletionTimestamp = []string{"test/kept"}, &metav1.Time{Time: birth}
	}
	ofSet := func(p *corev1.Pod) {
		p.OwnerReferences[0] = owner("apps/v1", "StatefulSet", "db")
		p.Labels[appsv1.ControllerRevisionHashLabelKey] = "r"
	}
	tests := map[string]struct {
		kind    string
		objects []client.Object
		want    string
	}{
		"of a StatefulSet": {
			"StatefulSet", these(set, webPod("db-0", "hangzhou-0", 0, ofSet, terminating), webPod("db-1", "hangzhou-0", 1, ofSet)),
			"2 replicas have seats elsewhere; their pods on hangzhou still exist",
		},
		"of a Deployment": {
			"Deployment", these(newDeployment(2), newReplicaSet("rs1", "1", 2), webPod("web-0", "hangzhou-0", 0, terminating), webPod("web-1", "hangzhou-0", 1)),
			"1 replica has a seat elsewhere; its pod on hangzhou still exists",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t, world(sites(), tc.objects, these(newPolicy("p", never, failingOver("5m"), func(spec *berthv1alpha1.PropagationPolicySpec) {
				spec.ResourceSelectors[0] = berthv1alpha1.ResourceSelector{APIVersion: "apps/v1", Kind: tc.kind}
			})))...)
			h.online("beijing", metav1.ConditionTrue)
			h.online("hangzhou", metav1.ConditionFalse)
			h.wait(5 * time.Minute)
			h.look()
			if got := h.condition(berthv1alpha1.PolicyPlaced); !strings.Contains(got, tc.want) {
				t.Errorf("Placed = %q, want it to tell %q", got, tc.want)
			}
		})
	}
}
