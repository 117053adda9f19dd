// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/utils/ptr"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/cli/internal/clitest"
)

// local and global refer to metrics of a namespace and of all.
func local(name string, weight float64) berthv1alpha1.MetricReference {
	return berthv1alpha1.MetricReference{Name: name, Namespace: clitest.Namespace, Weight: weight}
}

func global(name string, weight float64) berthv1alpha1.MetricReference {
	return berthv1alpha1.MetricReference{Name: name, Weight: weight}
}

func references(all ...berthv1alpha1.MetricReference) []berthv1alpha1.MetricReference { return all }

// created runs a command that creates an object, and returns the object.
func created(t *testing.T, args ...string) runtime.Object {
	t.Helper()
	w := clitest.NewWorld(t)
	result := clitest.Run(t.Context(), w.Options(), args...)
	if result.Code != 0 || result.Err != "" || !strings.HasSuffix(result.Out, " created\n") {
		t.Fatalf("exit status %d, printed %q and %q", result.Code, result.Out, result.Err)
	}
	for _, action := range w.Clients.Berth.Actions() {
		if create, ok := action.(clienttesting.CreateAction); ok {
			return create.GetObject()
		}
	}
	t.Fatal("nothing was created")
	return nil
}

func inNamespace(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: clitest.Namespace, Name: name}
}

// creation is a command line and the object that it creates.
type creation struct {
	args []string
	want runtime.Object
}

func checkCreations(t *testing.T, tests map[string]creation) {
	t.Helper()
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, created(t, tc.args...)); diff != "" {
				t.Errorf("object mismatch (-want +got):\n%s", diff)
			}
		})
	}
}

// TestClustersAsKrakeCreatesThem runs the published command lines.
func TestClustersAsKrakeCreatesThem(t *testing.T) {
	checkCreations(t, map[string]creation{
		"a cluster with a metric for all": {
			args: []string{"cluster", "create", "c", "--global-metric", "heat_demand_zone_1", "0.45"},
			want: &berthv1alpha1.Cluster{
				ObjectMeta: metav1.ObjectMeta{Name: "c"},
				Spec:       berthv1alpha1.ClusterSpec{Metrics: references(global("heat_demand_zone_1", 0.45))},
			},
		},
		"a cluster with two metrics and custom resources": {
			args: []string{
				"cluster", "create", "--metric", "load", "1", "-m", "price", "2", "c", "--custom-resource", "a.b", "-R", "c.d",
			},
			want: &berthv1alpha1.Cluster{
				ObjectMeta: metav1.ObjectMeta{Name: "c"},
				Spec: berthv1alpha1.ClusterSpec{
					Metrics: references(local("load", 1), local("price", 2)), CustomResources: []string{"a.b", "c.d"},
				},
			},
		},
		"a cluster that is to be made": {
			args: []string{
				"cluster", "create", "c", "--cloud-label-constraint", "location is DE", "--cloud-metric-constraint", "load = 5",
			},
			want: &berthv1alpha1.Cluster{
				ObjectMeta: metav1.ObjectMeta{Name: "c"},
				Spec: berthv1alpha1.ClusterSpec{Provision: &berthv1alpha1.ClusterProvision{
					CloudLabels: berthv1alpha1.LabelConstraints{"location is DE"}, CloudMetrics: berthv1alpha1.MetricConstraints{"load = 5"},
				}},
			},
		},
		"the same with the short names": {
			args: []string{"cluster", "create", "c", "-L", "location is DE", "-M", "load = 5"},
			want: &berthv1alpha1.Cluster{
				ObjectMeta: metav1.ObjectMeta{Name: "c"},
				Spec: berthv1alpha1.ClusterSpec{Provision: &berthv1alpha1.ClusterProvision{
					CloudLabels: berthv1alpha1.LabelConstraints{"location is DE"}, CloudMetrics: berthv1alpha1.MetricConstraints{"load = 5"},
				}},
			},
		},
		"a cluster that is to be made in a cloud of a namespace": {
			args: []string{"cluster", "create", "c", "--cloud-namespace", "team"},
			want: &berthv1alpha1.Cluster{
				ObjectMeta: metav1.ObjectMeta{Name: "c"},
				Spec:       berthv1alpha1.ClusterSpec{Provision: &berthv1alpha1.ClusterProvision{CloudNamespace: "team"}},
			},
		},
		"a cluster that may be made anywhere": {
			args: []string{"cluster", "create", "c", "--provision"},
			want: &berthv1alpha1.Cluster{
				ObjectMeta: metav1.ObjectMeta{Name: "c"},
				Spec:       berthv1alpha1.ClusterSpec{Provision: &berthv1alpha1.ClusterProvision{}},
			},
		},
		"a cluster of nodes": {
			args: []string{"cluster", "create", "c", "--node", "n-1", "--node", "n.2", "--match-labels", "rack=1,row=2", "-l", "location=DE"},
			want: &berthv1alpha1.Cluster{
				ObjectMeta: metav1.ObjectMeta{Name: "c", Labels: map[string]string{"location": "DE"}},
				Spec: berthv1alpha1.ClusterSpec{
					Nodes: []string{"n-1", "n.2"}, MatchLabels: map[string]string{"rack": "1", "row": "2"},
				},
			},
		},
	})
}

// TestCloudsAndProjectsAsKrakeCreatesThem runs the published command lines.
func TestCloudsAndProjectsAsKrakeCreatesThem(t *testing.T) {
	checkCreations(t, map[string]creation{
		"a cloud": {
			args: []string{
				"cloud", "create", "de", "--type", "openstack", "--url", "https://de.example.com", "-l", "location=DE",
				"--metric", "load", "1.5", "--global-metric=price=2",
			},
			want: &berthv1alpha1.Cloud{
				ObjectMeta: metav1.ObjectMeta{Namespace: clitest.Namespace, Name: "de", Labels: map[string]string{"location": "DE"}},
				Spec: berthv1alpha1.CloudSpec{
					Type: "openstack", URL: "https://de.example.com", Metrics: references(local("load", 1.5), global("price", 2)),
				},
			},
		},
		"a cloud for everybody": {
			args: []string{"gcloud", "create", "de", "--type", "openstack", "--global-metric", "price", "2"},
			want: &berthv1alpha1.GlobalCloud{
				ObjectMeta: metav1.ObjectMeta{Name: "de"},
				Spec: berthv1alpha1.GlobalCloudSpec{CloudSpec: berthv1alpha1.CloudSpec{
					Type: "openstack", Metrics: references(global("price", 2)),
				}},
			},
		},
		"a project": {
			args: []string{"os", "project", "create", "--user-id", "u", "--template", "t", "p", "--metric", "heat_demand_zone_1", "3"},
			want: &berthv1alpha1.OpenStackProject{
				ObjectMeta: inNamespace("p"),
				Spec: berthv1alpha1.OpenStackProjectSpec{
					UserID: "u", Template: "t", Metrics: references(local("heat_demand_zone_1", 3)),
				},
			},
		},
		"a Magnum cluster": {
			args: []string{"os", "cluster", "create", "c", "--metric", "heat_demand_zone_1", "54"},
			want: &berthv1alpha1.MagnumCluster{
				ObjectMeta: inNamespace("c"),
				Spec:       berthv1alpha1.MagnumClusterSpec{Metrics: references(local("heat_demand_zone_1", 54))},
			},
		},
		"a large Magnum cluster in Germany": {
			args: []string{"openstack", "cluster", "create", "c", "--master-count", "3", "--node-count", "10000", "-L", "location is DE", "-M", "load < 5"},
			want: &berthv1alpha1.MagnumCluster{
				ObjectMeta: inNamespace("c"),
				Spec: berthv1alpha1.MagnumClusterSpec{
					MasterCount: ptr.To[int32](3), NodeCount: ptr.To[int32](10_000),
					Constraints: berthv1alpha1.ProjectConstraints{
						ProjectLabels: berthv1alpha1.LabelConstraints{"location is DE"}, ProjectMetrics: berthv1alpha1.MetricConstraints{"load < 5"},
					},
				},
			},
		},
		"flags before the command": {
			args: []string{"--request-timeout", "5s", "cloud", "create", "de", "-m", "load", "1"},
			want: &berthv1alpha1.Cloud{
				ObjectMeta: inNamespace("de"), Spec: berthv1alpha1.CloudSpec{Metrics: references(local("load", 1))},
			},
		},
		"a weight in the same word": {
			args: []string{"cloud", "create", "-m", "load=1", "de", "--metric", "price 2"},
			want: &berthv1alpha1.Cloud{
				ObjectMeta: inNamespace("de"),
				Spec:       berthv1alpha1.CloudSpec{Metrics: references(local("load", 1), local("price", 2))},
			},
		},
	})
}

func TestWrongObjectsAreNotSent(t *testing.T) {
	many := make([]string, 0, 3*51)
	for i := range 51 {
		many = append(many, "-m", fmt.Sprintf("m%d", i), "1")
	}
	tests := map[string]struct{ args, want string }{
		"no weight":               {"cluster create c --metric load", `--metric: "load" has no weight: write for instance load 0.5`},
		"no metric":               {"cluster create c --metric", "flag needs an argument: --metric"},
		"a flag for a weight":     {"cluster create c --metric load --provision", `--metric: "load" has no weight`},
		"a weight of 0":           {"cluster create c --global-metric load 0", `--global-metric: metric "load": the weight must be a number above 0`},
		"a negative weight":       {"cluster create c -m load -1", `--metric: metric "load": the weight must be a number above 0 and at most 1000000, not "-1"`},
		"a name for a weight":     {"cluster create -m load c", `--metric: metric "load": the weight must be`},
		"three words":             {"cluster create c -m load 1 2", "name one cluster, not 2"},
		"behind the end of flags": {"cluster create -- c --metric load 1", "name one cluster, not 4"},
		"the same metric twice":   {"cloud create c -m load 1 -m load 2", `--metric: metric "load" is listed twice`},
		"51 metrics":              {"cloud create c " + strings.Join(many, " "), "--metric: there are more than 50 metrics"},
		"a constraint":            {"cluster create c --cloud-label-constraint location", "--cloud-label-constraint: column 9: expected "},
		"a metric constraint":     {"cluster create c --cloud-metric-constraint load=x", "--cloud-metric-constraint: column 6: expected a number"},
		"a project constraint":    {"os cluster create c --project-label-constraint =", "--project-label-constraint: column 1: expected "},
		"a custom resource":       {"cluster create c --custom-resource crontabs", "--custom-resource: "},
		"a cluster with a dot":    {"cluster create a.b", `"a.b" is no name of a cluster`},
		"a reserved name":         {"cluster create id", `the name "id" is reserved`},
		"a node":                  {"cluster create c --node N_1", `--node: "N_1" is no name of a node`},
		"a label":                 {"cloud create c -l a=b/c", "--label: "},
		"a cloud without a name":  {"cloud create", "name one cloud, not 0"},
		"a local metric for all":  {"globalcloud create c --metric load 1", "unknown flag: --metric"},
		"no template":             {"os project create p --user-id u", "--template is missing"},
		"no nodes":                {"os cluster create c --node-count 0", "--node-count: must be a whole number from 1 to 10000"},
		"too many masters":        {"os cluster create c --master-count 1001", "--master-count: must be a whole number from 1 to 1000"},
		"a misspelt command":      {"os clster create c", `unknown command "clster" of berthctl os, did you mean cluster?`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := clitest.NewWorld(t)
			options := w.Options()
			clitest.Run(t.Context(), options, strings.Fields(tc.args)...).CheckFailed(t, tc.want)
			if sent := w.Clients.Berth.Actions(); len(sent) > 0 {
				t.Errorf("sent %v", sent)
			}
		})
	}
}

func TestCreatedObjectsForPrograms(t *testing.T) {
	clitest.Run(t.Context(), clitest.NewWorld(t).Options(), "cloud", "create", "de", "-o", "json").CheckOutput(t,
		`{"kind":"Cloud","apiVersion":"berth.dev/v1alpha1","metadata":{"name":"de","namespace":"default"},"spec":{},"status":{}}`+"\n")
	w := registered(t)
	clitest.Run(t.Context(), w.Options(), "cluster", "create", "cluster1").CheckFailed(t, `creating cluster "cluster1": it exists already`)
}
