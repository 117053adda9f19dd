// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"context"
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/localplane"
)

// clusterState is what a spec waits for.
type clusterState struct {
	Nodes, Ready      int32
	Contained         int
	ReadyIs, Conflict string
}

func stateOf(ctx context.Context, name string) (clusterState, error) {
	c, err := berth.BerthV1alpha1().Clusters().Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return clusterState{}, err
	}
	reason := func(conditionType string) string {
		found := apimeta.FindStatusCondition(c.Status.Conditions, conditionType)
		if found == nil {
			return ""
		}
		return string(found.Status) + " " + found.Reason
	}
	return clusterState{
		Nodes: c.Status.NodeCount, Ready: c.Status.ReadyNodeCount, Contained: len(c.Status.ContainedNodes),
		ReadyIs: reason(berthv1alpha1.ClusterReady), Conflict: reason(berthv1alpha1.ClusterConflicted),
	}, nil
}

func untilState(ctx context.Context, name string, want clusterState) {
	GinkgoHelper()
	Eventually(stateOf).WithContext(ctx).WithArguments(name).WithTimeout(timeout).WithPolling(poll).Should(Equal(want))
}

// newPlainCluster makes a cluster that names nodes.
func newPlainCluster(ctx context.Context, name string, nodes ...string) {
	GinkgoHelper()
	_, err := berth.BerthV1alpha1().Clusters().Create(ctx, &berthv1alpha1.Cluster{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: berthv1alpha1.ClusterSpec{Nodes: nodes},
	}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func(ctx SpecContext) {
		// A spec may have deleted it.
		_ = berth.BerthV1alpha1().Clusters().Delete(ctx, name, metav1.DeleteOptions{})
	})
}

func patchNode(ctx context.Context, name, patch string, subresources ...string) {
	GinkgoHelper()
	_, err := client.CoreV1().Nodes().Patch(ctx, name, types.StrategicMergePatchType, []byte(patch), metav1.PatchOptions{}, subresources...)
	Expect(err).NotTo(HaveOccurred())
}

const (
	nodesReady, noReadyNodes, noNodes = "True NodesReady", "False NoReadyNodes", "False NoNodes"
	noConflict, heldByOthers          = "False NoConflict", "True NodesHeldByOthers"
)

var _ = Describe("The status of a Cluster", func() {
	It("follows its nodes", func(ctx SpecContext) {
		name := newNamespace(ctx)
		newCluster(ctx, name, 3)
		untilState(ctx, name, clusterState{3, 3, 3, nodesReady, noConflict})

		patchNode(ctx, name+"-0", `{"spec":{"unschedulable":true}}`)
		untilState(ctx, name, clusterState{3, 2, 3, nodesReady, noConflict})

		Expect(client.CoreV1().Nodes().Delete(ctx, name+"-1", metav1.DeleteOptions{})).To(Succeed())
		patchNode(ctx, name+"-2", `{"spec":{"unschedulable":true}}`)
		untilState(ctx, name, clusterState{2, 0, 2, noReadyNodes, noConflict})

		patchNode(ctx, name+"-0", `{"metadata":{"labels":{"`+clusterLabel+`":"elsewhere"}}}`)
		patchNode(ctx, name+"-2", `{"metadata":{"labels":{"`+clusterLabel+`":null}}}`)
		untilState(ctx, name, clusterState{0, 0, 0, noNodes, noConflict})
		patchNode(ctx, name+"-0", `{"metadata":{"labels":{"`+clusterLabel+`":"`+name+`"}}}`)
		patchNode(ctx, name+"-2", `{"metadata":{"labels":{"`+clusterLabel+`":"`+name+`"}}}`)
		untilState(ctx, name, clusterState{2, 0, 2, noReadyNodes, noConflict})
	})

	It("tells who holds a node that two claim, and every loser when the node gets free", func(ctx SpecContext) {
		prefix := newNamespace(ctx)
		newCluster(ctx, prefix, 1)
		node := prefix + "-0"
		// By name beats by label; among those by name the one that was there first wins.
		for i, name := range []string{prefix + "-b", prefix + "-a", prefix + "-c"} {
			newPlainCluster(ctx, name, node)
			if i == 0 {
				untilState(ctx, name, clusterState{1, 1, 1, nodesReady, noConflict})
				// Ages are in seconds.
				untilOlderThan(ctx, name, time.Second)
			}
		}
		untilState(ctx, prefix, clusterState{0, 0, 0, noNodes, heldByOthers})
		untilState(ctx, prefix+"-a", clusterState{0, 0, 0, noNodes, heldByOthers})
		untilState(ctx, prefix+"-c", clusterState{0, 0, 0, noNodes, heldByOthers})
		c, err := berth.BerthV1alpha1().Clusters().Get(ctx, prefix+"-c", metav1.GetOptions{})
		Expect(err).NotTo(HaveOccurred())
		Expect(apimeta.FindStatusCondition(c.Status.Conditions, berthv1alpha1.ClusterConflicted).Message).
			To(Equal("node " + node + " belongs to cluster " + prefix + "-b"))

		Expect(berth.BerthV1alpha1().Clusters().Delete(ctx, prefix+"-b", metav1.DeleteOptions{})).To(Succeed())
		Eventually(func(g Gomega) {
			holders, losers := 0, 0
			for _, name := range []string{prefix, prefix + "-a", prefix + "-c"} {
				state, err := stateOf(ctx, name)
				g.Expect(err).NotTo(HaveOccurred())
				switch state {
				case clusterState{1, 1, 1, nodesReady, noConflict}:
					holders++
				case clusterState{0, 0, 0, noNodes, heldByOthers}:
					losers++
				}
			}
			g.Expect([]int{holders, losers}).To(Equal([]int{1, 2}))
		}).WithTimeout(timeout).WithPolling(poll).Should(Succeed())
	})

	It("is written a few times in a burst of 500 node events, and not at all for heartbeats", func(ctx SpecContext) {
		const nodes = 500
		name := newNamespace(ctx)
		newCluster(ctx, name, 0)
		untilState(ctx, name, clusterState{0, 0, 0, noNodes, noConflict})
		watcher, err := berth.BerthV1alpha1().Clusters().Watch(ctx, metav1.ListOptions{FieldSelector: "metadata.name=" + name})
		Expect(err).NotTo(HaveOccurred())
		defer watcher.Stop()

		began := time.Now()
		Expect(localplane.CreateNodes(ctx, client, name, nodes, map[string]string{clusterLabel: name}, nil)).To(Succeed())
		counts, seen := 0, [2]int32{}
		Eventually(func() int32 {
			event := <-watcher.ResultChan()
			c, is := event.Object.(*berthv1alpha1.Cluster)
			Expect(is).To(BeTrue(), "the watch has ended with %v", event)
			// Other controllers write conditions of their own, which change no count.
			if count := [2]int32{c.Status.NodeCount, c.Status.ReadyNodeCount}; count != seen {
				counts, seen = counts+1, count
			}
			return c.Status.ReadyNodeCount
		}).WithTimeout(timeout).WithPolling(0).Should(BeEquivalentTo(nodes))
		// One count for each half second, and one more that the clusters of the spec before may
		// cause by going.
		Expect(counts).To(BeNumerically("<=", 2+int(time.Since(began)/(500*time.Millisecond))))

		before := untilAllTold(ctx, name)
		heartbeat := time.Now().UTC().Format(time.RFC3339)
		errs := make([]error, nodes)
		workqueue.ParallelizeUntil(ctx, 8, nodes, func(i int) {
			patch := fmt.Sprintf(`{"status":{"conditions":[{"type":"Ready","lastHeartbeatTime":%q}]}}`, heartbeat)
			_, errs[i] = client.CoreV1().Nodes().Patch(ctx, fmt.Sprintf("%s-%d", name, i), types.StrategicMergePatchType,
				[]byte(patch), metav1.PatchOptions{}, "status")
		})
		Expect(errs).To(HaveEach(BeNil()))
		Consistently(func() (string, error) {
			c, err := berth.BerthV1alpha1().Clusters().Get(ctx, name, metav1.GetOptions{})
			return c.ResourceVersion, err
		}).WithTimeout(settle).WithPolling(poll).Should(Equal(before.ResourceVersion))
	})

	It("leaves the conditions of other controllers alone", func(ctx SpecContext) {
		name := newNamespace(ctx)
		newCluster(ctx, name, 1)
		untilState(ctx, name, clusterState{1, 1, 1, nodesReady, noConflict})
		Eventually(func() error {
			c, err := berth.BerthV1alpha1().Clusters().Get(ctx, name, metav1.GetOptions{})
			Expect(err).NotTo(HaveOccurred())
			apimeta.SetStatusCondition(&c.Status.Conditions, metav1.Condition{Type: "Audited", Status: metav1.ConditionTrue, Reason: "Yearly"})
			_, err = berth.BerthV1alpha1().Clusters().UpdateStatus(ctx, c, metav1.UpdateOptions{})
			return err
		}).WithTimeout(timeout).WithPolling(poll).Should(Succeed())

		patchNode(ctx, name+"-0", `{"spec":{"unschedulable":true}}`)
		untilState(ctx, name, clusterState{1, 0, 1, noReadyNodes, noConflict})
		c, err := berth.BerthV1alpha1().Clusters().Get(ctx, name, metav1.GetOptions{})
		Expect(err).NotTo(HaveOccurred())
		Expect(apimeta.IsStatusConditionTrue(c.Status.Conditions, "Audited")).To(BeTrue())
	})
})

// untilAllTold waits until all controllers that write conditions of a cluster with ready nodes have
// written theirs: those that follow the share of ready nodes and the homes have their say after the
// count.
func untilAllTold(ctx context.Context, name string) (c *berthv1alpha1.Cluster) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		var err error
		c, err = berth.BerthV1alpha1().Clusters().Get(ctx, name, metav1.GetOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(apimeta.IsStatusConditionTrue(c.Status.Conditions, berthv1alpha1.ClusterOnline)).To(BeTrue())
		g.Expect(apimeta.FindStatusCondition(c.Status.Conditions, berthv1alpha1.ClusterBound)).NotTo(BeNil())
	}).WithTimeout(timeout).WithPolling(poll).Should(Succeed())
	return c
}

// untilOlderThan waits until the clock of the API server is past the creation of a cluster by so
// much.
func untilOlderThan(ctx context.Context, name string, age time.Duration) {
	GinkgoHelper()
	c, err := berth.BerthV1alpha1().Clusters().Get(ctx, name, metav1.GetOptions{})
	Expect(err).NotTo(HaveOccurred())
	Eventually(func() time.Duration { return time.Since(c.CreationTimestamp.Time) }).
		WithTimeout(timeout).WithPolling(poll).Should(BeNumerically(">", age))
}
