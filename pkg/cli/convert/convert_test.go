// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package convert_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"berth.dev/berth/pkg/cli"
	"berth.dev/berth/pkg/cli/internal/clitest"
)

// run runs berthctl convert -f with a file of that text.
func run(t *testing.T, file string, args ...string) clitest.Result {
	t.Helper()
	path := filepath.Join(t.TempDir(), "old.yaml")
	if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	return clitest.Run(t.Context(), cli.Options{}, append([]string{"convert", "-f", path}, args...)...)
}

// conversions are files, and what becomes of them.
var conversions = map[string]struct {
	file, want string
	warnings   []string
}{
	"Krake's metric": {
		file: `api: core
kind: GlobalMetric
metadata: {name: heat_demand_zone_1, uid: x}
spec: {max: 5.0, min: 0.0, allowed_values: [0, 1], provider: {metric: heat_demand_zone_1, name: static_provider}}
`,
		want: `apiVersion: berth.dev/v1alpha1
kind: GlobalMetric
metadata:
  name: heat-demand-zone-1
spec:
  allowedValues:
  - 0
  - 1
  max: 5
  min: 0
  provider:
    metric: heat_demand_zone_1
    name: static_provider
`,
		warnings: []string{"document 1: GlobalMetric heat_demand_zone_1 is called heat-demand-zone-1"},
	},
	"Krake's metric with Berth's version": {
		file:     "apiVersion: berth.dev/v1alpha1\nkind: GlobalMetric\nmetadata: {name: Heat_1}\n",
		want:     "apiVersion: berth.dev/v1alpha1\nkind: GlobalMetric\nmetadata:\n  name: heat-1\n",
		warnings: []string{"document 1: GlobalMetric Heat_1 is called heat-1"},
	},
	"Krake's Kafka provider": {
		file: `api: core
kind: MetricsProvider
metadata: {name: kafka, namespace: team}
spec: {type: kafka, kafka: {comparison_column: a, table: t, url: "http://localhost:8080", value_column: b}}
`,
		want: `apiVersion: berth.dev/v1alpha1
kind: MetricsProvider
metadata:
  name: kafka
  namespace: team
spec:
  kafka:
    comparisonColumn: a
    table: t
    url: http://localhost:8080
    valueColumn: b
  type: kafka
`,
	},
	"Krake's application": {
		file: `api: kubernetes
kind: Application
metadata: {name: web, namespace: team}
spec:
  manifest: [{apiVersion: v1, kind: ConfigMap, metadata: {name: c}}]
  hooks: [complete]
  constraints:
    migration: false
    cluster: {labels: [location is DE], custom_resources: [a.b], metrics: [load = 5]}
status: {state: RUNNING}
`,
		want: `apiVersion: berth.dev/v1alpha1
kind: Application
metadata:
  name: web
  namespace: team
spec:
  constraints:
    clusterLabels:
    - location is DE
    clusterMetrics:
    - load = 5
    customResources:
    - a.b
  manifests:
  - apiVersion: v1
    kind: ConfigMap
    metadata:
      name: c
  migration: Never
`,
		warnings: []string{"document 1: spec.hooks is left out: Berth has no use for it"},
	},
	"Krake's clusters": {
		file: `api: kubernetes
kind: Cluster
metadata: {name: cluster_1, namespace: team, labels: {location: DE}}
spec:
  kubeconfig: {users: []}
  custom_resources: [a.b]
  metrics: [{name: load, weight: 1.5, namespaced: true}, {name: heat_demand, weight: 2}]
---
api: kubernetes
kind: Cluster
metadata: {name: new}
spec: {tosca: {a: b}, constraints: {cloud: {labels: [location is DE], metrics: null}}}
---
api: kubernetes
kind: Cluster
metadata: {name: of-a-team, namespace: team}
spec: {constraints: {cloud: {labels: [location is DE]}}}
`,
		want: `apiVersion: berth.dev/v1alpha1
kind: Cluster
metadata:
  labels:
    location: DE
  name: cluster-1
spec:
  customResources:
  - a.b
  metrics:
  - name: load
    namespace: team
    weight: 1.5
  - name: heat_demand
    weight: 2
---
apiVersion: berth.dev/v1alpha1
kind: Cluster
metadata:
  name: new
spec:
  provision:
    cloudLabels:
    - location is DE
---
apiVersion: berth.dev/v1alpha1
kind: Cluster
metadata:
  name: of-a-team
spec:
  provision:
    cloudLabels:
    - location is DE
    cloudNamespace: team
`,
		warnings: []string{
			"document 1: spec.kubeconfig is left out: a Cluster of Berth is a group of nodes; name them in spec.nodes or spec.matchLabels",
			"document 1: Cluster cluster_1 is called cluster-1",
			"document 2: spec.tosca is left out: Berth chooses the cloud and does not make the cluster",
		},
	},
	"Krake's clouds and projects": {
		file: `api: infrastructure
kind: GlobalCloud
metadata: {name: os}
spec: {type: openstack, openstack: {url: "http://k", auth: {type: password, password: {version: "3"}}, metrics: [{name: load, weight: 1}]}}
---
api: openstack
kind: Project
metadata: {name: p, namespace: team}
spec: {url: "http://k", template: t, auth: {password: {user: {id: u, password: secret}}}}
---
api: openstack
kind: MagnumCluster
metadata: {name: m, namespace: team}
spec: {master_count: 1, node_count: 2, constraints: {project: {labels: [location is IT]}}}
`,
		want: `apiVersion: berth.dev/v1alpha1
kind: GlobalCloud
metadata:
  name: os
spec:
  metrics:
  - name: load
    weight: 1
  type: openstack
  url: http://k
---
apiVersion: berth.dev/v1alpha1
kind: OpenStackProject
metadata:
  name: p
  namespace: team
spec:
  template: t
  url: http://k
  userID: u
---
apiVersion: berth.dev/v1alpha1
kind: MagnumCluster
metadata:
  name: m
  namespace: team
spec:
  constraints:
    projectLabels:
    - location is IT
  masterCount: 1
  nodeCount: 2
`,
		warnings: []string{
			"document 1: spec.openstack.auth.password.version is left out: Berth has no use for it",
			"document 1: spec.openstack.auth.type is left out: Berth has no use for it",
			"document 2: spec.auth.password.user.password is left out: Berth has no use for it",
		},
	},
	"KubeEdge's policy and node group, and a Deployment": {
		file: `apiVersion: policy.kubeedge.io/v1alpha1
kind: PropagationPolicy
metadata: {name: nginx-propagation}
spec:
  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment, name: nginx}]
  placement: {staticWeightList: [{clusterNames: [beijing], weight: 2}]}
---
apiVersion: apps.kubeedge.io/v1alpha1
kind: NodeGroup
metadata: {name: beijing}
spec: {nodes: [n1], matchLabels: {location: beijing}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: nginx}
`,
		want: `apiVersion: berth.dev/v1alpha1
kind: PropagationPolicy
metadata:
  name: nginx-propagation
spec:
  placement:
    staticWeightList:
    - clusterNames:
      - beijing
      weight: 2
  resourceSelectors:
  - apiVersion: apps/v1
    kind: Deployment
    name: nginx
---
apiVersion: berth.dev/v1alpha1
kind: Cluster
metadata:
  name: beijing
spec:
  matchLabels:
    location: beijing
  nodes:
  - n1
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: nginx
`,
	},
	"Clusternet's subscription": {
		file: `apiVersion: apps.clusternet.io/v1alpha1
kind: Subscription
metadata: {name: app, namespace: team}
spec: {schedulingStrategy: Dividing, subscribers: [], feeds: [{apiVersion: apps/v1, kind: Deployment, name: a}]}
`,
		want: `apiVersion: berth.dev/v1alpha1
kind: Subscription
metadata:
  name: app
  namespace: team
spec:
  feeds:
  - apiVersion: apps/v1
    kind: Deployment
    name: a
  schedulingStrategy: Dividing
  subscribers: []
`,
	},
	"Global Resource Scheduler's cluster": {
		file: `apiVersion: globalscheduler.com/v1
kind: Cluster
metadata: {name: c1}
spec:
  ipAdrress: 10.0.0.1
  GeoLocation: {city: Bellevue, country: US}
  Region: {region: us-west, AvailabilityZone: us-west-1}
  flavors: [{FlavorID: "1", TotalCapacity: 5}]
  EipCapacity: 3
  ServerPrice: 10
`,
		want: `apiVersion: berth.dev/v1alpha1
kind: Cluster
metadata:
  name: c1
spec:
  eipCapacity: 3
  flavors:
  - flavorID: "1"
    totalCapacity: 5
  geoLocation:
    city: Bellevue
    country: US
  ipAddress: 10.0.0.1
  region:
    availabilityZone: us-west-1
    region: us-west
  serverPrice: 10
`,
	},
}

func TestConvert(t *testing.T) {
	for name, tc := range conversions {
		t.Run(name, func(t *testing.T) {
			result := run(t, tc.file)
			if diff := cmp.Diff(tc.want, result.Out); diff != "" || result.Code != 0 {
				t.Errorf("exit status %d (-want +got)\n%s%s", result.Code, diff, result.Err)
			}
			var want strings.Builder
			for _, warning := range tc.warnings {
				want.WriteString("warning: " + warning + "\n")
			}
			if diff := cmp.Diff(want.String(), result.Err); diff != "" {
				t.Errorf("warnings (-want +got)\n%s", diff)
			}
		})
	}
}

func TestConvertToJSON(t *testing.T) {
	run(t, "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n", "-o", "json").CheckOutput(t,
		`{"apiVersion":"v1","items":[{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"}}],"kind":"List"}`+"\n")
}

// What is converted once does not change any more.
func TestConvertTwice(t *testing.T) {
	once := run(t, "api: core\nkind: Metric\nmetadata: {name: a}\nspec: {min: 0, max: 1.5, provider: {name: p}}\n")
	run(t, once.Out).CheckOutput(t, once.Out)
}

func TestConvertRefuses(t *testing.T) {
	tests := map[string]struct{ file, want string }{
		"an empty file":      {"", "there is no object in it"},
		"a wrong file":       {"a: [", "document 1"},
		"no kind":            {"apiVersion: v1\nmetadata: {name: a}", "kind is missing"},
		"no name":            {"api: core\nkind: Metric", "metadata.name is missing"},
		"an impossible name": {"api: core\nkind: Metric\nmetadata: {name: 'ä b'}", "cannot be made a name"},
		"another kind of Krake": {
			"api: core\nkind: Role\nmetadata: {name: a}", `there is nothing like Krake's "core/Role" in Berth`,
		},
		"another kind of KubeEdge": {
			"apiVersion: apps.kubeedge.io/v1alpha1\nkind: EdgeApplication\nmetadata: {name: a}", "KubeEdge",
		},
		"another kind of Clusternet": {
			"apiVersion: apps.clusternet.io/v1alpha1\nkind: Localization\nmetadata: {name: a}", "Clusternet",
		},
		"InfluxDB":    {"api: core\nkind: MetricsProvider\nmetadata: {name: a}\nspec: {type: influx}", `not "influx"`},
		"no manifest": {"api: kubernetes\nkind: Application\nmetadata: {name: a}\nspec: {tosca: {}}", "spec.manifest"},
		"a namespaced metric without a namespace": {
			"api: kubernetes\nkind: Cluster\nmetadata: {name: a}\nspec: {metrics: [{name: a, weight: 1, namespaced: true}]}",
			"the object has no namespace",
		},
		"a price in words": {
			"apiVersion: globalscheduler.com/v1\nkind: Cluster\nmetadata: {name: a}\nspec: {Region: {region: a}, ServerPrice: high}", "document 1",
		},
		"too deep": {strings.Repeat("[", 200), "document 1"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			run(t, tc.file).CheckFailed(t, tc.want)
		})
	}
}
