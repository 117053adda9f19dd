// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package localplane_test

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"berth.dev/berth/pkg/localplane"
)

func newCA(t *testing.T) *localplane.CA {
	t.Helper()
	ca, err := localplane.NewCA("test")
	if err != nil {
		t.Fatal(err)
	}
	return ca
}

func parse(t *testing.T, data []byte) *x509.Certificate {
	t.Helper()
	block, rest := pem.Decode(data)
	if block == nil || len(rest) != 0 {
		t.Fatalf("not one PEM block: %q", data)
	}
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	return cert
}

func pool(ca *localplane.CA) *x509.CertPool {
	p := x509.NewCertPool()
	p.AppendCertsFromPEM(ca.PEM())
	return p
}

func TestClientCertificates(t *testing.T) {
	ca, stranger := newCA(t), newCA(t)
	tests := map[string]struct {
		user       string
		groups     []string
		wantGroups []string
		wantErr    bool
	}{
		"a user without groups": {user: "kwok"},
		"groups are kept in order": {
			user: "berth:admin", groups: []string{"system:masters", "a"}, wantGroups: []string{"system:masters", "a"},
		},
		"a user without a name is refused": {user: "", groups: []string{"system:masters"}, wantErr: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			pair, err := ca.Client(tc.user, tc.groups...)
			if gotErr := err != nil; gotErr != tc.wantErr {
				t.Fatalf("Client() error = %v, want an error: %v", err, tc.wantErr)
			}
			if tc.wantErr {
				return
			}
			if _, err := tls.X509KeyPair(pair.Cert, pair.Key); err != nil {
				t.Errorf("certificate and key do not match: %v", err)
			}
			cert := parse(t, pair.Cert)
			if cert.Subject.CommonName != tc.user {
				t.Errorf("user = %q, want %q", cert.Subject.CommonName, tc.user)
			}
			// X.509 does not keep the order of a set.
			slices.Sort(cert.Subject.Organization)
			slices.Sort(tc.wantGroups)
			if diff := cmp.Diff(tc.wantGroups, cert.Subject.Organization); diff != "" {
				t.Errorf("groups (-want +got):\n%s", diff)
			}
			use := []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
			if _, err := cert.Verify(x509.VerifyOptions{Roots: pool(ca), KeyUsages: use}); err != nil {
				t.Errorf("not accepted by its own authority: %v", err)
			}
			if _, err := cert.Verify(x509.VerifyOptions{Roots: pool(stranger), KeyUsages: use}); err == nil {
				t.Error("accepted by a stranger's authority")
			}
			server := []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
			if _, err := cert.Verify(x509.VerifyOptions{Roots: pool(ca), KeyUsages: server}); err == nil {
				t.Error("a client's certificate is accepted from a server")
			}
		})
	}
}

func TestServerCertificateIsForItsHostsOnly(t *testing.T) {
	ca := newCA(t)
	pair, err := ca.Server("server", "127.0.0.1", "kubernetes.default")
	if err != nil {
		t.Fatal(err)
	}
	cert := parse(t, pair.Cert)
	for host, want := range map[string]bool{
		"127.0.0.1": true, "kubernetes.default": true, "127.0.0.2": false, "localhost": false,
	} {
		_, err := cert.Verify(x509.VerifyOptions{Roots: pool(ca), DNSName: host})
		if got := err == nil; got != want {
			t.Errorf("good for %s: %v (%v), want %v", host, got, err, want)
		}
	}
}

func TestCertificatesDiffer(t *testing.T) {
	ca := newCA(t)
	first, err := ca.Client("same")
	if err != nil {
		t.Fatal(err)
	}
	second, err := ca.Client("same")
	if err != nil {
		t.Fatal(err)
	}
	if cmp.Equal(first.Key, second.Key) {
		t.Error("two certificates share a key")
	}
	if parse(t, first.Cert).SerialNumber.Cmp(parse(t, second.Cert).SerialNumber) == 0 {
		t.Error("two certificates share a serial number")
	}
}
