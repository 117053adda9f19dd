// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"context"
	"maps"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// rows are the workloads of the status of a policy.
func rows(ctx context.Context, namespace, policy string) ([]berthv1alpha1.WorkloadPlacement, error) {
	p, err := berth.BerthV1alpha1().PropagationPolicies(namespace).Get(ctx, policy, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	return p.Status.Workloads, nil
}

var _ = Describe("The status of a PropagationPolicy", func() {
	const (
		accepted   = berthv1alpha1.PolicyAccepted
		resolved   = berthv1alpha1.PolicyClustersResolved
		placed     = berthv1alpha1.PolicyPlaced
		conflicted = berthv1alpha1.PolicyConflicted
	)

	It("tells what runs and what waits in each cluster", func(ctx SpecContext) {
		namespace := newNamespace(ctx)
		bj, hz := twoClusters(ctx, namespace, 1)
		newPolicy(ctx, namespace, "policy", "web", weights{bj: 2, hz: 3})
		untilCondition(ctx, namespace, "policy", placed, "Unknown NoWorkloads")

		binder.hold(namespace)
		defer binder.release(namespace)
		newDeployment(ctx, namespace, "web", 5)
		want := berthv1alpha1.WorkloadPlacement{
			Ref:      berthv1alpha1.WorkloadReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "web"},
			Replicas: new(int32(5)), Pending: 5,
			Clusters: []berthv1alpha1.ClusterPlacement{
				{Name: bj, Desired: 2, Pending: 2}, {Name: hz, Desired: 3, Pending: 3},
			},
		}
		Eventually(rows).WithContext(ctx).WithArguments(namespace, "policy").WithTimeout(timeout).WithPolling(poll).
			Should(ConsistOf(want))
		untilCondition(ctx, namespace, "policy", placed, "False PodsPending")

		binder.release(namespace)
		want.Pending = 0
		want.Clusters = []berthv1alpha1.ClusterPlacement{{Name: bj, Desired: 2, Current: 2}, {Name: hz, Desired: 3, Current: 3}}
		Eventually(rows).WithContext(ctx).WithArguments(namespace, "policy").WithTimeout(timeout).WithPolling(poll).
			Should(ConsistOf(want))
		untilCondition(ctx, namespace, "policy", placed, "True AsDesired")
		untilCondition(ctx, namespace, "policy", accepted, "True Accepted")
		untilCondition(ctx, namespace, "policy", resolved, "True ClustersFound")
		untilCondition(ctx, namespace, "policy", conflicted, "False NoConflict")
	})

	It("follows the clusters that it names", func(ctx SpecContext) {
		namespace := newNamespace(ctx)
		newPolicy(ctx, namespace, "policy", "web", weights{namespace: 1})
		untilCondition(ctx, namespace, "policy", resolved, "False UnknownCluster")
		newCluster(ctx, namespace, 0)
		untilCondition(ctx, namespace, "policy", resolved, "False EmptyCluster")
		newCluster(ctx, namespace+"-other", 1)
		patchNode(ctx, namespace+"-other-0", `{"metadata":{"labels":{"`+clusterLabel+`":"`+namespace+`"}}}`)
		untilCondition(ctx, namespace, "policy", resolved, "True ClustersFound")
	})

	It("serves the other clusters while one does not exist", func(ctx SpecContext) {
		namespace := newNamespace(ctx)
		bj, _ := twoClusters(ctx, namespace, 1)
		newPolicy(ctx, namespace, "policy", "web", weights{bj: 2, namespace + "-absent": 3})
		newDeployment(ctx, namespace, "web", 5)
		untilSpread(ctx, namespace, map[string]int{bj: 2})
		untilCondition(ctx, namespace, "policy", placed, "False PodsPending")
		untilCondition(ctx, namespace, "policy", resolved, "False UnknownCluster")
	})

	It("refuses what cannot be carried out, and takes it up once it can", func(ctx SpecContext) {
		namespace := newNamespace(ctx)
		bj, hz := twoClusters(ctx, namespace, 1)
		newPolicy(ctx, namespace, "policy", "web", weights{bj: 2, hz: 3}, func(spec *berthv1alpha1.PropagationPolicySpec) {
			spec.ResourceSelectors[0].Namespace = "kube-system"
		})
		untilCondition(ctx, namespace, "policy", accepted, "False ForeignNamespace")
		changePolicy(ctx, namespace, "policy", func(spec *berthv1alpha1.PropagationPolicySpec) {
			spec.ResourceSelectors[0].Namespace = namespace
			spec.Placement.StaticWeightList = append(spec.Placement.StaticWeightList, weights{bj: 1}.list()...)
		})
		untilCondition(ctx, namespace, "policy", accepted, "False InvalidWeights")
		reweigh(ctx, namespace, "policy", weights{bj: 2, hz: 3})
		untilCondition(ctx, namespace, "policy", accepted, "True Accepted")
	})

	It("says which policy wins, and takes over when that one is deleted", func(ctx SpecContext) {
		namespace := newNamespace(ctx)
		bj, hz := twoClusters(ctx, namespace, 2)
		newPolicy(ctx, namespace, "by-name", "web", weights{bj: 2, hz: 3})
		newPolicy(ctx, namespace, "by-kind", "", weights{bj: 4, hz: 1})
		newDeployment(ctx, namespace, "web", 5)
		untilSpread(ctx, namespace, map[string]int{bj: 2, hz: 3})
		untilCondition(ctx, namespace, "by-kind", conflicted, "True OtherPolicyWins")
		Eventually(message).WithContext(ctx).WithArguments(namespace, "by-kind", conflicted).WithTimeout(timeout).WithPolling(poll).
			Should(Equal("Deployment web is placed by policy by-name"))
		untilCondition(ctx, namespace, "by-name", conflicted, "False NoConflict")

		before := uids(ctx, namespace)
		Expect(berth.BerthV1alpha1().PropagationPolicies(namespace).Delete(ctx, "by-name", metav1.DeleteOptions{})).To(Succeed())
		untilSpread(ctx, namespace, map[string]int{bj: 4, hz: 1})
		untilCondition(ctx, namespace, "by-kind", conflicted, "False NoConflict")
		untilCondition(ctx, namespace, "by-kind", placed, "True AsDesired")
		expectStayed(ctx, namespace, before, 3)
	})

	It("names selected workloads that do not use the scheduler", func(ctx SpecContext) {
		namespace := newNamespace(ctx)
		newPolicy(ctx, namespace, "policy", "web", weights{namespace: 1})
		newDeployment(ctx, namespace, "web", 0, func(spec *appsv1.DeploymentSpec) { spec.Template.Spec.SchedulerName = "" })
		Eventually(message).WithContext(ctx).WithArguments(namespace, "policy", placed).WithTimeout(timeout).WithPolling(poll).
			Should(ContainSubstring("do not use Berth's scheduler: Deployment web"))
	})

	It("is not written while nothing changes, and neither are pods and clusters", func(ctx SpecContext) {
		m := settled(ctx)
		for _, name := range []string{m.bj, m.hz} {
			untilState(ctx, name, clusterState{2, 2, 2, nodesReady, noConflict})
			untilAllTold(ctx, name)
		}
		versions := func() (map[string]string, error) {
			found := map[string]string{}
			policies, err := berth.BerthV1alpha1().PropagationPolicies(m.namespace).List(ctx, metav1.ListOptions{})
			if err != nil {
				return nil, err
			}
			for _, p := range policies.Items {
				found["policy "+p.Name] = p.ResourceVersion
			}
			for _, name := range []string{m.bj, m.hz} {
				c, err := berth.BerthV1alpha1().Clusters().Get(ctx, name, metav1.GetOptions{})
				if err != nil {
					return nil, err
				}
				found["cluster "+name] = c.ResourceVersion
			}
			pods, err := podsOf(ctx, m.namespace)
			for _, p := range pods {
				found["pod "+p.Name] = p.ResourceVersion
			}
			return found, err
		}
		// What a busy machine writes late comes to an end, what is written again and again does not.
		var before map[string]string
		Eventually(func() (bool, error) {
			now, err := versions()
			same := maps.Equal(now, before)
			before = now
			return same, err
		}).WithTimeout(timeout).WithPolling(settle).Should(BeTrue())
		Consistently(versions).WithTimeout(2 * settle).WithPolling(poll).Should(Equal(before))
	})
})
