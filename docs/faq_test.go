// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package docs_test

import (
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// sources returns the text of everything that can print a message.
func sources(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	for _, dir := range []string{"apis", "cmd", "manifests", "pkg"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || strings.HasSuffix(path, "_test.go") {
				return err
			}
			switch filepath.Ext(path) {
			case ".go", ".yaml", ".tpl":
				all.WriteString(content(t, path))
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return all.String()
}

func TestMessagesThatAreExplainedExist(t *testing.T) {
	all := sources(t)
	messages := regexp.MustCompile("(?m)^## `(.+)`$").FindAllStringSubmatch(content(t, "faq.md"), -1)
	if len(messages) < 10 {
		t.Fatalf("%d messages found", len(messages))
	}
	for _, message := range messages {
		for part := range strings.SplitSeq(message[1], "…") {
			if !strings.Contains(all, strings.TrimSpace(part)) {
				t.Errorf("nothing says %q, a part of %q", part, message[1])
			}
		}
	}
}
