// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package gateway_test checks berth-gateway as its users run it: two processes with the permissions
// of their ServiceAccount, over TLS, with real tokens, against a real control plane.
package gateway_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gexec"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"berth.dev/berth/pkg/gateway"
	"berth.dev/berth/pkg/generated/clientset/versioned"
	"berth.dev/berth/pkg/localplane"
	"berth.dev/berth/pkg/registration"
	"berth.dev/berth/test/integration/internal/installation"
)

const (
	// timeout is for what takes a second or two on an idle machine.
	timeout = 150 * time.Second
	poll    = 50 * time.Millisecond

	clusters = "/globalscheduler/v1/clusters"
)

var (
	binDir string
	plane  *localplane.ControlPlane
	client kubernetes.Interface
	berth  versioned.Interface
	// gateways are two instances, as the base runs them.
	gateways [2]string
	// registrar may do everything with clusters, nobody nothing, anonymous has no token.
	registrar, nobody, anonymous *http.Client
)

func TestGateway(t *testing.T) {
	installation.Suite{Title: "berth-gateway", Begin: begin, End: end}.Run(t)
}

func begin(ctx SpecContext, started installation.Plane) {
	var err error
	binDir, err = localplane.FindBinDir()
	Expect(err).NotTo(HaveOccurred())
	plane, client, berth = started.ControlPlane, started.Client, started.Berth
	installation.ApplyBase(ctx, plane)

	gateways = [2]string{startGateway(ctx, "berth-gateway-0"), startGateway(ctx, "berth-gateway-1")}
	registrar = newCaller(ctx, "registrar", "berth-cluster-editor")
	nobody = newCaller(ctx, "nobody", "")
	anonymous = clientFor(&rest.Config{})

	By("asking before the CRDs are there")
	expectProblem(send(ctx, registrar, http.MethodPost, clusters, small("early")), 503, gateway.CodeUnavailable, "try again")
	installation.ApplyCRDs(ctx, plane)
}

func end(_ SpecContext) {
	gexec.KillAndWait(timeout)
}

// startGateway starts an instance and returns its URL once it serves.
func startGateway(ctx context.Context, name string, args ...string) string {
	GinkgoHelper()
	// One user sends thousands of requests here.
	args = append([]string{"--client-qps=5000", "--client-burst=10000"}, args...)
	process, address, err := plane.StartGateway(ctx, localplane.Component{Name: name, Args: args})
	Expect(err).NotTo(HaveOccurred())
	url := "https://" + address
	Eventually(ctx, func(g Gomega, ctx context.Context) {
		select {
		case <-process.Done():
			StopTrying("it ended").Wrap(process.Wait()).Now()
		default:
		}
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/readyz", http.NoBody)
		g.Expect(err).NotTo(HaveOccurred())
		response, err := clientFor(&rest.Config{}).Do(request)
		g.Expect(err).NotTo(HaveOccurred())
		defer response.Body.Close()
		g.Expect(response).To(HaveHTTPStatus(http.StatusOK))
	}).WithTimeout(timeout).WithPolling(poll).Should(Succeed())
	return url
}

// clientFor returns a client with the credentials of a configuration. The gateways sign their
// certificates themselves.
func clientFor(config *rest.Config) *http.Client {
	GinkgoHelper()
	config.CAData, config.CAFile, config.Insecure = nil, "", true
	found, err := rest.HTTPClientFor(config)
	Expect(err).NotTo(HaveOccurred())
	return found
}

// newCaller makes a ServiceAccount, which may have a ClusterRole, and returns a client with a token
// of it.
func newCaller(ctx context.Context, name, role string) *http.Client {
	GinkgoHelper()
	return clientFor(&rest.Config{BearerToken: newToken(ctx, name, role)})
}

// newToken makes a ServiceAccount, which may have a ClusterRole, and returns a token of it.
func newToken(ctx context.Context, name, role string) string {
	GinkgoHelper()
	token, err := localplane.NewToken(ctx, client, name, role)
	Expect(err).NotTo(HaveOccurred())
	return token
}

// answer is what came back.
type answer struct {
	status int
	header http.Header
	body   string
}

// send sends a request to the first gateway; headers are pairs of name and value.
func send(ctx context.Context, caller *http.Client, method, path, body string, headers ...string) answer {
	GinkgoHelper()
	return sendTo(ctx, gateways[0], caller, method, path, body, headers...)
}

func sendTo(ctx context.Context, url string, caller *http.Client, method, path, body string, headers ...string) answer {
	GinkgoHelper()
	got, err := try(ctx, url, caller, method, path, body, headers...)
	Expect(err).NotTo(HaveOccurred())
	return got
}

func try(ctx context.Context, url string, caller *http.Client, method, path, body string, headers ...string) (answer, error) {
	request, err := http.NewRequestWithContext(ctx, method, url+path, strings.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	request.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := caller.Do(request)
	if err != nil {
		return answer{}, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return answer{status: response.StatusCode, header: response.Header, body: string(text)}, err
}

// profileOf returns the cluster in an answer.
func profileOf(got answer, status int) registration.Profile {
	GinkgoHelper()
	Expect(got.status).To(Equal(status), got.body)
	var document registration.Document
	Expect(json.Unmarshal([]byte(got.body), &document)).To(Succeed())
	return document.Profile
}

func expectProblem(got answer, status int, code gateway.Code, message string) {
	GinkgoHelper()
	Expect(got.status).To(Equal(status), got.body)
	var problem gateway.Problem
	Expect(json.Unmarshal([]byte(got.body), &problem)).To(Succeed())
	Expect(problem.Code).To(Equal(code))
	Expect(problem.Message).To(ContainSubstring(message))
	Expect(problem.RequestID).To(Equal(got.header.Get("X-Request-Id")))
}

// small is a request with nothing but what is required.
func small(name string) string {
	return `{"cluster_profile":{"cluster_name":"` + name + `","cluster_spec":{"Region":{"region":"r"}}}}`
}

// unregisterAfterwards removes a cluster, if it is still there, when the spec is over.
func unregisterAfterwards(name string) {
	DeferCleanup(func(ctx SpecContext) {
		Expect(send(ctx, registrar, http.MethodDelete, clusters+"/name/"+name+"?force=true", "").status).To(BeElementOf(200, 404))
	})
}
