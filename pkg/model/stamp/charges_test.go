// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package stamp_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"

	"berth.dev/berth/pkg/model/stamp"
	"berth.dev/berth/pkg/placement/pool"
)

func TestChargesAreReadAsTheyWereWritten(t *testing.T) {
	charged := func(grantee string) []pool.Charge {
		return []pool.Charge{
			{Resource: "matlab", Pool: "default", Grantee: grantee, Quantity: resource.MustParse("3")},
			{Resource: "rack", Pool: "rack-a", Grantee: grantee, Quantity: resource.MustParse("1.5Gi")},
			{Resource: "share", Pool: "all", Grantee: grantee, Quantity: resource.MustParse("0.0001")},
			{Resource: "bytes", Pool: "all", Grantee: grantee, Quantity: resource.MustParse("2999999999999997000000")},
		}
	}
	tests := map[string]struct {
		charges, want []pool.Charge
		wantGrantee   string
	}{
		"of the whole pool":       {charges: charged(""), want: charged("")},
		"of a Scheduler's grant":  {charges: charged("east"), want: charged("east"), wantGrantee: "east"},
		"one charge, of a grant":  {charges: charged("east")[:1], want: charged("east")[:1], wantGrantee: "east"},
		"nothing at all is none":  {},
		"a list that has no item": {charges: []pool.Charge{}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			bound := pod("uid-0", "node-1", nil)
			bound.Annotations = stamp.ChargeAnnotations(bound, "node-1", tc.charges)
			got, ok := stamp.ChargesOf(bound)
			if diff := cmp.Diff(tc.want, got); ok != (tc.want != nil) || diff != "" {
				t.Errorf("read: %t; charges (-want +got):\n%s", ok, diff)
			}
			grantee, told := bound.Annotations["berth.dev/grantee"]
			if grantee != tc.wantGrantee || told != (tc.wantGrantee != "") {
				t.Errorf("grantee %q, told %t, want %q", grantee, told, tc.wantGrantee)
			}
			if _, placed := stamp.Of(bound); placed {
				t.Error("a pod that was only charged passes for one that a policy placed")
			}
		})
	}
}

// Anybody can write annotations of 256 KiB, which every scheduler would read with every pod.
func TestMoreChargesThanAPodCanHaveAreNotRead(t *testing.T) {
	for length, want := range map[int]bool{64 << 10: true, 64<<10 + 1: false} {
		first, last := "matlab/default=1,", "/default=1"
		text := first + strings.Repeat("a", length-len(first)-len(last)) + last
		p := pod("uid-0", "node-1", map[string]string{"berth.dev/placed-by": "uid-0/node-1", "berth.dev/charged": text})
		if _, got := stamp.ChargesOf(p); got != want {
			t.Errorf("of %d bytes: read %t, want %t", len(text), got, want)
		}
	}
}

func TestChargesThatCannotCount(t *testing.T) {
	for name, tc := range map[string]struct{ placedBy, charged string }{
		"made for another pod":       {"uid-1/node-1", "matlab/default=1"},
		"made for another node":      {"uid-0/node-2", "matlab/default=1"},
		"without who was charged":    {"", "matlab/default=1"},
		"no pool":                    {"uid-0/node-1", "matlab=1"},
		"a pool without a name":      {"uid-0/node-1", "matlab/=1"},
		"a pool of nothing":          {"uid-0/node-1", "/default=1"},
		"no amount":                  {"uid-0/node-1", "matlab/default"},
		"an amount that would hang":  {"uid-0/node-1", "matlab/default=1e-2147483647"},
		"a negative amount":          {"uid-0/node-1", "matlab/default=-1"},
		"something after a good one": {"uid-0/node-1", "matlab/default=1,"},
	} {
		t.Run(name, func(t *testing.T) {
			p := pod("uid-0", "node-1", map[string]string{"berth.dev/placed-by": tc.placedBy, "berth.dev/charged": tc.charged})
			if charges, ok := stamp.ChargesOf(p); ok {
				t.Errorf("counted as %v", charges)
			}
		})
	}
}

func FuzzChargesOf(f *testing.F) {
	f.Add("matlab/default=1,rack/a=5Gi")
	f.Add("=/,==//")
	f.Fuzz(func(t *testing.T, charged string) {
		p := pod("uid-0", "node-1", map[string]string{"berth.dev/placed-by": "uid-0/node-1", "berth.dev/charged": charged})
		charges, ok := stamp.ChargesOf(p)
		if !ok {
			return
		}
		p.Annotations = stamp.ChargeAnnotations(p, "node-1", charges)
		again, ok := stamp.ChargesOf(p)
		if diff := cmp.Diff(charges, again); !ok || diff != "" {
			t.Errorf("read again: %t (-first +again):\n%s", ok, diff)
		}
	})
}
