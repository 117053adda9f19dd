// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package sharding_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/utils/ptr"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/localplane"
	"berth.dev/berth/pkg/placement/binding"
	"berth.dev/berth/test/integration/internal/schedulerproc"
)

const placeLabel = "example.com/place"

// createClusters makes clusters c0, c1, … of ten nodes each.
func createClusters(ctx context.Context, from, to int) {
	GinkgoHelper()
	for i := from; i < to; i++ {
		name := fmt.Sprint("c", i)
		labels := map[string]string{placeLabel: name}
		Expect(localplane.CreateNodes(ctx, client, name, 10, labels, nil)).To(Succeed())
		cluster := &berthv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: name}}
		cluster.Spec.MatchLabels = labels
		cluster.Spec.Region = &berthv1alpha1.Region{Region: fmt.Sprint("region-", i%4)}
		cluster.Spec.CPUCapacity = 10
		_, err := berth.BerthV1alpha1().Clusters().Create(ctx, cluster, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
	}
}

// homes returns the clusters by home; false as long as one is on its way or has none.
func homes(ctx context.Context) (byHome map[string][]string, settled bool) {
	list, err := berth.BerthV1alpha1().Clusters().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, false
	}
	byHome, settled = map[string][]string{}, true
	for _, c := range list.Items {
		byHome[c.Status.HomeScheduler] = append(byHome[c.Status.HomeScheduler], c.Name)
		settled = settled && c.Status.HomeScheduler != "" && c.Status.HomeTransfer == nil &&
			apimeta.IsStatusConditionTrue(c.Status.Conditions, berthv1alpha1.ClusterBound)
	}
	return byHome, settled
}

// settle waits until all clusters are bound as bounded rendezvous hashing shares them out among the
// given schedulers, none of which has more than 1.10 times its share, and returns them by home.
// Between two groups that drain, bindings rest too, but not so.
func settle(ctx context.Context, schedulers ...string) (byHome map[string][]string) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		var settled bool
		byHome, settled = homes(ctx)
		g.Expect(settled).To(BeTrue())
		now := homeByCluster(byHome)
		g.Expect(now).To(Equal(wantHomes(slices.Sorted(maps.Keys(now)), schedulers)))
		for name, clusters := range byHome {
			g.Expect(len(clusters)).To(BeNumerically("<=", (11*len(now)+10*len(schedulers)-1)/(10*len(schedulers))), name)
		}
	}, longTimeout, poll).Should(Succeed())
	return byHome
}

// wantHomes returns the scheduler of each cluster when nothing is under way.
func wantHomes(clusters, schedulers []string) map[string]string {
	GinkgoHelper()
	ready := binding.Schedulers{}
	for _, name := range schedulers {
		ready[name] = &binding.Scheduler{Name: name, Weight: 1, Registered: true, Alive: true}
	}
	inputs := make([]binding.BoundCluster, len(clusters))
	for i, name := range clusters {
		inputs[i].Name = name
	}
	desired, err := binding.Desired(inputs, ready)
	Expect(err).NotTo(HaveOccurred())
	want := map[string]string{}
	for i, name := range clusters {
		want[name] = desired[i]
	}
	return want
}

// homeByCluster turns the answer of homes around.
func homeByCluster(byHome map[string][]string) map[string]string {
	of := map[string]string{}
	for h, clusters := range byHome {
		for _, c := range clusters {
			of[c] = h
		}
	}
	return of
}

// deploy makes Deployments PREFIX0, PREFIX1, …, from the first number to before the last.
func deploy(ctx context.Context, namespace, prefix string, from, to int, replicas int32) {
	GinkgoHelper()
	for i := from; i < to; i++ {
		create(ctx, namespace, prefix, fmt.Sprint(prefix, i), replicas, func(*corev1.PodTemplateSpec) {})
	}
}

// deployTo makes a Deployment for nodes that carry the label of a place.
func deployTo(ctx context.Context, namespace, place string, replicas int32) {
	GinkgoHelper()
	create(ctx, namespace, "pinned", "to-"+place, replicas, func(template *corev1.PodTemplateSpec) {
		template.Spec.NodeSelector = map[string]string{placeLabel: place}
	})
}

// deployLicensed makes a Deployment whose pods need a licence each.
func deployLicensed(ctx context.Context, namespace, name string, replicas int32) {
	GinkgoHelper()
	create(ctx, namespace, "licensed", name, replicas, func(template *corev1.PodTemplateSpec) {
		template.Annotations = map[string]string{berthv1alpha1.ClusterResourceAnnotationPrefix + "licences": "1"}
	})
}

// keeperOfCommons returns the scheduler that looks after what belongs to no cluster.
func keeperOfCommons(ctx context.Context) string {
	list, err := berth.BerthV1alpha1().Schedulers().List(ctx, metav1.ListOptions{})
	if err != nil {
		return ""
	}
	for i := range list.Items {
		if list.Items[i].Status.Commons != nil {
			return list.Items[i].Name
		}
	}
	return ""
}

func create(ctx context.Context, namespace, kind, name string, replicas int32, change func(*corev1.PodTemplateSpec)) {
	GinkgoHelper()
	labels := map[string]string{"app": name}
	deployment := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"kind": kind}},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{
					SchedulerName: schedulerproc.Name, AutomountServiceAccountToken: ptr.To(false),
					Containers: []corev1.Container{{Name: "main", Image: "nginx:1.27"}},
				},
			},
		},
	}
	change(&deployment.Spec.Template)
	_, err := client.AppsV1().Deployments(namespace).Create(ctx, deployment, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
}

// spread makes a policy that gives weights 1, 2 and 3 in turn to all clusters, for the Deployments
// of the kind.
func spread(ctx context.Context, namespace, kind string, clusters int) {
	GinkgoHelper()
	policy := &berthv1alpha1.PropagationPolicy{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: kind},
		Spec: berthv1alpha1.PropagationPolicySpec{
			ResourceSelectors: []berthv1alpha1.ResourceSelector{{
				APIVersion: "apps/v1", Kind: "Deployment",
				LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"kind": kind}},
			}},
			Rebalance: berthv1alpha1.Rebalance{Cooldown: &metav1.Duration{}, MinPodAge: &metav1.Duration{}},
		},
	}
	for i := range clusters {
		policy.Spec.Placement.StaticWeightList = append(policy.Spec.Placement.StaticWeightList,
			berthv1alpha1.StaticClusterWeight{ClusterNames: []string{fmt.Sprint("c", i)}, Weight: int64(1 + i%3)})
	}
	_, err := berth.BerthV1alpha1().PropagationPolicies(namespace).Create(ctx, policy, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
}

// bound returns what counts the pods of a namespace that are bound. An API server that is busy with
// thousands of them may fail to list them once, so the error is the caller's to wait out.
func bound(ctx context.Context, namespace string) func() (int, error) {
	return func() (int, error) {
		_, n, err := shares(ctx, namespace)
		return n, err
	}
}

// shares returns how many pods of each Deployment are bound in each cluster, and how many in all.
func shares(ctx context.Context, namespace string) (byApp map[string]map[string]int, bound int, err error) {
	pods, err := client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, 0, err
	}
	byApp = map[string]map[string]int{}
	for i := range pods.Items {
		pod := &pods.Items[i]
		if pod.Spec.NodeName == "" {
			continue
		}
		app := pod.Labels["app"]
		if byApp[app] == nil {
			byApp[app] = map[string]int{}
		}
		byApp[app][pod.Spec.NodeName[:strings.LastIndexByte(pod.Spec.NodeName, '-')]]++
		bound++
	}
	return byApp, bound, nil
}

// witness watches the pods of a namespace and notes each that is bound a second time, deleted, or
// given a place that another scheduler looks after.
type witness struct {
	mu      sync.Mutex
	nodes   map[string]string
	trouble []string
	stop    func()
}

func watchPods(ctx context.Context, namespace string) *witness {
	GinkgoHelper()
	w := &witness{nodes: map[string]string{}}
	stream, err := client.CoreV1().Pods(namespace).Watch(ctx, metav1.ListOptions{})
	Expect(err).NotTo(HaveOccurred())
	w.stop = stream.Stop
	go func() {
		for e := range stream.ResultChan() {
			w.see(e)
		}
	}()
	return w
}

func (w *witness) see(e watch.Event) {
	pod, ok := e.Object.(*corev1.Pod)
	if !ok {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	key := string(pod.UID)
	if e.Type == watch.Deleted {
		w.trouble = append(w.trouble, pod.Name+" was deleted")
	}
	if before := w.nodes[key]; before != "" && before != pod.Spec.NodeName {
		w.trouble = append(w.trouble, fmt.Sprintf("%s moved from %s to %q", pod.Name, before, pod.Spec.NodeName))
	}
	w.nodes[key] = pod.Spec.NodeName
}

func (w *witness) seen() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.trouble)
}
