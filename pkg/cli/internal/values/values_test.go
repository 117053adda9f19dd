// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package values_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"berth.dev/berth/pkg/cli/internal/values"
)

func TestNumber(t *testing.T) {
	tests := map[string]struct {
		text      string
		want      int64
		wantError string
	}{
		"zero is the lower end":     {text: "0", want: 0},
		"the upper end":             {text: "1000000", want: 1_000_000},
		"leading zeros are decimal": {text: "010", want: 10},
		"above the upper end":       {text: "1000001", wantError: `must be a whole number from 0 to 1000000, not "1000001"`},
		"negative":                  {text: "-1", wantError: `must be a whole number from 0 to 1000000, not "-1"`},
		"signed":                    {text: "+1", wantError: `not "+1"`},
		"empty":                     {text: "", wantError: `not ""`},
		"a fraction":                {text: "1.5", wantError: `not "1.5"`},
		"hexadecimal":               {text: "0x10", wantError: `not "0x10"`},
		"an exponent":               {text: "1e3", wantError: `not "1e3"`},
		"underscores":               {text: "1_000", wantError: `not "1_000"`},
		"spaces":                    {text: " 1", wantError: `not " 1"`},
		"other digits":              {text: "१", wantError: `must be a whole number`},
		"more than an int64":        {text: "9223372036854775808", wantError: `must be a whole number`},
		"very long is cut off":      {text: strings.Repeat("9", 100_000), wantError: `"9999`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			n := values.NewNumber(values.Range{Max: 1_000_000})
			err := n.Set(tc.text)
			checkError(t, err, tc.wantError)
			if n.Value() != tc.want {
				t.Errorf("value %d, want %d", n.Value(), tc.want)
			}
		})
	}
}

func TestPairs(t *testing.T) {
	long := strings.Repeat("a", 63)
	tests := map[string]struct {
		texts     []string
		want      map[string]int64
		wantError string
	}{
		"one": {texts: []string{"beijing=2"}, want: map[string]int64{"beijing": 2}},
		"several": {
			texts: []string{"beijing=2,hangzhou=2147483647"},
			want:  map[string]int64{"beijing": 2, "hangzhou": 2147483647},
		},
		"a repeated flag adds up": {
			texts: []string{"beijing=2", "hangzhou=3"},
			want:  map[string]int64{"beijing": 2, "hangzhou": 3},
		},
		"the longest name":      {texts: []string{long + "=1"}, want: map[string]int64{long: 1}},
		"empty":                 {texts: []string{""}, wantError: "the list is empty"},
		"empty entry":           {texts: []string{"a=1,,b=2"}, wantError: "empty entry"},
		"comma at the end":      {texts: []string{"a=1,"}, wantError: "empty entry"},
		"no number":             {texts: []string{"beijing"}, wantError: `"beijing" is not of the form CLUSTER=NUMBER`},
		"empty number":          {texts: []string{"beijing="}, wantError: `cluster "beijing": the value must be a whole number from 1 to 2147483647, not ""`},
		"zero":                  {texts: []string{"beijing=0"}, wantError: `not "0"`},
		"negative":              {texts: []string{"beijing=-1"}, wantError: `not "-1"`},
		"too large":             {texts: []string{"beijing=2147483648"}, wantError: `not "2147483648"`},
		"not a number":          {texts: []string{"beijing=two"}, wantError: `not "two"`},
		"two equal signs":       {texts: []string{"beijing=2=3"}, wantError: `not "2=3"`},
		"no name":               {texts: []string{"=2"}, wantError: `"" is no name of a cluster`},
		"capitals":              {texts: []string{"Beijing=2"}, wantError: `"Beijing" is no name of a cluster`},
		"a dot":                 {texts: []string{"bei.jing=2"}, wantError: "is no name of a cluster"},
		"a space":               {texts: []string{"a=1, b=2"}, wantError: `" b" is no name of a cluster`},
		"a name too long":       {texts: []string{long + "a=2"}, wantError: "is no name of a cluster"},
		"a terminal's commands": {texts: []string{"\x1b[31m=2"}, wantError: `"\x1b[31m" is no name of a cluster`},
		"listed twice":          {texts: []string{"a=1,a=2"}, wantError: `cluster "a" is listed twice`},
		"listed in two flags": {
			texts: []string{"a=1", "a=1"}, wantError: `cluster "a" is listed twice`,
			want: map[string]int64{"a": 1},
		},
		"a wrong list adds nothing": {
			texts: []string{"a=1", "b=2,c=0"}, wantError: `cluster "c"`,
			want: map[string]int64{"a": 1},
		},
		"too many clusters": {texts: []string{strings.Repeat("a=1,", values.MaxPairs) + "a=1"}, wantError: "more than 1000 clusters"},
		"too long":          {texts: []string{strings.Repeat("a", 1<<20)}, wantError: "longer than"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			pairs := values.NewPairs(values.Range{Min: 1, Max: 2147483647})
			var err error
			for _, text := range tc.texts {
				if err = pairs.Set(text); err != nil {
					break
				}
			}
			checkError(t, err, tc.wantError)
			if diff := cmp.Diff(tc.want, pairs.Values()); diff != "" {
				t.Errorf("values differ (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPairsOfTheLargestPolicy(t *testing.T) {
	pairs := values.NewPairs(values.Range{Min: 1, Max: 2147483647})
	if err := pairs.Set(clusters(values.MaxPairs)); err != nil {
		t.Fatal(err)
	}
	if len(pairs.Values()) != values.MaxPairs {
		t.Errorf("%d clusters, want %d", len(pairs.Values()), values.MaxPairs)
	}
}

// clusters lists n clusters with names and numbers of the greatest length.
func clusters(n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf("%063d=2147483647", i)
	}
	return strings.Join(list, ",")
}

// FuzzPairs checks that a list either is refused with a short message, or is kept as it was
// written.
func FuzzPairs(f *testing.F) {
	for _, seed := range []string{
		"beijing=2,hangzhou=3", "", ",", "a=1,", "a=1,a=2", "a=-1", "a=9999999999999999999", "=1", "a==1", "A=1", "a=1\n", "\x00=1",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		pairs := values.NewPairs(fuzzed)
		if err := pairs.Set(text); err != nil {
			checkRefused(t, pairs, err)
			return
		}
		checkAccepted(t, pairs, strings.Count(text, ",")+1)
		again := values.NewPairs(fuzzed)
		if err := again.Set(pairs.String()); err != nil {
			t.Fatalf("cannot read %q again: %v", pairs.String(), err)
		}
		if diff := cmp.Diff(pairs.Values(), again.Values()); diff != "" {
			t.Errorf("written and read again (-before +after):\n%s", diff)
		}
	})
}

var fuzzed = values.Range{Min: 1, Max: 2147483647}

func checkRefused(t *testing.T, pairs *values.Pairs, err error) {
	t.Helper()
	if pairs.Values() != nil {
		t.Errorf("refused with %v, but kept %v", err, pairs.Values())
	}
	if len(err.Error()) > 500 || strings.ContainsAny(err.Error(), "\n\r\x1b\x00") {
		t.Errorf("message %q", err.Error())
	}
}

func checkAccepted(t *testing.T, pairs *values.Pairs, entries int) {
	t.Helper()
	if got := len(pairs.Values()); got != entries {
		t.Errorf("%d clusters from %d entries", got, entries)
	}
	for name, value := range pairs.Values() {
		if name == "" || len(name) > 63 || value < fuzzed.Min || value > fuzzed.Max {
			t.Errorf("accepted %q=%d", name, value)
		}
	}
}

func checkError(t *testing.T, err error, want string) {
	t.Helper()
	switch {
	case want == "" && err != nil:
		t.Errorf("error %v", err)
	case want != "" && err == nil:
		t.Errorf("no error, want %q", want)
	case want != "" && !strings.Contains(err.Error(), want):
		t.Errorf("error %q, want %q", err, want)
	case want != "" && len(err.Error()) > 500:
		t.Errorf("error of %d characters", len(err.Error()))
	}
}
