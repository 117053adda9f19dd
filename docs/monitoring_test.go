// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package docs_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// ruleFile is manifests/monitoring/rules.yaml.
type ruleFile struct {
	Groups []struct{ Rules []rule }
}

// rule is a recording rule or an alert.
type rule struct {
	Record, Alert, Expr string
	Labels, Annotations map[string]string
}

// alerts returns the rules that are alerts.
func alerts(t *testing.T) []rule {
	t.Helper()
	var found []rule
	for _, group := range rules(t).Groups {
		for _, r := range group.Rules {
			if r.Alert != "" {
				found = append(found, r)
			}
		}
	}
	return found
}

func rules(t *testing.T) ruleFile {
	t.Helper()
	var file ruleFile
	if err := yaml.Unmarshal([]byte(content(t, filepath.Join(root, "manifests", "monitoring", "rules.yaml"))), &file); err != nil {
		t.Fatal(err)
	}
	return file
}

// queries returns all expressions of rules and dashboard, by what they belong to.
func queries(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, group := range rules(t).Groups {
		for _, rule := range group.Rules {
			found["rule "+rule.Record+rule.Alert] = rule.Expr
		}
	}
	var dashboard struct {
		Panels []struct {
			Title   string
			Targets []struct{ RefID, Expr string }
		}
	}
	if err := json.Unmarshal([]byte(content(t, filepath.Join(root, "manifests", "monitoring", "dashboard.json"))), &dashboard); err != nil {
		t.Fatal(err)
	}
	for _, panel := range dashboard.Panels {
		for _, target := range panel.Targets {
			found["panel "+panel.Title+" "+target.RefID] = target.Expr
		}
	}
	if len(found) < 50 {
		t.Fatalf("%d queries found", len(found))
	}
	return found
}

// promQL are the words of the query language that the queries use.
var promQL = strings.Fields(`absent and by changes count histogram_quantile increase label_replace max min on or rate scalar sum unless without`)

func TestQueriesUseOnlyMetricsThatAreListed(t *testing.T) {
	page := content(t, filepath.Join("reference", "metrics.md"))
	recorded := map[string]bool{}
	for _, group := range rules(t).Groups {
		for _, rule := range group.Rules {
			recorded[rule.Record] = true
		}
	}
	// Labels stand in braces or behind by, on and without.
	labels := regexp.MustCompile(`\{[^}]*\}|\b(?:by|on|without) \([^)]*\)|\[[^\]]*\]|"[^"]*"`)
	name := regexp.MustCompile(`[a-zA-Z_:][a-zA-Z0-9_:]*`)
	for where, query := range queries(t) {
		for _, word := range name.FindAllString(labels.ReplaceAllString(query, " "), -1) {
			listed := regexp.MustCompile("`" + strings.TrimSuffix(word, "_bucket") + "[`{]").MatchString(page)
			if !slices.Contains(promQL, word) && !recorded[word] && !listed {
				t.Errorf("%s uses %s, which the page of metrics does not list", where, word)
			}
		}
	}
}

func TestEachAlertHasARunbook(t *testing.T) {
	const base = "https://berth.dev/docs/"
	index := content(t, filepath.Join("tasks", "runbooks", "README.md"))
	known := map[string]bool{"README.md": true}
	label := regexp.MustCompile(`\{\{ \$labels\.(\w+) \}\}`)
	for _, alert := range alerts(t) {
		page := filepath.Join("tasks", "runbooks", alert.Alert+".md")
		known[filepath.Base(page)] = true
		if want := base + strings.TrimSuffix(filepath.ToSlash(page), ".md"); alert.Annotations["runbook_url"] != want {
			t.Errorf("%s has the runbook %s, want %s", alert.Alert, alert.Annotations["runbook_url"], want)
		}
		if alert.Annotations["summary"] == "" || alert.Annotations["description"] == "" {
			t.Errorf("%s has no summary or no description", alert.Alert)
		}
		if !slices.Contains([]string{"critical", "warning", "info"}, alert.Labels["severity"]) {
			t.Errorf("%s has the severity %q", alert.Alert, alert.Labels["severity"])
		}
		if !strings.Contains(content(t, page), "\n    "+alert.Expr+"\n") {
			t.Errorf("the runbook of %s does not show its expression", alert.Alert)
		}
		summary := label.ReplaceAllStringFunc(alert.Annotations["summary"], func(variable string) string {
			return strings.ToUpper(label.FindStringSubmatch(variable)[1])
		})
		row := regexp.MustCompile(`\n\| \[` + alert.Alert + `\]\(` + alert.Alert + `\.md\) \| \w+ \| [\w ]+ \| ` +
			regexp.QuoteMeta(summary) + ` \|\n`)
		if !row.MatchString(index) {
			t.Errorf("%s is not listed with %q", alert.Alert, summary)
		}
	}
	pages, err := os.ReadDir(filepath.Join("tasks", "runbooks"))
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range pages {
		if !known[page.Name()] {
			t.Errorf("%s belongs to no alert", page.Name())
		}
	}
}

func TestRunbooksNameCommandsThatExist(t *testing.T) {
	reference := content(t, filepath.Join("reference", "berthctl.md"))
	pages, err := filepath.Glob(filepath.Join("tasks", "runbooks", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	commands := 0
	for _, page := range pages {
		for _, match := range regexp.MustCompile(`(?m)^    berthctl ([a-z-]+)( [a-z]+)?( |$)`).FindAllStringSubmatch(content(t, page), -1) {
			commands++
			if !strings.Contains(reference, "\n## berthctl "+match[1]+"\n") && !strings.Contains(reference, "\n## berthctl "+match[1]+match[2]+"\n") {
				t.Errorf("%s: there is no command berthctl %s%s", page, match[1], match[2])
			}
		}
	}
	if commands == 0 {
		t.Error("no runbook has a command")
	}
}
