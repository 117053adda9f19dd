// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package localplane

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"time"
)

// A run is short; the certificates only must outlive it.
const (
	certLifetime = 365 * 24 * time.Hour
	clockSlack   = 5 * time.Minute
)

// authority is a certificate authority that lives in memory. Its methods may be called
// concurrently.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pem  []byte
}

// KeyPair is a certificate and its private key, both PEM encoded.
type KeyPair struct {
	Cert, Key []byte
}

// newAuthority makes a certificate authority with a fresh ECDSA P-256 key.
func newAuthority(commonName string) (*authority, error) {
	key, err := newKey()
	if err != nil {
		return nil, err
	}
	template, err := newTemplate(pkix.Name{CommonName: commonName})
	if err != nil {
		return nil, err
	}
	template.IsCA = true
	template.BasicConstraintsValid = true
	template.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("signing the certificate authority %s: %w", commonName, err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("reading the certificate authority %s: %w", commonName, err)
	}
	return &authority{cert: cert, key: key, pem: encodePEM("CERTIFICATE", der)}, nil
}

// PEM returns the certificate that clients and servers trust.
func (ca *authority) PEM() []byte { return append([]byte(nil), ca.pem...) }

// Server issues a certificate for a server reached under the hosts, each an IP
// address or a DNS name. It is good for a client as well, because etcd presents
// its serving certificate to its own gateway.
func (ca *authority) Server(commonName string, hosts ...string) (KeyPair, error) {
	template, err := newTemplate(pkix.Name{CommonName: commonName})
	if err != nil {
		return KeyPair{}, err
	}
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	for _, host := range hosts {
		if ip := net.ParseIP(host); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	return ca.issue(template)
}

// Client issues a certificate that authenticates the user and its groups to the
// API server. The user must not be empty.
func (ca *authority) Client(user string, groups ...string) (KeyPair, error) {
	if user == "" {
		return KeyPair{}, errors.New("issuing a client certificate: the user has no name")
	}
	template, err := newTemplate(pkix.Name{CommonName: user, Organization: groups})
	if err != nil {
		return KeyPair{}, err
	}
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	return ca.issue(template)
}

func (ca *authority) issue(template *x509.Certificate) (KeyPair, error) {
	key, err := newKey()
	if err != nil {
		return KeyPair{}, err
	}
	template.KeyUsage = x509.KeyUsageDigitalSignature
	der, err := x509.CreateCertificate(rand.Reader, template, ca.cert, key.Public(), ca.key)
	if err != nil {
		return KeyPair{}, fmt.Errorf("signing the certificate of %s: %w", template.Subject.CommonName, err)
	}
	keyPEM, err := encodeKey(key)
	if err != nil {
		return KeyPair{}, err
	}
	return KeyPair{Cert: encodePEM("CERTIFICATE", der), Key: keyPEM}, nil
}

func newTemplate(subject pkix.Name) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, fmt.Errorf("drawing a serial number: %w", err)
	}
	now := time.Now()
	return &x509.Certificate{
		SerialNumber: serial,
		Subject:      subject,
		NotBefore:    now.Add(-clockSlack),
		NotAfter:     now.Add(certLifetime),
	}, nil
}

func newKey() (*ecdsa.PrivateKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("making a key: %w", err)
	}
	return key, nil
}

func encodeKey(key *ecdsa.PrivateKey) ([]byte, error) {
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("encoding a key: %w", err)
	}
	return encodePEM("EC PRIVATE KEY", der), nil
}

func encodePEM(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}
