// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package feeds_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/feeds"
)

// amounts are quantities by name.
type amounts map[string]string

// clusternetTable holds what Clusternet's own tests expect, and what follows from its code.
type clusternetTable struct {
	Requirements []clusternetTemplate
	Parsers      struct {
		Kinds           []string
		APIVersion      string `json:"apiVersion_in_tests"`
		ReplicaJSONPath string `json:"replicaJsonPath"`
		PodExtras       struct {
			NodeSelector map[string]string
			Tolerations  []corev1.Toleration
		} `json:"pod_extras"`
		Cases             []clusternetParse
		SampleControllers []clusternetParse `json:"sample_controllers"`
	}
	GVKOfRaw []struct {
		Raw       map[string]any
		WantError bool `json:"want_error"`
	} `json:"gvk_of_raw"`
	Registry struct {
		Parsed    []string
		NotParsed []string `json:"not_parsed"`
	}
}

type clusternetResources struct{ Requests, Limits amounts }

type clusternetTemplate struct {
	Name                       string
	Containers, InitContainers []clusternetResources
	Overhead                   amounts
	Want                       clusternetResources
	WantBetter                 *clusternetResources `json:"want_better"`
}

type clusternetParse struct {
	Origin, Template string
	Replicas         *int32
	Want             struct {
		Replicas         *int32
		Requests, Limits amounts
		PodExtras        string `json:"pod_extras"`
	}
	WantError string `json:"want_error"`
}

func readClusternet(t *testing.T) clusternetTable {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", "clusternet.json"))
	if err != nil {
		t.Fatal(err)
	}
	var table clusternetTable
	if err := json.Unmarshal(raw, &table); err != nil {
		t.Fatal(err)
	}
	return table
}

func (c clusternetTemplate) podSpec() map[string]any {
	list := func(from []clusternetResources) []any {
		var containers []any
		for _, r := range from {
			containers = append(containers, map[string]any{"resources": map[string]any{"requests": r.Requests, "limits": r.Limits}})
		}
		return containers
	}
	return map[string]any{"containers": list(c.Containers), "initContainers": list(c.InitContainers), "overhead": c.Overhead}
}

func (c clusternetTemplate) want() clusternetResources {
	if c.WantBetter != nil {
		return *c.WantBetter
	}
	return c.Want
}

func object(apiVersion, kind string, spec any) map[string]any {
	return map[string]any{"apiVersion": apiVersion, "kind": kind, "metadata": map[string]any{"name": "web"}, "spec": spec}
}

func marshal(t testing.TB, value any) []byte {
	t.Helper()
	raw, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func builtIn(t testing.TB) *feeds.Registry {
	t.Helper()
	registry, err := feeds.NewRegistry(nil, feeds.BuiltIn())
	if err != nil {
		t.Fatal(err)
	}
	return registry
}

func checkAmounts(t *testing.T, what string, want amounts, got corev1.ResourceList) {
	t.Helper()
	names := map[corev1.ResourceName]struct{}{}
	for name, text := range want {
		names[corev1.ResourceName(name)] = struct{}{}
		amount, found := got[corev1.ResourceName(name)]
		if !found || amount.Cmp(resource.MustParse(text)) != 0 {
			t.Errorf("%s of %s: got %s, want %s", what, name, amount.String(), text)
		}
	}
	for name := range got {
		if _, wanted := names[name]; !wanted {
			t.Errorf("%s of %s are not wanted", what, name)
		}
	}
}

func TestClusternetRequirements(t *testing.T) {
	table := readClusternet(t)
	for _, tc := range table.Requirements {
		for _, kind := range table.Parsers.Kinds {
			t.Run(tc.Name+"/"+kind, func(t *testing.T) {
				raw := marshal(t, object(table.Parsers.APIVersion, kind, map[string]any{"template": map[string]any{"spec": tc.podSpec()}}))
				feed, err := builtIn(t).Read(raw)
				if err != nil {
					t.Fatal(err)
				}
				checkAmounts(t, "requests", tc.want().Requests, feed.ReplicaRequirements.Resources.Requests)
				checkAmounts(t, "limits", tc.want().Limits, feed.ReplicaRequirements.Resources.Limits)
			})
		}
	}
}

// otherReplicas are rows in which Berth does better: the API server would give the object this many
// replicas.
var otherReplicas = map[string]*int32{"spec.replicas absent": ptr.To[int32](1)}

// parse makes the object of a row, and says what is to be read beside replicas and resources.
func (table *clusternetTable) parse(tc clusternetParse) (spec map[string]any, want berthv1alpha1.ReplicaRequirements) {
	pod := map[string]any{}
	for _, template := range table.Requirements {
		if template.Name == tc.Template {
			pod = template.podSpec()
		}
	}
	if tc.Want.PodExtras == "verbatim" {
		want.NodeSelector, want.Tolerations = table.Parsers.PodExtras.NodeSelector, table.Parsers.PodExtras.Tolerations
		want.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
			NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{
				{Key: "kubernetes.io/os", Operator: corev1.NodeSelectorOpIn, Values: []string{"linux"}},
			}}},
		}}}
		maps.Copy(pod, map[string]any{"nodeSelector": want.NodeSelector, "tolerations": want.Tolerations, "affinity": want.Affinity})
	}
	spec = map[string]any{"template": map[string]any{"spec": pod}}
	switch {
	case tc.Replicas != nil:
		spec["replicas"] = tc.Replicas
	case tc.Template == "spec.replicas is a string":
		spec["replicas"] = "3"
	}
	return spec, want
}

func (table *clusternetTable) check(t *testing.T, tc clusternetParse, feed feeds.Feed, want berthv1alpha1.ReplicaRequirements) {
	t.Helper()
	wantReplicas := tc.Want.Replicas
	if better, ok := otherReplicas[tc.Template]; ok {
		wantReplicas = better
	}
	if diff := cmp.Diff(wantReplicas, feed.DesiredReplicas); diff != "" {
		t.Errorf("replicas differ (-want +got):\n%s", diff)
	}
	if feed.ReplicaJSONPath != table.Parsers.ReplicaJSONPath {
		t.Errorf("path %q, want %q", feed.ReplicaJSONPath, table.Parsers.ReplicaJSONPath)
	}
	checkAmounts(t, "requests", tc.Want.Requests, feed.ReplicaRequirements.Resources.Requests)
	checkAmounts(t, "limits", tc.Want.Limits, feed.ReplicaRequirements.Resources.Limits)
	feed.ReplicaRequirements.Resources = corev1.ResourceRequirements{}
	if diff := cmp.Diff(want, feed.ReplicaRequirements); diff != "" {
		t.Errorf("requirements differ (-want +got):\n%s", diff)
	}
}

func TestClusternetParsers(t *testing.T) {
	table := readClusternet(t)
	for _, tc := range slices.Concat(table.Parsers.Cases, table.Parsers.SampleControllers) {
		for _, kind := range table.Parsers.Kinds {
			t.Run(tc.Template+"/"+kind, func(t *testing.T) {
				spec, want := table.parse(tc)
				feed, err := builtIn(t).Read(marshal(t, object(table.Parsers.APIVersion, kind, spec)))
				switch {
				case tc.WantError != "":
					if err == nil || !strings.Contains(err.Error(), "/spec/replicas: must be a whole number") {
						t.Errorf("error %v", err)
					}
				case err != nil:
					t.Error(err)
				default:
					table.check(t, tc, feed, want)
				}
			})
		}
	}
}

func TestClusternetVersions(t *testing.T) {
	for _, tc := range readClusternet(t).GVKOfRaw {
		tc.Raw["metadata"] = map[string]any{"name": "web"}
		tc.Raw["spec"] = map[string]any{}
		feed, err := builtIn(t).Read(marshal(t, tc.Raw))
		if (err != nil) != tc.WantError {
			t.Errorf("%v: error %v, want one: %t", tc.Raw, err, tc.WantError)
		}
		if err == nil && (feed.APIVersion != tc.Raw["apiVersion"] || feed.Kind != tc.Raw["kind"]) {
			t.Errorf("%v: read as %+v", tc.Raw, feed.Identity)
		}
	}
}

// alsoParsed are kinds that Clusternet copies whole and Berth reads.
var alsoParsed = []string{
	"apps/v1beta2 ReplicaSet", "apps/v1 DaemonSet", "batch/v1 Job", "batch/v1 CronJob", "v1 Pod", "v1 ReplicationController",
}

func TestClusternetRegistry(t *testing.T) {
	table := readClusternet(t)
	read := func(t *testing.T, title string) feeds.Feed {
		t.Helper()
		apiVersion, kind, _ := strings.Cut(title, " ")
		spec := map[string]any{"jobTemplate": map[string]any{"spec": map[string]any{}}}
		feed, err := builtIn(t).Read(marshal(t, object(apiVersion, kind, spec)))
		if err != nil {
			t.Fatal(err)
		}
		return feed
	}
	for _, title := range slices.Concat(table.Registry.Parsed, alsoParsed) {
		t.Run(title, func(t *testing.T) {
			if feed := read(t, title); !strings.HasSuffix(title, " "+feed.Parser) {
				t.Errorf("read by %q", feed.Parser)
			}
		})
	}
	for _, title := range table.Registry.NotParsed {
		if slices.Contains(alsoParsed, title) {
			continue
		}
		t.Run(title, func(t *testing.T) {
			feed := read(t, "example.com/v1 Custom")
			want := feeds.Feed{Identity: feed.Identity, Parser: feeds.Unknown}
			if diff := cmp.Diff(want, feed); diff != "" {
				t.Errorf("feed differs (-want +got):\n%s", diff)
			}
		})
	}
}
