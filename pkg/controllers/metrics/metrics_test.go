// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package metrics_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/controllers/internal/metricstest"
	"berth.dev/berth/pkg/controllers/internal/schemetest"
	"berth.dev/berth/pkg/controllers/internal/singleton"
	"berth.dev/berth/pkg/controllers/metrics"
	"berth.dev/berth/pkg/metricsources"
)

// start is when the tests begin.
var start = time.Unix(1_800_000_000, 0)

// harness runs the sampler and the reconciler on a fake API server.
type harness struct {
	t          *testing.T
	api        client.Client
	clock      *clocktesting.FakeClock
	sampler    *metrics.Sampler
	reconciler *metrics.Reconciler
	writes     []string
}

func newHarness(t *testing.T, objects ...client.Object) *harness {
	t.Helper()
	scheme := schemetest.New()
	h := &harness{t: t, clock: clocktesting.NewFakeClock(start)}
	for _, object := range objects {
		object.SetUID(types.UID(fmt.Sprintf("%T/%s/%s", object, object.GetNamespace(), object.GetName())))
		object.SetGeneration(1)
	}
	builder := fake.NewClientBuilder()
	if err := metrics.IndexPods(t.Context(), schemetest.Indexer{Builder: builder}); err != nil {
		t.Fatal(err)
	}
	h.api = builder.WithScheme(scheme).WithObjects(objects...).
		WithStatusSubresource(&berthv1alpha1.Cluster{}, &berthv1alpha1.Metric{}, &berthv1alpha1.GlobalMetric{},
			&berthv1alpha1.MetricsProvider{}, &berthv1alpha1.GlobalMetricsProvider{}, &berthv1alpha1.Cloud{},
			&berthv1alpha1.GlobalCloud{}, &berthv1alpha1.OpenStackProject{}).
		WithInterceptorFuncs(interceptor.Funcs{
			SubResourcePatch: func(
				ctx context.Context, c client.Client, sub string, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption,
			) error {
				h.writes = append(h.writes, o.GetName())
				return c.SubResource(sub).Patch(ctx, o, p, opts...)
			},
		}).Build()
	h.restart()
	return h
}

// restart begins anew with what the API server has.
func (h *harness) restart() {
	h.sampler = metrics.NewSampler(metrics.Options{
		Reader: h.api, Secrets: h.api, Namespace: "berth-credentials", Interval: time.Minute,
		Guard: &metricsources.Guard{Loopback: true}, PlainHTTP: true,
		AllowHost: metricsources.HostList([]string{"allowed.example.com"}), Clock: h.clock,
	})
	h.reconciler = metrics.New(h.api, h.sampler, 0.001)
}

// round reads all metrics and writes what is new.
func (h *harness) round() {
	h.t.Helper()
	if err := h.sampler.Round(h.t.Context()); err != nil {
		h.t.Fatal(err)
	}
	h.pass()
}

func (h *harness) pass() {
	h.t.Helper()
	h.writes = nil
	if _, err := h.reconciler.Reconcile(h.t.Context(), singleton.Key{}); err != nil {
		h.t.Fatal(err)
	}
	slices.Sort(h.writes)
}

// patience is how long something may take that takes milliseconds on an idle machine.
const patience = time.Minute

// until waits for something.
func (h *harness) until(what string, holds func() bool) {
	h.t.Helper()
	err := wait.PollUntilContextTimeout(h.t.Context(), time.Millisecond, patience, true,
		func(context.Context) (bool, error) { return holds(), nil })
	if err != nil {
		h.t.Fatalf("waiting for %s: %v", what, err)
	}
}

func (h *harness) get(object client.Object, name string) {
	h.t.Helper()
	if err := h.api.Get(h.t.Context(), client.ObjectKey{Namespace: object.GetNamespace(), Name: name}, object); err != nil {
		h.t.Fatal(err)
	}
}

// sample returns "0.5 fresh" or "0.5 stale Timeout" for the first metric of a cluster.
func (h *harness) sample(cluster string) string {
	h.t.Helper()
	var c berthv1alpha1.Cluster
	h.get(&c, cluster)
	if len(c.Status.Metrics) == 0 {
		return "none"
	}
	return tell(c.Status.Metrics[0])
}

func tell(s berthv1alpha1.MetricSample) string {
	words := []string{"no value"}
	if s.Value != nil {
		words = []string{fmt.Sprint(*s.Normalized), "fresh"}
	}
	if s.Stale {
		words[1] = "stale"
	}
	if s.Reason != "" {
		words = append(words, s.Reason)
	}
	return strings.Join(words, " ")
}

func condition(conditions []metav1.Condition, kind string) string {
	c := apimeta.FindStatusCondition(conditions, kind)
	if c == nil {
		return "none"
	}
	return fmt.Sprintf("%s %s: %s", c.Status, c.Reason, c.Message)
}

func globalMetric(name, provider string) *berthv1alpha1.GlobalMetric {
	return &berthv1alpha1.GlobalMetric{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       berthv1alpha1.MetricSpec{Max: 10, Provider: berthv1alpha1.MetricSource{Name: provider, Metric: "x"}},
	}
}

func staticProvider(name string, value float64) *berthv1alpha1.GlobalMetricsProvider {
	p := &berthv1alpha1.GlobalMetricsProvider{ObjectMeta: metav1.ObjectMeta{Name: name}}
	p.Spec.Type = berthv1alpha1.StaticMetrics
	p.Spec.Static = &berthv1alpha1.StaticProvider{Metrics: map[string]float64{"x": value}}
	return p
}

func prometheusProvider(name, url string) *berthv1alpha1.GlobalMetricsProvider {
	p := &berthv1alpha1.GlobalMetricsProvider{ObjectMeta: metav1.ObjectMeta{Name: name}}
	p.Spec.Type, p.Spec.AllowPlainHTTP = berthv1alpha1.PrometheusMetrics, true
	p.Spec.Prometheus = &berthv1alpha1.PrometheusProvider{URL: berthv1alpha1.ProviderURL(url)}
	return p
}

func cluster(name string, references ...berthv1alpha1.MetricReference) *berthv1alpha1.Cluster {
	return &berthv1alpha1.Cluster{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: berthv1alpha1.ClusterSpec{Metrics: references},
	}
}

func load() berthv1alpha1.MetricReference {
	return berthv1alpha1.MetricReference{Name: "load", Weight: 1}
}

// server is a Prometheus server that can be told what to answer.
type server struct {
	url   string
	asked atomic.Int32
	body  atomic.Pointer[string]
}

func newServer(t *testing.T, value string) *server {
	t.Helper()
	s := &server{}
	s.set(value)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		s.asked.Add(1)
		body := *s.body.Load()
		if body == "" {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(web.Close)
	s.url = web.URL
	return s
}

// set makes the server answer with a value, or with an error if that is empty.
func (s *server) set(value string) {
	body := ""
	if value != "" {
		body = `{"status":"success","data":{"resultType":"vector","result":[{"metric":{},"value":[1,"` + value + `"]}]}}`
	}
	s.body.Store(&body)
}

func TestSampling(t *testing.T) {
	clusters := make([]client.Object, 0, 202)
	for i := range 200 {
		clusters = append(clusters, cluster(fmt.Sprintf("c%d", i), load()))
	}
	prometheus := newServer(t, "5")
	h := newHarness(t, append(clusters, globalMetric("load", "p"), prometheusProvider("p", prometheus.url))...)

	h.round()
	if got := prometheus.asked.Load(); got != 1 {
		t.Errorf("200 clusters made %d requests for one metric, want 1", got)
	}
	if got := len(h.writes); got != 202 {
		t.Errorf("%d writes, want one for each cluster, the metric and the provider", got)
	}
	if got := h.sample("c199"); got != "0.5 fresh" {
		t.Errorf("sample %q", got)
	}
	var c berthv1alpha1.Cluster
	h.get(&c, "c0")
	if got, want := condition(c.Status.Conditions, "MetricsAvailable"), "True MetricsRead: all metrics were read"; got != want {
		t.Errorf("condition %q, want %q", got, want)
	}

	h.clock.Step(time.Minute)
	h.round()
	prometheus.set("5.005")
	h.round()
	if len(h.writes) > 0 {
		t.Errorf("nothing changed noticeably, and there were %d writes", len(h.writes))
	}
	prometheus.set("6")
	h.round()
	if got := h.sample("c7"); got != "0.6 fresh" || len(h.writes) != 201 {
		t.Errorf("after a change: sample %q, %d writes", got, len(h.writes))
	}
}

func TestProviderDies(t *testing.T) {
	prometheus := newServer(t, "5")
	h := newHarness(t, cluster("a", load()), globalMetric("load", "p"), prometheusProvider("p", prometheus.url))
	h.round()
	prometheus.set("")
	for _, step := range []struct {
		after time.Duration
		want  string
	}{
		{0, "0.5 fresh BadAnswer"},
		{4 * time.Minute, "0.5 fresh BadAnswer"},
		{time.Minute, "0.5 stale BadAnswer"},
		{time.Hour, "0.5 stale BadAnswer"},
	} {
		h.clock.Step(step.after)
		h.round()
		if got := h.sample("a"); got != step.want {
			t.Errorf("after %v: sample %q, want %q", step.after, got, step.want)
		}
	}
	var c berthv1alpha1.Cluster
	h.get(&c, "a")
	if got, want := condition(c.Status.Conditions, "MetricsAvailable"), "False BadAnswer: metric load: BadAnswer"; got != want {
		t.Errorf("condition of the cluster %q, want %q", got, want)
	}
	var p berthv1alpha1.GlobalMetricsProvider
	h.get(&p, "p")
	if got, want := condition(p.Status.Conditions, "Reachable"), "False BadAnswer: the provider answered with HTTP status 503"; got != want {
		t.Errorf("condition of the provider %q, want %q", got, want)
	}

	h.restart()
	h.pass()
	if got := h.sample("a"); got != "0.5 stale BadAnswer" || len(h.writes) > 0 {
		t.Errorf("after a restart: sample %q, writes %v", got, h.writes)
	}
	h.round()
	if got := h.sample("a"); got != "0.5 fresh BadAnswer" {
		t.Errorf("after a restart the age counts anew, but the sample is %q", got)
	}
	prometheus.set("7")
	h.clock.Step(time.Hour)
	h.round()
	if got := h.sample("a"); got != "0.7 fresh" {
		t.Errorf("when it works again: sample %q", got)
	}
}

func TestBreakerSparesAProvider(t *testing.T) {
	prometheus := newServer(t, "")
	objects := []client.Object{prometheusProvider("p", prometheus.url)}
	for i := range 50 {
		objects = append(objects, globalMetric(fmt.Sprintf("m%d", i), "p"))
	}
	h := newHarness(t, objects...)
	h.round()
	if got := prometheus.asked.Load(); got != 3 {
		t.Errorf("a provider that does not work was asked %d times for 50 metrics, want 3", got)
	}
	for i := range 50 {
		var m berthv1alpha1.GlobalMetric
		h.get(&m, fmt.Sprintf("m%d", i))
		if got := condition(m.Status.Conditions, "Available"); !strings.HasPrefix(got, "False BadAnswer") {
			t.Errorf("m%d: condition %q", i, got)
		}
	}
}

func TestReasons(t *testing.T) {
	namespaced := func(url string) *berthv1alpha1.MetricsProvider {
		p := &berthv1alpha1.MetricsProvider{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "p"}}
		p.Spec = prometheusProvider("p", url).Spec.MetricsProviderSpec
		return p
	}
	teamMetric := &berthv1alpha1.Metric{
		ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "load"}, Spec: globalMetric("load", "p").Spec,
	}
	teamLoad := berthv1alpha1.MetricReference{Name: "load", Namespace: "team", Weight: 1}
	secured := prometheusProvider("p", "http://127.0.0.1:1")
	secured.Spec.CredentialsSecret = "missing"
	tests := map[string]struct {
		objects []client.Object
		cluster *berthv1alpha1.Cluster
		want    string
	}{
		"no metric":   {cluster: cluster("a", load()), want: "no value UnknownMetric"},
		"no provider": {cluster: cluster("a", load()), objects: []client.Object{globalMetric("load", "p")}, want: "no value UnknownProvider"},
		"a provider of a namespace for a global metric": {
			cluster: cluster("a", load()), objects: []client.Object{globalMetric("load", "p"), namespaced("http://127.0.0.1")},
			want: "no value UnknownProvider",
		},
		"a metric of another namespace": {
			cluster: cluster("a", berthv1alpha1.MetricReference{Name: "load", Namespace: "other", Weight: 1}),
			objects: []client.Object{teamMetric}, want: "no value UnknownMetric",
		},
		"out of range": {
			cluster: cluster("a", load()), objects: []client.Object{globalMetric("load", "p"), staticProvider("p", 11)},
			want: "no value OutOfRange",
		},
		"a metadata address": {
			cluster: cluster("a", load()),
			objects: []client.Object{globalMetric("load", "p"), prometheusProvider("p", "http://169.254.169.254")},
			want:    "no value AddressNotAllowed",
		},
		"a host that is not allowed for namespaces": {
			cluster: cluster("a", teamLoad), objects: []client.Object{teamMetric, namespaced("http://127.0.0.1:1")},
			want: "no value AddressNotAllowed",
		},
		"no secret": {
			cluster: cluster("a", load()), objects: []client.Object{globalMetric("load", "p"), secured},
			want: "no value MissingCredentials",
		},
		"underscores as in Krake": {
			cluster: cluster("a", berthv1alpha1.MetricReference{Name: "heat_demand", Weight: 1}),
			objects: []client.Object{globalMetric("heat-demand", "static_provider"), staticProvider("static-provider", 5)},
			want:    "0.5 fresh",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var objects []client.Object
			for _, o := range append(tc.objects, tc.cluster) {
				objects = append(objects, o.DeepCopyObject().(client.Object))
			}
			h := newHarness(t, objects...)
			h.round()
			if got := h.sample("a"); got != tc.want {
				t.Errorf("sample %q, want %q", got, tc.want)
			}
		})
	}
}

// BerthMetricUnread is raised by what is counted.
func TestReadsThatCannotBeTriedAreCounted(t *testing.T) {
	secured := prometheusProvider("p", "http://127.0.0.1:1")
	secured.Spec.CredentialsSecret = "missing"
	for name, tc := range map[string]struct {
		objects      []client.Object
		kind, reason string
	}{
		"no provider": {kind: "none", reason: "UnknownProvider"},
		"no secret":   {objects: []client.Object{secured}, kind: "prometheus", reason: "MissingCredentials"},
		"an address that is not allowed": {
			objects: []client.Object{prometheusProvider("p", "http://169.254.169.254")}, kind: "prometheus", reason: "AddressNotAllowed",
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t, append(tc.objects, globalMetric("a", "p"), globalMetric("b", "p"))...)
			labels := tc.reason + " " + tc.kind
			before := metricstest.Series(t, "berth_metric_reads_total")[labels]
			h.round()
			if got := metricstest.Series(t, "berth_metric_reads_total")[labels] - before; got != 2 {
				t.Errorf("%v reads of two metrics are counted", got)
			}
		})
	}
}

func TestCredentialsComeFromTheSecret(t *testing.T) {
	sent := make(chan string, 1)
	web := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { sent <- r.Header.Get("Authorization") }))
	defer web.Close()
	p := prometheusProvider("p", web.URL)
	p.Spec.CredentialsSecret = "prometheus"
	h := newHarness(t, globalMetric("load", "p"), p, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "berth-credentials", Name: "prometheus"}, Data: map[string][]byte{"token": []byte("t")},
	})
	h.round()
	if got := <-sent; got != "Bearer t" {
		t.Errorf("sent %q", got)
	}
}

func TestMetricGoesAndComes(t *testing.T) {
	h := newHarness(t, cluster("a", load()), globalMetric("load", "p"), staticProvider("p", 5))
	h.round()
	if err := h.api.Delete(t.Context(), globalMetric("load", "p")); err != nil {
		t.Fatal(err)
	}
	h.round()
	if got := h.sample("a"); got != "0.5 stale UnknownMetric" {
		t.Errorf("without the metric: sample %q", got)
	}
	var c berthv1alpha1.Cluster
	h.get(&c, "a")
	c.Spec.Metrics = nil
	if err := h.api.Update(t.Context(), &c); err != nil {
		t.Fatal(err)
	}
	h.round()
	h.get(&c, "a")
	if diff := cmp.Diff(berthv1alpha1.ClusterStatus{}, c.Status); diff != "" {
		t.Errorf("without references nothing is left (-want +got)\n%s", diff)
	}
}

func TestCloudsAndProjects(t *testing.T) {
	references := []berthv1alpha1.MetricReference{load(), {Name: "load", Namespace: "other", Weight: 1}}
	foreign := &berthv1alpha1.Metric{
		ObjectMeta: metav1.ObjectMeta{Namespace: "other", Name: "load"}, Spec: globalMetric("load", "p").Spec,
	}
	h := newHarness(t, globalMetric("load", "p"), staticProvider("p", 5), foreign,
		&berthv1alpha1.Cloud{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "c"}, Spec: berthv1alpha1.CloudSpec{Metrics: references}},
		&berthv1alpha1.GlobalCloud{
			ObjectMeta: metav1.ObjectMeta{Name: "g"},
			Spec:       berthv1alpha1.GlobalCloudSpec{CloudSpec: berthv1alpha1.CloudSpec{Metrics: references[:1]}},
		},
		&berthv1alpha1.OpenStackProject{
			ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "p"}, Spec: berthv1alpha1.OpenStackProjectSpec{Metrics: references},
		})
	h.round()
	cloud, project := &berthv1alpha1.Cloud{}, &berthv1alpha1.OpenStackProject{}
	cloud.Namespace, project.Namespace = "team", "team"
	var global berthv1alpha1.GlobalCloud
	h.get(cloud, "c")
	h.get(project, "p")
	h.get(&global, "g")
	for name, status := range map[string]berthv1alpha1.CloudStatus{"cloud": cloud.Status, "project": project.Status, "global": global.Status} {
		var got []string
		for _, s := range status.Metrics {
			got = append(got, tell(s))
		}
		want := []string{"0.5 fresh", "no value UnknownMetric"}
		if name == "global" {
			want = want[:1]
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
}

// A provider that hangs delays no other one.
func TestHangingProvider(t *testing.T) {
	hung := make(chan struct{})
	web := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		select {
		case <-hung:
		case <-r.Context().Done():
		}
	}))
	defer web.Close()
	defer close(hung)
	h := newHarness(t, cluster("a", load()), globalMetric("load", "good"), staticProvider("good", 5),
		globalMetric("other", "bad"), prometheusProvider("bad", web.URL))
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- h.sampler.Round(ctx) }()
	h.until("the good metric, while another provider hangs", func() bool {
		h.pass()
		return h.sample("a") == "0.5 fresh"
	})
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// What is new is read without waiting for the next interval, and nothing else is.
func TestNotice(t *testing.T) {
	prometheus := newServer(t, "5")
	h := newHarness(t, cluster("a", load()), globalMetric("load", "p"), staticProvider("p", 5),
		globalMetric("other", "q"), prometheusProvider("q", prometheus.url))
	h.round()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- h.sampler.Start(ctx) }()
	// The first round is under way when the server waits for its turn beside the ticker.
	h.until("the first round", func() bool { return h.clock.Waiters() == 2 })
	var p berthv1alpha1.GlobalMetricsProvider
	h.get(&p, "p")
	p.Spec.Static.Metrics["x"] = 7
	p.Generation++
	if err := h.api.Update(t.Context(), &p); err != nil {
		t.Fatal(err)
	}
	h.sampler.Notice()
	h.until("the new value", func() bool {
		h.pass()
		return h.sample("a") == "0.7 fresh"
	})
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if got := prometheus.asked.Load(); got != 1 {
		t.Errorf("a provider that did not change was asked %d times, want once", got)
	}
}
