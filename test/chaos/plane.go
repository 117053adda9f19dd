// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"net"
	"net/url"
	"os"
	"strconv"
	"syscall"
	"time"

	"k8s.io/client-go/kubernetes"

	"berth.dev/berth/pkg/generated/clientset/versioned"
	"berth.dev/berth/pkg/localplane"
)

// requestTimeout bounds each request of the users of the chaos.
const requestTimeout = 10 * time.Second

// startAttempts is how often a component may give up.
const startAttempts = 5

// begin starts etcd, two API servers and what Kubernetes has besides, and installs Berth.
func (c *chaos) begin(ctx context.Context) (err error) {
	binaries, err := localplane.FindBinDir()
	if err != nil {
		return err
	}
	if c.shipped, err = os.ReadFile("manifests/base/scheduler-config.yaml"); err != nil {
		return fmt.Errorf("reading what is shipped: %w", err)
	}
	if c.plane, err = localplane.Start(ctx, localplane.Options{
		BinDir: binaries, LogDir: c.logs,
		// The judge follows etcd from the first revision on.
		APIServerArgs: []string{"--etcd-compaction-interval=0"},
	}); err != nil {
		return err
	}
	if c.replica, err = c.plane.AddAPIServer(ctx, 0); err != nil {
		return err
	}
	config := c.plane.Config()
	config.Dial, config.Timeout = c.dial, requestTimeout
	if c.berth, err = versioned.NewForConfig(config); err != nil {
		return fmt.Errorf("making a client of Berth's kinds: %w", err)
	}
	if c.client, err = kubernetes.NewForConfig(config); err != nil {
		return fmt.Errorf("making a client: %w", err)
	}
	if err := localplane.ApplyCRDs(ctx, c.plane.Config(), "manifests/crds"); err != nil {
		return err
	}
	objects, err := localplane.BuildKustomization("manifests/base")
	if err != nil {
		return err
	}
	return localplane.ApplyObjects(ctx, c.plane.Config(), localplane.WithoutWorkloads(objects))
}

// dial connects with one of the API servers, as a load balancer would: with the other one if that
// is away.
func (c *chaos) dial(ctx context.Context, network, _ string) (net.Conn, error) {
	first, err := url.Parse(c.plane.URL())
	if err != nil {
		return nil, err
	}
	addresses := []string{first.Host, net.JoinHostPort(first.Hostname(), strconv.Itoa(c.replica))}
	n := int(c.dialled.Add(1))
	connection, err := (&net.Dialer{}).DialContext(ctx, network, addresses[n%2])
	if err == nil {
		return connection, nil
	}
	return (&net.Dialer{}).DialContext(ctx, network, addresses[(n+1)%2])
}

// process returns the running process of a name, nil if there is none.
func (c *chaos) process(name string) *localplane.Process {
	for _, p := range c.plane.Processes() {
		if p.Name() == name {
			return p
		}
	}
	return nil
}

// endProcess kills a component of Kubernetes.
func (c *chaos) endProcess(name string) {
	if p := c.process(name); p != nil {
		_ = p.Kill(syscall.SIGKILL) // one that has ended already is as good
		<-p.Done()
	}
}

// startProcess starts a component of Kubernetes again that was ended. An API server that gives up
// because etcd is away is started once more.
func (c *chaos) startProcess(ctx context.Context, name string) error {
	lock := &c.startingAPI
	if name == localplane.Etcd {
		lock = &c.startingEtcd
	}
	lock.Lock()
	defer lock.Unlock()
	var err error
	for range startAttempts {
		if c.process(name) != nil {
			return nil
		}
		switch name {
		case localplane.Etcd:
			err = c.plane.StartEtcd(ctx)
		case localplane.APIServer:
			err = c.plane.StartAPIServer(ctx)
		default:
			_, err = c.plane.AddAPIServer(ctx, c.replica)
		}
		if err == nil || ctx.Err() != nil {
			return err
		}
	}
	return err
}

// startAPIServers starts those API servers again that have given up.
func (c *chaos) startAPIServers(ctx context.Context) error {
	return cmp.Or(c.startProcess(ctx, localplane.APIServer), c.startProcess(ctx, localplane.APIServerReplica))
}

func hash(name string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name)) // never fails
	return h.Sum64()
}
