// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package ui_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/watch"
	clienttesting "k8s.io/client-go/testing"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/workload"
)

// TestWhatIsSeenEndsWithTheRightToSeeIt withdraws a right while somebody looks, and gives it back.
func TestWhatIsSeenEndsWithTheRightToSeeIt(t *testing.T) {
	w := newWorld(t)
	w.cluster("beijing", 1)
	w.prepare()
	open := make(chan *watch.FakeWatcher, 1)
	w.berthClient.PrependWatchReactor("clusters", func(clienttesting.Action) (bool, watch.Interface, error) {
		watcher := watch.NewFake()
		select {
		case open <- watcher:
		default:
		}
		return true, watcher, nil
	})
	if _, body := w.get("/ui/sites"); !strings.Contains(body, "beijing") {
		t.Fatalf("before: %s", body)
	}
	refused := w.refuse("clusters")
	(<-open).Stop()
	eventually(t, "the page shows the Cluster no more", func() bool {
		_, body := w.get("/ui/sites")
		return !strings.Contains(body, "beijing") && strings.Contains(body, "Without clusters (you have no right to list and watch)") &&
			strings.Contains(body, "What belongs here is not known.")
	})
	refused.Store(false)
	eventually(t, "the page shows the Cluster again", func() bool {
		_, body := w.get("/ui/sites")
		return strings.Contains(body, "beijing") && !strings.Contains(body, "Without")
	})
}

// restricted is a world with a pod that waits for licences, one that Berth placed and one that
// something else has bound.
func restricted(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.cluster("beijing", 1)
	w.cluster("hangzhou", 1)
	w.licences("matlab")
	pod := w.deployment("nginx", 4, map[string]int64{"beijing": 1, "hangzhou": 1})
	waits := pod("a")
	says(waits, "0/2 nodes are available: 2 Insufficient cpu.")
	waits.Spec.Containers = []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
		berthv1alpha1.ClusterResourceDomain + "/matlab": resource.MustParse("1"),
	}}}}
	place(pod("b"), "beijing-0", "nginx", "beijing", 0)
	foreign := pod("c")
	foreign.Spec.NodeName, foreign.Status.Phase = "hangzhou-0", corev1.PodRunning
	return w
}

const (
	podPage, foreignPage = "/ui/namespaces/shop/pods/a", "/ui/namespaces/shop/pods/c"
	workloadPage         = "/ui/namespaces/shop/workloads/deployment/nginx"
)

// TestWithoutNodesNothingIsSaidOfThem is what the stock role view comes to.
func TestWithoutNodesNothingIsSaidOfThem(t *testing.T) {
	w := restricted(t)
	w.refuse("nodes")
	for _, path := range []string{"/ui/sites", "/ui/clusters/beijing", podPage, foreignPage, workloadPage, "/ui/resources/matlab"} {
		_, body := w.get(path)
		for _, wrong := range []string{
			"no node there", "has no nodes", "selects a node", "selects no node", "nodes in no site", "It has no nodes", "in no cluster",
		} {
			if strings.Contains(body, wrong) {
				t.Errorf("GET %s: %q in %s", path, wrong, body)
			}
		}
		if !strings.Contains(body, "Without nodes") {
			t.Errorf("GET %s: nothing is said of nodes", path)
		}
	}
	if _, body := w.get(podPage); !strings.Contains(body, "the scheduler says (Unschedulable)") {
		t.Errorf("what the scheduler says is missing from %s", body)
	}
	want := [][]string{{"beijing", "-", "-", "-", "-"}, {"hangzhou", "-", "-", "-", "-"}}
	if diff := cmp.Diff(want, w.table(workloadPage, "clusters")); diff != "" {
		t.Errorf("the page of a workload (-want +got):\n%s", diff)
	}
}

// TestMarksTellWherePodsRun leaves no pod without Berth's mark, so that nodes are not needed.
func TestMarksTellWherePodsRun(t *testing.T) {
	w := newWorld(t)
	w.cluster("beijing", 1)
	place(w.deployment("nginx", 2, map[string]int64{"beijing": 1})("a"), "beijing-0", "nginx", "beijing", 0)
	w.refuse("nodes")
	if diff := cmp.Diff([][]string{{"beijing", "2", "1", "1", "50%"}}, w.table(workloadPage, "clusters")); diff != "" {
		t.Errorf("the page of a workload (-want +got):\n%s", diff)
	}
}

// TestWithoutClustersNoneIsSaidToBeMissing is what the stock role view in one namespace comes to.
func TestWithoutClustersNoneIsSaidToBeMissing(t *testing.T) {
	w := restricted(t)
	for _, kind := range []string{"nodes", "clusters", "clusterresources"} {
		w.refuse(kind)
	}
	for _, path := range []string{"/ui/sites", podPage, foreignPage, workloadPage, "/ui/pools"} {
		_, body := w.get(path)
		for _, wrong := range []string{"does not exist", "There are no", "there is no", "no such", "nodes in no site"} {
			if strings.Contains(body, wrong) {
				t.Errorf("GET %s: %q in %s", path, wrong, body)
			}
		}
		if !strings.Contains(body, "Without cluster") {
			t.Errorf("GET %s: nothing is said of clusters", path)
		}
	}
	if rows := w.table("/ui/sites", "sites"); len(rows) > 0 {
		t.Errorf("sites %q", rows)
	}
}

// TestAllKindsThatControlPodsAreWatched notices a kind of the table that the pages do not read.
func TestAllKindsThatControlPodsAreWatched(t *testing.T) {
	w := newWorld(t)
	_, body := w.get("/ui/sites")
	if strings.Contains(body, "is not installed") {
		t.Errorf("a kind is not read: %s", body)
	}
	var listed []string
	for _, action := range w.kubeClient.Actions() {
		if action.GetVerb() == "list" {
			listed = append(listed, action.GetResource().Resource)
		}
	}
	for _, kind := range workload.Kinds() {
		if !slices.Contains(listed, kind.Resource) {
			t.Errorf("%s are not listed", kind.Resource)
		}
	}
}
