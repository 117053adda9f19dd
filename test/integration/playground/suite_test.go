// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package playground_test runs berth-playground as its users do.
package playground_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"berth.dev/berth/pkg/localplane"
)

const (
	// startTimeout is for a playground to get ready, which takes some seconds.
	startTimeout = 120 * time.Second
	// demoTimeout is for the whole demo, which takes half a minute.
	demoTimeout = 10 * time.Minute
	// stopTimeout is for what takes a second or two.
	stopTimeout = 60 * time.Second
	poll        = 100 * time.Millisecond
)

func TestPlayground(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "berth-playground")
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

// playground is a running berth-playground.
type playground struct {
	*output
	process *os.Process
	// dir is where it was started, and stateDir where its state is.
	dir, stateDir string
	exited        chan int
}

// start runs berth-playground from another directory than the repository's, with its state in a
// directory that does not exist yet.
func start(ctx context.Context, args ...string) *playground {
	GinkgoHelper()
	binDir, err := localplane.FindBinDir()
	Expect(err).NotTo(HaveOccurred())
	p := &playground{output: &output{}, stateDir: filepath.Join(GinkgoT().TempDir(), "state"), exited: make(chan int, 1)}
	cmd := exec.CommandContext(ctx, filepath.Join(binDir, "berth-playground"), append(args, "--state-dir="+p.stateDir)...)
	cmd.Dir = GinkgoT().TempDir()
	p.dir = cmd.Dir
	cmd.Stdout, cmd.Stderr = p.output, p.output
	// The end of the suite's context must not be harder than a user's Ctrl-C.
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGINT) }
	Expect(cmd.Start()).To(Succeed(), "run make build first")
	p.process = cmd.Process
	go func() {
		_ = cmd.Wait()
		p.exited <- cmd.ProcessState.ExitCode()
	}()
	return p
}

// awaitReady returns once the playground tells how to use it.
func (p *playground) awaitReady() {
	GinkgoHelper()
	Eventually(p.String, startTimeout, poll).Should(ContainSubstring("export KUBECONFIG="))
}

// kubeconfig returns the path that the playground prints.
func (p *playground) kubeconfig() string {
	GinkgoHelper()
	match := regexp.MustCompile(`export KUBECONFIG=(\S+)`).FindStringSubmatch(p.String())
	Expect(match).To(HaveLen(2), p.String())
	return match[1]
}

// children returns the IDs of the processes that the playground started.
func (p *playground) children() []int {
	GinkgoHelper()
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	Expect(err).NotTo(HaveOccurred())
	var children []int
	for _, path := range stats {
		data, err := os.ReadFile(path)
		if err != nil {
			// The process has just ended.
			continue
		}
		_, after, _ := strings.Cut(string(data), ") ")
		if fields := strings.Fields(after); len(fields) > 1 && fields[1] == strconv.Itoa(p.process.Pid) {
			pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
			Expect(err).NotTo(HaveOccurred())
			children = append(children, pid)
		}
	}
	return children
}

// child returns the ID of the child that runs the program.
func (p *playground) child(program string) int {
	GinkgoHelper()
	for _, pid := range p.children() {
		name, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/comm")
		if err == nil && strings.TrimSpace(string(name)) == program {
			return pid
		}
	}
	Fail(program + " does not run")
	return 0
}

// running tells whether a process runs; one that nobody has reaped yet does not.
func running(pid int) bool {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return false
	}
	_, after, _ := strings.Cut(string(data), ") ")
	return !strings.HasPrefix(after, "Z")
}
