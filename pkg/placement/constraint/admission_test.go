// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package constraint_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/cel-go/cel"
	"k8s.io/apiserver/pkg/cel/environment"
	"pgregory.net/rapid"

	"berth.dev/berth/pkg/placement/constraint"
)

// apiServer answers as the API server does: with nothing if it takes a constraint, else with its
// message.
type apiServer map[constraint.Kind][2]cel.Program

func newAPIServer(t testing.TB) apiServer {
	t.Helper()
	base, err := environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()).Extend(environment.VersionedOptions{
		IntroducedVersion: environment.DefaultCompatibilityVersion(),
		EnvOptions:        []cel.EnvOption{cel.Variable("self", cel.StringType)},
	})
	if err != nil {
		t.Fatal(err)
	}
	env, err := base.Env(environment.NewExpressions)
	if err != nil {
		t.Fatal(err)
	}
	server := apiServer{}
	for _, kind := range []constraint.Kind{constraint.Label, constraint.Metric} {
		var programs [2]cel.Program
		for i, text := range []string{
			"self.matches(r'" + constraint.Pattern(kind) + "')", constraint.Explanation(kind, "self", "0"),
		} {
			ast, issues := env.Compile(text)
			if issues.Err() != nil {
				t.Fatal(issues.Err())
			}
			if programs[i], err = env.Program(ast); err != nil {
				t.Fatal(err)
			}
		}
		server[kind] = programs
	}
	return server
}

func (s apiServer) answer(t interface{ Fatalf(string, ...any) }, kind constraint.Kind, text string) string {
	for _, program := range s[kind] {
		value, _, err := program.Eval(map[string]any{"self": text})
		if err != nil {
			t.Fatalf("%s constraint %q: %v", kind, text, err)
		}
		switch answer := value.Value().(type) {
		case bool:
			if answer && len([]rune(text)) <= constraint.MaxLength {
				return ""
			}
		case string:
			return answer
		}
	}
	return "nothing"
}

// check fails unless the API server and Parse agree about a text: whether it is a constraint, else
// in which column it ceases to be one, and what should have been there. What was found may be
// quoted in another way.
func (s apiServer) check(t interface{ Fatalf(string, ...any) }, kind constraint.Kind, text string) {
	want := ""
	if _, err := constraint.Parse(kind, text); err != nil {
		want = err.Error()
	}
	got := s.answer(t, kind, text)
	wantPlace, _, _ := strings.Cut(want, ", found ")
	gotPlace, _, _ := strings.Cut(got, ", found ")
	if gotPlace != wantPlace {
		t.Fatalf("%s constraint %q\nAPI server: %q\nParse:      %q", kind, text, got, want)
	}
}

func TestAPIServerAgreesOnTheTables(t *testing.T) {
	server := newAPIServer(t)
	long := strings.Repeat("x", 63)
	texts := map[string]bool{
		"": true, " ": true, "load less than 5": true, "load less than or equal 5": true, "load=-5": true, "load>.5e-3": true,
		"load is greater than or equal to 5": true, "load = inf": true, "load=<+5": true, "a notin (b)": true, "a isnot b": true,
		"prefix.x/a != b": true, "flavor.large >= 3": true, "a is not": true, "a is not ": true, "a is not x§": true, "a is not (": true,
		"a is not,": true, "a isnot": true, "a is(b": true, "a in(b": true, "a in (b,,": true, "a in (b c": true, "a in ()": true,
		"a in (b) c": true, "a === b": true, "a =< b": true, "a ==< b": true, "a =! b": true, "a gte(5": true, "a§ is b": true,
		"a greater thanor equal 5": true, "a greater than or x": true, "a is greater than 5": true, "a in (b,§)": true,
		"a = 1e308": true, "a = 1e309": true, "a = 1e0308": true, "a = 1e00308": true, long + " is " + long: true,
		long + "x is b": true, "a is " + long + "x": true, "a in (" + long + "x)": true, "a\nis b": true, "a is b\n": true, "a is b\x00": true,
		strings.Repeat("p", 253) + "/" + long + "=b": true, strings.Repeat("p", 254) + "/n=b": true, "a in ((b))": true, "a in (b))": true,
		"a is b" + strings.Repeat(" ", 1018): true, "a is b" + strings.Repeat(" ", 1019): true, strings.Repeat("ü", 1024): true,
	}
	for _, file := range []string{"label_constraint_parse.json", "metric_constraint_parse.json"} {
		for _, row := range table[struct{ In string }](t, file) {
			texts[row.In] = true
		}
	}
	for _, row := range table[struct{ Text string }](t, "label_charset.json") {
		texts["key is "+row.Text], texts[row.Text+" is value"] = true, true
	}
	for _, text := range slices.Sorted(maps.Keys(texts)) {
		server.check(t, constraint.Label, text)
		server.check(t, constraint.Metric, text)
	}
}

// words are what constraints are made of, and what they are not made of.
var words = []string{
	"is", "not", "in", "gt", "gte", "lt", "lte", "greater", "less", "lesser", "than", "or", "equal", "to", "=", "==", "!=", "<",
	"<=", "=<", ">", ">=", "=>", "!", "(", ")", ",", ",", "a", "load", "p/n", "a/b/c", "-a", "a.", "DE", "5", "-0.5", "+.5", "1e3",
	"1e309", "inf", "nan", "ü", "§", "'", `"`, "\\", "\n", "\r", "\x00", " ", " ", "\t", strings.Repeat("x", 63), strings.Repeat("9", 61),
}

func TestAPIServerAgreesOnAnything(t *testing.T) {
	server := newAPIServer(t)
	rapid.Check(t, func(t *rapid.T) {
		kind := rapid.SampledFrom([]constraint.Kind{constraint.Label, constraint.Metric}).Draw(t, "kind")
		blank := rapid.SampledFrom([]string{"", " ", " ", "\t "})
		var text strings.Builder
		for _, word := range rapid.SliceOfN(rapid.SampledFrom(words), 0, 12).Draw(t, "words") {
			text.WriteString(word + blank.Draw(t, "blank"))
		}
		server.check(t, kind, text.String())
	})
}

// Most texts of the property above fail at once. These are constraints with one mistake in them, or
// none.
func TestAPIServerAgreesOnOneMistake(t *testing.T) {
	server := newAPIServer(t)
	whole := []string{
		"location is not DE", "location not in (DE, SK,  b)", "location in(a,b,,)", "a.b/c == d", "load is greater than or equal to 5",
		"load lesser than or equal -5.5e-3", "load=<+5", "is is is", "in in (in)", "not is not not", "load gte 5",
	}
	rapid.Check(t, func(t *rapid.T) {
		text := []rune(rapid.SampledFrom(whole).Draw(t, "constraint"))
		at := rapid.IntRange(0, len(text)).Draw(t, "at")
		until := min(len(text), at+rapid.IntRange(0, 3).Draw(t, "cut"))
		changed := string(text[:at]) + rapid.SampledFrom(append([]string{""}, words...)).Draw(t, "word") + string(text[until:])
		server.check(t, rapid.SampledFrom([]constraint.Kind{constraint.Label, constraint.Metric}).Draw(t, "kind"), changed)
	})
}

func FuzzAPIServerAgrees(f *testing.F) {
	for _, seed := range []string{"location is DE", "a not in (b, c,,)", "load <= 1e3", "not is not not", "a\tis\tnot", "ä!=(", "a in (b c"} {
		f.Add(true, seed)
		f.Add(false, seed)
	}
	server := newAPIServer(f)
	f.Fuzz(func(t *testing.T, label bool, text string) {
		kind := constraint.Metric
		if label {
			kind = constraint.Label
		}
		if len(text) > 2*constraint.MaxLength {
			return // More of the same would only take time.
		}
		// JSON has no bytes that are no characters.
		server.check(t, kind, strings.ToValidUTF8(text, "\uFFFD"))
	})
}
