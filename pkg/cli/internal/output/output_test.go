// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package output_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"berth.dev/berth/pkg/cli/internal/output"
)

type answer struct {
	Name  string   `json:"name"`
	Seats []string `json:"seats"`
}

func TestPrint(t *testing.T) {
	tests := map[string]struct {
		args      []string
		want      string
		wantError string
	}{
		"people by default": {want: "for people, wide false\n"},
		"wide":              {args: []string{"-o", "wide"}, want: "for people, wide true\n"},
		"json on one line, nothing escaped": {
			args: []string{"-o", "json"}, want: `{"name":"a<b>&c","seats":["x"]}` + "\n",
		},
		"yaml": {args: []string{"--output=yaml"}, want: "name: a<b>&c\nseats:\n- x\n"},
		"unknown format": {
			args:      []string{"-o", "xml"},
			wantError: `unknown output format "xml", use one of table, wide, json, yaml`,
		},
		"a format of other commands": {args: []string{"-o", "text"}, wantError: `unknown output format "text"`},
		"an empty format":            {args: []string{"-o", ""}, wantError: `unknown output format ""`},
		"a very long format": {
			args: []string{"-o", strings.Repeat("x", 100_000)}, wantError: `unknown output format "xxxx`,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			format := output.NewFlag(output.Table, output.Wide, output.JSON, output.YAML)
			var out bytes.Buffer
			cmd := &cobra.Command{SilenceErrors: true, SilenceUsage: true, RunE: func(*cobra.Command, []string) error {
				return format.Print(&out, answer{Name: "a<b>&c", Seats: []string{"x"}}, func(w io.Writer) error {
					_, err := fmt.Fprintf(w, "for people, wide %t\n", format.Wide())
					return err
				})
			}}
			format.AddTo(cmd)
			cmd.SetArgs(tc.args)
			err := cmd.Execute()
			if tc.wantError == "" && err != nil || tc.wantError != "" && (err == nil || !strings.Contains(err.Error(), tc.wantError)) {
				t.Errorf("error %.200v, want %q", err, tc.wantError)
			}
			if out.String() != tc.want {
				t.Errorf("printed %q, want %q", out.String(), tc.want)
			}
		})
	}
}

func TestPrintWritesNothingWhenItFails(t *testing.T) {
	var out bytes.Buffer
	err := output.NewFlag(output.Text).Print(&out, nil, func(w io.Writer) error {
		fmt.Fprint(w, "half a ")
		return errors.New("no more")
	})
	if err == nil || out.Len() > 0 {
		t.Errorf("error %v, printed %q", err, out.String())
	}
}

func TestRows(t *testing.T) {
	columns := []output.Column{{Name: "Cluster"}, {Name: "Desired"}, {Name: "Policy", Wide: true}}
	rows := [][]any{{"beijing", 2, "nginx"}, {"red\x1b[31m\nsecond line", 3, "nginx"}}
	tests := map[string]struct {
		wide bool
		rows [][]any
		want string
	}{
		"narrow": {
			rows: rows,
			want: "CLUSTER        DESIRED\nbeijing        2\nred^[[31m...   3\n",
		},
		"wide": {
			wide: true, rows: rows[:1],
			want: "CLUSTER   DESIRED   POLICY\nbeijing   2         nginx\n",
		},
		"no rows, no header": {},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			if err := output.Rows(&out, tc.wide, columns, tc.rows); err != nil {
				t.Fatal(err)
			}
			if out.String() != tc.want {
				t.Errorf("printed\n%q, want\n%q", out.String(), tc.want)
			}
		})
	}
}

func TestOneLine(t *testing.T) {
	if got, want := output.OneLine("a\n b\t\x1b[31mc\r\n"), "a b ^[[31mc"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestRepeater(t *testing.T) {
	answers := [][2]string{
		{"first\n", ""}, {"first\n", ""}, {"next\n", "a note\n"}, {"next\n", "a note\n"}, {"next\n", ""},
		{"", "gone\n"}, {"first\n", ""},
	}
	tests := map[string]struct {
		formats []output.Format
		wantOut string
	}{
		"people":   {[]output.Format{output.Table, output.JSON}, strings.Join([]string{"first\n", "next\n", "next\n", "first\n"}, "\n")},
		"programs": {[]output.Format{output.JSON, output.Table}, strings.Join([]string{"first\n", "next\n", "next\n", "first\n"}, "")},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			streams, _, out, errOut := genericiooptions.NewTestIOStreams()
			repeater := output.NewRepeater(streams, output.NewFlag(tc.formats...))
			if repeater.Printed() {
				t.Error("something was printed before the first answer")
			}
			for _, answer := range answers {
				if err := repeater.Print([]byte(answer[0]), []byte(answer[1])); err != nil {
					t.Fatal(err)
				}
			}
			if out.String() != tc.wantOut || errOut.String() != "a note\ngone\n" {
				t.Errorf("printed %q and %q, want %q", out.String(), errOut.String(), tc.wantOut)
			}
			if !repeater.Printed() {
				t.Error("nothing was printed")
			}
		})
	}
}
