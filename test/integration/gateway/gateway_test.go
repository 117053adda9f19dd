// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gexec"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"berth.dev/berth/pkg/gateway"
	"berth.dev/berth/pkg/localplane"
	"berth.dev/berth/pkg/model/stamp"
	"berth.dev/berth/pkg/registration"
	"berth.dev/berth/test/integration/internal/installation"
)

func example() string {
	GinkgoHelper()
	data, err := os.ReadFile(installation.Path("examples", "registration", "cluster1.json"))
	Expect(err).NotTo(HaveOccurred())
	return string(data)
}

var _ = Describe("The registration API", func() {
	It("registers the published example, shows it everywhere, changes it and unregisters it", func(ctx SpecContext) {
		unregisterAfterwards("cluster1")
		created := send(ctx, registrar, http.MethodPost, clusters, example())
		profile := profileOf(created, http.StatusCreated)
		Expect(registration.IsID(profile.ID)).To(BeTrue(), profile.ID)
		Expect(profile.Spec.HomeScheduler).To(BeEmpty())
		Expect(profile.Spec.HomeDispatcher).To(Equal("dispatcher1"))
		Expect(created.header.Get("Warning")).To(ContainSubstring("HomeScheduler is ignored"))

		for _, url := range gateways {
			for _, path := range []string{"/id/" + profile.ID, "/name/cluster1", "/" + profile.ID, "/cluster1", "/name/cluster%31"} {
				Expect(sendTo(ctx, url, registrar, http.MethodGet, clusters+path, "").body).To(Equal(created.body), path)
			}
		}
		expectProblem(sendTo(ctx, gateways[1], registrar, http.MethodPost, clusters, example()), 409, gateway.CodeAlreadyExists, `"cluster1"`)

		stored, err := berth.BerthV1alpha1().Clusters().Get(ctx, "cluster1", metav1.GetOptions{})
		Expect(err).NotTo(HaveOccurred())
		Expect(stored.Spec.HomeScheduler).To(BeEmpty())
		Expect(stored.Spec.Flavors).To(HaveLen(5))
		stored.Status.HomeScheduler = "scheduler7"
		_, err = berth.BerthV1alpha1().Clusters().UpdateStatus(ctx, stored, metav1.UpdateOptions{})
		Expect(err).NotTo(HaveOccurred())

		changed := strings.Replace(example(), `"ServerPrice": 10`, `"ServerPrice": 11, "nodes": ["n1"]`, 1)
		tag := created.header.Get("ETag")
		expectProblem(send(ctx, registrar, http.MethodPut, clusters+"/cluster1", changed, "If-Match", tag), 412, gateway.CodePreconditionFailed, "If-Match")
		updated := profileOf(send(ctx, registrar, http.MethodPut, clusters+"/id/"+profile.ID, changed), http.StatusOK)
		Expect(updated.Spec.ServerPrice).To(BeEquivalentTo(11))
		Expect(updated.Spec.Nodes).To(Equal([]string{"n1"}))
		Expect(updated.Spec.HomeScheduler).To(Equal("scheduler7"))

		expectProblem(send(ctx, registrar, http.MethodDelete, clusters+"/cluster1", "", "If-Match", tag), 412, gateway.CodePreconditionFailed, "If-Match")
		tag = send(ctx, registrar, http.MethodGet, clusters+"/cluster1", "").header.Get("ETag")
		deleted := sendTo(ctx, gateways[1], registrar, http.MethodDelete, clusters+"/id/"+profile.ID, "", "If-Match", tag)
		Expect(deleted.body).To(Equal(`{"deleted":"` + profile.ID + `"}` + "\n"))
		for _, url := range gateways {
			expectProblem(sendTo(ctx, url, registrar, http.MethodGet, clusters+"/id/"+profile.ID, ""), 404, gateway.CodeNotFound, profile.ID)
		}
		again := profileOf(send(ctx, registrar, http.MethodPost, clusters, example()), http.StatusCreated)
		Expect(again.ID).NotTo(Equal(profile.ID))
	})

	DescribeTable("passes on what the Cluster kind says", func(ctx SpecContext, spec, message string) {
		body := `{"cluster_profile":{"cluster_name":"refused","cluster_spec":{"Region":{"region":"r"},` + spec + `}}}`
		expectProblem(send(ctx, registrar, http.MethodPost, clusters, body), 400, gateway.CodeInvalid, message)
	},
		Entry("about negative capacities", `"CPUCapacity":-1`, "spec.cpuCapacity in body should be greater than or equal to 0"),
		Entry("about the number of flavors", `"flavors":[`+strings.TrimSuffix(strings.Repeat(`{"FlavorID":"f","TotalCapacity":1},`, 20_000), ",")+`]`,
			"spec.flavors: Too many: 20000: must have at most 1000 items"),
		Entry("about flavors that are there twice", `"flavors":[{"FlavorID":"f","TotalCapacity":1},{"FlavorID":"f","TotalCapacity":2}]`,
			"spec.flavors[1]: Duplicate value"),
		Entry("about addresses", `"ipAddress":"site.example.com"`, "must be an IPv4 or IPv6 address"),
		Entry("about labels", `"labels":{"a b":"c"}`, "metadata.labels: Invalid value"),
		Entry("about metrics", `"metrics":[{"name":"heat","weight":0}]`, "spec.metrics[0].weight in body should be greater than 0"),
	)

	DescribeTable("refuses names", func(ctx SpecContext, name string, code gateway.Code, message string) {
		expectProblem(send(ctx, registrar, http.MethodPost, clusters, small(name)), 400, code, message)
	},
		Entry("with capitals", "Cluster_1", gateway.CodeInvalidName, `"Cluster_1" is no name of a cluster: it must be a DNS label`),
		Entry("with dots", "a.b", gateway.CodeInvalidName, `"a.b" is no name of a cluster: it must be a DNS label`),
		Entry("with a path", "../../pods", gateway.CodeInvalidName, "it must be a DNS label"),
		Entry("that are words of the paths", "id", gateway.CodeInvalidName, "is reserved"),
	)

	It("lists page by page", func(ctx SpecContext) {
		for i := range 7 {
			name := fmt.Sprintf("page-%d", i)
			unregisterAfterwards(name)
			profileOf(send(ctx, registrar, http.MethodPost, clusters, small(name)), http.StatusCreated)
		}
		var names []string
		next := ""
		for page := 0; ; page++ {
			got := sendTo(ctx, gateways[page%2], registrar, http.MethodGet, clusters+"?limit=3"+next, "")
			var list registration.List
			Expect(json.Unmarshal([]byte(got.body), &list)).To(Succeed(), got.body)
			for _, profile := range list.Clusters {
				names = append(names, profile.Name)
			}
			if list.Continue == "" {
				break
			}
			Expect(list.Clusters).To(HaveLen(3))
			next = "&continue=" + list.Continue
		}
		Expect(names).To(Equal([]string{"page-0", "page-1", "page-2", "page-3", "page-4", "page-5", "page-6"}))
		expectProblem(send(ctx, registrar, http.MethodGet, clusters+"?continue=none", ""), 400, gateway.CodeInvalidParameter, "continue token")
	})

	It("unregisters no cluster in which replicas run, unless forced", func(ctx SpecContext) {
		const name = "in-use"
		unregisterAfterwards(name)
		Expect(localplane.CreateNodes(ctx, client, name, 1, nil, nil)).To(Succeed())
		nodes, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
		Expect(err).NotTo(HaveOccurred())
		node := nodes.Items[0].Name
		pod, err := client.CoreV1().Pods(metav1.NamespaceDefault).Create(ctx, &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{GenerateName: "in-use-"},
			Spec: corev1.PodSpec{
				SchedulerName: localplane.BerthScheduler,
				Containers:    []corev1.Container{{Name: "c", Image: "image"}},
			},
		}, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(func(ctx SpecContext) {
			Expect(client.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, *metav1.NewDeleteOptions(0))).To(Succeed())
			Expect(client.CoreV1().Nodes().Delete(ctx, node, metav1.DeleteOptions{})).To(Succeed())
		})
		body := strings.Replace(small(name), `"Region"`, `"nodes":["`+node+`"],"Region"`, 1)
		profileOf(send(ctx, registrar, http.MethodPost, clusters, body), http.StatusCreated)

		By("placing the pod as Berth does")
		user, groups := localplane.ServiceAccountIdentity(localplane.BerthNamespace, localplane.BerthScheduler)
		config, err := plane.UserConfig(user, groups...)
		Expect(err).NotTo(HaveOccurred())
		scheduler, err := kubernetes.NewForConfig(config)
		Expect(err).NotTo(HaveOccurred())
		Expect(scheduler.CoreV1().Pods(pod.Namespace).Bind(ctx, &corev1.Binding{
			ObjectMeta: metav1.ObjectMeta{
				Name: pod.Name, UID: pod.UID,
				Annotations: stamp.Stamp{Policy: "p", Cluster: name, Seat: 0}.Annotations(pod, node),
			},
			Target: corev1.ObjectReference{Kind: "Node", Name: node},
		}, metav1.CreateOptions{})).To(Succeed())
		expectProblem(send(ctx, registrar, http.MethodDelete, clusters+"/"+name, ""), 409, gateway.CodeInUse, "force=true")
		Expect(send(ctx, registrar, http.MethodDelete, clusters+"/"+name+"?force=true", "").status).To(Equal(http.StatusOK))
	})

	It("does not wait for slow clients", func(ctx SpecContext) {
		url := startGateway(ctx, "berth-gateway-impatient", "--body-timeout=300ms")
		body, writer := io.Pipe()
		defer writer.Close()
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, url+clusters, body)
		Expect(err).NotTo(HaveOccurred())
		go func() { _, _ = writer.Write([]byte("{")) }()
		response, err := registrar.Do(request)
		Expect(err).NotTo(HaveOccurred())
		defer response.Body.Close()
		Expect(response.ProtoMajor).To(Equal(2))
		Expect(response).To(HaveHTTPStatus(http.StatusRequestTimeout))
	})

	It("does for berthctl's clusters what it does for its own", func(ctx SpecContext) {
		unregisterAfterwards("by-hand")
		path := filepath.Join(GinkgoT().TempDir(), "cluster1.json")
		Expect(os.WriteFile(path, []byte(strings.Replace(example(), "cluster1", "by-hand", 1)), 0o600)).To(Succeed())
		berthctl := func(args ...string) string {
			command := exec.CommandContext(ctx, filepath.Join(binDir, "berthctl"), args...)
			command.Env = append(os.Environ(), "KUBECONFIG="+plane.AdminKubeconfig())
			session, err := gexec.Start(command, GinkgoWriter, GinkgoWriter)
			Expect(err).NotTo(HaveOccurred())
			Eventually(session).WithContext(ctx).WithTimeout(timeout).Should(gexec.Exit(0))
			return string(session.Out.Contents())
		}
		registered := berthctl("register", "cluster", "-filename", path, "-o", "json")
		shown := send(ctx, registrar, http.MethodGet, clusters+"/by-hand", "")
		Expect(registered).To(Equal(shown.body))
		Expect(berthctl("get", "cluster", "-id", profileOf(shown, 200).ID, "-o", "json")).To(Equal(shown.body))
		Expect(berthctl("unregister", "cluster", "-name", "by-hand")).To(Equal("deleted: by-hand\n"))
		Expect(send(ctx, registrar, http.MethodGet, clusters+"/by-hand", "").status).To(Equal(http.StatusNotFound))
	})
})

var _ = Describe("Access to the registration API", func() {
	paths := []struct{ method, path string }{
		{http.MethodPost, clusters},
		{http.MethodGet, clusters},
		{http.MethodGet, clusters + "/id/00000000-0000-0000-0000-000000000000"},
		{http.MethodGet, clusters + "/name/none"},
		{http.MethodPut, clusters + "/name/none"},
		{http.MethodDelete, clusters + "/none"},
		{http.MethodGet, "/metrics"},
	}

	It("needs a token", func(ctx SpecContext) {
		invalid := clientFor(&rest.Config{BearerToken: "no-token-of-anybody"})
		for _, p := range paths {
			for _, caller := range []*http.Client{anonymous, invalid} {
				expectProblem(send(ctx, caller, p.method, p.path, small("c")), 401, gateway.CodeUnauthenticated, "no valid credentials")
			}
		}
	})

	It("needs rights", func(ctx SpecContext) {
		for _, p := range paths {
			expectProblem(send(ctx, nobody, p.method, p.path, small("c")), 403, gateway.CodeForbidden, "system:serviceaccount:default:nobody")
		}
	})

	It("is given by client certificates too", func(ctx SpecContext) {
		admin := clientFor(plane.Config())
		Expect(send(ctx, admin, http.MethodGet, clusters, "").status).To(Equal(http.StatusOK))
		metrics := send(ctx, admin, http.MethodGet, "/metrics", "")
		Expect(metrics.body).To(ContainSubstring(`berth_gateway_requests_total{code="403",method="GET",route="clusters"}`))

		config, err := plane.UserConfig("somebody")
		Expect(err).NotTo(HaveOccurred())
		expectProblem(send(ctx, clientFor(config), http.MethodGet, clusters, ""), 403, gateway.CodeForbidden, "somebody")
	})

	It("is refused to whoever claims to be somebody else", func(ctx SpecContext) {
		expectProblem(send(ctx, anonymous, http.MethodGet, clusters, "", "X-Remote-User", "admin", "X-Remote-Group", "system:masters"),
			401, gateway.CodeUnauthenticated, "no valid credentials")
		expectProblem(send(ctx, nobody, http.MethodGet, clusters, "", "Impersonate-User", "admin", "Impersonate-Group", "system:masters"),
			403, gateway.CodeForbidden, "nobody")
	})

	It("is given over plain HTTP on loopback when asked for", func(ctx SpecContext) {
		port, err := localplane.FreePort()
		Expect(err).NotTo(HaveOccurred())
		address := fmt.Sprintf("127.0.0.1:%d", port)
		startGateway(ctx, "berth-gateway-plain", "--insecure-http-address="+address)
		Expect(sendTo(ctx, "http://"+address, registrar, http.MethodGet, clusters, "").status).To(Equal(http.StatusOK))
		expectProblem(sendTo(ctx, "http://"+address, anonymous, http.MethodGet, clusters, ""), 401, gateway.CodeUnauthenticated, "")
	})
})

var _ = Describe("Without the API server", func() {
	It("says that it cannot answer, and answers again afterwards", func(ctx SpecContext) {
		Expect(plane.StopAPIServer()).To(Succeed())
		unknown := clientFor(&rest.Config{BearerToken: "not-seen-before"})
		expectProblem(send(ctx, unknown, http.MethodGet, clusters, ""), 503, gateway.CodeUnavailable, "try again")
		Expect(send(ctx, anonymous, http.MethodGet, "/readyz", "").status).To(Equal(http.StatusOK))
		Expect(plane.StartAPIServer(ctx)).To(Succeed())
		Eventually(ctx, func() int { return send(ctx, registrar, http.MethodGet, clusters, "").status }).
			WithTimeout(timeout).WithPolling(poll).Should(Equal(http.StatusOK))
	})
})
