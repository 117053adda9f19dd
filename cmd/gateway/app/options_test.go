// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package app_test

import (
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"berth.dev/berth/cmd/gateway/app"
)

// parse returns the options that the flags make.
func parse(t *testing.T, args ...string) (*app.Options, error) {
	t.Helper()
	opts := app.NewOptions()
	flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
	sets := opts.Flags()
	for _, set := range sets.FlagSets {
		flags.AddFlagSet(set)
	}
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	err := opts.Validate()
	return opts, err
}

func TestDefaultsServeOverTLSOnly(t *testing.T) {
	opts, err := parse(t)
	if err != nil {
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
	tests := map[string]struct {
		args []string
		// want is part of the error, empty for none.
		want string
	}{
		"a loopback address":                 {args: []string{"--insecure-http-address=127.0.0.1:8080"}},
		"a loopback address of IPv6":         {args: []string{"--insecure-http-address=[::1]:8080"}},
		"a loopback address and no TLS":      {args: []string{"--insecure-http-address=127.0.0.1:8080", "--secure-port=0"}},
		"nothing to serve on":                {args: []string{"--secure-port=0"}, want: "--secure-port must not be 0"},
		"an address that others reach":       {args: []string{"--insecure-http-address=10.0.0.1:8080"}, want: "is no loopback address"},
		"all addresses":                      {args: []string{"--insecure-http-address=:8080"}, want: "is no loopback address"},
		"all addresses, written out":         {args: []string{"--insecure-http-address=0.0.0.0:8080"}, want: "is no loopback address"},
		"a name that could mean any address": {args: []string{"--insecure-http-address=localhost:8080"}, want: "is no loopback address"},
		"an address without a port":          {args: []string{"--insecure-http-address=127.0.0.1"}, want: "missing port"},
		"no requests to the API server":      {args: []string{"--kube-api-qps=0"}, want: "--kube-api-qps"},
		"no requests of clients":             {args: []string{"--client-qps=0"}, want: "--client-qps"},
		"no requests at all":                 {args: []string{"--max-requests-in-flight=0"}, want: "--max-requests-in-flight"},
		"no time for the body":               {args: []string{"--body-timeout=0s"}, want: "--body-timeout"},
		"a port that is none":                {args: []string{"--secure-port=70000"}, want: "--secure-port"},
		"a flag that does not exist":         {args: []string{"--nonsense"}, want: "unknown flag"},
		"several faults, all of them told":   {args: []string{"--kube-api-qps=0", "--client-burst=-1"}, want: "--client-burst"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := parse(t, tc.args...)
			switch {
			case tc.want == "" && err != nil:
				t.Errorf("refused: %v", err)
			case tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)):
				t.Errorf("error = %v, want one with %q", err, tc.want)
			}
		})
	}
}

func TestCommandRefusesArguments(t *testing.T) {
	cmd := app.NewCommand()
	cmd.SetArgs([]string{"argument"})
	if err := cmd.Execute(); err == nil {
		t.Error("an argument is accepted")
	}
}
