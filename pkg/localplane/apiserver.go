// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package localplane

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"k8s.io/client-go/rest"
)

func (cp *ControlPlane) startAPIServer(ctx context.Context) error {
	p, err := cp.startOnFreePort(ctx, APIServer, func(port int) serverSpec {
		cp.apiPort = port
		return serverSpec{
			prepare: cp.prepareClients,
			args:    cp.apiServerArgs(port),
			ready:   cp.apiServerReady(port),
		}
	})
	if err != nil {
		return err
	}
	cp.apiServer = p
	return nil
}

// AddAPIServer starts one more API server for the same etcd, and returns its
// port when it is ready; its process has the name APIServerReplica. The
// components stay with the first one. A port other than 0 is that of one that
// has ended, which is started again.
func (cp *ControlPlane) AddAPIServer(ctx context.Context, port int) (int, error) {
	start := func(port int) serverSpec {
		return serverSpec{program: APIServer, args: cp.apiServerArgs(port), ready: cp.apiServerReady(port)}
	}
	if port != 0 {
		_, err := cp.startServer(ctx, APIServerReplica, start(port))
		return port, err
	}
	_, err := cp.startOnFreePort(ctx, APIServerReplica, func(free int) serverSpec {
		port = free
		return start(free)
	})
	return port, err
}

// RestartAPIServer stops the API server and starts it again on the same port.
// It returns when the new one is ready. Clients see what they see when a real
// API server restarts: refused connections, ended watches.
func (cp *ControlPlane) RestartAPIServer(ctx context.Context) error {
	if err := cp.StopAPIServer(); err != nil {
		return err
	}
	return cp.StartAPIServer(ctx)
}

// StopAPIServer ends the API server and leaves everything else running: an
// outage, until StartAPIServer.
func (cp *ControlPlane) StopAPIServer() error {
	return cp.apiServer.Stop(stopGraceAPIServer)
}

// StartAPIServer starts the API server again after StopAPIServer, on the same
// port, and returns when it is ready.
func (cp *ControlPlane) StartAPIServer(ctx context.Context) error {
	p, err := cp.startServer(ctx, APIServer, serverSpec{
		args:  cp.apiServerArgs(cp.apiPort),
		ready: cp.apiServerReady(cp.apiPort),
	})
	if err != nil {
		return err
	}
	cp.apiServer = p
	return nil
}

// apiServerReady asks an API server for its own verdict, which includes the
// roles and the priority classes that it creates at its first start.
func (cp *ControlPlane) apiServerReady(port int) func(context.Context) error {
	return func(ctx context.Context) error {
		config := cp.Config()
		config.Timeout = time.Second
		client, err := rest.HTTPClientFor(config)
		if err != nil {
			return fmt.Errorf("making a client: %w", err)
		}
		return checkURL(ctx, client, "https://"+address(port)+"/readyz")
	}
}

func (cp *ControlPlane) apiServerArgs(port int) []string {
	return append([]string{
		"--bind-address=" + loopback,
		// Without it the API server looks for a default route, which a machine
		// without a network has not.
		"--advertise-address=" + loopback,
		"--secure-port=" + strconv.Itoa(port),
		"--tls-cert-file=" + cp.files.apiServerCert,
		"--tls-private-key-file=" + cp.files.apiServerKey,
		"--client-ca-file=" + cp.files.ca,
		"--etcd-servers=https://" + address(cp.etcdPort),
		"--etcd-cafile=" + cp.files.ca,
		"--etcd-certfile=" + cp.files.etcdClientCert,
		"--etcd-keyfile=" + cp.files.etcdClientKey,
		"--authorization-mode=RBAC",
		"--disable-admission-plugins=TaintNodesByCondition",
		"--endpoint-reconciler-type=none",
		"--service-cluster-ip-range=10.0.0.0/24",
		"--service-account-issuer=https://kubernetes.default.svc.cluster.local",
		"--service-account-key-file=" + cp.files.serviceAccountKey,
		"--service-account-signing-key-file=" + cp.files.serviceAccountKey,
		"--allow-privileged",
		"--profiling=false",
	}, cp.opts.APIServerArgs...)
}
