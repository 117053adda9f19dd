// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package schedulerproc

import (
	"bufio"
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"
)

// Sum adds up the samples, in the text format of Prometheus, of one metric that carry all of the
// labels.
func Sum(text []byte, metric string, labels ...string) float64 {
	ginkgo.GinkgoHelper()
	total := 0.0
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), " ")
		lacks := func(label string) bool { return !strings.Contains(name, label) }
		if bare, _, _ := strings.Cut(name, "{"); bare != metric || slices.ContainsFunc(labels, lacks) {
			continue
		}
		sample, err := strconv.ParseFloat(value, 64)
		gomega.Expect(err).NotTo(gomega.HaveOccurred())
		total += sample
	}
	gomega.Expect(lines.Err()).NotTo(gomega.HaveOccurred())
	return total
}
