// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package purge_test

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clienttesting "k8s.io/client-go/testing"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/cli/internal/clitest"
	"berth.dev/berth/pkg/model/stamp"
)

// installed is a cluster in which Berth has left everything that it can leave.
func installed(t *testing.T) *clitest.World {
	t.Helper()
	w := clitest.NewWorld(t)
	w.Berth = append(w.Berth,
		&berthv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{
			Name: "beijing", Finalizers: []string{berthv1alpha1.ClusterFinalizer, "example.com/mine"},
		}},
		&berthv1alpha1.ClusterResource{ObjectMeta: metav1.ObjectMeta{
			Name: "licences", Finalizers: []string{berthv1alpha1.ClusterResourceFinalizer},
		}},
		&berthv1alpha1.PropagationPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}},
	)
	placed := w.Pod("placed", nil)
	clitest.Place(placed, "node", stamp.Stamp{Policy: "web", Cluster: "beijing", Seat: 3})
	placed.Labels = map[string]string{berthv1alpha1.HomeSchedulerLabel: "a", berthv1alpha1.ClusterLabel: "beijing", "app": "web"}
	placed.Annotations["mine"] = "kept"
	costly := w.Pod("costly", nil)
	clitest.Place(costly, "node", stamp.Stamp{Policy: "web", Cluster: "beijing", Seat: 4})
	costly.Annotations[corev1.PodDeletionCost] = "1000"
	asking := w.Pod("asking", nil)
	asking.Annotations = map[string]string{berthv1alpha1.PolicyAnnotation: "web", corev1.PodDeletionCost: "7"}
	w.Kubernetes = append(w.Kubernetes,
		&admissionv1.ValidatingAdmissionPolicyBinding{ObjectMeta: metav1.ObjectMeta{Name: "berth-stamps"}})
	return w
}

const all = `Cluster beijing: finalizers removed
ClusterResource licences: finalizers removed
PropagationPolicy shop/web: deleted
ClusterResource licences: deleted
Cluster beijing: deleted
ValidatingAdmissionPolicyBinding berth-stamps: deleted
Pod default/costly: stamps removed
Pod default/placed: stamps removed
Pod default/placed: deletion cost removed
`

// sorted makes the order of objects of one step a matter of names.
func sorted(text string) string {
	lines := strings.SplitAfter(text, "\n")
	step := func(line string) int {
		return slices.IndexFunc([]string{"finalizers removed", "deleted", "removed"}, func(s string) bool { return strings.Contains(line, s) })
	}
	slices.SortStableFunc(lines, func(a, b string) int {
		if step(a) == step(b) && step(a) == 0 {
			return strings.Compare(a, b)
		}
		return 0
	})
	return strings.Join(lines, "")
}

func TestPurge(t *testing.T) {
	w := installed(t)
	options := w.Options()
	result := clitest.Run(t.Context(), options, "purge")
	if diff := cmp.Diff(all, sorted(result.Out)); diff != "" || result.Code != 0 {
		t.Fatalf("exit status %d, output differs (-want +got):\n%s%s", result.Code, diff, result.Err)
	}
	pods, err := w.Clients.Kubernetes.CoreV1().Pods("").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string][]string{}
	for i := range pods.Items {
		p := &pods.Items[i]
		got[p.Name] = append(slices.Sorted(maps.Keys(p.Annotations)), slices.Sorted(maps.Keys(p.Labels))...)
	}
	want := map[string][]string{
		"placed": {"mine", "app"},
		"costly": {corev1.PodDeletionCost},
		"asking": {corev1.PodDeletionCost, berthv1alpha1.PolicyAnnotation},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("what pods have left differs (-want +got):\n%s", diff)
	}
	clitest.Run(t.Context(), options, "purge").CheckOutput(t, "Berth has left nothing\n")
}

// TestRequestsOnObjects looks at the requests, since an object is gone from the fake client
// whatever finalizers it has.
func TestRequestsOnObjects(t *testing.T) {
	w := installed(t)
	clitest.Run(t.Context(), w.Options(), "purge")
	for _, a := range w.Clients.Berth.Actions() {
		switch a := a.(type) {
		case clienttesting.PatchAction:
			if want := `{"metadata":{"finalizers":["example.com/mine"]}}`; a.GetName() == "beijing" && string(a.GetPatch()) != want {
				t.Errorf("patch %s, want %s", a.GetPatch(), want)
			}
		case clienttesting.DeleteActionImpl:
			if p := a.DeleteOptions.PropagationPolicy; p == nil || *p != metav1.DeletePropagationOrphan {
				t.Errorf("deleting %s takes with it what it owns", a.GetName())
			}
		}
	}
}

func TestDryRun(t *testing.T) {
	w := installed(t)
	result := clitest.Run(t.Context(), w.Options(), "purge", "--dry-run")
	if !strings.Contains(result.Out, " (dry run)\n") {
		t.Errorf("it tells as done what would be: %s", result.Out)
	}
	said := strings.ReplaceAll(result.Out, " (dry run)\n", "\n")
	if diff := cmp.Diff(all, sorted(said)); diff != "" || result.Code != 0 {
		t.Errorf("exit status %d, output differs (-want +got):\n%s%s", result.Code, diff, result.Err)
	}
	for _, a := range slices.Concat(w.Clients.Kubernetes.Actions(), w.Clients.Berth.Actions()) {
		if a.GetVerb() != "list" && a.GetVerb() != "get" {
			t.Errorf("it does %s %s", a.GetVerb(), a.GetResource().Resource)
		}
	}
}

// TestAGuardThatIsRemembered stands for an API server that refuses for a moment longer.
func TestAGuardThatIsRemembered(t *testing.T) {
	w := installed(t)
	options := w.Options()
	refused := 0
	w.Clients.Kubernetes.PrependReactor("patch", "pods", func(clienttesting.Action) (bool, runtime.Object, error) {
		if refused++; refused < 3 {
			return true, nil, apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "placed", nil)
		}
		return false, nil, nil
	})
	if result := clitest.Run(t.Context(), options, "purge"); result.Code != 0 || refused != 4 {
		t.Errorf("exit status %d after %d requests: %s", result.Code, refused, result.Err)
	}
}

// TestNothingIsSaidOfWhatMayNotBeRead holds that nobody believes a cluster to be clean that he may
// not look into.
func TestNothingIsSaidOfWhatMayNotBeRead(t *testing.T) {
	w := installed(t)
	options := w.Options()
	w.Clients.Berth.PrependReactor("list", "applications", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewForbidden(schema.GroupResource{Resource: "applications"}, "", nil)
	})
	// A command that has failed has printed nothing.
	clitest.Run(t.Context(), options, "purge").CheckFailed(t, "listing objects of kind Application: not allowed")
}

// TestFinalizersThatComeBack stands for a controller manager that has not ended yet.
func TestFinalizersThatComeBack(t *testing.T) {
	w := installed(t)
	options := w.Options()
	again, removed := false, 0
	kind := schema.GroupVersionResource{Group: "berth.dev", Version: "v1alpha1", Resource: "clusterresources"}
	w.Clients.Berth.PrependReactor("delete", kind.Resource, func(clienttesting.Action) (bool, runtime.Object, error) {
		again = true
		return true, nil, w.Clients.Berth.Tracker().Update(kind, &berthv1alpha1.ClusterResource{ObjectMeta: metav1.ObjectMeta{
			Name: "licences", Finalizers: []string{berthv1alpha1.ClusterResourceFinalizer, metav1.FinalizerOrphanDependents},
		}}, "")
	})
	w.Clients.Berth.PrependReactor("patch", kind.Resource, func(a clienttesting.Action) (bool, runtime.Object, error) {
		if !again {
			return false, nil, nil
		}
		removed++
		if want, got := `{"metadata":{"finalizers":["orphan"]}}`, string(a.(clienttesting.PatchAction).GetPatch()); got != want {
			t.Errorf("patch %s, want %s", got, want)
		}
		return true, &berthv1alpha1.ClusterResource{}, w.Clients.Berth.Tracker().Delete(kind, "", "licences")
	})
	if result := clitest.Run(t.Context(), options, "purge"); result.Code != 0 || removed != 1 {
		t.Errorf("exit status %d, finalizers removed %d times again, want once: %s", result.Code, removed, result.Err)
	}
}

// TestWhatWasDoneIsToldWhateverComesThen interrupts it in the middle.
func TestWhatWasDoneIsToldWhateverComesThen(t *testing.T) {
	w := installed(t)
	options := w.Options()
	w.Clients.Berth.PrependReactor("delete", "*", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewInternalError(errors.New("full"))
	})
	result := clitest.Run(t.Context(), options, "purge")
	if result.Code != 1 || strings.Count(result.Out, "finalizers removed") != 2 || !strings.Contains(result.Err, "PropagationPolicy shop/web") {
		t.Errorf("exit status %d, output %q, error %q", result.Code, result.Out, result.Err)
	}
}

func TestKindsThatAreNotServed(t *testing.T) {
	w := clitest.NewWorld(t)
	options := w.Options()
	w.Clients.Berth.PrependReactor("list", "*", func(action clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewNotFound(action.GetResource().GroupResource(), "")
	})
	clitest.Run(t.Context(), options, "purge").CheckOutput(t, "Berth has left nothing\n")
}
