// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package expression_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"berth.dev/berth/pkg/feeds/internal/expression"
	"berth.dev/berth/pkg/feeds/manifest"
)

func decode(t *testing.T, raw string) manifest.Object {
	t.Helper()
	object, err := manifest.Decode([]byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	return object
}

const sized = `{"kind": "X", "spec": {"size": 3, "max": 2, "half": 0.5, "name": "web", "list": [1, 2, 3], "map": {"a": {"b": null}}, "on": true}}`

func TestEval(t *testing.T) {
	tests := map[string]struct {
		text string
		want any
	}{
		"a field":                         {"object.spec.size", json.Number("3")},
		"the smaller of two":              {"object.spec.size < object.spec.max ? object.spec.size : object.spec.max", json.Number("2")},
		"a default":                       {"has(object.spec.replicas) ? object.spec.replicas : 1", json.Number("1")},
		"a sum":                           {"object.spec.size + object.spec.max * 2", json.Number("7")},
		"the size of a list":              {"size(object.spec.list)", json.Number("3")},
		"a count":                         {"object.spec.list.filter(x, x > 1).size()", json.Number("2")},
		"a fraction":                      {"object.spec.half * 0.5", json.Number("0.25")},
		"texts":                           {"object.spec.name + '-' + object.kind", "web-X"},
		"a comparison":                    {"object.spec.name == 'web' && object.spec.size != 4 && 2 in object.spec.list && 'a' in object.spec.map", true},
		"something else than a list":      {"object.spec.size == 'x'", false},
		"a part of the object":            {"object.spec.map", map[string]any{"a": map[string]any{"b": nil}}},
		"a new object":                    {"{'spec': {'n': [object.spec.size, object.spec.on, 2u, null]}}", map[string]any{"spec": map[string]any{"n": []any{json.Number("3"), true, json.Number("2"), nil}}}},
		"a list made from another":        {"object.spec.list.map(x, x * 2)", []any{json.Number("2"), json.Number("4"), json.Number("6")}},
		"a pattern":                       {"object.spec.name.matches('^w.b$')", true},
		"what is not needed may be wrong": {"true || object.nothing.at.all", true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			program, err := expression.Compile(tc.text)
			if err != nil {
				t.Fatal(err)
			}
			got, err := program.Eval(decode(t, sized))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("value differs (-want +got):\n%s", diff)
			}
		})
	}
}

// long is an object with a list of 5,000 numbers and a text of 100,000 letters.
func long(t *testing.T) manifest.Object {
	t.Helper()
	return decode(t, `{"spec": {"list": [`+strings.Repeat("0,", 4_999)+`0], "text": "`+strings.Repeat("a", 100_000)+`"}}`)
}

func TestEvalFails(t *testing.T) {
	doubled := func(step string, times int) string {
		return "[object.spec.list]" + strings.Repeat(".map(a, "+step+")", times)
	}
	const tooManySteps = "this takes too many steps"
	object := long(t)
	tests := map[string]struct{ text, want string }{
		"a division by zero":              {"1 / (object.spec.list[0])", "division by zero"},
		"a remainder of zero":             {"1 % (object.spec.list[0])", "modulus by zero"},
		"a field that is not there":       {"object.spec.replicas", "no such key: replicas"},
		"an element that is not there":    {"object.spec.list[40000]", "index out of bounds"},
		"numbers and texts mixed":         {"'a' + object.spec.list[0]", "no such overload"},
		"an overflow":                     {"9223372036854775807 + size(object.spec.list)", "integer overflow"},
		"no number":                       {"0.0 / 0.0", "is NaN"},
		"no end of it":                    {"1.0 / 0.0", "is +Inf"},
		"bytes":                           {"b'abc'", "must consist of"},
		"a time":                          {"timestamp('2026-01-01T00:00:00Z')", "must consist of"},
		"a key that is no text":           {"{1: 2}", "must consist of"},
		"a loop in a loop":                {"object.spec.list.map(a, object.spec.list.map(b, b))", tooManySteps},
		"a loop that does nothing":        {"object.spec.list.all(a, object.spec.list.all(b, true))", tooManySteps},
		"a loop over a text":              {"object.spec.list.all(a, size(object.spec.text) > 0)", tooManySteps},
		"a loop of patterns":              {"object.spec.list.all(a, object.spec.text.matches('(a*)*b') || true)", tooManySteps},
		"a loop of conversions":           {"object.spec.list.all(a, bytes(object.spec.text) != b'')", tooManySteps},
		"a text that grows":               {"[object.spec.text]" + strings.Repeat(".map(a, a + a)", 40), tooManySteps},
		"a list that grows":               {doubled("a + a", 40) + "[0].size()", "lists and maps cannot be compared or added"},
		"nested lists compared":           {doubled("[a, a]", 40) + ".map(a, a == a)", "lists and maps cannot be compared or added"},
		"nested lists that differ":        {doubled("[a, a]", 40) + ".map(a, a != [])", "lists and maps cannot be compared or added"},
		"a list looked for in a list":     {doubled("[a, a]", 40) + ".map(a, a in a)", "lists and maps cannot be compared or added"},
		"a list that holds itself often":  {doubled("[a, a]", 40), "the value of the expression is too large"},
		"a map that holds itself often":   {doubled("{'a': a, 'b': a}", 40), "the value of the expression is too large"},
		"an operator with a wrong inside": {"object.spec.nothing == 1", "no such key: nothing"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			program, err := expression.Compile(tc.text)
			if err != nil {
				t.Fatal(err)
			}
			got, err := program.Eval(object)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("value %.100v, error %.300v, want %q", got, err, tc.want)
			}
		})
	}
}

func TestCompileRefuses(t *testing.T) {
	tests := map[string]struct{ text, want string }{
		"nothing":                     {"", "Syntax error"},
		"no expression":               {"object.", "Syntax error"},
		"an unknown name":             {"self.spec", "undeclared reference to 'self'"},
		"a function that is not":      {"quantity('1')", "undeclared reference to 'quantity'"},
		"an operator for no type":     {"1 + 'a'", "no matching overload"},
		"very long":                   {strings.Repeat("1+", 3000) + "1", "at most 4096 characters, not 6001"},
		"deep":                        {strings.Repeat("(", 1000) + "1" + strings.Repeat(")", 1000), "recursion"},
		"deep in lists":               {strings.Repeat("[", 1000) + strings.Repeat("]", 1000), "recursion"},
		"a pattern that is no regexp": {"object.a.matches('(')", "missing closing )"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			program, err := expression.Compile(tc.text)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("program %v, error %.300v, want %q", program, err, tc.want)
			}
			if err != nil && strings.Contains(err.Error(), "\n") {
				t.Errorf("the error has several lines: %q", err)
			}
		})
	}
}

func TestProgramsDoNotChangeTheObject(t *testing.T) {
	object, before := decode(t, sized), decode(t, sized)
	program, err := expression.Compile("object.spec")
	if err != nil {
		t.Fatal(err)
	}
	value, err := program.Eval(object)
	if err != nil {
		t.Fatal(err)
	}
	value.(map[string]any)["size"] = "changed"
	if diff := cmp.Diff(before, object); diff != "" {
		t.Errorf("object changed (-before +after):\n%s", diff)
	}
}

// FuzzEval checks that whatever compiles ends, with a value that can be written as JSON or with an
// error.
func FuzzEval(f *testing.F) {
	for _, seed := range []string{
		"object.spec.size", "object.spec.list.map(x, x * 2)", "1/0", "object.spec.list.all(a, object.spec.list.exists(b, a == b))",
		"{'spec': object.spec}", "[object].map(a, [a, a])", "size(object.spec.name + 'x') in object.spec.list", "-9223372036854775808 / -1",
		"object.spec.name.matches('a*')", "type(object)", "duration('1h') + duration('1h')", "int('9') + int(1.5)",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		program, err := expression.Compile(text)
		if err != nil {
			return
		}
		value, err := program.Eval(decode(t, sized))
		if err != nil {
			return
		}
		if _, err := json.Marshal(value); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
	})
}
