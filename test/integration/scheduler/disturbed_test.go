// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package scheduler_test

import (
	"context"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// unrest goes on to patch nodes, a hundred times a second, until the spec is over. It returns how
// often it has.
func unrest(nodes []string, patch func(i int) string) *atomic.Int64 {
	done := &atomic.Int64{}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		ticker := time.NewTicker(10 * time.Millisecond)
		defer ticker.Stop()
		for i := 0; ; i++ {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
			_, err := client.CoreV1().Nodes().Patch(ctx, nodes[i%len(nodes)], types.MergePatchType, []byte(patch(i/len(nodes))), metav1.PatchOptions{})
			if err == nil {
				done.Add(1)
			}
		}
	}()
	DeferCleanup(func() {
		cancel()
		<-ended
	})
	return done
}

var _ = Describe("a roll-out beside nodes that do not rest", Serial, func() {
	const replicas = 100

	DescribeTable("decides on each pod once", func(ctx SpecContext, patch func(i int) string) {
		s := newSiteWith(ctx, "beijing", "hangzhou", "elsewhere")
		s.createPolicy(ctx, s.policy("nginx", "Deployment", twoToThree()...))
		done := unrest([]string{s.node("elsewhere", 0), s.node("elsewhere", 1), s.node("elsewhere", 2)}, patch)
		Eventually(done.Load).WithTimeout(timeout).WithPolling(poll).Should(BeNumerically(">", 10))
		before := main.Attempts(ctx)

		s.createDeployment(ctx, s.deployment("nginx", replicas))
		s.expectShares(ctx, "nginx", map[string]int{"beijing": 40, "hangzhou": 60})
		Expect(main.Attempts(ctx) - before).To(BeNumerically("==", replicas))
	},
		Entry("whose labels change", func(i int) string {
			return fmt.Sprintf(`{"metadata":{"labels":{"example.com/changed":%q}}}`, strconv.Itoa(i))
		}),
		Entry("that become ready and unready", func(i int) string {
			if i%2 == 0 {
				return `{"spec":{"taints":[{"key":"node.kubernetes.io/not-ready","effect":"NoSchedule"}]}}`
			}
			return `{"spec":{"taints":[]}}`
		}),
	)
})
