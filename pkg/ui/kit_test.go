// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package ui_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/html"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"
	clienttesting "k8s.io/client-go/testing"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	berthfake "berth.dev/berth/pkg/generated/clientset/versioned/fake"
	"berth.dev/berth/pkg/model/stamp"
	"berth.dev/berth/pkg/placement/pool"
	"berth.dev/berth/pkg/ui"
)

const namespace = "shop"

// patience is how long a test waits for what must come.
const patience = 60 * time.Second

// world is an API server in memory with pages before it.
type world struct {
	t           *testing.T
	kube, berth []runtime.Object
	uids        int

	kubeClient  *fake.Clientset
	berthClient *berthfake.Clientset
	server      *httptest.Server
	// config is how owners of operators' kinds are looked up.
	config *rest.Config
}

func newWorld(t *testing.T) *world {
	t.Helper()
	return &world{t: t}
}

func (w *world) meta(name string) metav1.ObjectMeta {
	w.uids++
	return metav1.ObjectMeta{
		Namespace: namespace, Name: name, UID: types.UID(fmt.Sprintf("uid-%d", w.uids)),
		CreationTimestamp: metav1.NewTime(time.Unix(int64(w.uids), 0)),
	}
}

// cluster adds a Cluster with ready nodes, NAME-0 and so on.
func (w *world) cluster(name string, nodes int) *berthv1alpha1.Cluster {
	c := &berthv1alpha1.Cluster{ObjectMeta: w.meta(name)}
	c.Namespace = ""
	for i := range nodes {
		node := &corev1.Node{ObjectMeta: w.meta(fmt.Sprintf("%s-%d", name, i))}
		node.Namespace = ""
		node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
		c.Spec.Nodes = append(c.Spec.Nodes, node.Name)
		w.kube = append(w.kube, node)
	}
	w.berth = append(w.berth, c)
	return c
}

// deployment adds a Deployment that a policy shares out by weights, and returns what makes its
// pods.
func (w *world) deployment(name string, replicas int32, weights map[string]int64) func(pod string) *corev1.Pod {
	d := &appsv1.Deployment{ObjectMeta: w.meta(name)}
	d.Spec.Replicas, d.Spec.Template.Spec.SchedulerName = &replicas, "berth-scheduler"
	d.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}}
	rs := &appsv1.ReplicaSet{ObjectMeta: w.meta(name + "-1")}
	rs.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(d, appsv1.SchemeGroupVersion.WithKind("Deployment"))}
	rs.Annotations = map[string]string{"deployment.kubernetes.io/revision": "1"}
	rs.Spec.Replicas, rs.Spec.Template, rs.Spec.Selector = &replicas, d.Spec.Template, d.Spec.Selector
	policy := &berthv1alpha1.PropagationPolicy{ObjectMeta: w.meta(name)}
	policy.Spec.ResourceSelectors = []berthv1alpha1.ResourceSelector{{APIVersion: "apps/v1", Kind: "Deployment", Name: name}}
	for cluster, weight := range weights {
		policy.Spec.Placement.StaticWeightList = append(policy.Spec.Placement.StaticWeightList,
			berthv1alpha1.StaticClusterWeight{ClusterNames: []string{cluster}, Weight: weight})
	}
	w.kube, w.berth = append(w.kube, d, rs), append(w.berth, policy)
	return func(pod string) *corev1.Pod {
		p := w.pod(pod)
		p.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(rs, appsv1.SchemeGroupVersion.WithKind("ReplicaSet"))}
		return p
	}
}

// pod adds a pod without a node.
func (w *world) pod(name string) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: w.meta(name)}
	p.Spec.SchedulerName, p.Status.Phase = "berth-scheduler", corev1.PodPending
	w.kube = append(w.kube, p)
	return p
}

// place binds a pod as Berth does.
func place(pod *corev1.Pod, node, policy, cluster string, seat int32) {
	pod.Annotations = stamp.Stamp{Policy: policy, Cluster: cluster, Seat: seat}.Annotations(pod, node)
	pod.Spec.NodeName, pod.Status.Phase = node, corev1.PodRunning
}

// says makes the scheduler say why a pod has no node.
func says(pod *corev1.Pod, message string) {
	pod.Status.Conditions = []corev1.PodCondition{{
		Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable, Message: message,
	}}
}

// licences adds a ClusterResource with one pool of ten, four of which a pod holds.
func (w *world) licences(name string) *corev1.Pod {
	r := &berthv1alpha1.ClusterResource{ObjectMeta: w.meta(name)}
	r.Namespace = ""
	ten := berthv1alpha1.ClusterResourceQuantity{Name: "floating", Quantity: resource.MustParse("10")}
	r.Status.Capacity = []berthv1alpha1.ClusterResourceQuantity{ten}
	r.Status.Allocatable = r.Status.Capacity
	r.Status.Allocated = []berthv1alpha1.PoolAllocation{{
		Name: "floating", Quantity: resource.MustParse("4"), Free: resource.MustParse("6"), Holders: 1,
	}}
	w.berth = append(w.berth, r)
	holder := w.pod(name + "-holder")
	holder.Spec.NodeName, holder.Status.Phase = "beijing-0", corev1.PodRunning
	holder.Annotations = stamp.ChargeAnnotations(holder, holder.Spec.NodeName,
		[]pool.Charge{{Resource: name, Pool: "floating", Quantity: resource.MustParse("4")}})
	return holder
}

// prepare makes the clients.
func (w *world) prepare() {
	if w.kubeClient == nil {
		w.kubeClient, w.berthClient = fake.NewClientset(w.kube...), berthfake.NewSimpleClientset(w.berth...)
	}
}

// refuse makes the API server refuse to let anybody read a kind from now on.
func (w *world) refuse(resource string) *atomic.Bool {
	w.prepare()
	var refused atomic.Bool
	refused.Store(true)
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: resource}, "", errors.New("no"))
	for _, client := range []*clienttesting.Fake{&w.kubeClient.Fake, &w.berthClient.Fake} {
		client.PrependReactor("list", resource, func(clienttesting.Action) (bool, runtime.Object, error) {
			return refused.Load(), nil, forbidden
		})
		client.PrependWatchReactor(resource, func(clienttesting.Action) (bool, watch.Interface, error) {
			return refused.Load(), nil, forbidden
		})
	}
	return &refused
}

// start serves the pages.
func (w *world) start() {
	w.t.Helper()
	w.prepare()
	source, err := ui.NewSource(w.t.Context(), w.clients(), "", nil)
	if err != nil {
		w.t.Fatal(err)
	}
	w.serve(source)
}

func (w *world) clients() ui.Clients {
	return ui.Clients{Kubernetes: w.kubeClient, Berth: w.berthClient, Config: w.config}
}

// serve serves the pages of a Source.
func (w *world) serve(source *ui.Source) {
	done := make(chan struct{})
	w.server = httptest.NewServer(&ui.Handler{Done: done, Find: func(http.ResponseWriter, *http.Request) *ui.Viewer {
		return &ui.Viewer{Source: source}
	}})
	w.t.Cleanup(func() {
		close(done)
		w.server.Close()
	})
}

// answer is an HTTP response but for its body.
type answer struct {
	StatusCode int
	Header     http.Header
}

// get returns an answer and its body.
func (w *world) get(path string) (answer, string) {
	w.t.Helper()
	if w.server == nil {
		w.start()
	}
	request, err := http.NewRequestWithContext(w.t.Context(), http.MethodGet, w.server.URL+path, http.NoBody)
	if err != nil {
		w.t.Fatal(err)
	}
	response, err := w.server.Client().Do(request)
	if err != nil {
		w.t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return answer{response.StatusCode, response.Header}, string(body)
}

// table returns the texts of the cells of a table, row by row.
func (w *world) table(path, id string) [][]string {
	w.t.Helper()
	response, body := w.get(path)
	if response.StatusCode != http.StatusOK {
		w.t.Fatalf("GET %s: status %d: %.500s", path, response.StatusCode, body)
	}
	var rows [][]string
	for _, tr := range findAll(findID(w.t, body, id), "tr") {
		var cells []string
		for _, td := range findAll(tr, "td") {
			cells = append(cells, textOf(td))
		}
		if cells != nil {
			rows = append(rows, cells)
		}
	}
	return rows
}

// eventually waits until a condition holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for !holds() {
		select {
		case <-ctx.Done():
			t.Fatalf("never: %s", what)
		case <-ticker.C:
		}
	}
}

func parse(t *testing.T, body string) *html.Node {
	t.Helper()
	root, err := html.Parse(strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	return root
}

func findID(t *testing.T, body, id string) *html.Node {
	t.Helper()
	for n := range parse(t, body).Descendants() {
		if attribute(n, "id") == id {
			return n
		}
	}
	t.Fatalf("no element %q in %.3000s", id, body)
	return nil
}

func findAll(root *html.Node, tag string) []*html.Node {
	var found []*html.Node
	for n := range root.Descendants() {
		if n.Type == html.ElementNode && n.Data == tag {
			found = append(found, n)
		}
	}
	return found
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

func textOf(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data)
		}
	}
	return strings.TrimSpace(b.String())
}
