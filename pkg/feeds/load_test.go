// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package feeds_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"berth.dev/berth/pkg/feeds"
)

func TestLoadFeedParsers(t *testing.T) {
	named := func(name string) string { return strings.Replace(cloneSets, "clonesets", name, 1) }
	tests := map[string]struct {
		files map[string]string
		want  []string
	}{
		"an empty folder":          {nil, nil},
		"in the order of names":    {map[string]string{"b.yaml": named("b"), "a.yml": named("a")}, []string{"a", "b"}},
		"several in a file":        {map[string]string{"a.yaml": named("x") + "---\n" + named("z")}, []string{"x", "z"}},
		"a list":                   {map[string]string{"a.yaml": "kind: FeedParserList\napiVersion: berth.dev/v1alpha1\nitems:\n- metadata: {name: x}\n  spec: {group: x.io, kind: X}\n"}, []string{"x"}},
		"other files and folders":  {map[string]string{"README.md": "hello", "deep/a.yaml": "rubbish", "x.yaml/b": "rubbish", "a.yaml": named("a")}, []string{"a"}},
		"an empty file":            {map[string]string{"a.yaml": "# nothing yet\n"}, nil},
		"as a cluster would print": {map[string]string{"a.yaml": named("a") + "status:\n  conditions: []\n"}, []string{"a"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			folder := fstest.MapFS{".": {Mode: fs.ModeDir}}
			for path, text := range tc.files {
				folder[path] = &fstest.MapFile{Data: []byte(text)}
			}
			rules, err := feeds.LoadFeedParsers(folder)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, rule := range rules {
				got = append(got, rule.Name)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("rules differ (-want +got):\n%s", diff)
			}
		})
	}
}

func TestLoadedRulesRead(t *testing.T) {
	rules, err := feeds.ParseFeedParsers([]byte(cloneSets))
	if err != nil {
		t.Fatal(err)
	}
	registry, err := feeds.NewRegistry(rules, nil)
	if err != nil {
		t.Fatal(err)
	}
	feed, err := registry.Read([]byte(manifestOf("apps.kruise.io/v1beta1", "CloneSet", `{"template":`+halfCore+`}`)))
	if err != nil || feed.DesiredReplicas == nil || *feed.DesiredReplicas != 1 || feed.Parser != "clonesets" {
		t.Errorf("read as %+v, error %v", feed, err)
	}
	checkAmounts(t, "requests", amounts{"cpu": "500m"}, feed.ReplicaRequirements.Resources.Requests)
}

func TestLoadFeedParsersRefuses(t *testing.T) {
	changed := func(old, now string) string { return strings.Replace(cloneSets, old, now, 1) }
	tests := map[string]struct{ text, want string }{
		"another kind":        {changed("FeedParser", "Deployment"), `a.yaml: document 1: must be a FeedParser of berth.dev/v1alpha1, not a Deployment of berth.dev/v1alpha1`},
		"another version":     {changed("v1alpha1", "v9"), "must be a FeedParser of berth.dev/v1alpha1"},
		"no version":          {changed("apiVersion: berth.dev/v1alpha1\n", ""), "document 1: apiVersion is missing"},
		"no name":             {changed("  name: clonesets\n", "  labels: {}\n"), "document 1: metadata.name is missing"},
		"a name that is none": {changed("clonesets", "Clone_Sets"), `"Clone_Sets" is no name`},
		"a misspelt field":    {changed("podTemplate", "podTempalte"), `FeedParser "clonesets": `},
		"an unknown field":    {changed("default: 1", "minimum: 1"), `unknown field "minimum"`},
		"a path in a list":    {changed("/spec/replicas", "[/spec/replicas]"), `FeedParser "clonesets": `},
		"a huge default":      {changed("default: 1", "default: 99999999999"), `FeedParser "clonesets": `},
		"a field twice":       {cloneSets + "kind: FeedParser\n", `the key "kind" is there twice`},
		"an anchor":           {changed("spec:", "spec: &x"), "anchors and aliases are not accepted"},
		"the second document": {cloneSets + "---\nhello\n", "a.yaml: document 2: "},
		"10 MB":               {cloneSets + strings.Repeat("# comment\n", 1_000_000), "a.yaml: there are more than"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			rules, err := feeds.LoadFeedParsers(fstest.MapFS{"a.yaml": {Data: []byte(tc.text)}})
			if err == nil || !strings.Contains(err.Error(), tc.want) || !strings.HasPrefix(err.Error(), "a.yaml: ") {
				t.Errorf("%d rules, error %.300v, want %q", len(rules), err, tc.want)
			}
		})
	}
	t.Run("a great many files", func(t *testing.T) {
		folder := fstest.MapFS{}
		for i := range 1001 {
			folder[fmt.Sprintf("%d.yaml", i)] = &fstest.MapFile{}
		}
		if _, err := feeds.LoadFeedParsers(folder); err == nil || !strings.Contains(err.Error(), "more than 1000 files") {
			t.Errorf("error %v", err)
		}
	})
	t.Run("no folder", func(t *testing.T) {
		if _, err := feeds.LoadFeedParsers(os.DirFS(filepath.Join(t.TempDir(), "nothing"))); err == nil {
			t.Error("no error")
		}
	})
}

// TestLoadFeedParsersOnDisk looks at what a folder may hold beside files. To open the pipe would
// block for ever.
func TestLoadFeedParsersOnDisk(t *testing.T) {
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "rule"), []byte(cloneSets), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("rule", filepath.Join(folder, "rule.yaml")); err != nil {
		t.Fatal(err)
	}
	rules, err := feeds.LoadFeedParsers(os.DirFS(folder))
	if err != nil || len(rules) != 1 {
		t.Errorf("%d rules, error %v, want the one that a link leads to", len(rules), err)
	}
	if err := syscall.Mkfifo(filepath.Join(folder, "pipe.yaml"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := feeds.LoadFeedParsers(os.DirFS(folder)); err == nil || !strings.Contains(err.Error(), "pipe.yaml: this is no regular file") {
		t.Errorf("error %v", err)
	}
}
