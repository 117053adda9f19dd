// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package get_test

import (
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	clienttesting "k8s.io/client-go/testing"

	"berth.dev/berth/pkg/cli/internal/clitest"
	"berth.dev/berth/pkg/model/stamp"
)

const (
	beforeScheduling = `WORKLOAD           CLUSTER    DESIRED   CURRENT   SHORT   PENDING   NODES
deployment/nginx   beijing    2         2         0       1         2
deployment/nginx   hangzhou   3         2         1       1         1
`
	afterScheduling = `
WORKLOAD           CLUSTER    DESIRED   CURRENT   SHORT   PENDING   NODES
deployment/nginx   beijing    2         2         0       0         2
deployment/nginx   hangzhou   3         3         0       0         2
`
)

// schedule binds the pod of nginx that waits.
func schedule(t *testing.T, w *clitest.World) {
	t.Helper()
	pods := w.Clients.Kubernetes.CoreV1().Pods(clitest.Namespace)
	pod, err := pods.Get(t.Context(), "nginx-e", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	clitest.Place(pod, "hangzhou-1", stamp.Stamp{Policy: "spread", Cluster: "hangzhou", Seat: 4})
	if _, err := pods.Update(t.Context(), pod, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
}

func TestPlacementWatchPrintsAgain(t *testing.T) {
	w, _ := nginx(t)
	running := clitest.Start(t, w.Options(), "get", "placement", "-w")
	running.WaitForOutput(t, beforeScheduling)
	w.WaitForWatches(t, "pods")
	schedule(t, w)
	if got := running.WaitForOutput(t, "hangzhou   3         3         0       0         2\n"); got != afterScheduling {
		t.Errorf("printed\n%q, want\n%q", got, afterScheduling)
	}
	if result := running.Interrupt(t); result.Code != 0 || result.Out != "" || result.Err != "" {
		t.Errorf("after the interrupt: exit status %d, printed %q and %q", result.Code, result.Out, result.Err)
	}
}

func TestPlacementWatchForPrograms(t *testing.T) {
	w, _ := nginx(t)
	running := clitest.Start(t, w.Options(), "get", "placement", "--watch", "-o", "json")
	running.WaitForOutput(t, "\n")
	w.WaitForWatches(t, "pods")
	schedule(t, w)
	line := running.WaitForOutput(t, "\n")
	if !strings.HasPrefix(line, `{"items":[{`) || !strings.Contains(line, `"pending":0,"misplaced":0`) {
		t.Errorf("printed %q, want a JSON document on a line of its own", line)
	}
}

func TestPlacementWatchOutlivesTheWorkload(t *testing.T) {
	w, d := nginx(t)
	running := clitest.Start(t, w.Options(), "get", "placement", "nginx", "-w")
	running.WaitForOutput(t, beforeScheduling)
	w.WaitForWatches(t, "deployments")
	deployments := w.Clients.Kubernetes.AppsV1().Deployments(clitest.Namespace)
	if err := deployments.Delete(t.Context(), "nginx", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	running.WaitForError(t, "workload \"nginx\" not found in namespace \"default\"\n")
	if _, err := deployments.Create(t.Context(), d.Object, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	running.WaitForOutput(t, beforeScheduling)
}

func TestPlacementWatchSaysThatItLostTheConnection(t *testing.T) {
	w, _ := nginx(t)
	options := w.Options()
	w.Clients.Kubernetes.PrependWatchReactor("pods", func(clienttesting.Action) (bool, watch.Interface, error) {
		return true, nil, errors.New("no route to host")
	})
	running := clitest.Start(t, options, "get", "placement", "-w")
	running.WaitForOutput(t, beforeScheduling)
	running.WaitForError(t, "warning: watching pods: no route to host; trying again\n")
}

func TestPlacementWatchEndsWithoutTheRightToWatch(t *testing.T) {
	w, _ := nginx(t)
	options := w.Options()
	forbidden := apierrors.NewForbidden(corev1.Resource("pods"), "", errors.New(`User "eve" cannot watch`))
	lists := 0
	w.Clients.Kubernetes.PrependReactor("list", "pods", func(clienttesting.Action) (bool, runtime.Object, error) {
		// The first list is the command's own; the second one belongs to the watch.
		lists++
		return lists > 1, nil, forbidden
	})
	running := clitest.Start(t, options, "get", "placement", "-w")
	running.WaitForOutput(t, beforeScheduling)
	if result := running.Wait(t); result.Code != 1 || !strings.Contains(result.Err, "error: watching pods: not allowed") {
		t.Errorf("exit status %d, standard error %q", result.Code, result.Err)
	}
}
