// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package localplane

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"
)

// ProcessOptions describes a child process.
type ProcessOptions struct {
	// Name is used in errors.
	Name string
	// Path is the program.
	Path string
	// Args are its arguments, without the program's name.
	Args []string
	// Env is its whole environment.
	Env []string
	// Dir is its working directory; empty means the parent's.
	Dir string
	// LogPath is the file that stdout and stderr are appended to.
	LogPath string
	// MayEnd makes an end by itself an expected one from the start, for a
	// process that somebody starts again.
	MayEnd bool
}

// Process is a running or finished child. All methods may be called
// concurrently.
type Process struct {
	name    string
	logPath string
	pid     int
	done    chan struct{}

	mu sync.Mutex
	// signalled is set once the parent asked for the end or expects it: an exit
	// after that is no failure.
	signalled bool
	err       error
}

// ExitError says that a process ended by itself or with an error.
type ExitError struct {
	// Name is the name of the process.
	Name string
	// LogPath is where its whole output is.
	LogPath string
	// Tail are the last lines of its output.
	Tail []string
	// Err is what the operating system says about the end; nil means exit
	// code 0.
	Err error
}

// Error names the process, how it ended, and its last words.
func (e *ExitError) Error() string {
	how := "exit code 0"
	if e.Err != nil {
		how = e.Err.Error()
	}
	if len(e.Tail) == 0 {
		return fmt.Sprintf("%s exited: %s (no output)", e.Name, how)
	}
	return fmt.Sprintf("%s exited: %s; end of %s:\n  %s", e.Name, how, e.LogPath, strings.Join(e.Tail, "\n  "))
}

// Unwrap returns what the operating system said.
func (e *ExitError) Unwrap() error { return e.Err }

// StartProcess starts a child in a process group of its own, so that a Ctrl-C
// in the terminal reaches the parent only, which then ends its children in
// order. The context bounds the start; a running child is ended with Stop or
// Kill. On Linux the child is killed when the parent dies.
func StartProcess(ctx context.Context, opts ProcessOptions) (*Process, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", opts.Name, err)
	}
	log, err := os.OpenFile(opts.LogPath, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("starting %s: opening its log: %w", opts.Name, err)
	}
	cmd := exec.Command(opts.Path, opts.Args...) //nolint:noctx // A child outlives the context of its start.
	cmd.Env = opts.Env
	cmd.Dir = opts.Dir
	cmd.Stdout = log
	cmd.Stderr = log
	cmd.SysProcAttr = sysProcAttr()

	p := &Process{name: opts.Name, logPath: opts.LogPath, done: make(chan struct{}), signalled: opts.MayEnd}
	started := make(chan error, 1)
	go p.run(cmd, log, started)
	if err := <-started; err != nil {
		return nil, fmt.Errorf("starting %s: %w", opts.Name, err)
	}
	return p, nil
}

// run starts the command and waits for it on one locked thread: the kernel
// sends the parent-death signal when the thread that forked ends, not when the
// process does.
func (p *Process) run(cmd *exec.Cmd, log *os.File, started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer log.Close()

	if err := cmd.Start(); err != nil {
		started <- err
		return
	}
	p.pid = cmd.Process.Pid
	started <- nil
	err := cmd.Wait()
	p.mu.Lock()
	p.err = p.verdict(err)
	p.mu.Unlock()
	close(p.done)
}

// verdict turns the result of wait into the result of Wait.
func (p *Process) verdict(err error) error {
	var exit *exec.ExitError
	if p.signalled && (err == nil || errors.As(err, &exit)) {
		return nil
	}
	tail, tailErr := tailOf(p.logPath, tailLines)
	if tailErr != nil {
		tail = []string{tailErr.Error()}
	}
	return &ExitError{Name: p.name, LogPath: p.logPath, Tail: tail, Err: err}
}

// Name returns the name the process was started under.
func (p *Process) Name() string { return p.name }

// PID returns the process ID.
func (p *Process) PID() int { return p.pid }

// LogPath returns the file with the output of the process.
func (p *Process) LogPath() string { return p.logPath }

// Done is closed when the process has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Wait blocks until the process has ended. It returns nil for a process ended
// by Kill or Stop and an *ExitError for one that ended by itself, even with exit
// code 0. To give up waiting, select on Done.
func (p *Process) Wait() error {
	<-p.done
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}

// Kill sends the signal. A process that has ended already is no error. Only
// SIGTERM, SIGINT and SIGKILL make its end an expected one.
func (p *Process) Kill(signal syscall.Signal) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.done:
		return nil
	default:
	}
	switch signal {
	case syscall.SIGTERM, syscall.SIGINT, syscall.SIGKILL:
		p.signalled = true
	}
	// The child leads its own group: the signal reaches what it started, too.
	if err := syscall.Kill(-p.pid, signal); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("sending %s to %s: %w", signal, p.name, err)
	}
	return nil
}

// ExpectEnd makes an end of the process by itself an expected one from now on.
func (p *Process) ExpectEnd() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.signalled = true
}

// Stop asks the process to end, insists with SIGKILL after the grace period,
// and returns when it is gone. It reports a process that had ended by itself.
func (p *Process) Stop(grace time.Duration) error {
	if err := p.Kill(syscall.SIGTERM); err != nil {
		return err
	}
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-p.done:
	case <-timer.C:
		if err := p.Kill(syscall.SIGKILL); err != nil {
			return err
		}
	}
	return p.Wait()
}

// childEnv is the parent's environment without the variables that would
// reconfigure a child behind our back, and with the state directory as home,
// where no kubeconfig and no kwok configuration of the user lies.
func childEnv(home string) []string {
	env := []string{"HOME=" + home}
	for _, entry := range os.Environ() {
		name, _, _ := strings.Cut(entry, "=")
		switch {
		case name == "HOME", strings.HasPrefix(name, "ETCD_"), strings.HasPrefix(name, "KUBE"), strings.HasPrefix(name, "KWOK_"):
		default:
			env = append(env, entry)
		}
	}
	return env
}

// StartProcess starts a further child of this control plane, for example a
// scheduler. Its log is NAME.log next to those of the other components; Stop of
// the control plane ends it first, and Exited tells if it ends by itself.
func (cp *ControlPlane) StartProcess(ctx context.Context, name, path string, args ...string) (*Process, error) {
	return cp.startChild(ctx, Component{Name: name, Args: args}, path)
}

// startChild starts a program with the name and the arguments of the component.
func (cp *ControlPlane) startChild(ctx context.Context, c Component, path string) (*Process, error) {
	p, err := cp.launch(ctx, c, path)
	if err != nil {
		return nil, err
	}
	cp.watch(p)
	return p, nil
}

func (cp *ControlPlane) launch(ctx context.Context, c Component, path string) (*Process, error) {
	p, err := StartProcess(ctx, ProcessOptions{
		Name:    c.Name,
		Path:    path,
		Args:    c.Args,
		Env:     append(childEnv(cp.opts.StateDir), c.Env...),
		LogPath: filepath.Join(cp.opts.LogDir, fileName(c.Name)+".log"),
		MayEnd:  c.MayEnd,
	})
	if err != nil {
		return nil, err
	}
	cp.mu.Lock()
	defer cp.mu.Unlock()
	cp.children = append(cp.children, p)
	return p, nil
}
