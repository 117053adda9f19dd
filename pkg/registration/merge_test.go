// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package registration_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/registration"
)

// patch wraps members of a cluster_spec, as a merge patch.
func patch(members string) string { return `{"cluster_profile":{"cluster_spec":{` + members + `}}}` }

func TestMerge(t *testing.T) {
	tests := map[string]struct {
		patch  string
		change func(*registration.Spec)
	}{
		"nothing":                 {`{}`, func(*registration.Spec) {}},
		"one number":              {patch(`"ServerPrice":11`), func(s *registration.Spec) { s.ServerPrice = 11 }},
		"in another spelling":     {patch(`"serverprice":11,"ipAdrress":"10.0.0.4"`), func(s *registration.Spec) { s.ServerPrice, s.IPAddress = 11, "10.0.0.4" }},
		"a part of a place":       {patch(`"GeoLocation":{"city":"Seattle"}`), func(s *registration.Spec) { s.GeoLocation.City = "Seattle" }},
		"a part of a place away":  {patch(`"GeoLocation":{"city":null}`), func(s *registration.Spec) { s.GeoLocation.City = "" }},
		"a place away":            {patch(`"GeoLocation":null`), func(s *registration.Spec) { s.GeoLocation = registration.GeoLocation{} }},
		"a label more":            {patch(`"labels":{"a":"b"}`), func(s *registration.Spec) { s.Labels = map[string]string{"tier": "edge", "a": "b"} }},
		"a label less":            {patch(`"labels":{"tier":null,"none":null}`), func(s *registration.Spec) { s.Labels = nil }},
		"other nodes":             {patch(`"nodes":["n2","n3"]`), func(s *registration.Spec) { s.Nodes = []string{"n2", "n3"} }},
		"no nodes":                {patch(`"nodes":null,"matchLables":null`), func(s *registration.Spec) { s.Nodes, s.MatchLabels = nil, nil }},
		"a list as a whole":       {patch(`"flavors":[{"FlavorID":"big","TotalCapacity":1}]`), func(s *registration.Spec) { s.Flavors = []registration.Flavor{{FlavorID: "big", TotalCapacity: 1}} }},
		"a part of provision":     {patch(`"provision":{"cloudNamespace":"team"}`), func(s *registration.Spec) { s.Provision.CloudNamespace = "team" }},
		"the same twice":          {patch(`"Operator":{"operator":"a"},"operator":{"operator":"a"}`), func(s *registration.Spec) { s.Operator.Operator = "a" }},
		"its own name and number": {`{"cluster_profile":{"cluster_name":"cluster1","cluster_id":"3DDA2801-d675-4688-a63f-dcda8d327f51"}}`, func(*registration.Spec) {}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			current := registration.FromCluster(whole())
			got, err := registration.Merge([]byte(tc.patch), &current)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(registration.FromCluster(whole()), current); diff != "" {
				t.Errorf("the profile that was there changed (-want +got):\n%s", diff)
			}
			want := registration.FromCluster(whole())
			tc.change(&want.Spec)
			got.ID = want.ID
			if diff := cmp.Diff(&want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("profile mismatch (-want +got):\n%s", diff)
			}
		})
	}
}

func TestMergeRefuses(t *testing.T) {
	const spec = "cluster_profile.cluster_spec."
	tests := map[string]struct {
		patch, want string
		identity    bool
	}{
		"another name":         {"{\n\"cluster_profile\":{\"cluster_name\":\"d\"}}", `line 2, column 35: cluster_name must be "cluster1"`, true},
		"another id":           {`{"cluster_profile":{"cluster_id":"00000000-0000-4000-8000-000000000001"}}`, "line 1, column 34: cluster_id must be", true},
		"no name":              {`{"cluster_profile":{"cluster_name":null}}`, "cluster_profile.cluster_name: is required, null cannot remove it", false},
		"no spec":              {`{"cluster_profile":{"cluster_spec":null}}`, "cluster_profile.cluster_spec: is required", false},
		"an unknown field":     {patch(`"color":null`), spec + "color: unknown field", false},
		"a text for a number":  {patch(`"ServerPrice":"11"`), spec + "ServerPrice: must be a whole number", false},
		"a flavor by half":     {patch(`"flavors":[{"FlavorID":"s"}]`), spec + "flavors[0].TotalCapacity: is required", false},
		"a label twice":        {patch(`"labels":{"a":"b","a":null}`), spec + "labels.a: is there twice", false},
		"places that disagree": {patch(`"GeoLocation":{"city":"a"},"geolocation":{"area":"b"}`), spec + "geolocation: is there twice", false},
		"a JSON patch":         {`[{"op":"remove","path":"/cluster_profile"}]`, "line 1, column 1: must be an object in braces", false},
		"provision":            {patch(`"provision":null`), spec + "provision: cannot be removed", false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			current := registration.FromCluster(whole())
			_, err := registration.Merge([]byte(tc.patch), &current)
			var wrong *registration.InputError
			var identity *registration.IdentityError
			if !errors.As(err, &wrong) || !strings.Contains(err.Error(), tc.want) || errors.As(err, &identity) != tc.identity {
				t.Errorf("error %v, want %q", err, tc.want)
			}
		})
	}
}

// TestWhatIsShownIsReadBack makes clusters as kubectl can make them, with or without each part.
func TestWhatIsShownIsReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		has := func(name string) bool { return rapid.Bool().Draw(t, name) }
		want := whole()
		remove := map[string]func(*berthv1alpha1.ClusterSpec){
			"region":    func(s *berthv1alpha1.ClusterSpec) { s.Region = nil },
			"zone only": func(s *berthv1alpha1.ClusterSpec) { s.Region = &berthv1alpha1.Region{AvailabilityZone: "z"} },
			"place":     func(s *berthv1alpha1.ClusterSpec) { s.GeoLocation = nil },
			"operator":  func(s *berthv1alpha1.ClusterSpec) { s.Operator = nil },
			"flavors":   func(s *berthv1alpha1.ClusterSpec) { s.Flavors = nil },
			"nodes":     func(s *berthv1alpha1.ClusterSpec) { s.Nodes = nil },
			"labels":    func(s *berthv1alpha1.ClusterSpec) { s.MatchLabels = nil },
			"metrics":   func(s *berthv1alpha1.ClusterSpec) { s.Metrics = nil },
			"provision": func(s *berthv1alpha1.ClusterSpec) { s.Provision = nil },
			"address":   func(s *berthv1alpha1.ClusterSpec) { s.IPAddress = "" },
		}
		for _, name := range []string{"region", "zone only", "place", "operator", "flavors", "nodes", "labels", "metrics", "provision", "address"} {
			if has(name) {
				remove[name](&want.Spec)
			}
		}
		shown := registration.FromCluster(want)
		encoded, err := json.Marshal(registration.Document{Profile: shown})
		if err != nil {
			t.Fatal(err)
		}
		for name, read := range map[string]func([]byte, *registration.Profile) (*registration.Profile, error){
			"PUT": registration.DecodeReplacement, "PATCH": registration.Merge,
		} {
			back, err := read(encoded, &shown)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			got := want.DeepCopy()
			if warnings := back.ChangeWarnings(got); len(warnings) > 0 {
				t.Errorf("%s: warnings %q", name, warnings)
			}
			back.Apply(got)
			if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s: cluster mismatch (-want +got):\n%s", name, diff)
			}
		}
	})
}

func TestCorrectSpelling(t *testing.T) {
	spec := map[string]any{"ipAdrress": "10.0.0.3", "matchLables": 1, "nodes": 2}
	if err := registration.CorrectSpelling(spec); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]any{"ipAddress": "10.0.0.3", "matchLabels": 1, "nodes": 2}, spec); diff != "" {
		t.Errorf("spec mismatch (-want +got):\n%s", diff)
	}
	err := registration.CorrectSpelling(map[string]any{"matchLables": 1, "matchLabels": 1})
	if err == nil || !strings.Contains(err.Error(), "keep one of them") {
		t.Errorf("error %v", err)
	}
}
