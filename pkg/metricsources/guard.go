// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package metricsources

import (
	"net/netip"
	"slices"
	"syscall"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// Guard refuses connections to addresses at which no provider can be, but the credentials of
// machines or the control plane are: link-local addresses, the metadata services of clouds, the API
// server, and what else is on this machine. It looks at the address that a name was resolved to, so
// a name that changes its address in between gains nothing. The zero Guard knows no API server.
type Guard struct {
	// APIServers are addresses of the API server. All ports of these are refused; on a loopback
	// address only the port itself, since other things are there too.
	APIServers []netip.AddrPort
	// Loopback permits loopback addresses, for a control plane that is on one machine with its
	// providers.
	Loopback bool
}

// metadata are addresses of metadata services that are not link-local.
var metadata = []netip.Addr{
	netip.MustParseAddr("100.100.100.200"), // Alibaba Cloud
	netip.MustParseAddr("168.63.129.16"),   // Azure
	netip.MustParseAddr("192.0.0.192"),     // Oracle Cloud
	netip.MustParseAddr("fd00:ec2::254"),   // AWS
	netip.MustParseAddr("fd20:ce::254"),    // Google Cloud
}

// translated are prefixes of IPv6 addresses that end in the IPv4 address that is meant.
var translated = []netip.Prefix{netip.MustParsePrefix("64:ff9b::/96"), netip.MustParsePrefix("::/96")}

// sixToFour is the prefix of IPv6 addresses that have the IPv4 address that is meant after it.
var sixToFour = netip.MustParsePrefix("2002::/16")

// control is a net.Dialer.Control.
func (g *Guard) control(_, address string, _ syscall.RawConn) error {
	target, err := netip.ParseAddrPort(address)
	if err != nil || !g.allows(target) {
		return errAddress
	}
	return nil
}

var errAddress = outage(berthv1alpha1.ReasonAddressNotAllowed,
	"the provider's address is loopback, link-local, a metadata service or the API server")

func (g *Guard) allows(target netip.AddrPort) bool {
	address := target.Addr().Unmap().WithZone("")
	if address.Is6() && !address.IsLoopback() {
		if embedded, found := embeddedIPv4(address); found && !g.allows(netip.AddrPortFrom(embedded, target.Port())) {
			return false
		}
	}
	if address.IsLoopback() && !g.Loopback || never(address) {
		return false
	}
	return !slices.ContainsFunc(g.APIServers, func(server netip.AddrPort) bool {
		return server.Addr().Unmap() == address && (!address.IsLoopback() || server.Port() == target.Port())
	})
}

// never reports whether nobody may be asked at the address, whatever is permitted.
func never(address netip.Addr) bool {
	return address.IsUnspecified() || address.IsLinkLocalUnicast() || address.IsMulticast() || slices.Contains(metadata, address)
}

func embeddedIPv4(address netip.Addr) (netip.Addr, bool) {
	bytes := address.As16()
	if sixToFour.Contains(address) {
		return netip.AddrFrom4([4]byte(bytes[2:6])), true
	}
	for _, prefix := range translated {
		if prefix.Contains(address) {
			return netip.AddrFrom4([4]byte(bytes[12:])), true
		}
	}
	return netip.Addr{}, false
}
