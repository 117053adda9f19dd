// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package localplane_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"berth.dev/berth/pkg/localplane"
)

// endTimeout is for the end of a process, which takes milliseconds.
const endTimeout = 60 * time.Second

func shell(t *testing.T, script string) *localplane.Process {
	t.Helper()
	p, err := localplane.StartProcess(t.Context(), localplane.ProcessOptions{
		Name: "child", Path: "/bin/sh", Args: []string{"-c", script},
		LogPath: filepath.Join(t.TempDir(), "child.log"),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Kill(syscall.SIGKILL) })
	return p
}

func wait(t *testing.T, p *localplane.Process) error {
	t.Helper()
	select {
	case <-p.Done():
		return p.Wait()
	case <-time.After(endTimeout):
		t.Fatalf("after %s the process still runs", endTimeout)
		return nil
	}
}

// eventually polls until the condition holds.
func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	deadline := time.After(endTimeout)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !condition() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("after %s still not: %s", endTimeout, what)
		}
	}
}

// waitForOutput returns once the child has written the word: from then on its
// signal handlers are in place.
func waitForOutput(t *testing.T, p *localplane.Process, word string) {
	t.Helper()
	eventually(t, "output "+word, func() bool {
		data, err := os.ReadFile(p.LogPath())
		return err == nil && strings.Contains(string(data), word)
	})
}

func TestProcessThatEndsByItself(t *testing.T) {
	many := make([]string, 0, 12)
	for i := 89; i <= 100; i++ {
		many = append(many, "line "+strconv.Itoa(i))
	}
	tests := map[string]struct {
		script   string
		wantTail []string
		wantCode int
	}{
		"with an error after some words": {
			script: "echo first; echo second >&2; exit 3", wantTail: []string{"first", "second"}, wantCode: 3,
		},
		"with a panic before a long stack trace": {
			script:   "echo before; echo 'panic: no way out'; i=89; while [ $i -le 120 ]; do echo line $i; i=$((i+1)); done; exit 2",
			wantTail: append([]string{"panic: no way out"}, many[:11]...), wantCode: 2,
		},
		"silently":                     {script: "exit 1", wantCode: 1},
		"with success, unasked":        {script: "echo done", wantTail: []string{"done"}},
		"after more words than a tail": {script: "i=1; while [ $i -le 100 ]; do echo line $i; i=$((i+1)); done; exit 1", wantTail: many, wantCode: 1},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			err := wait(t, shell(t, tc.script))
			var exit *localplane.ExitError
			if !errors.As(err, &exit) {
				t.Fatalf("Wait() = %v, want an ExitError", err)
			}
			if diff := cmp.Diff(tc.wantTail, exit.Tail); diff != "" {
				t.Errorf("tail (-want +got):\n%s", diff)
			}
			code := 0
			var status *exec.ExitError
			if errors.As(err, &status) {
				code = status.ExitCode()
			}
			if code != tc.wantCode {
				t.Errorf("exit code = %d, want %d", code, tc.wantCode)
			}
			for _, part := range append([]string{"child exited"}, tc.wantTail...) {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("error does not mention %q: %v", part, err)
				}
			}
		})
	}
}

func TestProcessTailOfAHugeLogIsBounded(t *testing.T) {
	p := shell(t, "head -c 1000000 /dev/zero | tr '\\0' x; echo; echo the end; exit 1")
	var exit *localplane.ExitError
	if err := wait(t, p); !errors.As(err, &exit) {
		t.Fatalf("Wait() = %v, want an ExitError", err)
	}
	if diff := cmp.Diff([]string{"the end"}, exit.Tail); diff != "" {
		t.Errorf("tail (-want +got):\n%s", diff)
	}
}

func TestProcessThatIsAskedToEnd(t *testing.T) {
	tests := map[string]struct {
		script string
		end    func(*localplane.Process) error
	}{
		"Stop, and it obeys": {
			script: "trap 'exit 0' TERM; echo up; while :; do sleep 0.01; done",
			end:    func(p *localplane.Process) error { return p.Stop(endTimeout) },
		},
		"Stop, and it does not listen": {
			script: "trap '' TERM; echo up; while :; do sleep 0.01; done",
			end:    func(p *localplane.Process) error { return p.Stop(50 * time.Millisecond) },
		},
		"Kill": {
			script: "echo up; exec sleep 600",
			end:    func(p *localplane.Process) error { return p.Kill(syscall.SIGKILL) },
		},
		"Stop after SIGSTOP": {
			script: "echo up; exec sleep 600",
			end: func(p *localplane.Process) error {
				return errors.Join(p.Kill(syscall.SIGSTOP), p.Stop(50*time.Millisecond))
			},
		},
		"Stop, with a child of its own": {
			script: "sleep 600 & echo up; wait",
			end:    func(p *localplane.Process) error { return p.Stop(endTimeout) },
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			p := shell(t, tc.script)
			waitForOutput(t, p, "up")
			if err := tc.end(p); err != nil {
				t.Errorf("ending it: %v", err)
			}
			if err := wait(t, p); err != nil {
				t.Errorf("Wait() = %v, want nil: the end was asked for", err)
			}
			eventually(t, "the process group is gone", func() bool {
				return errors.Is(syscall.Kill(-p.PID(), 0), syscall.ESRCH)
			})
			if err := p.Kill(syscall.SIGTERM); err != nil {
				t.Errorf("Kill() after the end: %v", err)
			}
		})
	}
}

func TestProcessThatDiedBeforeStopIsReported(t *testing.T) {
	p := shell(t, "echo oops; exit 7")
	<-p.Done()
	var exit *localplane.ExitError
	if err := p.Stop(endTimeout); !errors.As(err, &exit) {
		t.Errorf("Stop() = %v, want an ExitError", err)
	}
}

func TestProcessWhoseEndIsExpectedIsNotReported(t *testing.T) {
	gate := filepath.Join(t.TempDir(), "gate")
	p := shell(t, "until [ -e "+gate+" ]; do sleep 0.01; done; exit 7")
	p.ExpectEnd()
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	<-p.Done()
	if err := errors.Join(p.Wait(), p.Stop(endTimeout)); err != nil {
		t.Errorf("an expected end is reported: %v", err)
	}
}

func TestProcessThatMayEndIsNotReported(t *testing.T) {
	p, err := localplane.StartProcess(t.Context(), localplane.ProcessOptions{
		Name: "child", Path: "/bin/false", LogPath: filepath.Join(t.TempDir(), "child.log"), MayEnd: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	<-p.Done()
	if err := errors.Join(p.Wait(), p.Stop(endTimeout)); err != nil {
		t.Errorf("the end of a process that may end is reported: %v", err)
	}
}

func TestProcessThatCannotStart(t *testing.T) {
	dir := t.TempDir()
	_, err := localplane.StartProcess(t.Context(), localplane.ProcessOptions{
		Name: "ghost", Path: filepath.Join(dir, "none"), LogPath: filepath.Join(dir, "log"),
	})
	if !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "starting ghost") {
		t.Errorf("StartProcess() = %v, want a missing file, named ghost", err)
	}
}

const parentEnv = "CONTROLPLANE_TEST_PARENT"

// TestMain lets the test binary be the parent that TestChildDiesWithItsParent
// kills.
func TestMain(m *testing.M) {
	if dir := os.Getenv(parentEnv); dir != "" {
		actAsParent(dir)
	}
	os.Exit(m.Run())
}

// actAsParent starts a child, prints its ID and waits to be killed.
func actAsParent(dir string) {
	p, err := localplane.StartProcess(context.Background(), localplane.ProcessOptions{
		Name: "child", Path: "/bin/sleep", Args: []string{"600"}, LogPath: filepath.Join(dir, "child.log"),
	})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println(p.PID())
	<-p.Done()
	os.Exit(0)
}
