// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package localplane

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// Groups and users that the API server knows from its bootstrap policy.
const (
	// adminUser is the user of Config and AdminKubeconfig.
	adminUser = "berth:admin"
	// MastersGroup may do everything.
	MastersGroup = "system:masters"

	controllerManagerUser = "system:kube-controller-manager"
	kwokUser              = "kwok"
)

// clusterName is the name of cluster and context in the kubeconfigs.
const clusterName = "berth"

// ServiceAccountIdentity returns the user and the groups under which the API
// server sees the ServiceAccount. A client certificate made out to them has
// the permissions of that ServiceAccount.
func ServiceAccountIdentity(namespace, name string) (user string, groups []string) {
	return "system:serviceaccount:" + namespace + ":" + name,
		[]string{"system:serviceaccounts", "system:serviceaccounts:" + namespace}
}

// writeKubeconfig writes a self-contained kubeconfig, readable by its owner
// only, that reaches the server as the owner of the client certificate.
func writeKubeconfig(path, server string, caPEM []byte, client KeyPair) error {
	config := clientcmdapi.NewConfig()
	config.Clusters[clusterName] = &clientcmdapi.Cluster{Server: server, CertificateAuthorityData: caPEM}
	config.AuthInfos[clusterName] = &clientcmdapi.AuthInfo{
		ClientCertificateData: client.Cert,
		ClientKeyData:         client.Key,
	}
	config.Contexts[clusterName] = &clientcmdapi.Context{Cluster: clusterName, AuthInfo: clusterName}
	config.CurrentContext = clusterName
	data, err := clientcmd.Write(*config)
	if err != nil {
		return fmt.Errorf("encoding the kubeconfig %s: %w", path, err)
	}
	if err := replaceFile(path, data); err != nil {
		return fmt.Errorf("writing a kubeconfig: %w", err)
	}
	return nil
}

// replaceFile writes a file that nobody else may read. Who reads it meanwhile sees the old one or
// the new one, and of several who write it at a time one is the last.
func replaceFile(path string, data []byte) error {
	fresh, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	_, err = fresh.Write(data)
	if err := errors.Join(err, fresh.Close()); err != nil {
		return errors.Join(err, os.Remove(fresh.Name()))
	}
	return os.Rename(fresh.Name(), path)
}

// Kubeconfig issues a client certificate for the user and returns the path of
// a kubeconfig with it. A second call with the same user replaces the file. It
// may be called concurrently.
func (cp *ControlPlane) Kubeconfig(user string, groups ...string) (string, error) {
	pair, err := cp.ca.Client(user, groups...)
	if err != nil {
		return "", err
	}
	path := filepath.Join(cp.opts.StateDir, fileName(user)+".kubeconfig")
	return path, writeKubeconfig(path, cp.URL(), cp.ca.PEM(), pair)
}

// UserConfig returns a client configuration for the user, without a client-side
// rate limit.
func (cp *ControlPlane) UserConfig(user string, groups ...string) (*rest.Config, error) {
	pair, err := cp.ca.Client(user, groups...)
	if err != nil {
		return nil, err
	}
	return &rest.Config{
		Host: cp.URL(),
		TLSClientConfig: rest.TLSClientConfig{
			CAData:   cp.ca.PEM(),
			CertData: pair.Cert,
			KeyData:  pair.Key,
		},
		QPS: -1,
	}, nil
}

// fileName replaces what has no place in a file name.
func fileName(user string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_':
			return r
		default:
			return '-'
		}
	}, user)
}
