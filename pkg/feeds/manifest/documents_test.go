// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package manifest_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"berth.dev/berth/pkg/feeds/manifest"
)

func TestReadAll(t *testing.T) {
	tests := map[string]struct {
		raw  string
		want [][2]string
	}{
		"nothing":               {"", nil},
		"nothing but marks":     {"---\n# a comment\n---\n\n---\n", nil},
		"one yaml document":     {"a: 1\n", [][2]string{{"document 1", `{"a":1}`}}},
		"several":               {"a: 1\n---\nb: 2\n--- # third\nc: 3\n", [][2]string{{"document 1", `{"a":1}`}, {"document 2", `{"b":2}`}, {"document 3", `{"c":3}`}}},
		"comments do not count": {"# licence\n---\na: 1\n---\n# none\n---\nb: 2\n", [][2]string{{"document 1", `{"a":1}`}, {"document 2", `{"b":2}`}}},
		"windows line ends":     {"a: 1\r\n---\r\nb: 2\r\n", [][2]string{{"document 1", `{"a":1}`}, {"document 2", `{"b":2}`}}},
		"json one after the other": {
			"{\"a\": 1}\n{\"b\": 1e3}{\"c\": 0}", [][2]string{{"document 1", `{"a":1}`}, {"document 2", `{"b":1e3}`}, {"document 3", `{"c":0}`}},
		},
		"json and yaml": {"{\"a\": 1}\n---\nb: 2\n", [][2]string{{"document 1", `{"a":1}`}, {"document 2", `{"b":2}`}}},
		"a list": {
			"kind: List\napiVersion: v1\nitems:\n- {apiVersion: v1, kind: Pod}\n- {a: 1}\n---\nb: 2\n",
			[][2]string{{"document 1, item 1", `{"apiVersion":"v1","kind":"Pod"}`}, {"document 1, item 2", `{"a":1}`}, {"document 2", `{"b":2}`}},
		},
		"a list of one kind": {
			`{"kind": "PodList", "apiVersion": "v1", "items": [{"a": 1}]}`,
			[][2]string{{"document 1, item 1", `{"a":1,"apiVersion":"v1","kind":"Pod"}`}},
		},
		"a list of lists": {
			`{"kind": "List", "items": [{"kind": "List", "items": [{"a": 1}]}]}`, [][2]string{{"document 1, item 1, item 1", `{"a":1}`}},
		},
		"an empty list":                      {`{"kind": "List", "items": []}`, nil},
		"a kind that only sounds like lists": {`{"kind": "PlayList", "spec": {}}`, [][2]string{{"document 1", `{"kind":"PlayList","spec":{}}`}}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			documents, err := manifest.ReadAll([]byte(tc.raw))
			if err != nil {
				t.Fatal(err)
			}
			var got [][2]string
			for _, document := range documents {
				got = append(got, [2]string{document.Place, string(document.Raw)})
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("documents differ (-want +got):\n%s", diff)
			}
		})
	}
}

func TestReadAllRefuses(t *testing.T) {
	tests := map[string]struct{ raw, want string }{
		"a wrong document":         {"a: 1\n---\nb: [\n", "document 2: yaml: "},
		"a document with an alias": {"a: 1\n---\n# c\n---\nb: &x 1\n", "document 2: line 1: anchors and aliases"},
		"a text":                   {"a: 1\n---\nhello\n", "document 2: this is no object"},
		"an item that is no map":   {"kind: List\nitems: [{a: 1}, 2]\n", "document 1, item 2: this is no object"},
		"words beside the mark":    {"a: 1\n--- b: 2\n", "document 1: invalid Yaml document separator"},
		"10 MB":                    {strings.Repeat("a: 1\n---\n", 1_111_112), "there are more than 4194304 bytes"},
		"many documents":           {strings.Repeat("a: 1\n---\n", 10_001), "there are more than 10000 documents"},
		"many items":               {`{"kind": "List", "items": [` + strings.Repeat("{},", 10_000) + `{}]}`, "item 10001: there are more than 10000 objects"},
		"a large item":             {`{"kind": "List", "items": [{"a": "` + strings.Repeat("x", manifest.MaxObjectSize) + `"}]}`, "item 1: there are more than 1048576 bytes"},
		"a large yaml document":    {"a: 1\n---\nb: " + strings.Repeat("x", manifest.MaxObjectSize), "document 2: there are more than 1048576 bytes"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			documents, err := manifest.ReadAll([]byte(tc.raw))
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%d documents, error %.300v, want %q", len(documents), err, tc.want)
			}
		})
	}
}

func TestReadAllTakesLargeListsAsJSON(t *testing.T) {
	item := `{"a": "` + strings.Repeat("x", 500_000) + `"}`
	documents, err := manifest.ReadAll([]byte(`{"kind": "List", "items": [` + strings.Repeat(item+",", 6) + item + `]}`))
	if err != nil || len(documents) != 7 {
		t.Errorf("%d documents, error %v, want 7", len(documents), err)
	}
}
