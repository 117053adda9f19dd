// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package stamp_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"

	"berth.dev/berth/pkg/model/stamp"
	"berth.dev/berth/pkg/placement/pool"
)

func TestChargesAreReadAsTheyWereWritten(t *testing.T) {
	want := []pool.Charge{
		{Resource: "matlab", Pool: "default", Quantity: resource.MustParse("3")},
		{Resource: "rack", Pool: "rack-a", Quantity: resource.MustParse("1.5Gi")},
		{Resource: "share", Pool: "all", Quantity: resource.MustParse("0.0001")},
		{Resource: "bytes", Pool: "all", Quantity: resource.MustParse("2999999999999997000000")},
	}
	bound := pod("uid-0", "node-1", nil)
	bound.Annotations = stamp.ChargeAnnotations(bound, "node-1", want)
	got, ok := stamp.ChargesOf(bound)
	if diff := cmp.Diff(want, got); !ok || diff != "" {
		t.Errorf("read: %t; charges (-want +got):\n%s", ok, diff)
	}
	if _, placed := stamp.Of(bound); placed {
		t.Error("a pod that was only charged passes for one that a policy placed")
	}
}

func TestChargesThatCannotCount(t *testing.T) {
	for name, tc := range map[string]struct{ placedBy, charged string }{
		"made for another pod":       {"uid-1/node-1", "matlab/default=1"},
		"made for another node":      {"uid-0/node-2", "matlab/default=1"},
		"without who was charged":    {"", "matlab/default=1"},
		"no pool":                    {"uid-0/node-1", "matlab=1"},
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
