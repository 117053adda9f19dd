// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"context"
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

var _ = Describe("the limit of all moves", Serial, func() {
	const (
		sites, podsOfASite = 6, 3
		// perMinute allows a move every two seconds, and two at once.
		perMinute, atOnce = 30, 2.5
	)

	It("holds when half of the clusters are relabelled, and the policy says who waits", func(ctx SpecContext) {
		namespace := newNamespace(ctx)
		before, after := map[string]int{}, map[string]int{}
		var names []string
		for i := range sites {
			name := fmt.Sprintf("%s-site-%d", namespace, i)
			newCluster(ctx, name, 1)
			label(ctx, name, `{"test.berth.dev/sites":"`+namespace+`"}`)
			names, before[name] = append(names, name), podsOfASite
		}
		newPolicy(ctx, namespace, "p", "web", nil, func(spec *berthv1alpha1.PropagationPolicySpec) {
			spec.Placement = berthv1alpha1.Placement{ClusterGroups: []berthv1alpha1.ClusterGroup{{
				Name: "sites", ClusterSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"test.berth.dev/sites": namespace}},
			}}}
			spec.Rebalance.MaxUnavailable = new(intstr.FromString("100%"))
		})
		newDeployment(ctx, namespace, "web", sites*podsOfASite)
		untilSpread(ctx, namespace, before)
		untilCondition(ctx, namespace, "p", berthv1alpha1.PolicyPlaced, "True AsDesired")
		first := uids(ctx, namespace)

		By("restarting the controller manager with a low limit")
		stopManager()
		startManager(ctx, fmt.Sprintf("--max-moves-per-minute=%d", perMinute))
		DeferCleanup(func(ctx SpecContext) {
			stopManager()
			startManager(ctx)
			untilReady(ctx)
		})
		untilReady(ctx)

		By("relabelling half of the clusters")
		began := time.Now()
		stop := during(ctx, func(ctx context.Context) error {
			left, err := stayed(ctx, namespace, first)
			if err != nil {
				return err
			}
			took := time.Since(began)
			if moved := len(first) - left; float64(moved) > atOnce+took.Minutes()*perMinute {
				return fmt.Errorf("%d pods have moved after %v", moved, took)
			}
			return nil
		})
		for i, name := range names {
			if i%2 == 0 {
				label(ctx, name, `{"test.berth.dev/sites":null}`)
			} else {
				after[name] = 2 * podsOfASite
			}
		}
		Eventually(message).WithContext(ctx).WithArguments(namespace, "p", berthv1alpha1.PolicyPlaced).
			WithTimeout(timeout).WithPolling(poll).Should(ContainSubstring("waiting for --max-moves-per-minute"))
		untilSpread(ctx, namespace, after)
		stop()
		expectStayed(ctx, namespace, first, sites*podsOfASite/2)
	})
})
