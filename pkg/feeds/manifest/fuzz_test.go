// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package manifest_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"

	"berth.dev/berth/pkg/feeds/manifest"
)

// FuzzReadAll checks that whatever is read is valid JSON, and is read back as the same.
func FuzzReadAll(f *testing.F) {
	for _, seed := range []string{
		"", "{}", "a: 1\n---\nb: [c, {d: e}]\n", `{"a":{"b":[1,2.5,"x",null,true]}}{"c":1e-300}`, "a: &x 1\nb: *x\n",
		"kind: List\nitems: [{a: 1}, {b: 2}]\n", `{"kind":"PodList","apiVersion":"v1","items":[{}]}`, `{"a":1,"a":2}`,
		"a: 0x1F\nb: 1_000\nc: .inf\nd: 2026-01-01\ne: !!binary aGk=\n", "? a\n: b\n", "a: |\n  x\n  ---\n", "{a: }", "<<: {a: 1}\na: 2\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		documents, err := manifest.ReadAll(raw)
		if err != nil {
			return
		}
		for _, document := range documents {
			if !json.Valid(document.Raw) {
				t.Fatalf("%s: %q is no JSON", document.Place, document.Raw)
			}
			first, err := manifest.Decode(document.Raw)
			if err != nil {
				t.Fatalf("%s: %v", document.Place, err)
			}
			again, err := json.Marshal(first)
			if err != nil || !bytes.Equal(document.Raw, again) {
				t.Fatalf("%s: %s became %s, error %v", document.Place, document.Raw, again, err)
			}
		}
	})
}

// FuzzDecodeJSON checks that JSON is read as encoding/json reads it, unless it is refused.
func FuzzDecodeJSON(f *testing.F) {
	f.Add([]byte(`{"a":[1,{"b":null}],"c":"\ud800x"}`))
	f.Add([]byte(`{"a":1e400}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		got, err := manifest.Decode(raw)
		if err != nil || !json.Valid(raw) {
			return
		}
		var want map[string]any
		decoder := json.NewDecoder(bytes.NewReader(raw))
		decoder.UseNumber()
		if err := decoder.Decode(&want); err != nil {
			t.Fatalf("%q was read, but: %v", raw, err)
		}
		if !reflect.DeepEqual(want, map[string]any(got)) {
			t.Fatalf("%q was read as %v, want %v", raw, got, want)
		}
	})
}

// FuzzPointer checks that a pointer is kept as it is written and finds its way in any object
// without a panic.
func FuzzPointer(f *testing.F) {
	f.Add("/spec/replicas", []byte(`{"spec":{"replicas":1}}`))
	f.Add("/spec/a~1b/0", []byte(`{"spec":{"a/b":[1]}}`))
	f.Fuzz(func(t *testing.T, text string, raw []byte) {
		p, err := manifest.ParsePointer(text)
		if err != nil {
			return
		}
		if p.String() != text {
			t.Fatalf("%q became %q", text, p)
		}
		if object, err := manifest.Decode(raw); err == nil {
			_, _ = p.In(object)
		}
	})
}
