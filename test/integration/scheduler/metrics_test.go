// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package scheduler_test

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"berth.dev/berth/test/integration/internal/schedulerproc"
)

// evictions returns how many evictions anybody has asked the API server for.
func evictions(ctx context.Context) float64 {
	GinkgoHelper()
	text, err := client.CoreV1().RESTClient().Get().AbsPath("/metrics").DoRaw(ctx)
	Expect(err).NotTo(HaveOccurred())
	return schedulerproc.Sum(text, "apiserver_request_total", `resource="pods"`, `subresource="eviction"`)
}
