// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package localplane_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/tools/clientcmd"

	"berth.dev/berth/pkg/localplane"
)

func TestKubeconfigHoldsAllThatAClientNeeds(t *testing.T) {
	ca := newCA(t)
	pair, err := ca.Client("berth:admin", localplane.MastersGroup)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "config")
	if err := localplane.WriteKubeconfig(path, "https://127.0.0.1:20001", ca.PEM(), pair); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := info.Mode().Perm(); got != 0o600 {
		t.Errorf("mode = %o, want 600", got)
	}
	config, err := clientcmd.BuildConfigFromFlags("", path)
	if err != nil {
		t.Fatal(err)
	}
	if want := "https://127.0.0.1:20001"; config.Host != want {
		t.Errorf("server = %s, want %s", config.Host, want)
	}
	if config.Insecure {
		t.Error("the server's certificate is not verified")
	}
	if diff := cmp.Diff(ca.PEM(), config.CAData); diff != "" {
		t.Errorf("certificate authority (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(pair, localplane.KeyPair{Cert: config.CertData, Key: config.KeyData}); diff != "" {
		t.Errorf("client certificate (-want +got):\n%s", diff)
	}
}

func TestServiceAccountIdentity(t *testing.T) {
	user, groups := localplane.ServiceAccountIdentity("berth-system", "berth-scheduler")
	if want := "system:serviceaccount:berth-system:berth-scheduler"; user != want {
		t.Errorf("user = %s, want %s", user, want)
	}
	want := []string{"system:serviceaccounts", "system:serviceaccounts:berth-system"}
	if diff := cmp.Diff(want, groups); diff != "" {
		t.Errorf("groups (-want +got):\n%s", diff)
	}
}

// Programs that are started at a time are often the same user.
func TestKubeconfigOfOneUserWrittenManyTimesAtOnce(t *testing.T) {
	ca := newCA(t)
	pair, err := ca.Client("berth")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "berth.kubeconfig")
	write := func() error { return localplane.WriteKubeconfig(path, "https://127.0.0.1:20001", ca.PEM(), pair) }
	var group errgroup.Group
	for range 50 {
		group.Go(func() error {
			if err := write(); err != nil {
				return err
			}
			_, err := clientcmd.LoadFromFile(path)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		t.Error(err)
	}
	if entries, err := os.ReadDir(filepath.Dir(path)); err != nil || len(entries) != 1 {
		t.Errorf("in the folder are %v, error %v, want the kubeconfig alone", entries, err)
	}
}
