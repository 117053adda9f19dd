// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"berth.dev/berth/pkg/cli"
)

var update = flag.Bool("update", false, "write docs/reference/berthctl.md instead of checking it")

const (
	referenceNote = "<!-- Made from the help texts by: go test ./pkg/cli -run TestReference -update. Do not edit. -->\n"
	fence         = "```"
)

// TestReference checks that the reference says what the help texts say.
func TestReference(t *testing.T) {
	path := filepath.Join("..", "..", "docs", "reference", "berthctl.md")
	want := reference(cli.NewCommand(cli.Options{}))
	if *update {
		if err := os.WriteFile(path, want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s is out of date, run this test with -update (-want +got):\n%s", path, diff)
	}
}

func reference(root *cobra.Command) []byte {
	var out bytes.Buffer
	fmt.Fprintf(&out, "%s\n# %s\n\n", referenceNote, root.CommandPath())
	prose(&out, root.Long)
	for _, cmd := range root.Commands() {
		describe(&out, cmd)
	}
	fmt.Fprintf(&out, "## Flags that all commands accept\n\n%stext\n%s%s\n", fence, root.PersistentFlags().FlagUsages(), fence)
	return out.Bytes()
}

// describe writes a section for each command that does something.
func describe(out *bytes.Buffer, cmd *cobra.Command) {
	if !cmd.IsAvailableCommand() {
		return
	}
	if cmd.HasAvailableSubCommands() && cmd.Name() != "completion" {
		for _, sub := range cmd.Commands() {
			describe(out, sub)
		}
		return
	}
	fmt.Fprintf(out, "## %s\n\n", cmd.CommandPath())
	prose(out, cmd.Long)
	if cmd.Runnable() && !cmd.HasAvailableSubCommands() {
		fmt.Fprintf(out, "%stext\n%s\n%s\n\n", fence, cmd.UseLine(), fence)
	}
	if cmd.HasExample() {
		fmt.Fprintf(out, "Examples:\n\n%ssh\n%s\n%s\n\n", fence, unindent(cmd.Example), fence)
	}
	if flags := cmd.LocalNonPersistentFlags(); flags.HasAvailableFlags() {
		fmt.Fprintf(out, "Flags:\n\n%stext\n%s%s\n\n", fence, flags.FlagUsages(), fence)
	}
}

// prose writes a help text: paragraphs as they are, what is set in from the margin as a block.
func prose(out *bytes.Buffer, text string) {
	for paragraph := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		head, list, found := strings.Cut("\n"+paragraph, "\n  ")
		if head = strings.TrimSpace(head); head != "" {
			fmt.Fprintf(out, "%s\n\n", strings.ReplaceAll(head, "<", `\<`))
		}
		if found {
			fmt.Fprintf(out, "%stext\n%s\n%s\n\n", fence, unindent("  "+list), fence)
		}
	}
}

func unindent(text string) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for i := range lines {
		lines[i] = strings.TrimPrefix(lines[i], "  ")
	}
	return strings.Join(lines, "\n")
}
