// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package registration_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"berth.dev/berth/pkg/registration"
)

func testdata(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// published is the example of the published API.
func published() registration.Profile {
	return registration.Profile{
		Name: "cluster1",
		Spec: registration.Spec{
			IPAddress:   "10.0.0.3",
			GeoLocation: registration.GeoLocation{City: "Bellevue", Province: "Washington", Area: "West", Country: "US"},
			Region:      registration.Region{Region: "us-west", AvailabilityZone: "us-west-1"},
			Operator:    registration.Operator{Operator: "globalscheduler"},
			Flavors: []registration.Flavor{
				{FlavorID: "small", TotalCapacity: 5}, {FlavorID: "medium", TotalCapacity: 10}, {FlavorID: "large", TotalCapacity: 20},
				{FlavorID: "xlarge", TotalCapacity: 10}, {FlavorID: "2xlarge", TotalCapacity: 5},
			},
			Storage: []registration.Storage{
				{TypeID: "sata", StorageCapacity: 2000}, {TypeID: "sas", StorageCapacity: 1000}, {TypeID: "ssd", StorageCapacity: 3000},
			},
			EIPCapacity: 3, CPUCapacity: 8, MemCapacity: 256, ServerPrice: 10,
			HomeScheduler: "scheduler1", HomeDispatcher: "dispatcher1",
		},
	}
}

// profile wraps members of a cluster_spec that has what is required.
func profile(members string) string {
	if members != "" {
		members = "," + members
	}
	return `{"cluster_profile":{"cluster_name":"c","cluster_spec":{"Region":{"region":"r"}` + members + `}}}`
}

func TestDecodeReadsEverySpelling(t *testing.T) {
	example := testdata(t, "published.json")
	tests := map[string]string{
		"as published":                    example,
		"with labels spelled wrong":       strings.ReplaceAll(example, `"EipCapacity": 3`, `"EipCapacity": 3, "matchLables": null`),
		"in lower case":                   strings.NewReplacer("ipAdrress", "ipaddress", "GeoLocation", "geolocation", "FlavorID", "flavorid", "CPUCapacity", "cpucapacity").Replace(example),
		"in upper case":                   strings.NewReplacer("cluster_profile", "CLUSTER_PROFILE", "TypeID", "TYPEID").Replace(example),
		"with the address spelled right":  strings.ReplaceAll(example, "ipAdrress", "ipAddress"),
		"with the published blank":        strings.ReplaceAll(example, `"HomeDispatcher"`, `"HomeDispatcher "`),
		"with both spellings that agree":  strings.ReplaceAll(example, `"ipAdrress": "10.0.0.3"`, `"ipAdrress": "10.0.0.3", "ipaddress": "10.0.0.3"`),
		"with a key twice that agrees":    strings.ReplaceAll(example, `"EipCapacity": 3`, `"EipCapacity": 3, "EipCapacity": 3`),
		"with null for what it lacks":     strings.ReplaceAll(example, `"EipCapacity": 3`, `"EipCapacity": 3, "nodes": null, "labels":  null`),
		"with null before the real value": strings.ReplaceAll(example, `"EipCapacity": 3`, `"EipCapacity": null, "EipCapacity": 3`),
		"with blank lines around it":      "\r\n\t " + example + "\n\n",
	}
	for name, input := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := registration.Decode([]byte(input))
			if err != nil {
				t.Fatal(err)
			}
			want := published()
			if diff := cmp.Diff(&want, got); diff != "" {
				t.Errorf("profile mismatch (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDecodeReadsWhatBerthAdds(t *testing.T) {
	got, err := registration.Decode([]byte(profile(`"nodes":["n1","n2"],"matchLables":{"Site":"a","site":"b"},
		"provision":{"cloudLabels":["location is DE"]},
		"labels":{"tier":"edge"},"metrics":[{"name":"heat","weight":0.5},{"name":"load","namespace":"team","weight":2}],
		"customResources":["crontabs.stable.example.com"]`)))
	if err != nil {
		t.Fatal(err)
	}
	want := &registration.Profile{Name: "c", Spec: registration.Spec{
		Region:      registration.Region{Region: "r"},
		Nodes:       []string{"n1", "n2"},
		MatchLabels: map[string]string{"Site": "a", "site": "b"},
		Labels:      map[string]string{"tier": "edge"},
		Metrics: []registration.Metric{
			{Name: "heat", Weight: 0.5}, {Name: "load", Namespace: "team", Weight: 2},
		},
		CustomResources: []string{"crontabs.stable.example.com"},
		Provision:       &registration.Provision{CloudLabels: []string{"location is DE"}},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("profile mismatch (-want +got):\n%s", diff)
	}
}

func TestDecodeRefuses(t *testing.T) {
	const spec = "cluster_profile.cluster_spec."
	tests := map[string]struct{ input, want string }{
		"nothing":                      {"", "line 1, column 1: this is no JSON: unexpected end of JSON input"},
		"the published example itself": {testdata(t, "curly.txt"), "line 4, column 13: this is no JSON: “ is a typographic quote, JSON wants the straight one \""},
		"a value in other quotes":      {profile(`"ipAddress": «x»`), "« is a typographic quote"},
		"a comma too many":             {profile(`"nodes":["a",]`), "this is no JSON: invalid character ']'"},
		"two documents":                {profile("") + profile(""), "invalid character '{' after top-level value"},
		"half a document":              {profile("")[:40], "unexpected end of JSON input"},
		"YAML":                         {"cluster_profile:\n  cluster_name: c\n", "line 1, column 1: this is no JSON"},
		"a byte order mark":            {"\ufeff" + profile(""), "line 1, column 1: this is no JSON"},
		"no UTF-8":                     {profile(`"ipAddress":"` + "\xff" + `"`), "this is no UTF-8 text"},
		"deep nesting":                 {strings.Repeat(`[`, 100_000), "this is no JSON"},
		"a deep value":                 {profile(`"nodes":` + strings.Repeat(`[`, 5000) + strings.Repeat(`]`, 5000)), spec + "nodes[0]: must be a text in quotes"},
		"a list":                       {`[]`, "line 1, column 1: must be an object in braces"},
		"no profile":                   {`{}`, "cluster_profile: is required"},
		"null":                         {`null`, "line 1, column 1: must be an object in braces"},
		"a profile that is null":       {`{"cluster_profile": null}`, "cluster_profile: is required"},
		"no name":                      {`{"cluster_profile":{"cluster_spec":{"Region":{"region":"r"}}}}`, "cluster_profile.cluster_name: is required"},
		"an empty name":                {`{"cluster_profile":{"cluster_name":"","cluster_spec":{"Region":{"region":"r"}}}}`, "cluster_profile.cluster_name: is required"},
		"no spec":                      {`{"cluster_profile":{"cluster_name":"c"}}`, "cluster_profile.cluster_spec: is required"},
		"no region":                    {`{"cluster_profile":{"cluster_name":"c","cluster_spec":{}}}`, spec + "Region: is required"},
		"a region without a name":      {`{"cluster_profile":{"cluster_name":"c","cluster_spec":{"Region":{}}}}`, spec + "Region.region: is required"},
		"an unknown field":             {profile(`"color":"red"`), spec + "color: unknown field"},
		"an unknown field outside":     {`{"cluster":{}}`, "line 1, column 2: cluster: unknown field"},
		"a cluster of a list":          {`{"cluster_id":"x"}`, "line 1, column 2: cluster_id: unknown field, belongs in cluster_profile"},
		"a spec alone":                 {`{"ipAdrress":"x"}`, "line 1, column 2: ipAdrress: unknown field, belongs in cluster_profile.cluster_spec"},
		"a profile without its spec":   {`{"cluster_profile":{"Region":{}}}`, "Region: unknown field, belongs in cluster_profile.cluster_spec"},
		"a city in the spec":           {profile(`"city":"x"`), spec + "city: unknown field, belongs in cluster_profile.cluster_spec.GeoLocation"},
		"an unknown field in a list":   {profile(`"flavors":[{"FlavorID":"s","TotalCapacity":1},{"ID":"m"}]`), spec + "flavors[1].ID: unknown field"},
		"a very long field":            {profile(`"` + strings.Repeat("x", 100_000) + `":1`), "xxx...: unknown field"},
		"two spellings that disagree":  {profile(`"ipAdrress":"10.0.0.3","ipAddress":"10.0.0.4"`), spec + "ipAddress: is there twice, with different values"},
		"a key twice that disagrees":   {profile(`"CPUCapacity":1,"CPUCapacity":2`), spec + "CPUCapacity: is there twice"},
		"an object twice":              {profile(`"Operator":{"operator":"a"},"operator":{"operator":"b"}`), spec + "operator: is there twice"},
		"a label twice":                {profile(`"labels":{"a":"1","a":"2"}`), spec + "labels.a: is there twice"},
		"a number beyond all":          {profile(`"CPUCapacity":9223372036854775808`), spec + "CPUCapacity: must be at most 9223372036854775807"},
		"a number far beyond":          {profile(`"CPUCapacity":1e999999999`), spec + "CPUCapacity: must be a whole number"},
		"a fraction":                   {profile(`"MemCapacity":1.5`), spec + "MemCapacity: must be a whole number"},
		"a number in quotes":           {profile(`"ServerPrice":"10"`), spec + "ServerPrice: must be a whole number without quotes"},
		"a weight that is no number":   {profile(`"metrics":[{"name":"heat","weight":"much"}]`), spec + "metrics[0].weight: must be a number"},
		"a weight beyond all":          {profile(`"metrics":[{"name":"heat","weight":1e400}]`), spec + "metrics[0].weight: is too large a number"},
		"a flavor without a number":    {profile(`"flavors":[{"FlavorID":"s"}]`), spec + "flavors[0].TotalCapacity: is required"},
		"storage without a number":     {profile(`"storage":[{"TypeID":"ssd"}]`), spec + "storage[0].StorageCapacity: is required"},
		"a text for a list":            {profile(`"nodes":"n1"`), spec + "nodes: must be a list in square brackets"},
		"a list for an object":         {profile(`"GeoLocation":["US"]`), spec + "GeoLocation: must be an object in braces"},
		"a list of labels":             {profile(`"labels":["a"]`), spec + "labels: must be an object in braces"},
		"a number for a text":          {profile(`"ipAddress":7`), spec + "ipAddress: must be a text in quotes"},
		"a label that is a number":     {profile(`"labels":{"rack":7}`), spec + "labels.rack: must be a text in quotes"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := registration.Decode([]byte(tc.input))
			var wrong *registration.InputError
			if !errors.As(err, &wrong) || !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("got %v, error %.300v, want %q", got, err, tc.want)
			}
			if len(err.Error()) > 500 {
				t.Errorf("the error has %d bytes", len(err.Error()))
			}
		})
	}
}

func TestDecodeTellsLineAndColumn(t *testing.T) {
	input := "{\n  \"cluster_profile\": {\n    \"größe\": 1}}"
	_, err := registration.Decode([]byte(input))
	want := &registration.InputError{Line: 3, Column: 5, Field: "cluster_profile.größe", Reason: "unknown field"}
	var got *registration.InputError
	if !errors.As(err, &got) {
		t.Fatalf("error %v", err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("error mismatch (-want +got):\n%s", diff)
	}
}

func TestDecodeBoundsTheSize(t *testing.T) {
	flavors := profile(`"flavors":[` + strings.TrimSuffix(strings.Repeat(`{"FlavorID":"f","TotalCapacity":1},`, 100_000), ",") + `]`)
	for name, input := range map[string]string{
		"100,000 flavors":         flavors,
		"blanks":                  profile("") + strings.Repeat(" ", registration.MaxSize),
		"one byte more than that": profile("") + strings.Repeat(" ", registration.MaxSize+1-len(profile(""))),
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := registration.Decode([]byte(input)); !errors.Is(err, registration.ErrTooLarge) {
				t.Errorf("error %v, want %v", err, registration.ErrTooLarge)
			}
		})
	}
	full := profile("") + strings.Repeat(" ", registration.MaxSize-len(profile("")))
	if _, err := registration.Decode([]byte(full)); err != nil {
		t.Errorf("%d bytes are refused: %v", len(full), err)
	}
}
