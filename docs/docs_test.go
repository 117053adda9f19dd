// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package docs_test checks that the documentation speaks of what the code has: every reason that a
// user can meet, every metric, and files that exist.
package docs_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

const root = ".."

func content(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func parseFile(t *testing.T, path string) *ast.File {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// text returns the value of a string literal.
func text(expression ast.Expr) (string, bool) {
	literal, ok := expression.(*ast.BasicLit)
	if !ok || literal.Kind != token.STRING {
		return "", false
	}
	value, err := strconv.Unquote(literal.Value)
	return value, err == nil
}

// constants returns the string constants of a file whose names match, by name.
func constants(t *testing.T, path, pattern string) map[string]string {
	t.Helper()
	names := regexp.MustCompile(pattern)
	found := map[string]string{}
	ast.Inspect(parseFile(t, path), func(node ast.Node) bool {
		spec, ok := node.(*ast.ValueSpec)
		if !ok {
			return true
		}
		for i, name := range spec.Names {
			if i < len(spec.Values) && names.MatchString(name.Name) {
				if value, ok := text(spec.Values[i]); ok {
					found[name.Name] = value
				}
			}
		}
		return true
	})
	if len(found) == 0 {
		t.Fatalf("no constant in %s matches %s", path, pattern)
	}
	return found
}

// mapValues returns the string values of a map literal, by the text of their keys.
func mapValues(t *testing.T, path, variable string) map[string]string {
	t.Helper()
	found := map[string]string{}
	ast.Inspect(parseFile(t, path), func(node ast.Node) bool {
		spec, ok := node.(*ast.ValueSpec)
		if !ok || spec.Names[0].Name != variable || len(spec.Values) == 0 {
			return true
		}
		if literal, ok := spec.Values[0].(*ast.CompositeLit); ok {
			for _, element := range literal.Elts {
				pair, ok := element.(*ast.KeyValueExpr)
				if !ok {
					continue
				}
				key, isName := pair.Key.(*ast.Ident)
				if value, isText := text(pair.Value); isName && isText {
					found[key.Name] = value
				}
			}
		}
		return false
	})
	if len(found) == 0 {
		t.Fatalf("no map %s of strings in %s", variable, path)
	}
	return found
}

func TestTroubleshootTellsEveryReason(t *testing.T) {
	page := content(t, filepath.Join("tasks", "troubleshoot.md"))
	wellKnown := filepath.Join(root, "apis", "berth", "v1alpha1", "wellknown.go")
	tests := map[string]map[string]string{
		"reasons of conditions": constants(t, wellKnown, `^Reason`),
		"reasons of feeds": constants(t,
			filepath.Join(root, "apis", "berth", "v1alpha1", "feed_wellknown.go"), `^(Reason|Inventory|Subscription|FeedP)`),
		"conditions": constants(t, wellKnown, `^(Cluster|Policy)(Ready|Conflicted|Accepted|ClustersResolved|Placed)$`),
		"reasons why a pod waits": constants(t,
			filepath.Join(root, "pkg", "plugins", "nodegrouppolicy", "plugin.go"), `^errReason`),
		"reasons why a pod waits for a resource": constants(t,
			filepath.Join(root, "pkg", "plugins", "clusterresource", "plugin.go"), `^errReason`),
		"reasons why a pod waits for a cluster that meets its constraints": constants(t,
			filepath.Join(root, "pkg", "plugins", "clustermetrics", "plugin.go"), `^errReason`),
		"reasons of applications": constants(t,
			filepath.Join(root, "apis", "berth", "v1alpha1", "ranking_wellknown.go"), `^Reason`),
		"reasons of several schedulers": constants(t,
			filepath.Join(root, "apis", "berth", "v1alpha1", "scheduler_wellknown.go"), `^Reason`),
		"reasons why a pod waits for its scheduler": constants(t,
			filepath.Join(root, "pkg", "plugins", "homescheduler", "plugin.go"), `^errReason`),
		"reasons why replicas stay": mapValues(t,
			filepath.Join(root, "pkg", "placement", "rebalance", "reason.go"), "texts"),
		"events of Subscriptions": constants(t,
			filepath.Join(root, "pkg", "controllers", "subscription", "events.go"), `^reason`),
		"events of policies": constants(t,
			filepath.Join(root, "pkg", "controllers", "policy", "events.go"), `^reason`),
	}
	for name, wantTexts := range tests {
		t.Run(name, func(t *testing.T) {
			for constant, want := range wantTexts {
				want = strings.ReplaceAll(want, "%s", "NAME")
				if !strings.Contains(page, "`"+want+"`") && !strings.Contains(page, "### "+want+"\n") {
					t.Errorf("%s is missing: %q", constant, want)
				}
			}
		})
	}
}

// metricName returns the name of the metric that a composite literal like CounterOpts{Subsystem:
// ..., Name: ...} describes.
func metricName(literal *ast.CompositeLit) string {
	fields := map[string]string{}
	for _, element := range literal.Elts {
		pair, ok := element.(*ast.KeyValueExpr)
		if !ok {
			continue
		}
		if key, ok := pair.Key.(*ast.Ident); ok {
			fields[key.Name], _ = text(pair.Value)
		}
	}
	var parts []string
	for _, key := range []string{"Namespace", "Subsystem", "Name"} {
		if fields[key] != "" {
			parts = append(parts, fields[key])
		}
	}
	return strings.Join(parts, "_")
}

// definedMetric returns the name of the metric that a piece of code defines, empty if it defines
// none.
func definedMetric(node ast.Node) string {
	name := ""
	switch n := node.(type) {
	case *ast.CompositeLit:
		name = metricName(n)
	case *ast.CallExpr:
		// prometheus.NewDesc(name, ...)
		if called, ok := n.Fun.(*ast.SelectorExpr); ok && called.Sel.Name == "NewDesc" && len(n.Args) > 0 {
			name, _ = text(n.Args[0])
		}
	}
	if !strings.HasPrefix(name, "berth_") {
		return ""
	}
	return name
}

// inspectSources visits all that stands in the sources of the API and of the programs, but for
// their tests.
func inspectSources(t *testing.T, visit func(path string, node ast.Node)) {
	t.Helper()
	for _, dir := range []string{"apis", "pkg", "cmd"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			ast.Inspect(parseFile(t, path), func(node ast.Node) bool {
				visit(path, node)
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// berthMetrics returns the names of all metrics that the programs define, with the file that does.
func berthMetrics(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	inspectSources(t, func(path string, node ast.Node) {
		if name := definedMetric(node); name != "" {
			found[name] = path
		}
	})
	if len(found) == 0 {
		t.Fatal("no metric found")
	}
	return found
}

func TestMetricsListsAllMetricsAndNoOthers(t *testing.T) {
	page := content(t, filepath.Join("reference", "metrics.md"))
	defined := berthMetrics(t)
	for name, path := range defined {
		if !strings.Contains(page, "| `"+name+"` |") {
			t.Errorf("%s, which %s defines, is missing", name, path)
		}
	}
	for _, name := range regexp.MustCompile(`\bberth_[a-z_]+`).FindAllString(page, -1) {
		if defined[name] == "" {
			t.Errorf("%s does not exist", name)
		}
	}
}

// link matches the target of a link in Markdown.
var link = regexp.MustCompile(`\]\(([^)\s]+)\)`)

// heading matches a heading of Markdown.
var heading = regexp.MustCompile(`(?m)^#+ (.+)$`)

// anchors returns the anchors of the headings of a page.
func anchors(page string) map[string]bool {
	found := map[string]bool{}
	dropped := regexp.MustCompile("[^a-z0-9 _-]")
	for _, match := range heading.FindAllStringSubmatch(page, -1) {
		found[strings.ReplaceAll(dropped.ReplaceAllString(strings.ToLower(match[1]), ""), " ", "-")] = true
	}
	return found
}

func TestLinksLeadSomewhere(t *testing.T) {
	var pages []string
	for _, dir := range []string{".", filepath.Join(root, "examples")} {
		err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
			if filepath.Ext(path) == ".md" {
				pages = append(pages, path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range pages {
		for _, match := range link.FindAllStringSubmatch(content(t, path), -1) {
			target, anchor, _ := strings.Cut(match[1], "#")
			if strings.Contains(target, "://") {
				continue
			}
			file := path
			if target != "" {
				file = filepath.Join(filepath.Dir(path), filepath.FromSlash(target))
			}
			if _, err := os.Stat(file); err != nil {
				t.Errorf("%s: link to %s: %v", path, match[1], err)
				continue
			}
			if anchor != "" && !anchors(content(t, file))[anchor] {
				t.Errorf("%s: link to %s: no such heading", path, match[1])
			}
		}
	}
}

// TestPagesNameFoldersThatExist keeps the pages that say where something is from pointing to where
// it was.
func TestPagesNameFoldersThatExist(t *testing.T) {
	path := regexp.MustCompile("`((?:apis|cmd|hack|manifests|pkg|test)/[A-Za-z0-9_./-]+)`")
	for _, page := range []string{
		filepath.Join(root, "CONTRIBUTING.md"), filepath.Join("reference", "glossary.md"),
		filepath.Join("adr", "0008-one-home-for-each-concept.md"),
	} {
		found := path.FindAllStringSubmatch(content(t, page), -1)
		if len(found) == 0 {
			t.Errorf("%s names no folder", page)
		}
		for _, match := range found {
			if _, err := os.Stat(filepath.Join(root, match[1])); err != nil {
				t.Errorf("%s names %s, which does not exist", page, match[1])
			}
		}
	}
}
