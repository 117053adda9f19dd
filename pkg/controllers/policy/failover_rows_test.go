// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// failoverRow is what becomes of the pods in a cluster that was left.
type failoverRow struct {
	// kind is the kind of the workload. If empty, it is a Deployment with three pods in the cluster.
	kind    string
	objects []client.Object
	// happens is what happens to the nodes of the cluster, and ends what others do to the pods.
	happens, ends func(h *harness)
	// placed and accepted are what the conditions tell before.
	placed, accepted string
	wantEvicted      bool
}

func (h *harness) drop(names ...string) {
	h.t.Helper()
	for _, name := range names {
		pod := h.pods()[name]
		pod.Finalizers = nil
		if err := h.server.Update(h.t.Context(), pod); err != nil {
			h.t.Fatal(err)
		}
		if err := client.IgnoreNotFound(h.server.Delete(h.t.Context(), pod)); err != nil {
			h.t.Fatal(err)
		}
	}
}

// tolerating are the pods of the Deployment, which Kubernetes deletes after so many seconds on a
// node that is away, never if there are none.
func tolerating(seconds *int64) []client.Object {
	return placed(func(p *corev1.Pod) {
		p.Spec.Tolerations = []corev1.Toleration{{
			Key: corev1.TaintNodeUnreachable, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: seconds,
		}}
	})
}

// terminatingSet is a StatefulSet with two pods in hangzhou that were told to terminate.
func terminatingSet() []client.Object {
	change := func(p *corev1.Pod) {
		p.OwnerReferences[0] = owner("apps/v1", "StatefulSet", "db")
		p.Labels[appsv1.ControllerRevisionHashLabelKey] = "r"
		p.Finalizers, p.DeletionTimestamp = []string{"test/kept"}, &metav1.Time{Time: birth}
	}
	return these(&appsv1.StatefulSet{
		ObjectMeta: meta("db"),
		Spec: appsv1.StatefulSetSpec{
			Replicas: new(int32(2)), Template: template(), Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
		},
		Status: appsv1.StatefulSetStatus{ObservedGeneration: 1, CurrentRevision: "r", UpdateRevision: "r"},
	}, webPod("db-0", "hangzhou-0", 0, change), webPod("db-1", "hangzhou-0", 1, change))
}

// failoverRows are the rows of the table in the documentation, by their first column.
func failoverRows() map[string]failoverRow {
	away := func(h *harness) {
		change(h, newNode("hangzhou-0"), func(n *corev1.Node) {
			n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionUnknown}}
		})
	}
	const exist = "3 replicas have seats elsewhere; their pods on hangzhou still exist"
	deleted := func(h *harness) { h.drop("web-0", "web-2", "web-4") }
	return map[string]failoverRow{
		"default tolerations": {objects: tolerating(new(int64(300))), happens: away, placed: exist, ends: deleted},
		"tolerate for ever": {
			objects: tolerating(nil), happens: away, placed: exist, ends: deleted,
			accepted: "pods of Deployment web tolerate for ever that their node is away: their replacements wait for that",
		},
		"of a StatefulSet": {
			kind: "StatefulSet", objects: terminatingSet(), happens: away,
			placed: "2 replicas have seats elsewhere; their pods on hangzhou still exist", ends: func(h *harness) { h.drop("db-0", "db-1") },
		},
		"the Node is deleted": {objects: placed(), placed: exist, ends: deleted, happens: func(h *harness) {
			if err := h.server.Delete(h.t.Context(), newNode("hangzhou-0")); err != nil {
				h.t.Fatal(err)
			}
		}},
		"the Node has the taint `node.kubernetes.io/out-of-service`": {objects: placed(), placed: exist, ends: deleted, happens: func(h *harness) {
			away(h)
			change(h, newNode("hangzhou-0"), func(n *corev1.Node) {
				n.Spec.Taints = []corev1.Taint{{Key: corev1.TaintNodeOutOfService, Effect: corev1.TaintEffectNoExecute}}
			})
		}},
		"the nodes are ready, but cordoned": {objects: placed(), placed: "False Rebalancing", wantEvicted: true, happens: func(h *harness) {
			change(h, newNode("hangzhou-0"), func(n *corev1.Node) { n.Spec.Unschedulable = true })
		}},
	}
}

// documentedRows are the first columns of the table of failover in the documentation.
func documentedRows(t *testing.T) []string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "concepts", "node-groups.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(page), "| pods on the nodes that are away |")
	if !found {
		t.Fatal("the table of failover is not there")
	}
	table, _, _ = strings.Cut(table, "\n\n")
	var rows []string
	for _, line := range strings.Split(table, "\n")[2:] {
		rows = append(rows, strings.TrimSpace(strings.Split(line, "|")[1]))
	}
	slices.Sort(rows)
	return rows
}

// Once a cluster is left, the policy tells of the pods there as long as they exist, whoever is to
// end them; Berth itself evicts those whose nodes can be reached.
func TestWhoEndsThePodsOfAClusterThatWasLeft(t *testing.T) {
	rows := failoverRows()
	if diff := cmp.Diff(documentedRows(t), slices.Sorted(maps.Keys(rows))); diff != "" {
		t.Errorf("rows of the documentation and of this test (-documented +tested):\n%s", diff)
	}
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t, world(sites(), row.objects, these(newPolicy("p", failingOver("5m"), func(spec *berthv1alpha1.PropagationPolicySpec) {
				if row.kind != "" {
					spec.ResourceSelectors[0] = berthv1alpha1.ResourceSelector{APIVersion: "apps/v1", Kind: row.kind}
				}
			})))...)
			row.happens(h)
			h.online("beijing", metav1.ConditionTrue)
			h.online("hangzhou", metav1.ConditionFalse)
			h.wait(5 * time.Minute)
			h.look()
			if got := h.condition(berthv1alpha1.PolicyPlaced); !strings.Contains(got, row.placed) {
				t.Errorf("Placed = %q, want it to tell %q", got, row.placed)
			}
			got := h.condition(berthv1alpha1.PolicyAccepted)
			if !strings.Contains(got, row.accepted) || row.accepted == "" && strings.Contains(got, "tolerate") {
				t.Errorf("Accepted = %q, want it to tell %q", got, row.accepted)
			}
			if evicted := len(h.evictor.evicted) > 0; evicted != row.wantEvicted {
				t.Errorf("Berth evicts %v", h.evictor.evicted)
			}
			if row.ends == nil {
				return
			}
			row.ends(h)
			h.look()
			if got := h.condition(berthv1alpha1.PolicyPlaced); strings.Contains(got, "still exist") {
				t.Errorf("Placed = %q although no pod is there any more", got)
			}
		})
	}
}
