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
		return serverSpec{
			args: append(cp.etcdArgs(), cp.opts.EtcdArgs...),
			ready: func(ctx context.Context) error {
				return checkURL(ctx, client, "https://"+address(port)+"/health")
			},
		}
	})
	return err
}

func (cp *ControlPlane) etcdArgs() []string {
	url := "https://" + address(cp.etcdPort)
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
	cert, err := tls.LoadX509KeyPair(cp.files.etcdClientCert, cp.files.etcdClientKey)
	if err != nil {
		return nil, fmt.Errorf("loading the client certificate for etcd: %w", err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(cp.ca.PEM())
	return &http.Client{
		Timeout: time.Second,
		Transport: &http.Transport{TLSClientConfig: &tls.Config{
			Certificates: []tls.Certificate{cert},
			RootCAs:      pool,
			MinVersion:   tls.VersionTLS13,
		}},
	}, nil
}
