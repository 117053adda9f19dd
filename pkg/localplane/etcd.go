// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package localplane

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"time"
)

// startEtcd starts a single member that only holders of a client certificate
// reach, and that does not sync to disk: a crash of the machine ends the run
// anyway.
func (cp *ControlPlane) startEtcd(ctx context.Context) error {
	client, err := cp.etcdClient()
	if err != nil {
		return err
	}
	defer client.CloseIdleConnections()
	_, err = cp.startOnFreePort(ctx, Etcd, func(port int) serverSpec {
		cp.etcdPort = port
		return cp.etcdSpec(client)
	})
	return err
}

// StartEtcd starts etcd again after it was ended, on its port and with what it
// had stored, and returns when it is ready.
func (cp *ControlPlane) StartEtcd(ctx context.Context) error {
	client, err := cp.etcdClient()
	if err != nil {
		return err
	}
	defer client.CloseIdleConnections()
	_, err = cp.startServer(ctx, Etcd, cp.etcdSpec(client))
	return err
}

func (cp *ControlPlane) etcdSpec(client *http.Client) serverSpec {
	return serverSpec{
		args: append(cp.etcdArgs(), cp.opts.EtcdArgs...),
		ready: func(ctx context.Context) error {
			return checkURL(ctx, client, cp.EtcdURL()+"/health")
		},
	}
}

// EtcdURL returns the address of etcd. It is the same after a restart.
func (cp *ControlPlane) EtcdURL() string { return "https://" + address(cp.etcdPort) }

func (cp *ControlPlane) etcdArgs() []string {
	url := cp.EtcdURL()
	// Nobody dials the peer address of a single member.
	peer := "https://" + address(0)
	return []string{
		"--name=" + Etcd,
		"--data-dir=" + cp.files.etcdData,
		"--unsafe-no-fsync",
		"--log-level=warn",
		"--listen-client-urls=" + url,
		"--advertise-client-urls=" + url,
		"--listen-peer-urls=" + peer,
		"--initial-advertise-peer-urls=" + peer,
		"--initial-cluster=" + Etcd + "=" + peer,
		"--client-cert-auth",
		"--trusted-ca-file=" + cp.files.ca,
		"--cert-file=" + cp.files.etcdCert,
		"--key-file=" + cp.files.etcdKey,
		"--peer-client-cert-auth",
		"--peer-trusted-ca-file=" + cp.files.ca,
		"--peer-cert-file=" + cp.files.etcdCert,
		"--peer-key-file=" + cp.files.etcdKey,
		"--quota-backend-bytes=8589934592",
	}
}

// etcdClient speaks to etcd's health endpoint.
func (cp *ControlPlane) etcdClient() (*http.Client, error) {
	config, err := cp.EtcdTLS()
	if err != nil {
		return nil, err
	}
	return &http.Client{Timeout: time.Second, Transport: &http.Transport{TLSClientConfig: config}}, nil
}

// EtcdTLS returns what a client of etcd needs: etcd listens to those only that
// the control plane has certified.
func (cp *ControlPlane) EtcdTLS() (*tls.Config, error) {
	cert, err := tls.LoadX509KeyPair(cp.files.etcdClientCert, cp.files.etcdClientKey)
	if err != nil {
		return nil, fmt.Errorf("loading the client certificate for etcd: %w", err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(cp.ca.PEM())
	return &tls.Config{Certificates: []tls.Certificate{cert}, RootCAs: pool, MinVersion: tls.VersionTLS13}, nil
}
