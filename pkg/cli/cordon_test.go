// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"context"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/cli/internal/clitest"
	"berth.dev/berth/pkg/model/stamp"
	"berth.dev/berth/pkg/placement/policymatch"
)

// marks returns what a cluster of the world is marked as.
func marks(t *testing.T, w *clitest.World, name string) string {
	t.Helper()
	c, err := w.Clients.Berth.BerthV1alpha1().Clusters().Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	if c.Spec.Unschedulable {
		found = append(found, "cordoned")
	}
	if c.Spec.Drain {
		found = append(found, "drained")
	}
	return strings.Join(found, " ")
}

func TestCordon(t *testing.T) {
	w := clitest.NewWorld(t)
	w.Cluster("beijing", 1)
	for _, step := range []struct{ args, want, wantMarks string }{
		{"cordon cluster beijing", "cluster/beijing cordoned\n", "cordoned"},
		{"cordon beijing", "cluster/beijing already cordoned\n", "cordoned"},
		{"drain cluster beijing", "cluster/beijing already cordoned\ncluster/beijing drained\n", "cordoned drained"},
		{"cordon --name beijing", "cluster/beijing cordoned\n", "cordoned"},
		{"uncordon cluster beijing", "cluster/beijing uncordoned\n", ""},
		{"uncordon cluster beijing", "cluster/beijing already uncordoned\n", ""},
	} {
		clitest.Run(t.Context(), w.Options(), strings.Fields(step.args)...).CheckOutput(t, step.want)
		if got := marks(t, w, "beijing"); got != step.wantMarks {
			t.Errorf("after %s the cluster is %q, want %q", step.args, got, step.wantMarks)
		}
	}
	for args, code := range map[string]int{
		"cordon cluster": 2, "uncordon cluster": 2, "drain cluster": 2, "drain cluster Bei_Jing": 2, "cordon cluster hangzhou": 1,
		"drain cluster hangzhou": 1, "drain cluster beijing --timeout=-1s": 1,
	} {
		if got := clitest.Run(t.Context(), w.Options(), strings.Fields(args)...); got.Code != code {
			t.Errorf("%s: exit status %d, want %d: %s", args, got.Code, code, got.Err)
		}
	}
}

// drained is a world whose cluster beijing holds what a drain finds there. A policy that moves
// nothing may belong to somebody.
func drained(t *testing.T, owners ...metav1.OwnerReference) *clitest.World {
	t.Helper()
	w := clitest.NewWorld(t)
	w.Cluster("beijing", 1)
	w.Cluster("hangzhou", 1)
	moves := w.Policy("web", "apps/v1", "Deployment", "web", map[string]int64{"beijing": 1, "hangzhou": 1})
	moves.Status.Conditions = []metav1.Condition{
		{Type: berthv1alpha1.PolicyPlaced, Status: metav1.ConditionFalse, Reason: berthv1alpha1.ReasonMisplaced, Message: "there is no room"},
	}
	w.Deployment("web", 1).Placed("web-0", "beijing-0", "web", "beijing", 0)
	never := w.Policy("fixed", "apps/v1", "Deployment", "fixed", map[string]int64{"beijing": 1})
	never.Spec.Rebalance.Mode, never.OwnerReferences = berthv1alpha1.RebalanceNever, owners
	w.Deployment("fixed", 1).Placed("fixed-0", "beijing-0", "fixed", "beijing", 0)
	free := w.Deployment("free", 2).Pod("free-0")
	free.Spec.NodeName = "beijing-0"
	bare := w.Pod("bare", nil)
	bare.Spec.NodeName = "beijing-0"
	daemon := w.Pod("daemon", &metav1.OwnerReference{APIVersion: "apps/v1", Kind: "DaemonSet", Name: "d", UID: "d", Controller: new(true)})
	daemon.Spec.NodeName = "beijing-0"
	other := w.Pod("other", nil)
	other.Spec.NodeName, other.Spec.SchedulerName = "beijing-0", "default-scheduler"
	finished := w.Pod("finished", nil)
	finished.Spec.NodeName, finished.Status.Phase = "beijing-0", corev1.PodSucceeded
	elsewhere := w.Pod("elsewhere", nil)
	clitest.Place(elsewhere, "hangzhou-0", stamp.Stamp{Policy: "web", Cluster: "hangzhou", Seat: 1})
	return w
}

// evictions lets the world carry evictions out, those of refused ones excepted, and calls refuse
// for these. Together with fixed-0 goes what the policy controller moves, unless one is refused.
func evictions(w *clitest.World, refused string, refuse func()) *[]string {
	var asked []string
	w.Options()
	w.Clients.Kubernetes.PrependReactor("create", "pods", func(action clienttesting.Action) (bool, runtime.Object, error) {
		create, ok := action.(clienttesting.CreateAction)
		if !ok || action.GetSubresource() != "eviction" {
			return false, nil, nil
		}
		object, _ := create.GetObject().(metav1.Object)
		asked = append(asked, object.GetName())
		if object.GetName() == refused {
			refuse()
			return true, nil, apierrors.NewTooManyRequests("Cannot evict pod as it would violate the pod's disruption budget.", 0)
		}
		names := []string{object.GetName()}
		if refused == "" && names[0] == "fixed-0" {
			names = append(names, "web-0")
		}
		for _, name := range names {
			err := w.Clients.Kubernetes.Tracker().Delete(corev1.SchemeGroupVersion.WithResource("pods"), clitest.Namespace, name)
			if err != nil {
				return true, nil, err
			}
		}
		return true, nil, nil
	})
	return &asked
}

func TestDrainEvictsWhatNoPolicyMoves(t *testing.T) {
	w := drained(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	refusals := 0
	asked := evictions(w, "free-0", func() {
		if refusals++; refusals == 3 {
			cancel()
		}
	})
	got := clitest.Run(ctx, w.Options(), "drain", "cluster", "beijing")
	for _, want := range []string{
		"cluster/beijing cordoned\n", "evicting pod default/fixed-0\n", "evicting pod default/free-0\n",
		"evicting pod default/free-0: not yet, a PodDisruptionBudget does not let it go\n", "pod/fixed-0 left (namespace default)\n",
		"policy default/web: there is no room\n",
		"4 pods left: 1 that nothing would make anew (--force evicts them), 1 that policies move, 2 that this command evicts\n",
		"3 pods left: 1 that nothing would make anew (--force evicts them), 1 that policies move, 1 that this command evicts\n",
	} {
		if strings.Count(got.Out, want) != 1 {
			t.Errorf("not printed once: %q, but %q", want, got.Out)
		}
	}
	if want := "error: drain was interrupted: 3 pods left"; got.Code != 1 || !strings.HasPrefix(got.Err, want) {
		t.Errorf("exit status %d, printed %q, want %q", got.Code, got.Err, want)
	}
	for _, name := range *asked {
		if name != "fixed-0" && name != "free-0" {
			t.Errorf("the pod %s was to be evicted", name)
		}
	}
	if got := marks(t, w, "beijing"); got != "cordoned drained" {
		t.Errorf("afterwards the cluster is %q", got)
	}
}

func TestDrainEndsWhenTheClusterIsEmpty(t *testing.T) {
	w := drained(t)
	late := clitest.Run(t.Context(), w.Options(), "drain", "beijing", "--timeout", "1ns")
	if late.Code != 1 || !strings.HasPrefix(late.Err, "error: drain did not complete within 1ns") {
		t.Errorf("exit status %d, printed %q", late.Code, late.Err)
	}
	evictions(w, "", nil)
	got := clitest.Run(t.Context(), w.Options(), "drain", "beijing", "--force")
	if got.Code != 0 || !strings.HasSuffix(got.Out, "cluster/beijing drained\n") || !strings.Contains(got.Out, "evicting pod default/bare\n") {
		t.Errorf("exit status %d, printed %q and %q", got.Code, got.Out, got.Err)
	}
}

// The policies that a ClusterPropagationPolicy makes move pods as those of users do.
func TestDrainEvictsWhatAClusterPropagationPolicyDoesNotMove(t *testing.T) {
	w := drained(t, metav1.OwnerReference{
		APIVersion: berthv1alpha1.SchemeGroupVersion.String(), Kind: policymatch.ClusterWide, Name: "all", UID: "all", Controller: new(true),
	})
	evictions(w, "", nil)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	got := clitest.Run(ctx, w.Options(), "drain", "beijing", "--force")
	if got.Code != 0 || !strings.Contains(got.Out, "evicting pod default/fixed-0\n") || !strings.HasSuffix(got.Out, "cluster/beijing drained\n") {
		t.Errorf("exit status %d, printed %q and %q", got.Code, got.Out, got.Err)
	}
}
