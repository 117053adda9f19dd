// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package registration_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"berth.dev/berth/pkg/registration"
)

// FuzzDecode checks that no input crashes the decoder, that an error tells a place inside the
// input, and that what was understood comes back from its own encoding.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		`{"cluster_profile":{"cluster_name":"c","cluster_spec":{"Region":{"region":"r"},"nodes":["n"],"labels":{"a":"b"}}}}`,
		profile(`"metrics":[{"name":"heat","weight":0.5}],"flavors":[{"FlavorID":"s","TotalCapacity":1}]`),
		profile(`"ipAdrress":"a","IPADDRESS":"b"`),
		`{"cluster_profile":{“cluster_name”: 1}}`,
		"\xef\xbb\xbf{}", "[[[[", "null",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		got, err := registration.Decode(input)
		if err != nil {
			checkRefusal(t, input, err)
			return
		}
		encoded, err := json.Marshal(registration.Document{Profile: *got})
		if err != nil {
			t.Fatal(err)
		}
		again, err := registration.Decode(encoded)
		if errors.Is(err, registration.ErrTooLarge) {
			return
		}
		if diff := cmp.Diff(got, again, cmpopts.EquateEmpty()); err != nil || diff != "" {
			t.Errorf("%s: error %v, profile mismatch (-want +got):\n%s", encoded, err, diff)
		}
	})
}

// FuzzMerge checks that no patch crashes the reader or changes what it is merged into, and that an
// error tells a place inside the patch.
func FuzzMerge(f *testing.F) {
	for _, seed := range []string{
		`{}`, patch(`"nodes":null,"labels":{"a":null},"GeoLocation":{"city":null}`), patch(`"provision":{"cloudLabels":[null]}`),
		patch(`"flavors":[{"FlavorID":null,"TotalCapacity":1}]`), `{"cluster_profile":null}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		current := registration.FromCluster(whole())
		got, err := registration.Merge(input, &current)
		if err != nil {
			checkRefusal(t, input, err)
		} else {
			got.Apply(whole())
		}
		if diff := cmp.Diff(registration.FromCluster(whole()), current); diff != "" {
			t.Errorf("the profile that was there changed (-want +got):\n%s", diff)
		}
	})
}

func checkRefusal(t *testing.T, input []byte, err error) {
	t.Helper()
	if errors.Is(err, registration.ErrTooLarge) {
		return
	}
	var wrong *registration.InputError
	if !errors.As(err, &wrong) {
		t.Fatalf("error %T: %v", err, err)
	}
	if wrong.Line < 1 || wrong.Column < 1 || wrong.Column > len(input)+1 {
		t.Fatalf("line %d, column %d of %d bytes", wrong.Line, wrong.Column, len(input))
	}
}
