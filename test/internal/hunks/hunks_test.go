// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package hunks_test

import (
	"strings"
	"testing"

	"berth.dev/berth/test/internal/hunks"
)

func TestApply(t *testing.T) {
	const list = "# for the reader\n== one\n! of it\n! more\n-- a.txt\n-b\n-c\n+B\n-e\n"
	all, err := hunks.Parse(list)
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != 1 || all[0].Name != "one" || all[0].Remark != "of it more" || len(all[0].Files()) != 1 {
		t.Fatalf("it is read as %+v", all)
	}
	for name, test := range map[string]struct{ text, want, wantErr string }{
		"as it should be": {text: "a\nb\nc\nd\ne\n", want: "a\nB\nd\n\n"},
		"not there":       {text: "a\nb\nd\ne\n", wantErr: "a.txt has 0 times instead of once"},
		"there twice":     {text: "b\nc\ne\nb\nc\n", wantErr: "a.txt has 2 times instead of once"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := all[0].Apply("a.txt", test.text)
			if test.wantErr != "" {
				if err == nil || !strings.HasPrefix(err.Error(), test.wantErr) {
					t.Errorf("the error is %v, want %s", err, test.wantErr)
				}
				return
			}
			if err != nil || got != test.want {
				t.Errorf("it becomes %q, %v, want %q", got, err, test.want)
			}
		})
	}
}

func TestWhatIsNoList(t *testing.T) {
	for name, test := range map[string]struct{ text, want string }{
		"a line of no change": {"-- a.go", "line 1 belongs to no change"},
		"a line of no file":   {"== a\n-x", "line 2 cannot be read"},
		"a line of no sort":   {"== a\n-- a.go\nx", "line 3 cannot be read"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := hunks.Parse(test.text); err == nil || !strings.HasPrefix(err.Error(), test.want) {
				t.Errorf("the error is %v, want %s", err, test.want)
			}
		})
	}
}
