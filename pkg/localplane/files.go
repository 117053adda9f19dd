// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package localplane

import (
	_ "embed" // For the stages of kwok.
	"fmt"
	"os"
	"path/filepath"
)

//go:embed kwok.yaml
var kwokConfig []byte

// files are the paths inside the state directory that components read.
type files struct {
	ca                            string
	etcdCert, etcdKey             string
	etcdClientCert, etcdClientKey string
	apiServerCert, apiServerKey   string
	serviceAccountKey             string
	kwokConfig                    string
	etcdData                      string
	adminKubeconfig               string
	controllerManagerKubeconfig   string
	kwokKubeconfig                string
}

func filesIn(dir string) files {
	in := func(name string) string { return filepath.Join(dir, name) }
	return files{
		ca:                in("ca.crt"),
		etcdCert:          in("etcd.crt"),
		etcdKey:           in("etcd.key"),
		etcdClientCert:    in("etcd-client.crt"),
		etcdClientKey:     in("etcd-client.key"),
		apiServerCert:     in("apiserver.crt"),
		apiServerKey:      in("apiserver.key"),
		serviceAccountKey: in("service-account.key"),
		kwokConfig:        in("kwok.yaml"),
		etcdData:          in("etcd"),
	}
}

// prepare makes the credentials and writes what the components read.
func (cp *ControlPlane) prepare() error {
	ca, err := newAuthority("berth-playground")
	if err != nil {
		return err
	}
	cp.ca = ca
	cp.files = filesIn(cp.opts.StateDir)
	f := cp.files

	etcd, err := ca.Server(Etcd, loopback)
	if err != nil {
		return err
	}
	etcdClient, err := ca.Client("kube-apiserver-etcd-client")
	if err != nil {
		return err
	}
	apiServer, err := ca.Server(APIServer, loopback, "localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc")
	if err != nil {
		return err
	}
	serviceAccount, err := newKey()
	if err != nil {
		return err
	}
	serviceAccountKey, err := encodeKey(serviceAccount)
	if err != nil {
		return err
	}
	for path, data := range map[string][]byte{
		f.ca:                ca.PEM(),
		f.etcdCert:          etcd.Cert,
		f.etcdKey:           etcd.Key,
		f.etcdClientCert:    etcdClient.Cert,
		f.etcdClientKey:     etcdClient.Key,
		f.apiServerCert:     apiServer.Cert,
		f.apiServerKey:      apiServer.Key,
		f.serviceAccountKey: serviceAccountKey,
		f.kwokConfig:        kwokConfig,
	} {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			return fmt.Errorf("writing the control plane's files: %w", err)
		}
	}
	return nil
}

// prepareClients makes what depends on the address of the API server.
func (cp *ControlPlane) prepareClients() error {
	var err error
	if cp.config, err = cp.UserConfig(adminUser, MastersGroup); err != nil {
		return err
	}
	if cp.files.adminKubeconfig, err = cp.Kubeconfig(adminUser, MastersGroup); err != nil {
		return err
	}
	if cp.files.controllerManagerKubeconfig, err = cp.Kubeconfig(controllerManagerUser); err != nil {
		return err
	}
	cp.files.kwokKubeconfig, err = cp.Kubeconfig(kwokUser, MastersGroup)
	return err
}
