// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package clitest

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"berth.dev/berth/pkg/cli"
)

// PrintTimeout is how long a test waits until a running command prints something, or ends. A loaded
// machine needs many times the usual.
const PrintTimeout = 60 * time.Second

// Running is a command that has not ended yet.
type Running struct {
	out, errOut *screen
	interrupt   context.CancelFunc
	ended       chan int
}

// Start runs berthctl until Interrupt, or the end of the test.
func Start(t *testing.T, options cli.Options, args ...string) *Running {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	r := &Running{out: newScreen(), errOut: newScreen(), interrupt: cancel, ended: make(chan int, 1)}
	options.Streams = genericiooptions.IOStreams{In: strings.NewReader(""), Out: r.out, ErrOut: r.errOut}
	go func() { r.ended <- cli.Run(ctx, options, args) }()
	t.Cleanup(cancel)
	return r
}

// WaitForOutput waits until the command has printed the text on standard output since the last
// call, and returns everything up to its end.
func (r *Running) WaitForOutput(t *testing.T, text string) string {
	t.Helper()
	return r.out.waitFor(t, text)
}

// WaitForError is WaitForOutput for standard error.
func (r *Running) WaitForError(t *testing.T, text string) string {
	t.Helper()
	return r.errOut.waitFor(t, text)
}

// Interrupt ends the command as Ctrl-C does, and returns what it has printed since the last wait.
func (r *Running) Interrupt(t *testing.T) Result {
	t.Helper()
	r.interrupt()
	return r.Wait(t)
}

// Wait waits until the command ends, and returns what it has printed since the last wait.
func (r *Running) Wait(t *testing.T) Result {
	t.Helper()
	select {
	case code := <-r.ended:
		return Result{Out: r.out.rest(), Err: r.errOut.rest(), Code: code}
	case <-time.After(PrintTimeout):
		t.Fatalf("the command did not end within %v", PrintTimeout)
		return Result{}
	}
}

// watchPoll is how often WaitForWatches looks.
const watchPoll = 10 * time.Millisecond

// WaitForWatches waits until a command watches the resources. The clients in memory lose what
// changes between the list and the watch that follows it, which an API server does not.
func (w *World) WaitForWatches(t *testing.T, resources ...string) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), watchPoll, PrintTimeout, true, func(context.Context) (bool, error) {
		watched := map[string]bool{}
		for _, action := range slices.Concat(w.Clients.Kubernetes.Actions(), w.Clients.Berth.Actions()) {
			if action.GetVerb() == "watch" {
				watched[action.GetResource().Resource] = true
			}
		}
		return !slices.ContainsFunc(resources, func(resource string) bool { return !watched[resource] }), nil
	})
	if err != nil {
		t.Fatalf("waiting for watches of %v: %v", resources, err)
	}
}

// screen collects what a command prints. It is safe for concurrent use.
type screen struct {
	mu      sync.Mutex
	text    bytes.Buffer
	written chan struct{}
}

func newScreen() *screen { return &screen{written: make(chan struct{}, 1)} }

// Write appends to the screen.
func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer func() {
		select {
		case s.written <- struct{}{}:
		default:
		}
	}()
	return s.text.Write(p)
}

func (s *screen) waitFor(t *testing.T, text string) string {
	t.Helper()
	timeout := time.After(PrintTimeout)
	for {
		if before, found := s.take(text); found {
			return before
		}
		select {
		case <-s.written:
		case <-timeout:
			t.Fatalf("%q was not printed within %v, but\n%s", text, PrintTimeout, s.rest())
		}
	}
}

// take removes everything up to the end of the text from the screen, and returns it.
func (s *screen) take(text string) (string, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := strings.Index(s.text.String(), text)
	if i < 0 {
		return "", false
	}
	return string(s.text.Next(i + len(text))), true
}

func (s *screen) rest() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return string(s.text.Next(s.text.Len()))
}
