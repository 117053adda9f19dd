// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package scheduler_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"berth.dev/berth/pkg/model/stamp"
	"berth.dev/berth/test/integration/internal/schedulerproc"
)

// Environment variables: how many orders are tried, and the seed of the first.
const (
	ordersVariable     = "BERTH_ORDERS"
	orderSeedVariable  = "BERTH_ORDER_SEED"
	ordersOfOneInstall = 6
)

// step is one of the things that lead to a workload that a policy divides.
type step string

const (
	stepPolicy   step = "policy"
	stepWorkload step = "workload"
	// stepStock is another scheduler that binds pods of the workload by Berth's name for schedulers.
	stepStock step = "stock scheduler"
)

func clusterStep(name string) step { return step("Cluster " + name) }
func nodesStep(name string) step   { return step("nodes of " + name) }

// order is a site where these things come in an order that a seed decides.
type order struct {
	*site
	*rand.Rand
	seed     uint64
	replicas int
	stateful bool
	// phases are what comes before Berth's scheduler is there, until it starts anew, and after that.
	phases [3][]step
	done   []step
	// bound are the pods that had a node when the policy came, with the cluster of each. They are
	// not known if a Cluster or its nodes came later.
	bound map[types.UID]string
}

// orderClusters are the clusters of a site; the first has its pods bound by the stock scheduler
// more often.
var orderClusters = []string{"beijing", "hangzhou"}

// drawOrder decides on the order of a seed. Half of them have pods that another scheduler has bound
// before Berth came.
func drawOrder(s *site, seed uint64) *order {
	o := &order{site: s, Rand: rand.New(rand.NewPCG(seed, 0)), seed: seed}
	o.replicas, o.stateful = 5+o.IntN(6), o.IntN(4) == 0
	steps := []step{stepPolicy, stepWorkload}
	for _, cluster := range orderClusters {
		steps = append(steps, clusterStep(cluster), nodesStep(cluster))
	}
	o.Shuffle(len(steps), func(i, j int) { steps[i], steps[j] = steps[j], steps[i] })
	first := 0
	if o.IntN(2) == 0 {
		// Those that it needs come earlier, in the order that they have.
		needed := func(s step) bool { return s == stepWorkload || s == nodesStep("beijing") || s == nodesStep("hangzhou") }
		late := slices.DeleteFunc(slices.Clone(steps), needed)
		steps = slices.Insert(slices.DeleteFunc(steps, func(s step) bool { return !needed(s) }), 3, stepStock)
		for _, s := range late {
			at := o.IntN(len(steps) + 1)
			steps = slices.Insert(steps, at, s)
		}
		first = slices.Index(steps, stepStock) + 1
	}
	a := first + o.IntN(len(steps)-first+1)
	b := a + o.IntN(len(steps)-a+1)
	o.phases = [3][]step{steps[:a], steps[a:b], steps[b:]}
	return o
}

func (o *order) String() string {
	return fmt.Sprintf("seed %d in %s, %d replicas, StatefulSet %t: %q", o.seed, o.namespace, o.replicas, o.stateful, o.phases)
}

// run takes the steps of a phase. After some of them it waits until nothing more comes of them.
func (o *order) run(ctx context.Context, phase int, scheduler *schedulerproc.Scheduler) {
	for _, s := range o.phases[phase] {
		o.take(ctx, s, scheduler)
		o.done = append(o.done, s)
		if o.IntN(2) == 0 {
			o.rest(ctx, scheduler)
		}
	}
}

func (o *order) take(ctx context.Context, s step, scheduler *schedulerproc.Scheduler) {
	GinkgoHelper()
	switch s {
	case stepPolicy:
		o.rest(ctx, scheduler)
		o.count(ctx)
		policy := o.policy("web", map[bool]string{false: "Deployment", true: "StatefulSet"}[o.stateful], twoToThree()...)
		policy.Spec.Rebalance.MaxUnavailable = ptr.To(intstr.FromString("50%"))
		_, err := berth.BerthV1alpha1().PropagationPolicies(o.namespace).Create(ctx, policy, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
	case stepWorkload:
		if o.stateful {
			o.createStatefulSet(ctx, o.statefulSet("web", int32(o.replicas)))
		} else {
			o.createDeployment(ctx, o.deployment("web", o.replicas))
		}
	case stepStock:
		o.bindAsAnother(ctx)
	default:
		for _, cluster := range orderClusters {
			switch s {
			case clusterStep(cluster):
				o.createCluster(ctx, cluster)
			case nodesStep(cluster):
				o.createNodes(ctx, cluster, 3)
			}
		}
	}
}

// bindAsAnother binds some or all pods of the workload to any nodes of the site.
func (o *order) bindAsAnother(ctx context.Context) {
	GinkgoHelper()
	Eventually(o.pods).WithContext(ctx).WithArguments("web").WithTimeout(timeout).WithPolling(poll).Should(HaveLen(o.replicas))
	pods := o.pods(ctx, "web")
	if o.IntN(3) == 0 {
		pods = pods[:o.IntN(len(pods))]
	}
	fmt.Fprintf(GinkgoWriter, "seed %d: another scheduler binds %d of %d pods\n", o.seed, len(pods), o.replicas)
	favoured := o.IntN(4)
	for i := range pods {
		cluster := orderClusters[o.IntN(2)]
		if favoured < 2 {
			cluster = orderClusters[favoured]
		}
		Expect(client.CoreV1().Pods(o.namespace).Bind(ctx, &corev1.Binding{
			ObjectMeta: metav1.ObjectMeta{Name: pods[i].Name, UID: pods[i].UID},
			Target:     corev1.ObjectReference{Kind: "Node", Name: o.node(cluster, o.IntN(3))},
		}, metav1.CreateOptions{})).To(Succeed())
	}
}

// rest waits until the pods are made and, if Berth's scheduler is there, it knows of everything and
// has tried each of them.
func (o *order) rest(ctx context.Context, scheduler *schedulerproc.Scheduler) {
	GinkgoHelper()
	if scheduler != nil {
		scheduler.UntilKnows(ctx, berth)
	}
	if !slices.Contains(o.done, stepWorkload) {
		return
	}
	Eventually(func(g Gomega) {
		pods := o.pods(ctx, "web")
		g.Expect(pods).To(HaveLen(o.replicas))
		for i := range pods {
			tried := slices.ContainsFunc(pods[i].Status.Conditions, func(c corev1.PodCondition) bool {
				return c.Type == corev1.PodScheduled
			})
			g.Expect(scheduler == nil || tried).To(BeTrue(), pods[i].Name)
		}
	}).WithContext(ctx).WithTimeout(timeout).WithPolling(poll).Should(Succeed(), o.String())
}

// count notes, before the policy comes, where the pods are that cannot be told to be misplaced for
// any other reason than that their cluster has too many of them.
func (o *order) count(ctx context.Context) {
	o.bound = map[types.UID]string{}
	for _, cluster := range orderClusters {
		if !slices.Contains(o.done, clusterStep(cluster)) || !slices.Contains(o.done, nodesStep(cluster)) {
			return
		}
	}
	for _, pod := range o.pods(ctx, "web") {
		if place := o.place(&pod); slices.Contains(orderClusters, place) {
			o.bound[pod.UID] = place
		}
	}
}

// expectFewestMoved checks that of the pods that were there before the policy as many are still
// there as their clusters have a share for.
func (o *order) expectFewestMoved(ctx context.Context) {
	GinkgoHelper()
	if o.stateful && len(o.bound) < o.replicas {
		return // Those that are bound later go where their seats are, in whose way others may be.
	}
	before, after := map[string]int{}, map[string]int{}
	for _, cluster := range o.bound {
		before[cluster]++
	}
	for _, pod := range o.pods(ctx, "web") {
		if _, was := o.bound[pod.UID]; was {
			after[o.place(&pod)]++
		}
	}
	for cluster, share := range webster(o.replicas, twoToThree()...) {
		Expect(after[cluster]).To(BeNumerically(">=", min(before[cluster], share)), "pods left in %s; %v", cluster, o)
	}
}

// expectTheSame checks that the workload has its shares, and costs in the order of the seats, and
// keeps both as it shrinks.
func (o *order) expectTheSame(ctx context.Context) {
	GinkgoHelper()
	for n := o.replicas; n > 0; n -= 3 {
		if n < o.replicas {
			if o.stateful {
				o.scaleStatefulSet(ctx, "web", n)
			} else {
				o.scale(ctx, "web", n)
			}
		}
		Eventually(func(g Gomega) {
			g.Expect(o.shares(ctx, "web")).To(Equal(webster(n, twoToThree()...)))
			if o.stateful {
				return // Its pods may have each other's seats.
			}
			byCost := map[int64]string{}
			for _, pod := range o.pods(ctx, "web") {
				given, _ := stamp.Of(&pod)
				g.Expect(given.OwnsDeletionCost(&pod)).To(BeTrue(), "%v", pod.Annotations)
				byCost[stamp.ParseDeletionCost(pod.Annotations[corev1.PodDeletionCost])] = o.place(&pod)
			}
			var order []string
			for _, cost := range slices.Backward(slices.Sorted(maps.Keys(byCost))) {
				order = append(order, byCost[cost])
			}
			g.Expect(order).To(Equal(seatOwners[:n]))
		}).WithContext(ctx).WithTimeout(timeout).WithPolling(poll).Should(Succeed(), "%d replicas; %v", n, o)
		if n == o.replicas {
			o.expectFewestMoved(ctx)
		}
	}
}

// each does something in all orders at the same time.
func each(orders []*order, do func(*order)) {
	var all sync.WaitGroup
	for _, o := range orders {
		all.Go(func() {
			defer GinkgoRecover()
			do(o)
		})
	}
	all.Wait()
}

// number reads an environment variable.
func number(variable string, otherwise uint64) uint64 {
	GinkgoHelper()
	text, set := os.LookupEnv(variable)
	if !set {
		return otherwise
	}
	n, err := strconv.ParseUint(text, 10, 32)
	Expect(err).NotTo(HaveOccurred(), variable)
	return n
}

var _ = Describe("policy, workload, Clusters, nodes and the scheduler itself", Serial, func() {
	It("can come in any order", func(ctx SpecContext) {
		replaceMain()
		next := number(orderSeedVariable, 1)
		for end := next + number(ordersVariable, ordersOfOneInstall); next < end; {
			var orders []*order
			for len(orders) < ordersOfOneInstall && next < end {
				orders = append(orders, drawOrder(newSite(ctx), next))
				GinkgoWriter.Println(orders[len(orders)-1])
				next++
			}
			each(orders, func(o *order) { o.run(ctx, 0, nil) })
			start := func(name string) *schedulerproc.Scheduler {
				scheduler := schedulerproc.Start(ctx, plane, schedulerproc.Options{
					Name: fmt.Sprintf("orders-%d-%s", next, name), Args: schedulerproc.Patient,
				})
				Eventually(leader).WithContext(ctx).WithTimeout(timeout).WithPolling(poll).ShouldNot(BeEmpty())
				return scheduler
			}
			scheduler := start("first")
			each(orders, func(o *order) { o.run(ctx, 1, scheduler) })
			scheduler.End()
			scheduler = start("second")
			each(orders, func(o *order) { o.run(ctx, 2, scheduler) })
			each(orders, func(o *order) { o.expectTheSame(ctx) })
			scheduler.End()
		}
	})
})
