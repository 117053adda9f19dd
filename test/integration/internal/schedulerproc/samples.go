// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package schedulerproc

import (
	"bufio"
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"
)

// Sum adds up the samples, in the text format of Prometheus, of one metric that carry all of the labels.
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

// crash finds a panic in a log, whether it ended the process or was survived. The word alone is not one: the API server writes
// "panicked: false" of every request whose client has gone, and specs kill clients.
var crash = regexp.MustCompile(`(?m)^panic: .*|^.*Observed a panic.*`)

// ExpectNoPanics checks the logs of all programs in a folder.
func ExpectNoPanics(folder string) {
	ginkgo.GinkgoHelper()
	logs, err := filepath.Glob(filepath.Join(folder, "*.log"))
	gomega.Expect(err).NotTo(gomega.HaveOccurred())
	for _, path := range logs {
		text, err := os.ReadFile(path)
		gomega.Expect(err).NotTo(gomega.HaveOccurred())
		gomega.Expect(string(crash.Find(text))).To(gomega.BeEmpty(), path)
	}
}
