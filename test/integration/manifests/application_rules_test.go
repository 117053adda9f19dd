// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package manifests_test

import (
	"strconv"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// window returns the spec of an Application with a time at which it may move.
func window(fields string) string {
	return manifest + "move: {windows: [{" + fields + "}]}"
}

// windows returns the spec of an Application with so many of them.
func windows(n int) string {
	return manifest + "move: {windows: " + list(n, func(i int) string {
		return "{schedule: '" + strconv.Itoa(i) + " 2 * * *', duration: 1h}"
	}) + "}"
}

var _ = Describe("The moves of an Application", func() {
	DescribeTable("are accepted", func(ctx SpecContext, spec string) {
		_, err := tryCreate(ctx, "Application", spec)
		Expect(err).NotTo(HaveOccurred())
	},
		Entry("with everything", manifest+"migration: StopFirst\nfailover: {after: Never, returnAfter: 30m}\nwhenUnsatisfiable: ScheduleAnyway\n"+
			"suspend: true\nmove: {deadline: 24h, maxSurge: 1%, windows: [{schedule: '0 2 * * 6', timeZone: Europe/Berlin, duration: 168h}]}"),
		Entry("with a surge of one", manifest+"move: {maxSurge: 1}"),
		Entry("with twenty windows", windows(20)),
	)

	const badDeadline, badSurge = "must be a duration from 1s to 24h", "must be a percentage from 1% to 100%, or a number of at least 1"

	DescribeTable("are refused", func(ctx SpecContext, spec string, messages ...string) {
		_, err := tryCreate(ctx, "Application", spec)
		Expect(err).To(refusal(messages...))
	},
		Entry("with a deadline of nothing", manifest+"move: {deadline: 0s}", "spec.move.deadline", badDeadline),
		Entry("with a deadline of days", manifest+"move: {deadline: 25h}", "spec.move.deadline", badDeadline),
		Entry("with a deadline in words", manifest+"move: {deadline: soon}", "spec.move.deadline", badDeadline),
		Entry("with a surge of 0", manifest+"move: {maxSurge: 0}", "spec.move.maxSurge", badSurge),
		Entry("with a surge below 0", manifest+"move: {maxSurge: -1}", "spec.move.maxSurge", badSurge),
		Entry("with a surge of 0 percent", manifest+"move: {maxSurge: 0%}", "spec.move.maxSurge", badSurge),
		Entry("with a surge of 101 percent", manifest+"move: {maxSurge: 101%}", "spec.move.maxSurge", badSurge),
		Entry("with a window that opens never", window("duration: 1h"), "spec.move.windows[0].schedule"),
		Entry("with a window of half a minute", window("schedule: '0 2 * * *', duration: 30s"), "spec.move.windows[0].duration"),
		Entry("with a window of more than a week", window("schedule: '0 2 * * *', duration: 169h"), "spec.move.windows[0].duration"),
		Entry("with twenty-one windows", windows(21), "spec.move.windows"),
		Entry("with a wish that there is not", manifest+"whenUnsatisfiable: Maybe", "spec.whenUnsatisfiable"),
		Entry("with a ServiceAccount of another namespace", manifest+"serviceAccountName: other/builder", "spec.serviceAccountName"),
	)

	It("are refused with manifests of more than 3 MiB", func(ctx SpecContext) {
		_, err := tryCreate(ctx, "Application", "manifests: [{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {any: '"+
			strings.Repeat("a", 3<<20)+"'}}]")
		Expect(apierrors.IsRequestEntityTooLargeError(err)).To(BeTrue(), "%v", err)
		Expect(err).To(MatchError(ContainSubstring("limit is 3145728")))
	})
})
