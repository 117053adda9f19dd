// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway_test

import (
	"net/http"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

var _ = Describe("pages", func() {
	It("show what the token of the caller may read, and nothing of the gateway's own", func(ctx SpecContext) {
		got := send(ctx, nobody, http.MethodGet, "/ui/sites", "")
		Expect(got.status).To(Equal(http.StatusOK))
		Expect(got.body).To(And(ContainSubstring("Without clusters"), ContainSubstring("you have no right to list and watch")))
		Expect(send(ctx, anonymous, http.MethodGet, "/ui/sites", "").status).To(Equal(http.StatusUnauthorized))
	})
})
