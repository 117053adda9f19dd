// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package pages_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/test/integration/internal/installation"
	"berth.dev/berth/test/internal/visitor"
)

const (
	// watchers is how many pages are open at once.
	watchers = 20
	// churnTime is how long things change; BERTH_CHURN, such as 1h, sets another time.
	churnTime = 20 * time.Second
	// spare is how many more files a server may have open than before anybody looked: connections to
	// the API server come and go by themselves.
	spare = 8
)

// churn creates and deletes pods and Clusters, and cordons some, until the context ends.
func churn(ctx context.Context, namespace string) error {
	pods, clusters := client.CoreV1().Pods(namespace), berth.BerthV1alpha1().Clusters()
	for i := 0; ctx.Err() == nil; i++ {
		name := fmt.Sprintf("churn-%d", rand.IntN(40))
		_, err := pods.Create(ctx, &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec:       corev1.PodSpec{SchedulerName: "berth-scheduler", Containers: []corev1.Container{{Name: "main", Image: "registry.invalid/a"}}},
		}, metav1.CreateOptions{})
		if err != nil { // it is there
			err = pods.Delete(ctx, name, *metav1.NewDeleteOptions(0))
		}
		if err != nil && ctx.Err() == nil {
			return fmt.Errorf("changing pod %s: %w", name, err)
		}
		if i%10 != 0 {
			continue
		}
		site := &berthv1alpha1.Cluster{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"tier": "churn"}},
			Spec:       berthv1alpha1.ClusterSpec{MatchLabels: map[string]string{siteLabel: name}, Unschedulable: i%20 == 0},
		}
		if _, err := clusters.Create(ctx, site, metav1.CreateOptions{}); err != nil && ctx.Err() == nil {
			if err := clusters.Delete(ctx, name, metav1.DeleteOptions{}); err != nil && ctx.Err() == nil {
				return fmt.Errorf("changing cluster %s: %w", name, err)
			}
		}
	}
	return nil
}

// openFiles returns how many files and connections a process has open.
func openFiles(pid int) int {
	GinkgoHelper()
	taken, err := visitor.UsageOf(pid)
	Expect(err).NotTo(HaveOccurred())
	return taken.Files
}

func untilLoaded(ctx context.Context, loads *atomic.Int64, least int64) {
	GinkgoHelper()
	Eventually(loads.Load).WithContext(ctx).WithTimeout(timeout).WithPolling(poll).Should(BeNumerically(">=", least))
}

var _ = Describe("twenty pages while everything changes", func() {
	It("leak nothing, and say what the API says as soon as it is quiet", func(ctx SpecContext) {
		newSite(ctx, "beijing", nil)
		namespace := installation.CreateNamespace(ctx, client, "churn-")
		DeferCleanup(func(ctx SpecContext) {
			Expect(berth.BerthV1alpha1().Clusters().DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "tier=churn"})).
				To(Succeed())
		})
		s := servers["berthctl ui"](ctx)
		b := s.open(ctx, "sites")
		before := openFiles(s.pid)

		long, err := time.ParseDuration(os.Getenv("BERTH_CHURN"))
		if err != nil {
			long = churnTime
		}
		watching, stopWatching := context.WithCancel(ctx)
		changing, stopChanging := context.WithTimeout(ctx, long)
		defer stopWatching()
		defer stopChanging()
		var loads atomic.Int64
		var running sync.WaitGroup
		failed := make(chan error, watchers+1)
		transports := make([]*http.Transport, watchers)
		for i := range watchers {
			transports[i] = &http.Transport{}
			v := &visitor.Visitor{
				Client: &http.Client{Transport: transports[i]}, Site: s.address, Loads: &loads,
				Page: []string{"sites", "pools", "applications", "waiting", "clusters/beijing"}[i%5],
			}
			running.Go(func() { failed <- v.Follow(watching) })
		}
		untilLoaded(ctx, &loads, watchers)
		Expect(churn(changing, namespace)).To(Succeed())
		AddReportEntry("pages loaded", loads.Load())
		untilLoaded(ctx, &loads, 2*watchers)

		By("comparing what is shown with what the API has")
		// What was asked for at last may still be under way, so the API is read each time, too.
		Eventually(func(g Gomega) {
			clusters, err := berth.BerthV1alpha1().Clusters().List(ctx, metav1.ListOptions{})
			g.Expect(err).NotTo(HaveOccurred())
			want := make([]string, len(clusters.Items))
			for i := range clusters.Items {
				want[i] = clusters.Items[i].Name
			}
			g.Expect(firsts(b.rows("sites"))).To(Equal(want))
		}).WithContext(ctx).WithTimeout(timeout).WithPolling(poll).Should(Succeed())
		b.visit(s.address + "waiting")
		Eventually(func(g Gomega) {
			pods, err := client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(b.rows("pods")).To(HaveLen(len(pods.Items)))
		}).WithContext(ctx).WithTimeout(timeout).WithPolling(poll).Should(Succeed())

		By("closing them")
		stopWatching()
		running.Wait()
		close(failed)
		for err := range failed {
			Expect(err).NotTo(HaveOccurred())
		}
		for _, t := range transports {
			t.CloseIdleConnections()
		}
		Eventually(func() int { return openFiles(s.pid) }).WithContext(ctx).WithTimeout(timeout).WithPolling(poll).
			Should(BeNumerically("<=", before+spare))
	})
})

// firsts returns the first cell of each row.
func firsts(rows [][]string) []string {
	cells := make([]string, len(rows))
	for i, row := range rows {
		cells[i] = row[0]
	}
	return cells
}
