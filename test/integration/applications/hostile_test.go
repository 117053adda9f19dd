// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package applications_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/localplane"
)

const (
	// secret is in what the providers answer, and must be nowhere else.
	secret = "5ecret"
	// rounds with and without hostile providers take turns, and the best ones are compared, so that
	// a busy moment of the machine does not count for one of them.
	rounds, podsPerRound = 3, 20
	// slower is what would show that pods wait for providers. It leaves room for everything else
	// that happens on the machine.
	slower = 3.0
	// grown is how much memory a process may take more at its peak: far less than an answer of 10 GiB.
	grown = 256 << 20
)

// hostile is how a provider answers, and what is said about it.
type hostile struct {
	reason string
	answer http.HandlerFunc
}

// vector answers with these values.
func vector(values ...string) http.HandlerFunc {
	series := make([]string, len(values))
	for i, value := range values {
		series[i] = fmt.Sprintf(`{"metric":{"__name__":"m","s":"%s%d"},"value":[1700000000,%q]}`, secret, i, value)
	}
	body := `{"status":"success","data":{"resultType":"vector","result":[` + strings.Join(series, ",") + `]}}`
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, body) }
}

// endless answers with these parts until the client has enough, up to 10 GiB.
func endless(part string, pause time.Duration) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		for sent := 0; sent < 10<<30; sent += len(part) {
			if _, err := io.WriteString(w, part); err != nil {
				return
			}
			if pause == 0 {
				continue
			}
			w.(http.Flusher).Flush()
			select {
			case <-r.Context().Done():
				return
			case <-time.After(pause):
			}
		}
	}
}

var hostiles = map[string]hostile{
	"hangs":        {berthv1alpha1.ReasonTimeout, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }},
	"drips":        {berthv1alpha1.ReasonTimeout, endless("[", time.Second)},
	"sends-10-gib": {berthv1alpha1.ReasonBadAnswer, endless(strings.Repeat(secret, 10_000), 0)},
	"nan":          {berthv1alpha1.ReasonNotANumber, vector("NaN")},
	"1e400":        {berthv1alpha1.ReasonBadAnswer, vector("1e400")},
	"html": {berthv1alpha1.ReasonBadAnswer, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "<html>"+secret+"</html>")
	}},
	"ten-series":   {berthv1alpha1.ReasonSeveralValues, vector(strings.Fields("1 2 3 4 5 6 7 8 9 10")...)},
	"empty-vector": {berthv1alpha1.ReasonNoValue, vector()},
}

// surround adds one provider of each hostile kind, each with a metric, and a Cluster that has all
// of these.
func surround(ctx context.Context, url string) (remove func()) {
	GinkgoHelper()
	kinds := berth.BerthV1alpha1()
	cluster := &berthv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "surrounded"}}
	for name := range hostiles {
		provider := &berthv1alpha1.GlobalMetricsProvider{ObjectMeta: metav1.ObjectMeta{Name: name}}
		provider.Spec.Type = berthv1alpha1.PrometheusMetrics
		provider.Spec.AllowPlainHTTP = true
		provider.Spec.Prometheus = &berthv1alpha1.PrometheusProvider{URL: berthv1alpha1.ProviderURL(url + "/" + name)}
		_, err := kinds.GlobalMetricsProviders().Create(ctx, provider, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		metric := &berthv1alpha1.GlobalMetric{ObjectMeta: metav1.ObjectMeta{Name: name}}
		metric.Spec = berthv1alpha1.MetricSpec{Max: 1, Provider: berthv1alpha1.MetricSource{Name: name}}
		_, err = kinds.GlobalMetrics().Create(ctx, metric, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		cluster.Spec.Metrics = append(cluster.Spec.Metrics, berthv1alpha1.MetricReference{Name: name, Weight: 1})
	}
	_, err := kinds.Clusters().Create(ctx, cluster, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	return func() {
		GinkgoHelper()
		Expect(kinds.Clusters().Delete(ctx, cluster.Name, metav1.DeleteOptions{})).To(Succeed())
		for name := range hostiles {
			Expect(kinds.GlobalMetrics().Delete(ctx, name, metav1.DeleteOptions{})).To(Succeed())
			Expect(kinds.GlobalMetricsProviders().Delete(ctx, name, metav1.DeleteOptions{})).To(Succeed())
		}
	}
}

// told waits until the Cluster says of each metric why it has no value, and each metric or its
// provider does, and checks that nobody repeats what was answered. These are written one after the
// other, in no order that a client may count on.
func told(ctx context.Context) {
	GinkgoHelper()
	want := map[string]string{}
	for name, h := range hostiles {
		want[name] = h.reason
	}
	Eventually(func(g Gomega) {
		cluster, err := berth.BerthV1alpha1().Clusters().Get(ctx, "surrounded", metav1.GetOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		got := map[string]string{}
		for _, sample := range cluster.Status.Metrics {
			got[sample.Name] = sample.Reason
			g.Expect(sample.Value).To(BeNil(), sample.Name)
		}
		g.Expect(got).To(Equal(want))
	}).WithTimeout(timeout).WithPolling(poll).Should(Succeed())
	for name := range hostiles {
		var text string
		Eventually(func(g Gomega) {
			text = statuses(ctx, g, name)
			g.Expect(text).To(ContainSubstring(hostiles[name].reason), name)
		}).WithTimeout(timeout).WithPolling(poll).Should(Succeed())
		Expect(text).NotTo(ContainSubstring(secret), name)
	}
}

// statuses returns what stands in the status of a metric and of the provider of the same name.
func statuses(ctx context.Context, g Gomega, name string) string {
	metric, err := berth.BerthV1alpha1().GlobalMetrics().Get(ctx, name, metav1.GetOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	provider, err := berth.BerthV1alpha1().GlobalMetricsProviders().Get(ctx, name, metav1.GetOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	text, err := json.Marshal([]any{metric.Status, provider.Status})
	g.Expect(err).NotTo(HaveOccurred())
	return string(text)
}

// latencies returns how long pods, one after the other, take from their creation to a node.
func (s *site) latencies(ctx context.Context) []time.Duration {
	GinkgoHelper()
	var found []time.Duration
	for range podsPerRound {
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{GenerateName: "timed-", Annotations: map[string]string{
				berthv1alpha1.ClusterLabelConstraintAnnotation: "site is " + s.namespace,
			}},
			Spec: corev1.PodSpec{SchedulerName: "berth-scheduler", Containers: []corev1.Container{{Name: "main", Image: "pause"}}},
		}
		begin := time.Now()
		pod, err := client.CoreV1().Pods(s.namespace).Create(ctx, pod, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		stream, err := client.CoreV1().Pods(s.namespace).Watch(ctx, metav1.ListOptions{
			ResourceVersion: pod.ResourceVersion, FieldSelector: "metadata.name=" + pod.Name,
		})
		Expect(err).NotTo(HaveOccurred())
		Eventually(stream.ResultChan()).WithTimeout(timeout).Should(Receive(HaveField("Object.Spec.NodeName", Not(BeEmpty()))))
		found = append(found, time.Since(begin))
		stream.Stop()
		Expect(client.CoreV1().Pods(s.namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{})).To(Succeed())
	}
	return found
}

func median(values []time.Duration) time.Duration {
	return slices.Sorted(slices.Values(values))[len(values)/2]
}

// peak returns the most memory that a process ever had, in bytes.
func peak(process *localplane.Process) int {
	GinkgoHelper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", process.PID()))
	Expect(err).NotTo(HaveOccurred())
	_, after, found := strings.Cut(string(text), "VmHWM:")
	Expect(found).To(BeTrue())
	kilobytes, err := strconv.Atoi(strings.Fields(after)[0])
	Expect(err).NotTo(HaveOccurred())
	return kilobytes << 10
}

var _ = Describe("Providers that hang, lie or answer without end", func() {
	It("are told of in the status, delay no pod, and take no memory", func(ctx SpecContext) {
		mux := http.NewServeMux()
		for name, h := range hostiles {
			mux.HandleFunc("/"+name+"/", func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				h.answer(w, r)
			})
		}
		server := httptest.NewServer(mux)
		DeferCleanup(server.CloseClientConnections)

		s := newSite(ctx, map[string]float64{"berlin": 0.5})
		s.latencies(ctx)
		without, with := time.Hour, time.Hour
		before := peak(controllers)
		for range rounds {
			without = min(without, median(s.latencies(ctx)))
			remove := surround(ctx, server.URL)
			with = min(with, median(s.latencies(ctx)))
			told(ctx)
			remove()
		}
		more := peak(controllers) - before
		ratio := float64(with) / float64(without)
		AddReportEntry("latency of a pod with and without hostile providers",
			fmt.Sprintf("%v / %v = %.2f (the lower of %d medians of %d pods each)", with, without, ratio, rounds, podsPerRound))
		AddReportEntry("memory of the controller manager", fmt.Sprintf("%d MiB more at its peak", more>>20))
		Expect(ratio).To(BeNumerically("<", slower))
		Expect(more).To(BeNumerically("<", grown))
	})
})
