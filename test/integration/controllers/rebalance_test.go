// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"context"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/controllers/policy"
	"berth.dev/berth/pkg/model/stamp"
)

// moved is a namespace whose Deployment "web" runs as 2:3 wants it. The policy that the spec makes
// of it wants 4:1.
type moved struct {
	namespace, bj, hz string
	before            map[string]bool
}

// settled makes a Deployment of five replicas that is placed by 2:3.
func settled(ctx context.Context, changes ...func(*berthv1alpha1.PropagationPolicySpec)) moved {
	GinkgoHelper()
	m := moved{namespace: newNamespace(ctx)}
	m.bj, m.hz = twoClusters(ctx, m.namespace, 2)
	newPolicy(ctx, m.namespace, "policy", "web", weights{m.bj: 2, m.hz: 3}, changes...)
	newDeployment(ctx, m.namespace, "web", 5)
	untilSpread(ctx, m.namespace, map[string]int{m.bj: 2, m.hz: 3})
	untilCondition(ctx, m.namespace, "policy", berthv1alpha1.PolicyPlaced, "True AsDesired")
	m.before = uids(ctx, m.namespace)
	return m
}

func (m *moved) reweigh(ctx context.Context) {
	GinkgoHelper()
	reweigh(ctx, m.namespace, "policy", weights{m.bj: 4, m.hz: 1})
}

// expectMoved waits until the pods run as 4:1 wants it, and checks that two have been moved.
func (m *moved) expectMoved(ctx context.Context) {
	GinkgoHelper()
	untilSpread(ctx, m.namespace, map[string]int{m.bj: 4, m.hz: 1})
	untilCondition(ctx, m.namespace, "policy", berthv1alpha1.PolicyPlaced, "True AsDesired")
	expectStayed(ctx, m.namespace, m.before, 3)
}

// expectLeft checks that no pod is moved, for a while.
func (m *moved) expectLeft(ctx context.Context) {
	GinkgoHelper()
	Consistently(uids).WithContext(ctx).WithArguments(m.namespace).WithTimeout(settle).WithPolling(poll).Should(Equal(m.before))
}

func newBudget(ctx context.Context, namespace, name string, maxUnavailable int32) {
	GinkgoHelper()
	budgets := client.PolicyV1().PodDisruptionBudgets(namespace)
	_, err := budgets.Create(ctx, &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: policyv1.PodDisruptionBudgetSpec{
			MaxUnavailable: new(intstr.FromInt32(maxUnavailable)),
			Selector:       &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
		},
	}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	Eventually(func(g Gomega) {
		budget, err := budgets.Get(ctx, name, metav1.GetOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(budget.Status.ObservedGeneration).To(Equal(budget.Generation))
		g.Expect(budget.Status.CurrentHealthy).To(BeEquivalentTo(5))
	}).WithTimeout(timeout).WithPolling(poll).Should(Succeed())
}

// eventReasons are the reasons of the events about the policy of a namespace.
func eventReasons(ctx context.Context, namespace string) ([]string, error) {
	list, err := client.EventsV1().Events(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	var reasons []string
	for _, event := range list.Items {
		if event.Regarding.Kind == "PropagationPolicy" {
			reasons = append(reasons, event.Reason)
		}
	}
	return reasons, nil
}

var _ = Describe("Rebalancing", func() {
	It("moves exactly the misplaced pods when the weights change, with no more missing than allowed", func(ctx SpecContext) {
		m := settled(ctx)
		stop := during(ctx, atLeast(m.namespace, 4))
		m.reweigh(ctx)
		m.expectMoved(ctx)
		stop()
		Eventually(eventReasons).WithContext(ctx).WithArguments(m.namespace).WithTimeout(timeout).WithPolling(poll).
			Should(ContainElement("Rebalancing"))
	})

	It("moves pods away from a cluster that the policy names no more", func(ctx SpecContext) {
		m := settled(ctx)
		stop := during(ctx, atLeast(m.namespace, 4))
		reweigh(ctx, m.namespace, "policy", weights{m.bj: 1})
		untilSpread(ctx, m.namespace, map[string]int{m.bj: 5})
		stop()
		expectStayed(ctx, m.namespace, m.before, 2)
	})

	It("moves pods whose node has joined another cluster", func(ctx SpecContext) {
		m := settled(ctx)
		newCluster(ctx, m.namespace+"-sz", 0)
		patchNode(ctx, m.hz+"-0", `{"metadata":{"labels":{"`+clusterLabel+`":"`+m.namespace+`-sz"}}}`)
		Eventually(func() (map[string]int, error) { return spreadByLabel(ctx, m.namespace) }).
			WithTimeout(timeout).WithPolling(poll).Should(Equal(map[string]int{m.bj: 2, m.hz: 3}))
		untilCondition(ctx, m.namespace, "policy", berthv1alpha1.PolicyPlaced, "True AsDesired")
	})

	It("moves nothing with mode Never, but the next scale-down lands on the new shares", func(ctx SpecContext) {
		m := settled(ctx, func(spec *berthv1alpha1.PropagationPolicySpec) { spec.Rebalance.Mode = berthv1alpha1.RebalanceNever })
		m.reweigh(ctx)
		untilCondition(ctx, m.namespace, "policy", berthv1alpha1.PolicyPlaced, "False Misplaced")
		Eventually(message).WithContext(ctx).WithArguments(m.namespace, "policy", berthv1alpha1.PolicyPlaced).
			WithTimeout(timeout).WithPolling(poll).
			Should(Equal("replicas outside their share: 2 (spec.rebalance.mode is Never)"))
		untilSeats(ctx, m.namespace, 3)
		m.expectLeft(ctx)

		scale(ctx, m.namespace, "web", 3)
		untilSpread(ctx, m.namespace, map[string]int{m.bj: 2, m.hz: 1})
		untilCondition(ctx, m.namespace, "policy", berthv1alpha1.PolicyPlaced, "True AsDesired")
		scale(ctx, m.namespace, "web", 1)
		untilSpread(ctx, m.namespace, map[string]int{m.bj: 1})
	})

	It("evicts nothing when the policy is deleted", func(ctx SpecContext) {
		m := settled(ctx)
		binder.hold(m.namespace)
		defer binder.release(m.namespace)
		Expect(berth.BerthV1alpha1().PropagationPolicies(m.namespace).Delete(ctx, "policy", metav1.DeleteOptions{})).To(Succeed())
		m.expectLeft(ctx)
	})

	It("waits for a PodDisruptionBudget, and goes on when it lets pods go", func(ctx SpecContext) {
		m := settled(ctx)
		newBudget(ctx, m.namespace, "none", 0)
		m.reweigh(ctx)
		untilCondition(ctx, m.namespace, "policy", berthv1alpha1.PolicyPlaced, "False Misplaced")
		Eventually(message).WithContext(ctx).WithArguments(m.namespace, "policy", berthv1alpha1.PolicyPlaced).
			WithTimeout(timeout).WithPolling(poll).
			Should(Equal("replicas outside their share: 2 (a PodDisruptionBudget does not let the pods go)"))
		Eventually(eventReasons).WithContext(ctx).WithArguments(m.namespace).WithTimeout(timeout).WithPolling(poll).
			Should(ContainElement("EvictionRefused"))
		m.expectLeft(ctx)

		Expect(client.PolicyV1().PodDisruptionBudgets(m.namespace).Delete(ctx, "none", metav1.DeleteOptions{})).To(Succeed())
		m.expectMoved(ctx)
	})

	It("never moves pods that two PodDisruptionBudgets select", func(ctx SpecContext) {
		m := settled(ctx)
		newBudget(ctx, m.namespace, "one", 5)
		newBudget(ctx, m.namespace, "two", 5)
		m.reweigh(ctx)
		Eventually(eventReasons).WithContext(ctx).WithArguments(m.namespace).WithTimeout(timeout).WithPolling(poll).
			Should(ContainElement("EvictionRefused"))
		m.expectLeft(ctx)
	})

	It("waits while a replica is pending", func(ctx SpecContext) {
		m := settled(ctx)
		binder.hold(m.namespace)
		defer binder.release(m.namespace)
		scale(ctx, m.namespace, "web", 6)
		Eventually(podsOf).WithContext(ctx).WithArguments(m.namespace).WithTimeout(timeout).WithPolling(poll).Should(HaveLen(6))
		m.before = uids(ctx, m.namespace)
		m.reweigh(ctx)
		untilCondition(ctx, m.namespace, "policy", berthv1alpha1.PolicyPlaced, "False Misplaced")
		m.expectLeft(ctx)

		binder.release(m.namespace)
		untilSpread(ctx, m.namespace, map[string]int{m.bj: 5, m.hz: 1})
		expectStayed(ctx, m.namespace, m.before, 4)
	})

	It("waits while the other cluster has no room, and says so", func(ctx SpecContext) {
		m := settled(ctx)
		for _, node := range []string{m.bj + "-0", m.bj + "-1"} {
			patchNode(ctx, node, `{"status":{"allocatable":{"cpu":"50m"}}}`, "status")
		}
		m.reweigh(ctx)
		untilCondition(ctx, m.namespace, "policy", berthv1alpha1.PolicyPlaced, "False Misplaced")
		Eventually(message).WithContext(ctx).WithArguments(m.namespace, "policy", berthv1alpha1.PolicyPlaced).
			WithTimeout(timeout).WithPolling(poll).
			Should(Equal("replicas outside their share: 2 (no cluster is short of its share and has room for the pods)"))
		m.expectLeft(ctx)
		for _, node := range []string{m.bj + "-0", m.bj + "-1"} {
			patchNode(ctx, node, `{"status":{"allocatable":{"cpu":"32"}}}`, "status")
		}
		m.expectMoved(ctx)
	})

	It("leaves pods of other schedulers alone", func(ctx SpecContext) {
		namespace := newNamespace(ctx)
		bj, hz := twoClusters(ctx, namespace, 2)
		newPolicy(ctx, namespace, "policy", "web", weights{bj: 1})
		binder.hold(namespace)
		defer binder.release(namespace)
		// A stamp in the template is copied to every pod, and fits none.
		newDeployment(ctx, namespace, "web", 2, func(spec *appsv1.DeploymentSpec) {
			spec.Template.Annotations = map[string]string{
				berthv1alpha1.PlacedByAnnotation: "uid/" + hz + "-0", berthv1alpha1.PlacedPolicyAnnotation: "policy",
			}
			spec.Template.Spec.SchedulerName = "another-scheduler"
		})
		Eventually(podsOf).WithContext(ctx).WithArguments(namespace).WithTimeout(timeout).WithPolling(poll).Should(HaveLen(2))
		pods, err := podsOf(ctx, namespace)
		Expect(err).NotTo(HaveOccurred())
		for i := range pods {
			Expect(client.CoreV1().Pods(namespace).Bind(ctx, &corev1.Binding{
				ObjectMeta: metav1.ObjectMeta{Name: pods[i].Name},
				Target:     corev1.ObjectReference{Kind: "Node", Name: hz + "-0"},
			}, metav1.CreateOptions{})).To(Succeed())
		}
		Eventually(message).WithContext(ctx).WithArguments(namespace, "policy", berthv1alpha1.PolicyPlaced).
			WithTimeout(timeout).WithPolling(poll).
			Should(ContainSubstring("these selected workloads do not use Berth's scheduler: Deployment web"))
		m := moved{namespace: namespace, before: uids(ctx, namespace)}
		m.expectLeft(ctx)
	})

	It("moves as few pods of a StatefulSet as can be, to where their ordinals belong", func(ctx SpecContext) {
		namespace := newNamespace(ctx)
		bj, hz := twoClusters(ctx, namespace, 2)
		newPolicy(ctx, namespace, "policy", "", weights{bj: 1, hz: 2}, func(spec *berthv1alpha1.PropagationPolicySpec) {
			spec.ResourceSelectors[0] = berthv1alpha1.ResourceSelector{APIVersion: "apps/v1", Kind: "StatefulSet"}
		})
		_, err := client.AppsV1().StatefulSets(namespace).Create(ctx, &appsv1.StatefulSet{
			ObjectMeta: metav1.ObjectMeta{Name: "db"},
			Spec: appsv1.StatefulSetSpec{
				Replicas: new(int32(3)), Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "db"}}, Template: template("db"),
			},
		}, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		// Two to one: the seats are hz, bj, hz. One to two: bj, hz, bj.
		untilPlaces(ctx, namespace, map[string]string{"db-0": hz, "db-1": bj, "db-2": hz})
		before := uids(ctx, namespace)
		reweigh(ctx, namespace, "policy", weights{bj: 2, hz: 1})
		untilSpread(ctx, namespace, map[string]int{bj: 2, hz: 1})
		untilCondition(ctx, namespace, "policy", berthv1alpha1.PolicyPlaced, "True AsDesired")
		expectStayed(ctx, namespace, before, 2)
	})

	It("does not disturb a rollout that may neither exceed nor fall below the replicas by much", func(ctx SpecContext) {
		m := settled(ctx)
		stop := during(ctx, atLeast(m.namespace, 5))
		defer stop()
		_, err := client.AppsV1().Deployments(m.namespace).Patch(ctx, "web", "application/strategic-merge-patch+json", []byte(
			`{"spec":{"strategy":{"rollingUpdate":{"maxSurge":1,"maxUnavailable":0}},`+
				`"template":{"spec":{"containers":[{"name":"main","image":"registry.invalid/app:2"}]}}}}`), metav1.PatchOptions{})
		Expect(err).NotTo(HaveOccurred())
		Eventually(func(g Gomega) {
			d, err := client.AppsV1().Deployments(m.namespace).Get(ctx, "web", metav1.GetOptions{})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(d.Status.ObservedGeneration).To(Equal(d.Generation))
			g.Expect([]int32{d.Status.UpdatedReplicas, d.Status.Replicas, d.Status.AvailableReplicas}).To(HaveEach(BeEquivalentTo(5)))
		}).WithTimeout(timeout).WithPolling(poll).Should(Succeed())
		untilSpread(ctx, m.namespace, map[string]int{m.bj: 2, m.hz: 3})
		untilCondition(ctx, m.namespace, "policy", berthv1alpha1.PolicyPlaced, "True AsDesired")
		reasons, err := eventReasons(ctx, m.namespace)
		Expect(err).NotTo(HaveOccurred())
		Expect(reasons).NotTo(ContainElement("Rebalancing"))
	})

	It("cannot hit a pod that has taken the name of another", func(ctx SpecContext) {
		m := settled(ctx)
		pods, err := podsOf(ctx, m.namespace)
		Expect(err).NotTo(HaveOccurred())
		before := pods[0].DeepCopy()
		before.UID = "of-the-one-before"
		err = policy.NewEvictor(client.CoreV1().RESTClient()).Evict(ctx, before)
		Expect(apierrors.IsConflict(err)).To(BeTrue(), "%v", err)
		m.expectLeft(ctx)
	})
})

// spreadByLabel counts the ready pods of a namespace by the cluster that their nodes belong to now.
func spreadByLabel(ctx context.Context, namespace string) (map[string]int, error) {
	nodes, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	cluster := map[string]string{}
	for _, node := range nodes.Items {
		cluster[node.Name] = node.Labels[clusterLabel]
	}
	pods, err := podsOf(ctx, namespace)
	counts := map[string]int{}
	for _, pod := range pods {
		if ready(&pod) {
			counts[cluster[pod.Spec.NodeName]]++
		}
	}
	return counts, err
}

// untilSeats waits until so many pods of a namespace hold a seat, and the others the lowest
// deletion cost.
func untilSeats(ctx context.Context, namespace string, want int) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		pods, err := podsOf(ctx, namespace)
		g.Expect(err).NotTo(HaveOccurred())
		seats := 0
		for i := range pods {
			given, stamped := stamp.Of(&pods[i])
			g.Expect(stamped).To(BeTrue())
			g.Expect(given.OwnsDeletionCost(&pods[i])).To(BeTrue())
			if given.Seat != stamp.NoSeat {
				seats++
			}
		}
		g.Expect(seats).To(Equal(want))
	}).WithTimeout(timeout).WithPolling(poll).Should(Succeed())
}

// untilPlaces waits until the named pods run ready in the clusters.
func untilPlaces(ctx context.Context, namespace string, want map[string]string) {
	GinkgoHelper()
	Eventually(func() (map[string]string, error) {
		pods, err := podsOf(ctx, namespace)
		places := map[string]string{}
		for _, pod := range pods {
			if ready(&pod) {
				places[pod.Name] = clusterOfNode(pod.Spec.NodeName)
			}
		}
		return places, err
	}).WithTimeout(timeout).WithPolling(poll).Should(Equal(want), fmt.Sprintf("pods of namespace %s", namespace))
}
