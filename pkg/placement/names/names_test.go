// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package names_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"berth.dev/berth/pkg/placement/names"
)

// The names that were stored before there was this package, by where they are made.
func TestNamesStayAsTheyAreStored(t *testing.T) {
	a, b := strings.Repeat("a", 198), strings.Repeat("b", 51)
	copies := names.Form{Max: 200, Keep: 200, Trim: ".", Hash: names.FNV}
	labels := names.Form{Max: 63, Hash: names.FNV}
	applications := names.Form{Max: 63, Keep: 52, Trim: "-.", Hash: names.SHA256}
	tests := map[string]struct {
		form       names.Form
		name, want string
	}{
		"short copy":                 {copies, "web-a", "web-a"},
		"longest copy that is whole": {copies, a + "-b", a + "-b"},
		"long copy":                  {copies, a + "-bc", a + "-b-a1d3e4db334065e9"},
		"a copy is not trimmed":      {copies, a + "--b", a + "---a2dfdddb3423a45d"},
		"a copy cut after a dot":     {copies, a + "b." + b, a + "b-76962efbf75effa7"},
		"short label":                {labels, "web", "web"},
		"longest label":              {labels, strings.Repeat("b", 63), strings.Repeat("b", 63)},
		"long label":                 {labels, strings.Repeat("b", 64), "5338487becab6325"},
		"short Application":          {applications, "web", "web"},
		"long Application":           {applications, strings.Repeat("b", 64), strings.Repeat("b", 52) + "-a0fab1377f"},
		"an Application is trimmed":  {applications, b + "-.-" + strings.Repeat("c", 20), b + "-e2c3346edb"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := tc.form.Shorten(tc.name); got != tc.want {
				t.Errorf("Shorten(%q) = %q, want %q", tc.name, got, tc.want)
			}
		})
	}
}

func TestShortenedNamesFitAndStayApart(t *testing.T) {
	form := names.Form{Max: 30, Keep: 13, Trim: "-.", Hash: names.FNV}
	rapid.Check(t, func(t *rapid.T) {
		one := rapid.StringMatching(`[a-z][a-z.-]{0,60}`).Draw(t, "one")
		other := one[:min(len(one), 30)] + rapid.StringMatching(`[a-z.-]{0,40}`).Draw(t, "rest of the other")
		short := form.Shorten(one)
		if len(short) > 30 {
			t.Errorf("%q has %d bytes, want at most 30", short, len(short))
		}
		if one != other && short == form.Shorten(other) {
			t.Errorf("%q and %q are both shortened to %q", one, other, short)
		}
	})
}

func TestFirst(t *testing.T) {
	for name, tc := range map[string]struct {
		texts []string
		want  string
	}{
		"none":     {},
		"one":      {texts: []string{"a"}, want: "a"},
		"as many":  {texts: []string{"a", "b"}, want: "a, b"},
		"too many": {texts: []string{"a", "b", "c"}, want: "a, b, and 1 more"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := names.First(tc.texts, 2, ", "); got != tc.want {
				t.Errorf("First() = %q, want %q", got, tc.want)
			}
		})
	}
}

func TestCount(t *testing.T) {
	for n, want := range map[int]string{0: "0 moves", 1: "1 move", 2: "2 moves"} {
		if got := names.Count(n, "move"); got != want {
			t.Errorf("Count(%d) is %q, want %q", n, got, want)
		}
	}
}

func TestClipTo(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		text, most := rapid.String().Draw(r, "text"), rapid.IntRange(3, 20).Draw(r, "most")
		got := names.ClipTo(text, most)
		kept, clipped := strings.CutSuffix(got, "...")
		switch {
		case len(text) <= most:
			if got != text {
				r.Fatalf("%q became %q, though it is short enough", text, got)
			}
		case len(got) > most || !clipped || !strings.HasPrefix(text, kept) || most-len(got) >= utf8.UTFMax:
			r.Fatalf("%q became %q, want about %d bytes of it", text, got, most)
		}
	})
}

func TestClip(t *testing.T) {
	long := strings.Repeat("a", 1024)
	for name, tc := range map[string]struct{ message, want string }{
		"the longest":             {message: long, want: long},
		"one that is too long":    {message: long + "b", want: long[:1021] + "..."},
		"cut within a character":  {message: long[:1020] + "ü" + long, want: long[:1020] + "..."},
		"cut before a character":  {message: long[:1021] + "ü" + long, want: long[:1021] + "..."},
		"nothing but a character": {message: "ü", want: "ü"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := names.Clip(tc.message); got != tc.want {
				t.Errorf("Clip() has %d bytes and ends with %q, want %d", len(got), got[max(0, len(got)-5):], len(tc.want))
			}
		})
	}
}
