// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"testing"

	"berth.dev/berth/cmd/internal/flagtest"
)

func TestDefaultsServeOverTLSOnly(t *testing.T) {
	opts := newOptions()
	if err := flagtest.Parse(opts); err != nil {
		t.Fatalf("the defaults are refused: %v", err)
	}
	if opts.SecureServing.BindPort != 8443 || opts.InsecureHTTPAddress != "" {
		t.Errorf("port %d, without TLS at %q", opts.SecureServing.BindPort, opts.InsecureHTTPAddress)
	}
	if opts.SecureServing.ServerCert.CertDirectory != "" {
		t.Error("the certificate is written to disk")
	}
}

func TestFlags(t *testing.T) {
	flagtest.Run(t, newOptions, map[string]flagtest.Case{
		"a loopback address":                 {Args: []string{"--insecure-http-address=127.0.0.1:8080"}},
		"a loopback address of IPv6":         {Args: []string{"--insecure-http-address=[::1]:8080"}},
		"a loopback address and no TLS":      {Args: []string{"--insecure-http-address=127.0.0.1:8080", "--secure-port=0"}},
		"nothing to serve on":                {Args: []string{"--secure-port=0"}, Want: "--secure-port must not be 0"},
		"an address that others reach":       {Args: []string{"--insecure-http-address=10.0.0.1:8080"}, Want: "is no loopback address"},
		"all addresses":                      {Args: []string{"--insecure-http-address=:8080"}, Want: "is no loopback address"},
		"all addresses, written out":         {Args: []string{"--insecure-http-address=0.0.0.0:8080"}, Want: "is no loopback address"},
		"a name that could mean any address": {Args: []string{"--insecure-http-address=localhost:8080"}, Want: "is no loopback address"},
		"an address without a port":          {Args: []string{"--insecure-http-address=127.0.0.1"}, Want: "missing port"},
		"no requests to the API server":      {Args: []string{"--kube-api-qps=0"}, Want: "--kube-api-qps"},
		"no requests of clients":             {Args: []string{"--client-qps=0"}, Want: "--client-qps"},
		"no requests at all":                 {Args: []string{"--max-requests-in-flight=0"}, Want: "--max-requests-in-flight"},
		"no time for the body":               {Args: []string{"--body-timeout=0s"}, Want: "--body-timeout"},
		"a port that is none":                {Args: []string{"--secure-port=70000"}, Want: "--secure-port"},
		"a flag that does not exist":         {Args: []string{"--nonsense"}, Want: "unknown flag"},
		"several faults, all of them told":   {Args: []string{"--kube-api-qps=0", "--client-burst=-1"}, Want: "--client-burst"},
	})
}

func TestCommandRefusesArguments(t *testing.T) {
	flagtest.CheckRefusesArguments(t, NewCommand())
}
