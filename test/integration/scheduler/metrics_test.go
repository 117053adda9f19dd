// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package scheduler_test

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net/http"
	"strconv"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/client-go/rest"
)

// sum adds up the samples, in the text format of Prometheus, of one metric that carry all of the labels.
func sum(text []byte, metric string, labels ...string) float64 {
	GinkgoHelper()
	total := 0.0
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), " ")
		if bare, _, _ := strings.Cut(name, "{"); bare != metric || !containsAll(name, labels) {
			continue
		}
		sample, err := strconv.ParseFloat(value, 64)
		Expect(err).NotTo(HaveOccurred())
		total += sample
	}
	Expect(lines.Err()).NotTo(HaveOccurred())
	return total
}

func containsAll(text string, parts []string) bool {
	for _, part := range parts {
		if !strings.Contains(text, part) {
			return false
		}
	}
	return true
}

// evictions returns how many evictions anybody has asked the API server for.
func evictions(ctx context.Context) float64 {
	GinkgoHelper()
	text, err := client.CoreV1().RESTClient().Get().AbsPath("/metrics").DoRaw(ctx)
	Expect(err).NotTo(HaveOccurred())
	return sum(text, "apiserver_request_total", `resource="pods"`, `subresource="eviction"`)
}

// metrics returns the metrics of the scheduler as text, asked for as the administrator.
func (s *scheduler) metrics(ctx context.Context) []byte {
	GinkgoHelper()
	config := plane.Config()
	// The certificate is one that the scheduler signed itself at its start.
	config.TLSClientConfig.CAData, config.TLSClientConfig.Insecure = nil, true
	client, err := rest.HTTPClientFor(config)
	Expect(err).NotTo(HaveOccurred())
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+s.address+"/metrics", http.NoBody)
	Expect(err).NotTo(HaveOccurred())
	response, err := client.Do(request)
	Expect(err).NotTo(HaveOccurred())
	defer response.Body.Close()
	Expect(response).To(HaveHTTPStatus(http.StatusOK))
	text, err := io.ReadAll(response.Body)
	Expect(err).NotTo(HaveOccurred())
	return text
}
