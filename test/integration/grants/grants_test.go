// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package grants_test

import (
	"context"
	"fmt"
	"strconv"
	"syscall"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"
	"k8s.io/utils/ptr"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/localplane"
	"berth.dev/berth/test/integration/internal/installation"
	"berth.dev/berth/test/integration/internal/schedulerproc"
)

const (
	placeLabel = "example.com/place"
	zoneLabel  = "example.com/zone"
	licences   = "licences"
	requestKey = berthv1alpha1.ClusterResourceAnnotationPrefix + licences

	clusterCount = 9
)

var zones = []string{"east", "west", "north"}

// capacity of the pools: one for each zone, and one on which every node can draw.
var capacity = map[string]int64{"licences/east": 30, "licences/west": 20, "licences/north": 10, "licences/any": 25}

// createWorld makes clusters of three nodes each in three zones, and the pools.
func createWorld(ctx context.Context) {
	GinkgoHelper()
	for i := range clusterCount {
		name := fmt.Sprint("c", i)
		labels := map[string]string{placeLabel: name, zoneLabel: zones[i%len(zones)]}
		Expect(localplane.CreateNodes(ctx, client, name, 3, labels, nil)).To(Succeed())
		cluster := &berthv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: name}}
		cluster.Spec.MatchLabels = map[string]string{placeLabel: name}
		_, err := berth.BerthV1alpha1().Clusters().Create(ctx, cluster, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
	}
	spec := berthv1alpha1.ClusterResourceSpec{}
	for _, zone := range append([]string{"any"}, zones...) {
		p := berthv1alpha1.ClusterResourceQuantity{Name: zone, Quantity: *resource.NewQuantity(capacity["licences/"+zone], resource.DecimalSI)}
		if zone != "any" {
			p.NodeSelector = map[string]string{zoneLabel: zone}
		}
		spec.Capacity = append(spec.Capacity, p)
	}
	_, err := berth.BerthV1alpha1().ClusterResources().Create(ctx,
		&berthv1alpha1.ClusterResource{ObjectMeta: metav1.ObjectMeta{Name: licences}, Spec: spec}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
}

// poolsOf returns the pools on which a pod can draw.
func poolsOf(pod *corev1.Pod) []string {
	if zone := pod.Spec.NodeSelector[zoneLabel]; zone != "" {
		return []string{"licences/" + zone, "licences/any"}
	}
	return []string{"licences/east", "licences/west", "licences/north", "licences/any"}
}

// createPods makes pods PREFIX0, PREFIX1, …: some for one zone, some for any, most for one licence,
// some for three.
func createPods(ctx context.Context, namespace, prefix string, count int) {
	GinkgoHelper()
	for i := range count {
		units := 1
		if i%7 == 3 {
			units = 3
		}
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{
				Name: fmt.Sprint(prefix, i), Annotations: map[string]string{requestKey: strconv.Itoa(units)},
			},
			Spec: corev1.PodSpec{
				SchedulerName: schedulerproc.Name, AutomountServiceAccountToken: ptr.To(false),
				TerminationGracePeriodSeconds: ptr.To[int64](1),
				Containers:                    []corev1.Container{{Name: "main", Image: "nginx:1.27"}},
			},
		}
		if zone := i % (len(zones) + 1); zone < len(zones) {
			pod.Spec.NodeSelector = map[string]string{zoneLabel: zones[zone]}
		}
		_, err := client.CoreV1().Pods(namespace).Create(ctx, pod, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
	}
}

// deleteSome deletes every n-th pod that runs.
func deleteSome(ctx context.Context, namespace string, w *witness, n int) {
	GinkgoHelper()
	for i, name := range w.running() {
		if i%n != 0 {
			continue
		}
		err := client.CoreV1().Pods(namespace).Delete(ctx, name, metav1.DeleteOptions{})
		if !apierrors.IsNotFound(err) {
			Expect(err).NotTo(HaveOccurred())
		}
	}
}

// read returns the ClusterResource.
func read(ctx context.Context) *berthv1alpha1.ClusterResource {
	GinkgoHelper()
	object, err := berth.BerthV1alpha1().ClusterResources().Get(ctx, licences, metav1.GetOptions{})
	Expect(err).NotTo(HaveOccurred())
	return object
}

// homes returns how many clusters each scheduler has, empty while one has no home or moves.
func homes(ctx context.Context) map[string]int {
	list, err := berth.BerthV1alpha1().Clusters().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil
	}
	found := map[string]int{}
	for i := range list.Items {
		if list.Items[i].Status.HomeScheduler == "" || list.Items[i].Status.HomeTransfer != nil {
			return nil
		}
		found[list.Items[i].Status.HomeScheduler]++
	}
	return found
}

func shareAmong(ctx context.Context, names ...string) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		found := homes(ctx)
		g.Expect(found).To(HaveLen(len(names)))
		for _, name := range names {
			g.Expect(found).To(HaveKey(name))
		}
	}, timeout, poll).Should(Succeed())
}

var _ = Describe("grants of several schedulers", Ordered, func() {
	var (
		ns string
		w  *witness
	)
	const lowered int64 = 5

	BeforeAll(func(ctx SpecContext) {
		ns = installation.CreateNamespace(ctx, client, "grants-")
		watching, err := client.CoreV1().Pods(ns).List(ctx, metav1.ListOptions{})
		Expect(err).NotTo(HaveOccurred())
		Expect(watching.Items).To(BeEmpty())
		w = observe(ctx, ns, capacity)
		createWorld(ctx)
	})

	AfterEach(func() { w.expectNoBreach() })

	It("writes none while there is one", func(ctx SpecContext) {
		instances.Start(ctx, plane, "a", schedulerproc.QuickElection...)
		shareAmong(ctx, "a")
		createPods(ctx, ns, "first", 20)
		Eventually(w.bound, timeout, poll).Should(Equal(20))
		Expect(read(ctx).Status.Grants).To(BeEmpty())
		s, err := berth.BerthV1alpha1().Schedulers().Get(ctx, "a", metav1.GetOptions{})
		Expect(err).NotTo(HaveOccurred())
		Expect(s.Status.Spending).To(BeNil())
	})

	It("gives everything out in a burst while one is killed, one is paused and one comes", func(ctx SpecContext) {
		instances.Start(ctx, plane, "b", schedulerproc.QuickElection...)
		instances.Start(ctx, plane, "c", schedulerproc.QuickElection...)
		shareAmong(ctx, "a", "b", "c")
		createPods(ctx, ns, "burst", 60)
		Eventually(w.bound, longTimeout, poll).Should(BeNumerically(">=", 40))
		deleteSome(ctx, ns, w, 3)
		createPods(ctx, ns, "storm", 60)

		Expect(instances["c"].Kill(syscall.SIGSTOP)).To(Succeed())
		instances.Kill("b")
		instances.Start(ctx, plane, "d", schedulerproc.QuickElection...)
		deleteSome(ctx, ns, w, 4)
		shareAmong(ctx, "a", "d")
		deleteSome(ctx, ns, w, 4)
		instances["c"].ExpectEnd()
		Expect(instances["c"].Kill(syscall.SIGCONT)).To(Succeed())
		Eventually(instances["c"].Done(), timeout, poll).Should(BeClosed())
		instances.Start(ctx, plane, "c", schedulerproc.QuickElection...)
		instances.Start(ctx, plane, "b", schedulerproc.QuickElection...)
		deleteSome(ctx, ns, w, 5)
		shareAmong(ctx, "a", "b", "c", "d")
		Eventually(w.feasible, longTimeout, poll).Should(BeEmpty())
		Expect(len(w.placers())).To(BeNumerically(">=", 3))
	})

	It("gives what becomes free to the higher priority, at whatever scheduler that waits", giveToTheHigherPriority)

	It("publishes a smaller pool only when no more than that is granted", func(ctx SpecContext) {
		Expect(client.CoreV1().Pods(ns).DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{})).To(Succeed())
		Eventually(w.size, timeout, poll).Should(BeZero())
		granted := int64(0)
		for _, g := range read(ctx).Status.Grants {
			if g.Pool == "any" {
				granted += g.Quantity.Value()
			}
		}
		Expect(granted).To(BeNumerically(">", lowered), "nothing needs to shrink")
		Expect(retry.RetryOnConflict(retry.DefaultRetry, func() error {
			object := read(ctx)
			for i := range object.Spec.Capacity {
				if object.Spec.Capacity[i].Name == "any" {
					object.Spec.Capacity[i].Quantity = *resource.NewQuantity(lowered, resource.DecimalSI)
				}
			}
			_, err := berth.BerthV1alpha1().ClusterResources().Update(ctx, object, metav1.UpdateOptions{})
			return err
		})).To(Succeed())
		Eventually(func(g Gomega) {
			for _, p := range read(ctx).Status.Allocatable {
				if p.Name == "any" {
					g.Expect(p.Quantity.Value()).To(Equal(lowered))
				}
			}
		}, timeout, poll).Should(Succeed())
		w.lower("licences/any", lowered)
		createPods(ctx, ns, "fewer", 80)
		Eventually(w.feasible, longTimeout, poll).Should(BeEmpty())
	})

	It("takes back what schedulers had that leave, until one gives out everything again", func(ctx SpecContext) {
		for _, name := range []string{"b", "c", "d"} {
			Expect(berth.BerthV1alpha1().Schedulers().Delete(ctx, name, metav1.DeleteOptions{})).To(Succeed())
		}
		Eventually(func() int {
			list, err := berth.BerthV1alpha1().Schedulers().List(ctx, metav1.ListOptions{})
			Expect(err).NotTo(HaveOccurred())
			return len(list.Items)
		}, longTimeout, poll).Should(Equal(1))
		Eventually(func() []berthv1alpha1.PoolGrant { return read(ctx).Status.Grants }, timeout, poll).Should(BeEmpty())
		createPods(ctx, ns, "last", 30)
		deleteSome(ctx, ns, w, 2)
		Eventually(w.feasible, longTimeout, poll).Should(BeEmpty())
	})
})
