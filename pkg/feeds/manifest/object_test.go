// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package manifest_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"berth.dev/berth/pkg/feeds/manifest"
)

func TestDecode(t *testing.T) {
	tests := map[string]struct {
		raw  string
		want manifest.Object
	}{
		"json": {`{"a": [1, "x", true, null, {"b": 1.50}]}`, manifest.Object{
			"a": []any{json.Number("1"), "x", true, nil, map[string]any{"b": json.Number("1.50")}},
		}},
		"yaml as kubectl reads it":    {"a: yes\nb: 010\nc: \"010\"\n", manifest.Object{"a": true, "b": json.Number("8"), "c": "010"}},
		"yaml in flow style":          {"{a: 1, b: [c]}", manifest.Object{"a": json.Number("1"), "b": []any{"c"}}},
		"a number as it was written":  {`{"a": 1e-300}`, manifest.Object{"a": json.Number("1e-300")}},
		"ampersands that anchor none": {"a: x && y\nb: '*'\n", manifest.Object{"a": "x && y", "b": "*"}},
		"a block of text":             {"a: |\n  &x\n  ---\n", manifest.Object{"a": "&x\n---\n"}},
		"keys that are numbers":       {"1: a\n2: b\n", manifest.Object{"1": "a", "2": "b"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := manifest.Decode([]byte(tc.raw))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("object differs (-want +got):\n%s", diff)
			}
		})
	}
}

// nested writes a list so deep in an object.
func nested(depth int) string {
	return `{"a":` + strings.Repeat("[", depth) + strings.Repeat("]", depth) + "}"
}

// TestDecodeGoesAsDeepAsItSays compares texts: cmp visits each level twice as often as the one
// above.
func TestDecodeGoesAsDeepAsItSays(t *testing.T) {
	want := nested(manifest.MaxDepth - 1)
	for name, raw := range map[string]string{"json": want, "yaml": strings.TrimSuffix(strings.TrimPrefix(want, "{"), "}")} {
		object, err := manifest.Decode([]byte(strings.Replace(raw, `"a":`, `"a": `, 1)))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got, err := json.Marshal(object); err != nil || string(got) != want {
			t.Errorf("%s: got %s, error %v", name, got, err)
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	var laughs strings.Builder
	laughs.WriteString("a: &a [lol]\n")
	for c := 'b'; c <= 'z'; c++ {
		fmt.Fprintf(&laughs, "%c: &%c [%s]\n", c, c, strings.Repeat("*"+string(c-1)+",", 9))
	}
	tests := map[string]struct{ raw, want string }{
		"nothing":                      {"", "a map with apiVersion and kind is expected"},
		"nothing but a comment":        {"# hello\n", "a map with apiVersion and kind is expected"},
		"a text":                       {"hello", "a map with apiVersion and kind is expected"},
		"a list":                       {"- a\n", "a map with apiVersion and kind is expected"},
		"json cut short":               {`{"a": {"b": 1`, "unexpected EOF"},
		"json with rubbish":            {`{"a": 1}}`, "yaml: "},
		"two json values":              {`{"a": 1} {"b": 1}`, "there are 2 objects"},
		"two yaml documents":           {"a: 1\n...\n--- {b: 1}\n", "there is a second YAML document"},
		"a document after an end mark": {"a: 1\n...\n--- {b: 1}\n", "there is a second YAML document"},
		"yaml that is wrong":           {"a: [\n", "yaml: line 1"},
		"no utf-8":                     {"a: \xff\n", "no UTF-8"},
		"a program":                    {"\x7fELF\x00\x00", "yaml: "},
		"the same key twice in json":   {`{"a": 1, "a": 2}`, `the key "a" is there twice`},
		"the same key in depth":        {`{"a": [{"b": 1, "b": 1}]}`, `the key "b" is there twice`},
		"the same key twice in yaml":   {"a:\n  b: 1\n  b: 2\n", `line 3: the key "b" is there twice`},
		"a number and a text as key":   {"1: a\n\"1\": b\n", `line 2: the key "1" is there twice`},
		"a list as key":                {"[a]: b\n", "line 1: a key must be a text"},
		"an anchor":                    {"a: &x 1\n", "line 1: anchors and aliases are not accepted"},
		"an alias":                     {"a: *x\n", "unknown anchor 'x' referenced"},
		"a merge":                      {"a: &x {b: 1}\nc:\n  <<: *x\n", "anchors and aliases are not accepted"},
		"a billion laughs":             {laughs.String(), "anchors and aliases are not accepted"},
		"too deep json":                {nested(manifest.MaxDepth), "nested more than 100 levels deep"},
		"much too deep json":           {nested(10_000), "nested more than 100 levels deep"},
		"json that only opens":         {strings.Repeat(`{"a":`, 200_000), "nested more than 100 levels deep"},
		"too deep yaml":                {"a: " + strings.Repeat("[", 9_000) + strings.Repeat("]", 9_000), "line 1: maps and lists are nested more than"},
		"too deep yaml in block style": {"a:\n" + strings.Repeat("- ", 9_000) + "x", "nested more than"},
		"much too deep yaml":           {"a: " + strings.Repeat("[", 500_000), "exceeded max depth"},
		"a very long number":           {`{"a": ` + strings.Repeat("1", 500_000) + "}", "the number 11111111111111111111... has more than 64 characters"},
		"a number beyond float64":      {`{"a": 1e999}`, "the number 1e999 is too large"},
		"more than an object holds":    {`{"a": "` + strings.Repeat("x", manifest.MaxObjectSize) + `"}`, "there are more than 1048576 bytes"},
		"10 MB of yaml":                {"a: " + strings.Repeat("x", 10_000_000), "there are more than 1048576 bytes"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := manifest.Decode([]byte(tc.raw))
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("decoded to %.100v, error %.300v, want %q", got, err, tc.want)
			}
		})
	}
}

func TestIdentity(t *testing.T) {
	const ok = `"metadata":{"name":"nginx","namespace":"web"}`
	tests := map[string]struct {
		raw       string
		want      manifest.Identity
		wantError string
	}{
		"in a group":                {raw: `{"apiVersion":"apps/v1","kind":"Deployment",` + ok + `}`, want: manifest.Identity{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "web", Name: "nginx"}},
		"in the core group":         {raw: `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"}}`, want: manifest.Identity{APIVersion: "v1", Kind: "Pod", Name: "a"}},
		"no version":                {raw: `{"kind":"Pod",` + ok + `}`, wantError: "apiVersion is missing"},
		"an empty version":          {raw: `{"apiVersion":"","kind":"Pod",` + ok + `}`, wantError: "apiVersion is missing"},
		"a version with too much":   {raw: `{"apiVersion":"a/b/c","kind":"Pod",` + ok + `}`, wantError: `apiVersion: must be VERSION or GROUP/VERSION, not "a/b/c"`},
		"a group without a version": {raw: `{"apiVersion":"apps/","kind":"Pod",` + ok + `}`, wantError: "apiVersion: must be"},
		"a version that is no text": {raw: `{"apiVersion":1,"kind":"Pod",` + ok + `}`, wantError: "apiVersion: must be a text"},
		"no kind":                   {raw: `{"apiVersion":"v1",` + ok + `}`, wantError: "kind is missing"},
		"no metadata":               {raw: `{"apiVersion":"v1","kind":"Pod"}`, wantError: "metadata.name is missing"},
		"no name":                   {raw: `{"apiVersion":"v1","kind":"Pod","metadata":{"generateName":"a-"}}`, wantError: "metadata.name is missing"},
		"metadata that is no map":   {raw: `{"apiVersion":"v1","kind":"Pod","metadata":[]}`, wantError: "metadata.name is missing"},
		"a namespace that is none":  {raw: `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","namespace":{}}}`, wantError: "metadata.namespace: must be a text"},
		"a very long name":          {raw: `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"` + strings.Repeat("a", 254) + `"}}`, wantError: "metadata.name: must have at most 253 characters, not 254"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			object, err := manifest.Decode([]byte(tc.raw))
			if err != nil {
				t.Fatal(err)
			}
			got, err := object.Identity()
			if tc.wantError == "" && err != nil || tc.wantError != "" && (err == nil || !strings.Contains(err.Error(), tc.wantError)) {
				t.Errorf("error %v, want %q", err, tc.wantError)
			}
			if got != tc.want {
				t.Errorf("got %+v, want %+v", got, tc.want)
			}
		})
	}
}
