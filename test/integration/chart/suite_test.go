// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package chart_test checks the Helm chart with a real helm: what it renders, what it refuses, and
// what installing, upgrading, rolling back and uninstalling it does to a real API server.
package chart_test

import (
	"bytes"
	"context"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/kubernetes"

	"berth.dev/berth/pkg/generated/clientset/versioned"
	"berth.dev/berth/pkg/localplane"
	"berth.dev/berth/test/integration/internal/installation"
)

const (
	systemNamespace = "berth-system"

	// timeout is for what takes seconds on an idle machine.
	timeout = 150 * time.Second
	poll    = 50 * time.Millisecond
)

var (
	update = flag.Bool("update", false, "write the golden files instead of checking them")

	plane  *localplane.ControlPlane
	client kubernetes.Interface
	berth  versioned.Interface
	helm   string
	// home is where helm keeps what it remembers.
	home string
)

func TestChart(t *testing.T) {
	bin, err := localplane.FindBinDir()
	if err != nil {
		t.Fatal(err)
	}
	helm = filepath.Join(bin, "helm")
	if _, err := os.Stat(helm); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatalf("no helm: run make build-test first: %v", err)
		}
		t.Skipf("no helm: run make build-test first: %v", err)
	}
	installation.Suite{Title: "Helm chart", Options: serveInjection, Begin: begin}.Run(t)
}

// serveInjection turns on what this version of Kubernetes does not serve by itself.
func serveInjection(options *localplane.Options) {
	options.APIServerArgs = []string{
		"--feature-gates=MutatingAdmissionPolicy=true", "--runtime-config=admissionregistration.k8s.io/v1beta1=true",
	}
}

func begin(_ SpecContext, started installation.Plane) {
	plane, client, berth = started.ControlPlane, started.Client, started.Berth
	home = GinkgoT().TempDir()
}

// result is what a command has printed.
type result struct {
	out, err string
	failed   bool
}

// run runs helm with a home of its own, and as the administrator of the control plane.
func run(ctx context.Context, args ...string) result {
	return runAs(ctx, plane.AdminKubeconfig(), args...)
}

func runAs(ctx context.Context, kubeconfig string, args ...string) result {
	GinkgoHelper()
	command := exec.CommandContext(ctx, helm, args...)
	command.Env = append(os.Environ(), "HELM_CACHE_HOME="+home, "HELM_CONFIG_HOME="+home, "HELM_DATA_HOME="+home,
		"KUBECONFIG="+kubeconfig)
	var out, errs bytes.Buffer
	command.Stdout, command.Stderr = &out, &errs
	failed := command.Run() != nil
	GinkgoWriter.Printf("helm %s\n%s", strings.Join(args, " "), errs.String())
	return result{out: out.String(), err: errs.String(), failed: failed}
}

// chart is the path of the chart.
func chart() string { return installation.Path("manifests", "charts", "berth") }

// inSystem returns the arguments of a command about the release of a name.
func inSystem(command, release string, args ...string) []string {
	return append([]string{command, release, chart(), "--namespace", systemNamespace}, args...)
}

// render returns what the chart renders to without a cluster.
func render(ctx context.Context, args ...string) string {
	GinkgoHelper()
	rendered := run(ctx, inSystem("template", "berth", args...)...)
	Expect(rendered.failed).To(BeFalse(), rendered.err)
	return rendered.out
}

// decode returns the objects of a YAML text.
func decode(text string) []*unstructured.Unstructured {
	GinkgoHelper()
	var found []*unstructured.Unstructured
	for document := range strings.SplitSeq("\n"+text, "\n---\n") {
		content, err := utilyaml.ToJSON([]byte(document))
		Expect(err).NotTo(HaveOccurred(), document)
		if string(content) == "null" {
			continue
		}
		object := &unstructured.Unstructured{}
		Expect(object.UnmarshalJSON(content)).To(Succeed(), document)
		found = append(found, object)
	}
	return found
}
