// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package localplane

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// How long a process may take to end before it is killed. The API server waits
// for open watches, which nobody will close; etcd does not sync, but a clean
// end is cheap.
const (
	stopGrace          = 10 * time.Second
	stopGraceAPIServer = 3 * time.Second
)

// ControlPlane is a running control plane. Its methods may be called
// concurrently, except for the ones that stop and start the API server.
type ControlPlane struct {
	opts   Options
	ca     *authority
	files  files
	config *rest.Config

	etcdPort, apiPort int
	apiServer         *Process

	exited chan error

	mu sync.Mutex
	// children are in the order of their start.
	children []*Process
	stopped  bool
}

// Start brings up etcd, kube-apiserver, kube-controller-manager and kwok, and
// returns when pods can be created: the API server is ready and the namespace
// default has its ServiceAccount. When it fails nothing is left behind. The
// context bounds the start only.
func Start(ctx context.Context, options Options) (*ControlPlane, error) {
	opts, err := options.complete()
	if err != nil {
		return nil, err
	}
	cp := &ControlPlane{opts: opts, exited: make(chan error, 1)}
	if err := cp.start(ctx); err != nil {
		// Stop would only repeat which component failed.
		_ = cp.Stop()
		return nil, fmt.Errorf("starting the control plane: %w", err)
	}
	return cp, nil
}

func (cp *ControlPlane) start(ctx context.Context) error {
	if err := cp.prepare(); err != nil {
		return err
	}
	cp.opts.Progress("starting " + Etcd)
	if err := cp.startEtcd(ctx); err != nil {
		return err
	}
	cp.opts.Progress("starting " + APIServer)
	if err := cp.startAPIServer(ctx); err != nil {
		return err
	}
	cp.opts.Progress("starting " + ControllerManager + " and " + Kwok)
	if err := cp.startControllerManager(ctx); err != nil {
		return err
	}
	if err := cp.startKwok(ctx); err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(cp.config)
	if err != nil {
		return fmt.Errorf("making a client: %w", err)
	}
	return cp.waitForServiceAccount(ctx, client, "default")
}

// Config returns a client configuration for the administrator, without a
// client-side rate limit. The caller may change it.
func (cp *ControlPlane) Config() *rest.Config { return rest.CopyConfig(cp.config) }

// AdminKubeconfig returns the path of the administrator's kubeconfig.
func (cp *ControlPlane) AdminKubeconfig() string { return cp.files.adminKubeconfig }

// URL returns the address of the API server. It is the same after a restart.
func (cp *ControlPlane) URL() string { return "https://" + address(cp.apiPort) }

// StateDir returns the directory that holds everything of this run.
func (cp *ControlPlane) StateDir() string { return cp.opts.StateDir }

// LogDir returns the directory with one log file per process.
func (cp *ControlPlane) LogDir() string { return cp.opts.LogDir }

// Processes returns the running children in the order of their start.
func (cp *ControlPlane) Processes() []*Process {
	cp.mu.Lock()
	defer cp.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(cp.children), func(p *Process) bool {
		select {
		case <-p.Done():
			return true
		default:
			return false
		}
	})
}

// Exited delivers the first child that ends by itself. Nothing restarts it.
func (cp *ControlPlane) Exited() <-chan error { return cp.exited }

// Stop ends all processes, the last started first, waits until they are gone,
// and removes the state directory unless it is to be kept. It reports the
// processes that had ended by themselves. A second call does nothing.
func (cp *ControlPlane) Stop() error {
	cp.mu.Lock()
	stopped := cp.stopped
	cp.stopped = true
	children := slices.Clone(cp.children)
	cp.mu.Unlock()
	if stopped {
		return nil
	}
	var errs []error
	for _, p := range slices.Backward(children) {
		errs = append(errs, p.Stop(graceOf(p.Name())))
	}
	if !cp.opts.KeepState {
		errs = append(errs, os.RemoveAll(cp.opts.StateDir))
	}
	return errors.Join(errs...)
}

func graceOf(name string) time.Duration {
	if name == APIServer || name == APIServerReplica {
		return stopGraceAPIServer
	}
	return stopGrace
}

// watch reports the component if it ends while nobody asked it to.
func (cp *ControlPlane) watch(p *Process) {
	go func() {
		if err := p.Wait(); err != nil {
			select {
			case cp.exited <- err:
			default:
			}
		}
	}()
}
