// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package manifest_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"berth.dev/berth/pkg/feeds/manifest"
)

func TestPointer(t *testing.T) {
	object, err := manifest.Decode([]byte(`{"spec": {
		"replicas": 3, "a/b": 1, "c~d": 2, "null": null, "groups": [{"size": 4}, {"size": 5}], "..": 9}, "template": true}`))
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		pointer string
		want    any
		nowhere bool
	}{
		"a field":                     {pointer: "/spec/replicas", want: json.Number("3")},
		"a field of the object":       {pointer: "/template", want: true},
		"a slash in a name":           {pointer: "/spec/a~1b", want: json.Number("1")},
		"a tilde in a name":           {pointer: "/spec/c~0d", want: json.Number("2")},
		"an element of a list":        {pointer: "/spec/groups/1/size", want: json.Number("5")},
		"null":                        {pointer: "/spec/null"},
		"the last field is missing":   {pointer: "/spec/size"},
		"through a field that is not": {pointer: "/spec/scale/size", nowhere: true},
		"through null":                {pointer: "/spec/null/size", nowhere: true},
		"through a number":            {pointer: "/spec/replicas/size", nowhere: true},
		"past the end of a list":      {pointer: "/spec/groups/2", nowhere: true},
		"a name in a list":            {pointer: "/spec/groups/size", nowhere: true},
		"a negative element":          {pointer: "/spec/groups/-1", nowhere: true},
		"a second way to write 1":     {pointer: "/spec/groups/01/size", nowhere: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			p, err := manifest.ParsePointer(tc.pointer)
			if err != nil {
				t.Fatal(err)
			}
			got, err := p.In(object)
			if errors.Is(err, manifest.ErrNowhere) != tc.nowhere || !tc.nowhere && err != nil {
				t.Errorf("error %v, want one: %t", err, tc.nowhere)
			}
			if err != nil && !strings.Contains(err.Error(), tc.pointer) {
				t.Errorf("error %v does not name the pointer", err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("value differs (-want +got):\n%s", diff)
			}
		})
	}
}

func TestParsePointerRefuses(t *testing.T) {
	tests := map[string]struct{ pointer, want string }{
		"nothing":                    {"", "must begin with a slash"},
		"the whole object":           {"/", "must name a field"},
		"no slash":                   {"spec/replicas", "must begin with a slash"},
		"another kind of path":       {"$.spec.replicas", "must begin with a slash"},
		"a fragment":                 {"#/spec/replicas", "must begin with a slash"},
		"upwards":                    {"../spec", "must begin with a slash"},
		"upwards and out":            {"/spec/../metadata/name", "must name a field"},
		"a dot":                      {"/spec/./replicas", "must name a field"},
		"an empty part":              {"/spec//replicas", "must name a field"},
		"a slash at the end":         {"/spec/replicas/", "must name a field"},
		"behind the end of a list":   {"/spec/groups/-", "must name a field"},
		"a lone tilde":               {"/spec/a~", "must be written ~0"},
		"an unknown escape":          {"/spec/a~2b", "must be written ~0"},
		"the name of the object":     {"/metadata/name", "/metadata is not for a workload to set"},
		"the name, disguised":        {"/metadata/labels/app.kubernetes.io~1name", "/metadata is not"},
		"the kind of the object":     {"/kind", "/kind is not"},
		"the version of the object":  {"/apiVersion", "/apiVersion is not"},
		"the status of the object":   {"/status/replicas", "/status is not"},
		"very long":                  {"/spec/" + strings.Repeat("a", 300), "at most 256 characters"},
		"with a great many parts":    {strings.Repeat("/a", 33), "more than 32 parts"},
		"a backslash is not a slash": {`\spec\replicas`, "must begin with a slash"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := manifest.ParsePointer(tc.pointer)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("parsed to %v, error %v, want %q", got, err, tc.want)
			}
		})
	}
}
