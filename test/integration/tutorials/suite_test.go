// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package tutorials_test runs the shell blocks of the documentation that a newcomer types, word by
// word, with real kubectl, helm and berthctl. Only the lines that make a cluster are replaced: it
// is an empty playground, which runs what is installed.
package tutorials_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sync"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"berth.dev/berth/pkg/localplane"
	"berth.dev/berth/test/integration/internal/installation"
)

const (
	// startTimeout is for a playground to get ready, which takes some seconds.
	startTimeout = 150 * time.Second
	// stopTimeout is for what takes a second or two.
	stopTimeout = 90 * time.Second
	// blockTimeout is for the commands of one block, of which the slowest start six programs.
	blockTimeout = 4 * time.Minute
	poll         = 100 * time.Millisecond
)

var bin string

func TestTutorials(t *testing.T) {
	var err error
	if bin, err = localplane.FindBinDir(); err != nil {
		t.Fatal(err)
	}
	for _, program := range []string{"helm", "kubectl"} {
		if _, err := os.Stat(filepath.Join(bin, program)); err != nil {
			if os.Getenv("CI") != "" {
				t.Fatalf("run make build-test first: %v", err)
			}
			t.Skipf("run make build-test first: %v", err)
		}
	}
	RegisterFailHandler(Fail)
	RunSpecs(t, "tutorials")
}

// output collects what a program writes.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// reader is somebody who follows a page.
type reader struct {
	// dir is where the files of a release and the manifests lie.
	dir        string
	kubeconfig string
}

// newReader starts an empty playground, which ends with the spec, and lays out what a release
// consists of, but for images.
func newReader(ctx context.Context) *reader {
	GinkgoHelper()
	r := newVisitor("--empty")
	r.release(ctx)
	return r
}

// newVisitor starts a playground, which ends with the spec.
func newVisitor(args ...string) *reader {
	GinkgoHelper()
	r := &reader{dir: GinkgoT().TempDir()}
	state := filepath.Join(GinkgoT().TempDir(), "state")
	playground := exec.Command(filepath.Join(bin, "berth-playground"), append([]string{"up", "--nodes=2", "--state-dir=" + state}, args...)...)
	said := &output{}
	playground.Stdout, playground.Stderr = said, said
	Expect(playground.Start()).To(Succeed())
	ended := make(chan error, 1)
	go func() { ended <- playground.Wait() }()
	DeferCleanup(func() {
		Expect(playground.Process.Signal(syscall.SIGINT)).To(Succeed())
		Eventually(ended, stopTimeout, poll).Should(Receive(Succeed()), said.String)
	})
	address := regexp.MustCompile(`export KUBECONFIG=(\S+)`)
	Eventually(said.String, startTimeout, poll).Should(MatchRegexp(address.String()))
	r.kubeconfig = address.FindStringSubmatch(said.String())[1]
	return r
}

// release lays out what a release consists of, but for images.
func (r *reader) release(ctx context.Context) {
	GinkgoHelper()
	Expect(os.CopyFS(filepath.Join(r.dir, "manifests"), os.DirFS(installation.Path("manifests")))).To(Succeed())
	dist := filepath.Join(r.dir, "dist")
	Expect(os.Mkdir(dist, 0o700)).To(Succeed())
	file := exec.CommandContext(ctx, "go", "run", "./hack/onefile", "-registry", registry, "-tag", "v0.1.0")
	file.Dir = installation.Path()
	content, err := file.Output()
	Expect(err).NotTo(HaveOccurred())
	Expect(os.WriteFile(filepath.Join(dist, "berth.yaml"), content, 0o600)).To(Succeed())
	r.run(ctx, "helm package manifests/charts/berth --version 0.1.0 --app-version v0.1.0 --destination dist")
}

// run runs a script as bash does that ends with the first command that fails, and returns what it
// printed.
func (r *reader) run(ctx context.Context, script string) string {
	GinkgoHelper()
	ctx, cancel := context.WithTimeout(ctx, blockTimeout)
	defer cancel()
	shell := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c", script)
	shell.Dir = r.dir
	home := filepath.Join(r.dir, "home")
	shell.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "KUBECONFIG="+r.kubeconfig, "HOME="+home,
		"HELM_CACHE_HOME="+home, "HELM_CONFIG_HOME="+home, "HELM_DATA_HOME="+home)
	said := &output{}
	shell.Stdout, shell.Stderr = said, said
	err := shell.Run()
	GinkgoWriter.Printf("%s\n%s\n", script, said.String())
	Expect(err).NotTo(HaveOccurred(), "%s\n%s", script, said.String())
	return said.String()
}
