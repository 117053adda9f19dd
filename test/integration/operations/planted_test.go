// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package operations_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"sigs.k8s.io/yaml"

	"berth.dev/berth/test/integration/internal/installation"
	"berth.dev/berth/test/integration/internal/promserver"
	"berth.dev/berth/test/integration/internal/runbook"
	"berth.dev/berth/test/internal/visitor"
)

// planted is a fault of operation.
type planted struct {
	// name is what docs/tasks/monitor.md calls it.
	name, alert string
	// with are alerts that say the same in other words.
	with []string
	// ends are the alerts of faults before that this one takes the place of.
	ends  []string
	plant func(ctx context.Context)
	// names stand for what the runbook leaves open, as words and what to put there.
	names []string
	// cause is what its commands must print, as a regular expression.
	cause string
	// page shows what is a part of its text; empty if only the view of Berth's health tells of it.
	page, shows string
}

// listed reports whether the documentation says that the fault is planted here.
func (p *planted) listed() bool {
	GinkgoHelper()
	page, err := os.ReadFile(installation.Path("docs", "tasks", "monitor.md"))
	Expect(err).NotTo(HaveOccurred())
	row := fmt.Sprintf(`(?m)^\| %s \| \[%s\]\(.*\| yes \|$`, regexp.QuoteMeta(p.name), p.alert)
	return regexp.MustCompile(row).Match(page)
}

// scrape returns the configuration of a Prometheus that scrapes programs by job, at these ports.
func scrape(jobs map[string][]int, further ...map[string]any) string {
	GinkgoHelper()
	configs := further
	for job, ports := range jobs {
		targets := make([]string, len(ports))
		for i, port := range ports {
			targets[i] = fmt.Sprintf("127.0.0.1:%d", port)
		}
		configs = append(configs, map[string]any{
			"job_name": job, "scheme": "https", "tls_config": map[string]any{"insecure_skip_verify": true},
			"authorization": map[string]any{"credentials_file": token}, "static_configs": []any{map[string]any{"targets": targets}},
		})
	}
	rules, err := filepath.Abs(installation.Path("manifests", "monitoring", "rules.yaml"))
	Expect(err).NotTo(HaveOccurred())
	content, err := yaml.Marshal(map[string]any{
		"global":     map[string]any{"scrape_interval": "1s", "scrape_timeout": "1s", "evaluation_interval": "1s"},
		"rule_files": []string{rules}, "scrape_configs": configs,
	})
	Expect(err).NotTo(HaveOccurred())
	return string(content)
}

// slow is the alert that a machine with more to do than it can raises by itself: attempts are slow
// there, whatever was planted.
const slow = "BerthSchedulingSlow"

// raised returns which alerts would call somebody, at once or if they go on. That attempts are slow
// counts only if it is wanted.
func raised(ctx context.Context, server *promserver.Server, want map[string]bool) ([]string, error) {
	var answer struct {
		Alerts []struct{ Labels struct{ Alertname string } }
	}
	err := server.Ask(ctx, "alerts", &answer)
	names := map[string]bool{}
	for _, alert := range answer.Alerts {
		names[alert.Labels.Alertname] = true
	}
	return counted(names, want), err
}

// shown returns which of them a page shows.
func shown(ctx context.Context, pages *visitor.Visitor, want map[string]bool) ([]string, error) {
	rows, err := pages.Rows(ctx, "health", "alerts")
	names := map[string]bool{}
	for _, row := range rows {
		names[row[0]] = true
	}
	return counted(names, want), err
}

func counted(names, want map[string]bool) []string {
	if !want[slow] {
		delete(names, slow)
	}
	return slices.Sorted(maps.Keys(names))
}

// logs is a command that reads the logs of pods, and of which program.
var logs = regexp.MustCompile(`^kubectl -n berth-system logs (?:deployment/|-l app.kubernetes.io/name=|-l ')([\w-]+)[^|]*`)

// logFiles reads the files to which programs write here, where there is no kubelet.
func logFiles(command string) string {
	program := logs.FindStringSubmatch(command)[1]
	if program == "app" { // all schedulers
		program = "berth-scheduler"
	}
	return "tail -q -n 400 " + filepath.Join(plane.LogDir(), program+"*.log") + " "
}

// elsewhere are commands that need pods with a kubelet, or never end.
var elsewhere = regexp.MustCompile(`^kubectl .*\btop\b|--watch`)

// follow runs the commands of the runbook, and returns what they print.
func (p *planted) follow(ctx context.Context) string {
	GinkgoHelper()
	var said strings.Builder
	for _, line := range runbook.Of(p.alert) {
		if elsewhere.MatchString(line) {
			continue
		}
		line = strings.NewReplacer(append([]string{"NAMESPACE", "default"}, p.names...)...).Replace(line)
		line = logs.ReplaceAllStringFunc(line, logFiles)
		out, err := runbook.Shell(ctx, plane.AdminKubeconfig(), line)
		// berthctl check, grep, kubectl get of what is not there, and can-i end with 1, and say why.
		if err != nil && !regexp.MustCompile(`^berthctl check|\| grep|^kubectl .*\b(get (crd|--raw)|auth can-i)`).MatchString(line) {
			Fail(fmt.Sprintf("%s: %s: %v\n%s", p.alert, line, err, out))
		}
		said.WriteString(out)
	}
	return said.String()
}

// inTurn plants faults one after the other. Each adds its alert to those that are raised, and no
// other.
func inTurn(ctx context.Context, server *promserver.Server, faults []planted) {
	GinkgoHelper()
	want := map[string]bool{}
	pages := look(ctx, server)
	expect := func(name string) {
		GinkgoHelper()
		all := slices.Sorted(maps.Keys(want))
		Eventually(raised).WithArguments(ctx, server, want).WithContext(ctx).WithTimeout(timeout).WithPolling(poll).Should(HaveExactElements(all), name)
	}
	Eventually(raised).WithArguments(ctx, server, want).WithContext(ctx).WithTimeout(timeout).WithPolling(poll).Should(BeEmpty(), "no fault")
	for i := range faults {
		p, began := &faults[i], time.Now()
		Expect(p.listed()).To(BeTrue(), "docs/tasks/monitor.md does not list %q", p.name)
		By("planting: " + p.name)
		p.plant(ctx)
		for _, alert := range append(p.with, p.alert) {
			want[alert] = true
		}
		for _, alert := range p.ends {
			delete(want, alert)
		}
		expect(p.name)
		if p.cause != "" {
			Eventually(p.follow).WithArguments(ctx).WithContext(ctx).WithTimeout(timeout).WithPolling(poll).Should(MatchRegexp(p.cause), p.name)
		}
		if p.page != "" {
			Eventually(pages.Text).WithArguments(ctx, p.page).WithContext(ctx).WithTimeout(timeout).WithPolling(poll).
				Should(ContainSubstring(p.shows), p.name)
		}
		expect(p.name)
		Eventually(shown).WithArguments(ctx, pages, want).WithContext(ctx).WithTimeout(timeout).WithPolling(poll).
			Should(HaveExactElements(slices.Sorted(maps.Keys(want))), "the page of "+p.name)
		AddReportEntry(p.name, time.Since(began).Round(time.Millisecond).String())
	}
}
