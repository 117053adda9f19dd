// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package downgrade_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"

	"berth.dev/berth/pkg/cli/internal/clitest"
	"berth.dev/berth/pkg/model/stamp"
)

// placed is a cluster with pods of all sorts of costs.
func placed(t *testing.T) *clitest.World {
	t.Helper()
	w := clitest.NewWorld(t)
	for name, given := range map[string]stamp.Stamp{
		"first": {Seat: 0}, "third": {Seat: 2}, "between": {Seat: 2, Beyond: 500}, "beyond": {Seat: stamp.NoSeat}, "old": {Seat: 7}, "of-a-user": {Seat: 8},
	} {
		given.Policy, given.Cluster = "web", "beijing"
		clitest.Place(w.Pod(name, nil), "node", given)
	}
	for _, object := range w.Kubernetes {
		switch pod := object.(*corev1.Pod); pod.Name {
		case "old":
			pod.Annotations[corev1.PodDeletionCost] = "-7"
		case "of-a-user":
			pod.Annotations[corev1.PodDeletionCost] = "5"
		}
	}
	w.Pod("waiting", nil).Annotations = map[string]string{corev1.PodDeletionCost: "-3000"}
	return w
}

const changes = `Pod default/between: deletion cost -2147483648 instead of -2500
Pod default/third: deletion cost -2 instead of -2000
`

func TestCostsBecomeThoseOfEarlierVersions(t *testing.T) {
	w := placed(t)
	options := w.Options()
	clitest.Run(t.Context(), options, "downgrade").CheckOutput(t, changes)
	pods, err := w.Clients.Kubernetes.CoreV1().Pods("").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	costs := map[string]string{}
	for i := range pods.Items {
		costs[pods.Items[i].Name] = pods.Items[i].Annotations[corev1.PodDeletionCost]
	}
	want := map[string]string{
		"first": "0", "third": "-2", "between": "-2147483648", "beyond": "-2147483648", "old": "-7", "of-a-user": "5", "waiting": "-3000",
	}
	if diff := cmp.Diff(want, costs); diff != "" {
		t.Errorf("the costs differ (-want +got):\n%s", diff)
	}
	clitest.Run(t.Context(), options, "downgrade").CheckOutput(t, "No pod has a deletion cost that earlier versions do not know\n")
}

func TestDryRun(t *testing.T) {
	w := placed(t)
	clitest.Run(t.Context(), w.Options(), "downgrade", "--dry-run").CheckOutput(t, changes)
	for _, a := range w.Clients.Kubernetes.Actions() {
		if a.GetVerb() != "list" {
			t.Errorf("it does %s %s", a.GetVerb(), a.GetResource().Resource)
		}
	}
}

func TestWhatWasDoneIsToldWhateverComesThen(t *testing.T) {
	w := placed(t)
	options := w.Options()
	w.Clients.Kubernetes.PrependReactor("patch", "pods", func(a clienttesting.Action) (bool, runtime.Object, error) {
		if a.(clienttesting.PatchAction).GetName() == "third" {
			return true, nil, apierrors.NewInternalError(errors.New("full"))
		}
		return false, nil, nil
	})
	result := clitest.Run(t.Context(), options, "downgrade")
	if result.Code != 1 || strings.Count(result.Out, "\n") != 1 || !strings.Contains(result.Err, "pod default/third") {
		t.Errorf("exit status %d, output %q, error %q", result.Code, result.Out, result.Err)
	}
}
