// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package scheduler_test

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/localplane"
	"berth.dev/berth/test/integration/internal/installation"
	"berth.dev/berth/test/integration/internal/schedulerproc"
)

// placeLabel on a node names its cluster.
const placeLabel = "example.com/place"

// site is what a spec has to itself: a namespace, and clusters with nodes that no other spec uses.
// Clusters are named by short names that are unique within the site.
type site struct {
	namespace, suffix string
}

// newSite makes a namespace that pods can be created in, and removes it when the spec is over.
func newSite(ctx context.Context) *site {
	GinkgoHelper()
	ns := installation.CreateNamespace(ctx, client, "site-")
	DeferCleanup(func(ctx SpecContext) {
		Expect(client.CoreV1().Namespaces().Delete(ctx, ns, metav1.DeleteOptions{})).To(Succeed())
	})
	return &site{namespace: ns, suffix: strings.TrimPrefix(ns, "site-")}
}

// newSiteWith makes a site with clusters of three nodes each.
func newSiteWith(ctx context.Context, clusters ...string) *site {
	GinkgoHelper()
	s := newSite(ctx)
	for _, name := range clusters {
		s.createNodes(ctx, name, 3)
		s.createCluster(ctx, name)
	}
	return s
}

// full returns the name of a cluster in the API.
func (s *site) full(cluster string) string { return cluster + "-" + s.suffix }

// node returns the name of the i-th node of a cluster.
func (s *site) node(cluster string, i int) string { return s.full(cluster) + "-" + strconv.Itoa(i) }

// label returns the labels that nodes of a cluster carry.
func (s *site) label(cluster string) map[string]string {
	return map[string]string{placeLabel: s.full(cluster)}
}

func (s *site) createCluster(ctx context.Context, name string) {
	GinkgoHelper()
	s.createClusterOf(ctx, name, berthv1alpha1.ClusterSpec{MatchLabels: s.label(name)})
}

func (s *site) createClusterOf(ctx context.Context, name string, spec berthv1alpha1.ClusterSpec) {
	GinkgoHelper()
	_, err := berth.BerthV1alpha1().Clusters().Create(ctx,
		&berthv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: s.full(name)}, Spec: spec}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
}

// createNodes makes nodes that carry the label of a cluster, whether or not that exists.
func (s *site) createNodes(ctx context.Context, cluster string, count int) {
	GinkgoHelper()
	Expect(localplane.CreateNodes(ctx, client, s.full(cluster), count, s.label(cluster), nil)).To(Succeed())
}

// weight is an entry of a staticWeightList.
type weight struct {
	cluster string
	weight  int64
	// max is the number of replicas at most; 0 means no limit.
	max int32
}

// policy returns a policy for all workloads of a kind, one that moves misplaced pods without delay:
// "no pod was evicted" then says that none was misplaced.
func (s *site) policy(name, kind string, weights ...weight) *berthv1alpha1.PropagationPolicy {
	apiVersion := map[string]string{
		"Deployment": "apps/v1", "StatefulSet": "apps/v1", "ReplicaSet": "apps/v1", "Job": "batch/v1", "CronJob": "batch/v1",
		"ReplicationController": "v1", "Pod": "v1", "Lease": "coordination.k8s.io/v1",
	}[kind]
	policy := &berthv1alpha1.PropagationPolicy{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: name},
		Spec: berthv1alpha1.PropagationPolicySpec{
			ResourceSelectors: []berthv1alpha1.ResourceSelector{{APIVersion: apiVersion, Kind: kind}},
			Rebalance:         berthv1alpha1.Rebalance{Cooldown: &metav1.Duration{}, MinPodAge: &metav1.Duration{}},
		},
	}
	for _, w := range weights {
		entry := berthv1alpha1.StaticClusterWeight{ClusterNames: []string{s.full(w.cluster)}, Weight: w.weight}
		if w.max > 0 {
			entry.Max = &w.max
		}
		policy.Spec.Placement.StaticWeightList = append(policy.Spec.Placement.StaticWeightList, entry)
	}
	return policy
}

func (s *site) createPolicy(ctx context.Context, policy *berthv1alpha1.PropagationPolicy) {
	GinkgoHelper()
	_, err := berth.BerthV1alpha1().PropagationPolicies(s.namespace).Create(ctx, policy, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	select {
	case <-main.Done():
	default:
		main.UntilKnows(ctx, berth)
	}
}

// twoToThree is the weights of most specs: with 5 replicas beijing has 2 and hangzhou 3.
func twoToThree() []weight {
	return []weight{{cluster: "beijing", weight: 2}, {cluster: "hangzhou", weight: 3}}
}

// template returns a pod that berth-scheduler is to place.
func template(app string) corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": app}},
		Spec: corev1.PodSpec{
			SchedulerName:                schedulerproc.Name,
			AutomountServiceAccountToken: ptr.To(false),
			Containers:                   []corev1.Container{{Name: "main", Image: "nginx:1.27"}},
		},
	}
}

// pods returns the pods of an app that are not being deleted, of all apps if it is empty.
func (s *site) pods(ctx context.Context, app string) []corev1.Pod {
	GinkgoHelper()
	options := metav1.ListOptions{}
	if app != "" {
		options.LabelSelector = "app=" + app
	}
	list, err := client.CoreV1().Pods(s.namespace).List(ctx, options)
	Expect(err).NotTo(HaveOccurred())
	return slices.DeleteFunc(list.Items, func(p corev1.Pod) bool { return p.DeletionTimestamp != nil })
}

// place returns the short name of the cluster whose label the pod's node carries: not what the
// stamp says. Pods that wait are in "", pods on nodes of other sites in "elsewhere".
func (s *site) place(pod *corev1.Pod) string {
	node := pod.Spec.NodeName
	if node == "" {
		return ""
	}
	cluster, found := strings.CutSuffix(node[:strings.LastIndexByte(node, '-')], "-"+s.suffix)
	if !found {
		return "elsewhere"
	}
	return cluster
}

// shares counts the running pods of an app by cluster, and those that do not run under "waiting".
func (s *site) shares(ctx context.Context, app string) map[string]int {
	GinkgoHelper()
	shares := map[string]int{}
	for _, pod := range s.pods(ctx, app) {
		if pod.Status.Phase != corev1.PodRunning {
			shares["waiting"]++
			continue
		}
		shares[s.place(&pod)]++
	}
	return shares
}

// expectShares waits until the running pods of an app are shared out exactly so, and none waits.
func (s *site) expectShares(ctx context.Context, app string, want map[string]int) {
	GinkgoHelper()
	Eventually(func() map[string]int { return s.shares(ctx, app) }, timeout, poll).Should(Equal(want))
}

// expectRunning waits until so many pods of an app run, wherever that is, and none waits.
func (s *site) expectRunning(ctx context.Context, app string, count int) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		pods := s.pods(ctx, app)
		g.Expect(pods).To(HaveLen(count))
		g.Expect(pods).To(HaveEach(HaveField("Status.Phase", corev1.PodRunning)))
	}, timeout, poll).Should(Succeed())
}

// seated is a bound pod: where it runs, and its seat, which has decimals between two others.
type seated struct {
	place string
	seat  float64
}

// seated returns the bound pods of an app in the order of their seats. It fails the spec if a stamp
// is not what the node, the pod and the seat make it.
func (s *site) seated(ctx context.Context, app, policy string) []seated {
	GinkgoHelper()
	var bound []seated
	for _, pod := range s.pods(ctx, app) {
		place := s.place(&pod)
		if place == "" {
			continue
		}
		seat, err := strconv.ParseFloat(pod.Annotations[berthv1alpha1.SeatAnnotation], 64)
		Expect(err).NotTo(HaveOccurred(), "the seat of pod %s on %s with %v", pod.Name, pod.Spec.NodeName, pod.Annotations)
		Expect(pod.Annotations).To(And(
			HaveKeyWithValue("berth.dev/placed-by", string(pod.UID)+"/"+pod.Spec.NodeName),
			HaveKeyWithValue("berth.dev/policy", policy),
			HaveKeyWithValue("groupingpolicy.kubeedge.io", policy),
			HaveKeyWithValue("berth.dev/cluster", s.full(place)),
			HaveKeyWithValue("controller.kubernetes.io/pod-deletion-cost", strconv.Itoa(-int(math.Round(1000*seat)))),
		))
		Expect(pod.Labels).To(HaveKeyWithValue("berth.dev/cluster", s.full(place)))
		bound = append(bound, seated{place, seat})
	}
	slices.SortFunc(bound, func(a, b seated) int { return cmp.Compare(a.seat, b.seat) })
	return bound
}

// seats returns the seats of the bound pods of an app by cluster, in order. It fails the spec if a
// pod stands between two.
func (s *site) seats(ctx context.Context, app, policy string) map[string][]int {
	GinkgoHelper()
	seats := map[string][]int{}
	for _, pod := range s.seated(ctx, app, policy) {
		Expect(pod.seat).To(Equal(math.Trunc(pod.seat)), "the seat of a pod in %s", pod.place)
		seats[pod.place] = append(seats[pod.place], int(pod.seat))
	}
	return seats
}

// expectOrder waits until the workload of an app, which has so many pods, lands on its shares
// whatever it shrinks to: that many pods, those with the lowest seats, are shared out as the
// weights want. No two have the same seat.
func (s *site) expectOrder(ctx context.Context, app, policy string, pods int, weights ...weight) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		bound, left := s.seated(ctx, app, policy), map[string]int{}
		g.Expect(bound).To(HaveLen(pods))
		for i, pod := range bound {
			if i > 0 {
				g.Expect(pod.seat).To(BeNumerically(">", bound[i-1].seat))
			}
			left[pod.place]++
			g.Expect(left).To(Equal(webster(i+1, weights...)), "with %d left", i+1)
		}
	}, timeout, poll).Should(Succeed())
}

// placements returns where each bound pod of an app runs, by its name.
func (s *site) placements(ctx context.Context, app string) map[string]string {
	GinkgoHelper()
	placements := map[string]string{}
	for _, pod := range s.pods(ctx, app) {
		placements[pod.Name] = pod.Spec.NodeName
	}
	return placements
}

// strategicMerge finds containers by their names.
const strategicMerge = types.StrategicMergePatchType

// deployment returns a Deployment whose pods berth-scheduler is to place.
func (s *site) deployment(name string, replicas int) *appsv1.Deployment {
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: name},
		Spec: appsv1.DeploymentSpec{
			Replicas: ptr.To(int32(replicas)),
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}},
			Template: template(name),
		},
	}
}

func (s *site) createDeployment(ctx context.Context, deployment *appsv1.Deployment) {
	GinkgoHelper()
	_, err := client.AppsV1().Deployments(s.namespace).Create(ctx, deployment, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
}

func (s *site) patchDeployment(ctx context.Context, name, patch string) {
	GinkgoHelper()
	_, err := client.AppsV1().Deployments(s.namespace).Patch(ctx, name, strategicMerge, []byte(patch), metav1.PatchOptions{})
	Expect(err).NotTo(HaveOccurred())
}

func (s *site) scale(ctx context.Context, name string, replicas int) {
	GinkgoHelper()
	s.patchDeployment(ctx, name, fmt.Sprintf(`{"spec":{"replicas":%d}}`, replicas))
}

// main is the scheduler that all specs use but those that stop it.
var main *schedulerproc.Scheduler

// replaceMain ends the main scheduler until the spec, which starts its own, is over.
func replaceMain() {
	GinkgoHelper()
	main.End()
	DeferCleanup(func(ctx SpecContext) {
		main = schedulerproc.Start(ctx, plane, schedulerproc.Options{Args: schedulerproc.Patient})
		Eventually(leader).WithContext(ctx).WithTimeout(timeout).WithPolling(poll).ShouldNot(BeEmpty())
	})
}

// leader returns who holds the lease, empty if nobody does.
func leader(ctx context.Context) string { return schedulerproc.Leader(ctx, client) }

// evictions returns how many evictions anybody has asked the API server for.
func evictions(ctx context.Context) float64 {
	GinkgoHelper()
	text, err := client.CoreV1().RESTClient().Get().AbsPath("/metrics").DoRaw(ctx)
	Expect(err).NotTo(HaveOccurred())
	return schedulerproc.Sum(text, "apiserver_request_total", `resource="pods"`, `subresource="eviction"`)
}
