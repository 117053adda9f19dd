// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package metrics_test

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"berth.dev/berth/test/integration/internal/installation"
	"berth.dev/berth/test/integration/internal/promserver"
)

// quiet are series of an installation without a fault, one sample a minute. A fault begins at
// minute 30 and lasts an hour.
var quiet = map[string]string{
	`up{job="berth-scheduler", instance="a"}`:                                                            always(1),
	`up{job="berth-scheduler", instance="b"}`:                                                            always(1),
	`up{job="berth-controller-manager", instance="c"}`:                                                   always(1),
	`up{job="berth-controller-manager", instance="d"}`:                                                   always(1),
	`up{job="berth-gateway", instance="e"}`:                                                              always(1),
	`leader_election_master_status{job="berth-scheduler", instance="a"}`:                                 always(1),
	`leader_election_master_status{job="berth-scheduler", instance="b"}`:                                 always(0),
	`leader_election_master_status{job="berth-controller-manager", instance="c"}`:                        always(1),
	`leader_election_master_status{job="berth-controller-manager", instance="d"}`:                        always(0),
	`scheduler_pending_pods{job="berth-scheduler", instance="a", queue="active"}`:                        always(0),
	`scheduler_pending_pods{job="berth-scheduler", instance="b", queue="active"}`:                        always(7),
	`scheduler_pending_pods{job="berth-scheduler", instance="a", queue="unschedulable"}`:                 always(9),
	`scheduler_schedule_attempts_total{job="berth-scheduler", instance="a", result="scheduled"}`:         "0+60x95",
	`scheduler_scheduling_attempt_duration_seconds_bucket{job="berth-scheduler", le="0.1"}`:              "0+60x95",
	`scheduler_scheduling_attempt_duration_seconds_bucket{job="berth-scheduler", le="2"}`:                "0+60x95",
	`scheduler_scheduling_attempt_duration_seconds_bucket{job="berth-scheduler", le="+Inf"}`:             "0+60x95",
	`scheduler_pod_scheduling_sli_duration_seconds_bucket{job="berth-scheduler", le="10"}`:               "0+60x95",
	`scheduler_pod_scheduling_sli_duration_seconds_bucket{job="berth-scheduler", le="1000"}`:             "0+60x95",
	`scheduler_pod_scheduling_sli_duration_seconds_bucket{job="berth-scheduler", le="+Inf"}`:             "0+60x95",
	`scheduler_unschedulable_pods{job="berth-scheduler", plugin="NodeGroupPolicy"}`:                      always(0),
	`scheduler_unschedulable_pods{job="berth-scheduler", plugin="NodeResourcesFit"}`:                     always(9),
	`berth_waiting_oldest_seconds{fits="true"}`:                                                          always(0),
	`berth_waiting_oldest_seconds{fits="false"}`:                                                         always(9000),
	`berth_cluster_resource_waiting{resource="matlab"}`:                                                  always(0),
	`berth_cluster_resource_capacity{resource="matlab", pool="default"}`:                                 always(50),
	`berth_cluster_resource_allocated{resource="matlab", pool="default"}`:                                always(20),
	`berth_cluster_resource_granted{resource="matlab", pool="default"}`:                                  always(50),
	`berth_pool_overcommitted_units{resource="matlab", pool="default"}`:                                  always(0),
	`berth_binds_unclear_total`:                                                                          always(3),
	`berth_policy_replicas{state="desired"}`:                                                             always(100),
	`berth_policy_replicas{state="misplaced"}`:                                                           always(0),
	`berth_evictions_total{outcome="refused_by_pdb"}`:                                                    always(4),
	`berth_evictions_total{outcome="failed"}`:                                                            always(0),
	`berth_object_conditions{kind="PropagationPolicy", condition="Accepted", status="True", reason="A"}`: always(9),
	`berth_object_conditions{kind="Cluster", condition="Ready", status="True", reason="NodesReady"}`:     always(3),
	`berth_object_conditions{kind="Application", condition="Scheduled", status="True", reason="C"}`:      always(2),
	`berth_object_conditions{kind="Scheduler", condition="Ready", status="True", reason="LeaseHeld"}`:    always(2),
	`berth_node_group_rejected_attempts_total{reason="NoCluster"}`:                                       "0+60x95",
	`berth_node_group_rejected_attempts_total{instance="a", reason="Unreadable"}`:                        always(3),
	`berth_catalog_known_objects{instance="a", kind="PropagationPolicy"}`:                                always(0),
	`rest_client_requests_total{job="berth-scheduler", code="200"}`:                                      "0+600x95",
	`rest_client_requests_total{job="berth-scheduler", code="<error>"}`:                                  "0+1x95",
	`rest_client_requests_total{job="berth-scheduler", code="401"}`:                                      always(0),
	`rest_client_requests_total{job="berth-scheduler", code="403"}`:                                      always(2),
	`berth_metric_reads_total{type="prometheus", reason="MetricsRead"}`:                                  "0+4x95",
	`berth_metric_reads_total{type="prometheus", reason="Unreachable"}`:                                  always(0),
	`berth_application_moves_total`:                                                                      always(8),
	`berth_subscription_conditions{condition="Scheduled", reason="BundleWaits"}`:                         always(0),
	`berth_binding_draining_clusters`:                                                                    always(0),
	`berth_binding_clusters{scheduler="_none"}`:                                                          always(0),
	`berth_binding_clusters{scheduler="s1"}`:                                                             always(3),
	`controller_runtime_reconcile_errors_total{job="berth-controller-manager", controller="policy"}`:     always(5),
	`controller_runtime_reconcile_errors_total{job="berth-controller-manager", controller="cluster"}`:    always(0),
	`berth_plugin_panics_total{plugin="NodeGroupPolicy", extension_point="Filter"}`:                      always(0),
	`berth_gateway_panics_total`:                                                                         always(0),
}

func always(value int) string { return fmt.Sprintf("%d+0x95", value) }

// turns is a gauge that changes when the fault begins.
func turns(before, after int) string { return fmt.Sprintf("%d+0x29 %d+0x65", before, after) }

// counts is a counter that begins to grow by so much a minute when the fault begins.
func counts(before, step int) string {
	return fmt.Sprintf("%d+0x29 %d+%dx65", before, before+step, step)
}

// goes is a series that ends when the fault begins.
func goes(value int) string { return fmt.Sprintf("%d+0x29 stale _x64", value) }

// faults are what can go wrong in operation. Each fires the alerts that it wants, and no others, at
// the latest so many minutes after it began.
var faults = map[string]struct {
	series map[string]string
	want   string
	within int
}{
	"no fault": {within: 60},
	"kube-scheduler has not taken back a count of pods that wait no more": {
		series: map[string]string{
			`scheduler_unschedulable_pods{job="berth-scheduler", plugin="NodeGroupPolicy"}`:      turns(0, 2),
			`scheduler_pending_pods{job="berth-scheduler", instance="a", queue="unschedulable"}`: turns(9, 0),
		},
		within: 60,
	},
	"all schedulers are dead": {
		series: map[string]string{
			`up{job="berth-scheduler", instance="a"}`: turns(1, 0), `up{job="berth-scheduler", instance="b"}`: turns(1, 0),
			`leader_election_master_status{job="berth-scheduler", instance="a"}`: goes(1),
			`leader_election_master_status{job="berth-scheduler", instance="b"}`: goes(0),
		},
		want: "BerthSchedulerDown", within: 4,
	},
	"the scheduler is not there any more": {
		series: map[string]string{
			`up{job="berth-scheduler", instance="a"}`: goes(1), `up{job="berth-scheduler", instance="b"}`: goes(1),
		},
		want: "BerthSchedulerDown", within: 4,
	},
	"the controller manager is dead": {
		series: map[string]string{
			`up{job="berth-controller-manager", instance="c"}`: turns(1, 0), `up{job="berth-controller-manager", instance="d"}`: turns(1, 0),
		},
		want: "BerthControllerManagerDown", within: 7,
	},
	"the gateway is dead": {
		series: map[string]string{`up{job="berth-gateway", instance="e"}`: turns(1, 0)}, want: "BerthGatewayDown", within: 7,
	},
	"the certificate of one instance has expired": {
		series: map[string]string{`up{job="berth-scheduler", instance="b"}`: turns(1, 0)}, want: "BerthInstanceDown", within: 12,
	},
	"nobody gets the lease": {
		series: map[string]string{`leader_election_master_status{job="berth-scheduler", instance="a"}`: turns(1, 0)},
		want:   "BerthNoLeader", within: 4,
	},
	"the scheduler hangs": {
		series: map[string]string{
			`scheduler_pending_pods{job="berth-scheduler", instance="a", queue="active"}`:                turns(0, 5),
			`scheduler_schedule_attempts_total{job="berth-scheduler", instance="a", result="scheduled"}`: "0+60x29 1740+0x65",
		},
		want: "BerthSchedulerHangs", within: 12,
	},
	"the scheduler hangs since its start": {
		series: map[string]string{
			`scheduler_pending_pods{job="berth-scheduler", instance="a", queue="active"}`:                turns(0, 5),
			`scheduler_schedule_attempts_total{job="berth-scheduler", instance="a", result="scheduled"}`: goes(1740),
		},
		want: "BerthSchedulerHangs", within: 17,
	},
	"attempts are slow": {
		series: map[string]string{
			`scheduler_scheduling_attempt_duration_seconds_bucket{job="berth-scheduler", le="0.1"}`: "0+60x29 1740+0x65",
		},
		want: "BerthSchedulingSlow", within: 15,
	},
	"pods wait for minutes": {
		series: map[string]string{
			`scheduler_pod_scheduling_sli_duration_seconds_bucket{job="berth-scheduler", le="10"}`: "0+60x29 1740+0x65",
		},
		want: "BerthPodsWaitLong", within: 40,
	},
	"shares leave pods no place": {
		series: map[string]string{`scheduler_unschedulable_pods{job="berth-scheduler", plugin="NodeGroupPolicy"}`: turns(0, 2)},
		want:   "BerthUnschedulablePods", within: 32,
	},
	"a waiter starves": {
		series: map[string]string{`berth_waiting_oldest_seconds{fits="true"}`: "0+0x29 60+60x65"},
		want:   "BerthPodStarves", within: 17,
	},
	"a pool is full": {
		series: map[string]string{
			`berth_cluster_resource_waiting{resource="matlab"}`:                   turns(0, 3),
			`berth_cluster_resource_allocated{resource="matlab", pool="default"}`: turns(20, 50),
		},
		want: "BerthPoolFull", within: 17,
	},
	"more is held than there is": {
		series: map[string]string{`berth_pool_overcommitted_units{resource="matlab", pool="default"}`: turns(0, 1)},
		want:   "BerthPoolOvercommitted", within: 4,
	},
	"more is granted than there is": {
		series: map[string]string{`berth_cluster_resource_granted{resource="matlab", pool="default"}`: turns(50, 51)},
		want:   "BerthGrantedTwice", within: 12,
	},
	"bindings are unclear": {
		series: map[string]string{`berth_binds_unclear_total`: "3+0x29 6+0x65"}, want: "BerthUnclearBinds", within: 7,
	},
	"replicas stay misplaced": {
		series: map[string]string{`berth_policy_replicas{state="misplaced"}`: turns(0, 2)}, want: "BerthReplicasMisplaced", within: 32,
	},
	"a budget blocks moves": {
		series: map[string]string{
			`berth_policy_replicas{state="misplaced"}`: turns(0, 2), `berth_evictions_total{outcome="refused_by_pdb"}`: counts(4, 2),
		},
		want: "BerthMovesBlocked", within: 17,
	},
	"evictions fail": {
		series: map[string]string{
			`berth_policy_replicas{state="misplaced"}`: turns(0, 2), `berth_evictions_total{outcome="failed"}`: counts(0, 2),
			// A pass ends with the error of its eviction.
			`controller_runtime_reconcile_errors_total{job="berth-controller-manager", controller="policy"}`: counts(5, 2),
		},
		want: "BerthEvictionsFail", within: 12,
	},
	"a policy cannot be carried out": {
		series: map[string]string{
			`berth_object_conditions{kind="PropagationPolicy", condition="Accepted", status="False", reason="InvalidWeights"}`: turns(0, 1),
		},
		want: "BerthPolicyRefused", within: 7,
	},
	"the scheduler may not read policies": {
		series: map[string]string{`berth_catalog_known_objects{instance="a", kind="PropagationPolicy"}`: goes(0)},
		want:   "BerthSchedulerBlind", within: 7,
	},
	"a ClusterRole lost a rule": {
		series: map[string]string{`rest_client_requests_total{job="berth-scheduler", code="403"}`: counts(2, 1)},
		want:   "BerthPermissionsMissing", within: 17,
	},
	"a token is not accepted any more": {
		series: map[string]string{`rest_client_requests_total{job="berth-scheduler", code="401"}`: counts(0, 20)},
		want:   "BerthCredentialsRefused", within: 7,
	},
	"the API server does not answer": {
		series: map[string]string{`rest_client_requests_total{job="berth-scheduler", code="<error>"}`: "0+1x29 130+100x65"},
		want:   "BerthAPIUnreachable", within: 9,
	},
	"a site is down": {
		series: map[string]string{
			`berth_object_conditions{kind="Cluster", condition="Ready", status="True", reason="NodesReady"}`:    turns(3, 2),
			`berth_object_conditions{kind="Cluster", condition="Ready", status="False", reason="NoReadyNodes"}`: turns(0, 1),
		},
		want: "BerthClusterNotReady", within: 12,
	},
	"a site flaps": {
		series: map[string]string{
			`berth_object_conditions{kind="Cluster", condition="Ready", status="True", reason="NodesReady"}`: "3+0x29" +
				strings.Repeat(" 2 3", 33),
		},
		want: "BerthClusterFlaps", within: 10,
	},
	"a provider of metrics is gone": {
		series: map[string]string{`berth_metric_reads_total{type="prometheus", reason="Unreachable"}`: counts(0, 4)},
		want:   "BerthMetricUnread", within: 13,
	},
	"no cluster suits an Application": {
		series: map[string]string{
			`berth_object_conditions{kind="Application", condition="Scheduled", status="False", reason="NoClusterMatches"}`: turns(0, 1),
		},
		want: "BerthApplicationsUnplaced", within: 17,
	},
	"Applications move to and fro": {
		series: map[string]string{`berth_application_moves_total`: counts(8, 1)}, want: "BerthApplicationsRestless", within: 10,
	},
	"a bundle waits": {
		series: map[string]string{`berth_subscription_conditions{condition="Scheduled", reason="BundleWaits"}`: turns(0, 1)},
		want:   "BerthBundlesWait", within: 32,
	},
	"a drain is not acknowledged": {
		series: map[string]string{`berth_binding_draining_clusters`: turns(0, 1)}, want: "BerthDrainStuck", within: 7,
	},
	"a Cluster has no Scheduler": {
		series: map[string]string{`berth_binding_clusters{scheduler="_none"}`: turns(0, 1)}, want: "BerthClusterWithoutScheduler", within: 7,
	},
	"a Scheduler has died": {
		series: map[string]string{
			`berth_object_conditions{kind="Scheduler", condition="Ready", status="False", reason="LeaseExpired"}`: turns(0, 1),
		},
		want: "BerthNamedSchedulerNotReady", within: 7,
	},
	"a controller fails": {
		series: map[string]string{
			// One object cannot be worked on, and the pause between attempts doubles up to 1,000 seconds.
			`controller_runtime_reconcile_errors_total{job="berth-controller-manager", controller="cluster"}`: "0+0x29 14 15 15 16 16 16" +
				" 17+0x4 18+0x10 19+0x16 20+0x16 21+0x9",
		},
		want: "BerthReconcileErrors", within: 33,
	},
	"a plugin panics": {
		series: map[string]string{`berth_plugin_panics_total{plugin="NodeGroupPolicy", extension_point="Filter"}`: turns(0, 1)},
		want:   "BerthPanics", within: 2,
	},
}

// firing lists the alerts that fire.
const firing = `count by (alertname) (ALERTS{alertstate="firing"})`

// promtoolTest returns the test of one fault as promtool takes it.
func promtoolTest(series map[string]string, want string, within int) map[string]any {
	all := maps.Clone(quiet)
	maps.Copy(all, series)
	input := make([]any, 0, len(all))
	for name, values := range all {
		input = append(input, map[string]any{"series": name, "values": values})
	}
	fires := []any{}
	if want != "" {
		fires = append(fires, map[string]any{"labels": fmt.Sprintf(`{alertname=%q}`, want), "value": 1})
	}
	at := func(minute int, samples []any) map[string]any {
		return map[string]any{"expr": firing, "eval_time": fmt.Sprintf("%dm", minute), "exp_samples": samples}
	}
	return map[string]any{
		"interval": "1m", "input_series": input,
		"promql_expr_test": []any{at(29, []any{}), at(30+within, fires)},
	}
}

func TestEachFaultFiresItsAlertAndNoOther(t *testing.T) {
	promtool := promserver.Promtool(t)
	rules, err := filepath.Abs(installation.Path("manifests", "monitoring", "rules.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range faults {
		t.Run(name, func(t *testing.T) {
			content, err := yaml.Marshal(map[string]any{
				"rule_files": []any{rules}, "evaluation_interval": "1m",
				"tests": []any{promtoolTest(tc.series, tc.want, tc.within)},
			})
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(t.TempDir(), "test.yaml")
			if err := os.WriteFile(path, content, 0o600); err != nil {
				t.Fatal(err)
			}
			if out, err := exec.CommandContext(t.Context(), promtool, "test", "rules", path).CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// An alert that no fault fires may have a mistake in it.
func TestEachAlertHasAFault(t *testing.T) {
	content, err := os.ReadFile(installation.Path("manifests", "monitoring", "rules.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Groups []struct{ Rules []struct{ Alert string } }
	}
	if err := yaml.Unmarshal(content, &file); err != nil {
		t.Fatal(err)
	}
	fired := map[string]bool{"": true}
	for _, tc := range faults {
		fired[tc.want] = true
	}
	for _, group := range file.Groups {
		for _, rule := range group.Rules {
			if !fired[rule.Alert] {
				t.Errorf("no fault fires %s", rule.Alert)
			}
		}
	}
}

// What the documentation says was tried is what is tried here.
func TestTheDocumentationListsTheFaults(t *testing.T) {
	content, err := os.ReadFile(installation.Path("docs", "tasks", "monitor.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(content), "| fault | alert | within | in real programs |\n|---|---|---|---|\n")
	table, _, ended := strings.Cut(table, "\n\n")
	if !found || !ended {
		t.Fatal("the page has no table of faults")
	}
	var want []string
	for name, tc := range faults {
		if tc.want != "" {
			want = append(want, fmt.Sprintf("| %s | [%s](runbooks/%s.md) | %d min |", name, tc.want, tc.want, tc.within))
		}
	}
	got := strings.Split(table, "\n")
	for i, row := range got {
		// The suite operations plants those that say yes.
		got[i] = strings.TrimSuffix(strings.TrimSuffix(row, " yes |"), " no |")
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the rows differ (-want +got):\n%s", diff)
	}
}
