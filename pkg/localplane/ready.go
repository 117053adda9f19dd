// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package localplane

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

const (
	readyPoll = 50 * time.Millisecond

	// portAttempts is how often a server may lose the race for its port.
	portAttempts = 5
)

// serverSpec says how to start a component that listens.
type serverSpec struct {
	// prepare, if set, runs before the start.
	prepare func() error
	// program is what runs, if it has another name than the process.
	program string
	args    []string
	// ready returns nil once the component serves.
	ready func(context.Context) error
}

func (cp *ControlPlane) binary(name string) string { return filepath.Join(cp.opts.BinDir, name) }

// startOnFreePort starts a server on a port it draws, and draws again if
// another process takes the port first.
func (cp *ControlPlane) startOnFreePort(ctx context.Context, name string, spec func(port int) serverSpec) (*Process, error) {
	for attempt := 1; ; attempt++ {
		port, err := FreePort()
		if err != nil {
			return nil, fmt.Errorf("starting %s: %w", name, err)
		}
		p, err := cp.startServer(ctx, name, spec(port))
		if err == nil || attempt == portAttempts || !portTaken(err) {
			return p, err
		}
		cp.forget(name)
	}
}

// startServer starts a server and waits until it is ready.
func (cp *ControlPlane) startServer(ctx context.Context, name string, spec serverSpec) (*Process, error) {
	if spec.prepare != nil {
		if err := spec.prepare(); err != nil {
			return nil, err
		}
	}
	if spec.program == "" {
		spec.program = name
	}
	p, err := cp.launch(ctx, Component{Name: name, Args: spec.args}, cp.binary(spec.program))
	if err != nil {
		return nil, err
	}
	if err := waitReady(ctx, p, cp.opts.StartTimeout, spec.ready); err != nil {
		return nil, err
	}
	cp.watch(p)
	return p, nil
}

// forget drops the finished processes of that name, whose end was not a
// failure of the control plane.
func (cp *ControlPlane) forget(name string) {
	cp.mu.Lock()
	defer cp.mu.Unlock()
	kept := cp.children[:0]
	for _, p := range cp.children {
		if p.Name() != name {
			kept = append(kept, p)
		}
	}
	cp.children = kept
}

// waitReady polls until the check succeeds, the process ends, or time is up.
func waitReady(ctx context.Context, p *Process, timeout time.Duration, check func(context.Context) error) error {
	exited := make(chan error, 1)
	go func() {
		err := p.Wait()
		if err == nil {
			err = fmt.Errorf("%s was stopped before it was ready", p.Name())
		}
		exited <- err
	}()
	err := Await(ctx, timeout, exited, check)
	if err == nil || ctx.Err() != nil || errors.As(err, new(*ExitError)) {
		return err
	}
	tail, tailErr := tailOf(p.LogPath(), tailLines)
	return fmt.Errorf("%s is not ready: %w; end of %s:\n  %s",
		p.Name(), errors.Join(err, tailErr), p.LogPath(), strings.Join(tail, "\n  "))
}

// checkURL returns nil if a GET is answered with 200.
func checkURL(ctx context.Context, client *http.Client, url string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return fmt.Errorf("checking %s: %w", url, err)
	}
	response, err := client.Do(request)
	if err != nil {
		return fmt.Errorf("checking: %w", err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, 4<<10))
	if err != nil {
		return fmt.Errorf("checking %s: %w", url, err)
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("checking %s: %s: %s", url, response.Status, strings.TrimSpace(string(body)))
	}
	return nil
}

// waitForServiceAccount waits for the ServiceAccount that admission wants to
// see before it lets a pod into the namespace.
func (cp *ControlPlane) waitForServiceAccount(ctx context.Context, client kubernetes.Interface, namespace string) error {
	err := Await(ctx, cp.opts.StartTimeout, cp.exited, func(ctx context.Context) error {
		_, err := client.CoreV1().ServiceAccounts(namespace).Get(ctx, "default", metav1.GetOptions{})
		return err
	})
	if err != nil {
		return fmt.Errorf("waiting for the default ServiceAccount of namespace %s: %w", namespace, err)
	}
	return nil
}
