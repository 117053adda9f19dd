// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	clienttesting "k8s.io/client-go/testing"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/gateway"
	"berth.dev/berth/pkg/model/stamp"
)

// conditional lets the API server carry out deletions as their preconditions say.
func (w *world) conditional() {
	w.objects.PrependReactor("delete", "clusters", func(action clienttesting.Action) (bool, runtime.Object, error) {
		deletion, ok := action.(clienttesting.DeleteActionImpl)
		if !ok {
			return false, nil, nil
		}
		object, err := w.objects.Tracker().Get(action.GetResource(), "", deletion.Name)
		if err != nil {
			return true, nil, err
		}
		now, ok := object.(*berthv1alpha1.Cluster)
		p := deletion.DeleteOptions.Preconditions
		if ok && (p.UID != nil && *p.UID != now.UID || p.ResourceVersion != nil && *p.ResourceVersion != now.ResourceVersion) {
			return true, nil, apierrors.NewConflict(clusterResource, deletion.Name, nil)
		}
		return false, nil, nil
	})
}

// runsPod lets a pod that Berth placed in cluster c run on a node.
func (w *world) runsPod(node string) {
	p := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web", UID: "pod-1"}}
	p.Annotations = stamp.Stamp{Policy: "p", Cluster: "c", Seat: 0}.Annotations(&p, node)
	p.Spec.NodeName = node
	w.pods.PrependReactor("list", "pods", func(action clienttesting.Action) (bool, runtime.Object, error) {
		list, ok := action.(clienttesting.ListAction)
		if asked, _ := list.GetListRestrictions().Fields.RequiresExactMatch("spec.nodeName"); !ok || asked != node {
			return true, &corev1.PodList{}, nil
		}
		return true, &corev1.PodList{Items: []corev1.Pod{p}}, nil
	})
}

// verbs returns what was asked of the API server about clusters and pods.
func (w *world) verbs() string {
	var verbs []string
	for _, action := range slices.Concat(w.objects.Actions(), w.pods.Actions()) {
		verbs = append(verbs, action.GetVerb())
	}
	return strings.Join(verbs, " ")
}

// TestUnregisterWhatIsKnown counts requests: whatever was told of a cluster, an answer is about
// what there is, and nothing is asked for while that is the same.
func TestUnregisterWhatIsKnown(t *testing.T) {
	now := &berthv1alpha1.Cluster{
		ObjectMeta: metav1.ObjectMeta{Name: "c", UID: uid(9), ResourceVersion: "5"}, Spec: berthv1alpha1.ClusterSpec{Nodes: []string{"n1"}},
	}
	busy := now.DeepCopy()
	busy.Spec.Nodes = []string{"busy"}
	but := func(of *berthv1alpha1.Cluster, change func(*berthv1alpha1.Cluster)) *berthv1alpha1.Cluster {
		changed := of.DeepCopy()
		change(changed)
		return changed
	}
	older := func(c *berthv1alpha1.Cluster) { c.ResourceVersion = "4" }
	tests := map[string]struct {
		now, known *berthv1alpha1.Cluster
		path       string
		headers    []string
		caller     string
		want       int
		wantVerbs  string
	}{
		"nothing is known":           {now: now, want: 200, wantVerbs: "get delete list"},
		"it is as it was told":       {now: now, known: now, want: 200, wantVerbs: "delete list"},
		"by name":                    {now: now, known: now, path: "/name/c", want: 200, wantVerbs: "delete list"},
		"with force":                 {now: now, known: now, path: "/c?force=true", want: 200, wantVerbs: "delete"},
		"with another force":         {now: now, known: now, path: "/c?force=yes", want: 400, wantVerbs: "get"},
		"by an id that is not known": {now: now, known: now, path: "/id/" + string(uid(9)), want: 200, wantVerbs: "list get delete list"},
		"it has changed":             {now: now, known: but(now, older), want: 200, wantVerbs: "delete get delete list list"},
		"it is another one by now": {
			now: now, known: but(now, func(c *berthv1alpha1.Cluster) { c.UID = uid(8) }), want: 200, wantVerbs: "delete get delete list list",
		},
		"it has gone": {known: now, want: 404, wantVerbs: "delete get list"},
		"pods run where it had nodes": {
			now: now, known: but(busy, older), want: 200, wantVerbs: "get delete list list",
		},
		"pods run where it has nodes by now": {
			now: busy, known: but(now, older), want: 409, wantVerbs: "delete get list list",
		},
		"pods run there":                  {now: busy, known: busy, want: 409, wantVerbs: "get list list"},
		"the caller names a version":      {now: now, known: now, headers: []string{"If-Match", `"5"`}, want: 200, wantVerbs: "get delete list"},
		"the caller names another":        {now: now, known: now, headers: []string{"If-Match", `"4"`}, want: 412, wantVerbs: "get"},
		"the caller excludes a version":   {now: now, known: now, headers: []string{"If-None-Match", `"5"`}, want: 412, wantVerbs: "get"},
		"the caller may not":              {now: now, known: now, caller: "get", want: 403},
		"the caller may do it to another": {now: now, known: now, caller: "delete@d", want: 403},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var objects []runtime.Object
			if tc.now != nil {
				objects = append(objects, tc.now.DeepCopy())
			}
			w := newWorld(t, objects...)
			w.conditional()
			w.runsPod("busy")
			w.known = func(name string) *berthv1alpha1.Cluster {
				if tc.known != nil && tc.known.Name == name {
					return tc.known
				}
				return nil
			}
			path, caller := "/c", admin
			if tc.path != "" {
				path = tc.path
			}
			if tc.caller != "" {
				caller = tc.caller
			}
			got := w.send(http.MethodDelete, clusters+path, "", append(tc.headers, "Authorization", "Bearer "+caller)...)
			if got.status != tc.want {
				t.Errorf("status %d, want %d: %s", got.status, tc.want, got.body)
			}
			if diff := cmp.Diff(tc.wantVerbs, w.verbs()); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
		})
	}
}

// A cluster that is registered is known by its id from then on.
func TestUnregisterWhatIsKnownByItsID(t *testing.T) {
	w := newWorld(t)
	w.conditional()
	var known *berthv1alpha1.Cluster
	w.known = func(string) *berthv1alpha1.Cluster { return known }
	id := w.register(named("c"))
	object, err := w.objects.Tracker().Get(berthv1alpha1.SchemeGroupVersion.WithResource("clusters"), "", "c")
	if err != nil {
		t.Fatal(err)
	}
	known, _ = object.(*berthv1alpha1.Cluster)
	w.objects.ClearActions()
	if got := w.send(http.MethodDelete, clusters+"/id/"+strings.ToUpper(id), ""); got.status != http.StatusOK {
		t.Errorf("status %d: %s", got.status, got.body)
	}
	if got := w.verbs(); got != "delete" {
		t.Errorf("requests %s, want delete alone", got)
	}
}

func TestFollow(t *testing.T) {
	w := newWorld(t, &berthv1alpha1.Cluster{
		ObjectMeta: metav1.ObjectMeta{Name: "c", UID: uid(9), ResourceVersion: "1", Labels: map[string]string{"site": "a"}},
		Spec:       berthv1alpha1.ClusterSpec{Nodes: []string{"n1"}, MatchLabels: map[string]string{"site": "a"}},
		Status:     berthv1alpha1.ClusterStatus{ContainedNodes: []string{"n1", "n2"}, NodeCount: 2},
	})
	known, err := gateway.Follow(t.Context(), w.objects)
	if err != nil {
		t.Fatal(err)
	}
	var got *berthv1alpha1.Cluster
	err = wait.PollUntilContextTimeout(t.Context(), time.Millisecond, 30*time.Second, true, func(context.Context) (bool, error) {
		got = known("c")
		return got != nil, nil
	})
	if err != nil {
		t.Fatal("it does not learn of a cluster")
	}
	want := &berthv1alpha1.Cluster{
		ObjectMeta: metav1.ObjectMeta{Name: "c", UID: uid(9), ResourceVersion: "1"},
		Spec:       berthv1alpha1.ClusterSpec{Nodes: []string{"n1"}},
		Status:     berthv1alpha1.ClusterStatus{ContainedNodes: []string{"n1", "n2"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("what is kept (-want +got):\n%s", diff)
	}
	if known("d") != nil {
		t.Error("it knows a cluster that there is not")
	}
}
