// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package metricsources_test

import (
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/metricsources"
)

func TestAddressesThatAreRefused(t *testing.T) {
	guard := &metricsources.Guard{APIServers: []netip.AddrPort{
		netip.MustParseAddrPort("10.96.0.1:443"), netip.MustParseAddrPort("[fd00::1]:6443"),
	}}
	for _, url := range []string{
		"http://169.254.169.254", "http://169.254.169.254:80/latest/meta-data", "https://169.254.0.1",
		"http://[::ffff:169.254.169.254]", "http://[::ffff:a9fe:a9fe]", "http://[::169.254.169.254]",
		"http://[64:ff9b::169.254.169.254]", "http://[2002:a9fe:a9fe::1]", "http://[2002:a9fe:a9fe::]:9090",
		"http://[fe80::1]", "http://[fe80::1%25lo]", "http://[febf::1]", "http://[fd00:ec2::254]", "http://[fd20:ce::254]",
		"http://100.100.100.200", "http://168.63.129.16", "http://192.0.0.192", "http://0.0.0.0:1", "http://[::]:1",
		"http://224.0.0.1", "http://[ff02::1]", "http://10.96.0.1", "http://10.96.0.1:9090", "https://[::ffff:10.96.0.1]",
		"https://[64:ff9b::10.96.0.1]", "https://[fd00::1]:6443", "http://[fd00::1]:9090",
		"http://127.0.0.1:1", "http://127.1.2.3:1", "http://[::1]:1", "http://[::ffff:127.0.0.1]:1", "http://[64:ff9b::127.0.0.1]:1",
	} {
		for _, spec := range []*berthv1alpha1.MetricsProviderSpec{prometheusAt(url), ksqlAt(url)} {
			source := open(t, spec, metricsources.Options{Guard: guard})
			if _, err := source.Read(t.Context(), "m"); err == nil || reason(t, err) != "AddressNotAllowed" {
				t.Errorf("%s %s: got %v, want the address to be refused", spec.Type, url, err)
			}
		}
	}
}

func TestAPIServerOnThisMachine(t *testing.T) {
	apiServer, other := httptest.NewServer(answer(vector("1"))), httptest.NewServer(answer(vector("1")))
	defer apiServer.Close()
	defer other.Close()
	guard := &metricsources.Guard{Loopback: true, APIServers: []netip.AddrPort{
		netip.MustParseAddrPort(strings.TrimPrefix(apiServer.URL, "http://")),
	}}
	if _, err := open(t, prometheusAt(other.URL), metricsources.Options{Guard: guard}).Read(t.Context(), "m"); err != nil {
		t.Errorf("another port: %v", err)
	}
	_, err := open(t, prometheusAt(apiServer.URL), metricsources.Options{Guard: guard}).Read(t.Context(), "m")
	if err == nil || reason(t, err) != "AddressNotAllowed" {
		t.Errorf("the API server: got %v, want the address to be refused", err)
	}
}

// TestNamesAreResolvedBeforeTheCheck reaches the API server by a name.
func TestNamesAreResolvedBeforeTheCheck(t *testing.T) {
	server := httptest.NewServer(answer(vector("1")))
	defer server.Close()
	address := netip.MustParseAddrPort(strings.TrimPrefix(server.URL, "http://"))
	url := strings.Replace(server.URL, "127.0.0.1", "localhost", 1)
	if _, err := open(t, prometheusAt(url), metricsources.Options{}).Read(t.Context(), "m"); err != nil {
		t.Skipf("localhost is not the loopback address here: %v", err)
	}
	guard := &metricsources.Guard{Loopback: true, APIServers: []netip.AddrPort{
		address, netip.AddrPortFrom(netip.IPv6Loopback(), address.Port()),
	}}
	_, err := open(t, prometheusAt(url), metricsources.Options{Guard: guard}).Read(t.Context(), "m")
	if err == nil || reason(t, err) != "AddressNotAllowed" {
		t.Errorf("got %v, want the address to be refused", err)
	}
}

func TestNewRefuses(t *testing.T) {
	static := &berthv1alpha1.MetricsProviderSpec{Type: berthv1alpha1.StaticMetrics}
	bundle := prometheusAt("https://a")
	bundle.Prometheus.CABundle = []byte("no certificate")
	plain := prometheusAt("http://a")
	plain.AllowPlainHTTP = false
	column := ksqlAt("http://a")
	column.Kafka.KrakeValueColumn = "a, b"
	tests := map[string]struct {
		spec *berthv1alpha1.MetricsProviderSpec
		want string
	}{
		"a provider without its section": {static, "InvalidProvider"},
		"no certificate":                 {bundle, "InvalidProvider"},
		"SQL as a column":                {column, "InvalidProvider"},
		"a password":                     {prometheusAt("http://u:p@a"), "InvalidProvider"},
		"a name":                         {prometheusAt("http://u@a"), "InvalidProvider"},
		"a file":                         {prometheusAt("file:///etc/passwd"), "InvalidProvider"},
		"a socket":                       {prometheusAt("unix:///run/docker.sock"), "InvalidProvider"},
		"no host":                        {prometheusAt("http://"), "InvalidProvider"},
		"no scheme":                      {prometheusAt("localhost:9090"), "InvalidProvider"},
		"a query":                        {prometheusAt("http://a/?x=y"), "InvalidProvider"},
		"a control character":            {prometheusAt("http://a\nb"), "InvalidProvider"},
		"a host that is not allowed":     {prometheusAt("http://evil.example.com"), "AddressNotAllowed"},
		"plain HTTP":                     {plain, "TLSRequired"},
	}
	for name, tc := range tests {
		_, err := metricsources.New(tc.spec, metricsources.Options{
			AllowHost: func(host string) bool { return host == "a" }, PlainHTTP: true,
		})
		if err == nil || reason(t, err) != tc.want {
			t.Errorf("%s: got %v, want %s", name, err, tc.want)
		}
	}
}

func TestPlainHTTPTakesBothConsents(t *testing.T) {
	for _, provider := range []bool{false, true} {
		for _, operator := range []bool{false, true} {
			for _, spec := range []*berthv1alpha1.MetricsProviderSpec{prometheusAt("http://a"), ksqlAt("HTTP://a")} {
				spec.AllowPlainHTTP = provider
				_, err := metricsources.New(spec, metricsources.Options{PlainHTTP: operator})
				if want := provider && operator; (err == nil) != want || err != nil && reason(t, err) != "TLSRequired" {
					t.Errorf("%s, the provider consents: %t, the operator: %t: got %v", spec.Type, provider, operator, err)
				}
			}
		}
	}
}

func TestHostList(t *testing.T) {
	allowed := metricsources.HostList([]string{"prometheus.example.com", "*.metrics.example.com", "*"})
	for host, want := range map[string]bool{
		"prometheus.example.com": true, "Prometheus.Example.Com.": true, "a.prometheus.example.com": false,
		"a.metrics.example.com": true, "a.b.metrics.example.com": true, "metrics.example.com": false,
		"xmetrics.example.com": false, "": false, "127.0.0.1": false,
	} {
		if got := allowed(host); got != want {
			t.Errorf("%q: allowed is %t, want %t", host, got, want)
		}
	}
}
