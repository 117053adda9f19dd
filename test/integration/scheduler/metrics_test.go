// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package scheduler_test

import (
	"bufio"
	"bytes"
	"context"
	"strconv"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
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
