// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package whatif_test

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// application makes a Deployment of pods with two cpus each. It has the name of the Deployment.
func application(name string, replicas int, change func(*berthv1alpha1.ApplicationSpec)) *berthv1alpha1.Application {
	app := &berthv1alpha1.Application{ObjectMeta: meta(name), Spec: berthv1alpha1.ApplicationSpec{
		Manifests: []berthv1alpha1.Manifest{{RawExtension: runtime.RawExtension{Raw: fmt.Appendf(nil, `{"apiVersion":"apps/v1","kind":"Deployment",
			"metadata":{"name":%q},"spec":{"replicas":%d,"selector":{"matchLabels":{"app":%[1]q}},"template":{"metadata":{"labels":{"app":%[1]q}},
			"spec":{"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"2"}}}]}}}}`, name, replicas)}}},
	}}
	if change != nil {
		change(&app.Spec)
	}
	return app
}

// TestApplicationsGoWhereThereIsRoom has sites with room for four pods each. As in a cluster, one
// that takes all pods of an Application is chosen, and nothing is made if there is none.
func TestApplicationsGoWhereThereIsRoom(t *testing.T) {
	tests := map[string]struct {
		objects []runtime.Object
		want    []string // of each workload, but for the name of the site
	}{
		"one for each site": {[]runtime.Object{application("x", 4, nil), application("y", 4, nil)}, []string{"Deployment/x 4 SITE", "Deployment/y 4 SITE"}},
		"more than a site takes": {[]runtime.Object{application("x", 5, nil)}, []string{
			"Deployment/x 5 wait: no cluster matches: 2 without room for all its pods; beijing: deployment x: 4 of 5 pods fit: 0/2 nodes are available: " +
				"2 Insufficient cpu; hangzhou: deployment x: 4 of 5 pods fit: 0/2 nodes are available: 2 Insufficient cpu",
		}},
		"more than a site takes, anyway": {
			[]runtime.Object{application("x", 5, func(spec *berthv1alpha1.ApplicationSpec) { spec.WhenUnsatisfiable = berthv1alpha1.ScheduleAnyway })},
			[]string{"Deployment/x 4 SITE, 1 wait: 0/4 nodes are available: 2 Insufficient cpu, 2 node(s) in no cluster of the policy."},
		},
		"with an object of a kind that is not known": {
			[]runtime.Object{application("x", 4, func(spec *berthv1alpha1.ApplicationSpec) {
				monitor := []byte(`{"apiVersion":"monitoring.coreos.com/v1","kind":"ServiceMonitor","metadata":{"name":"x"}}`)
				spec.Manifests = append(spec.Manifests, berthv1alpha1.Manifest{RawExtension: runtime.RawExtension{Raw: monitor}})
			})},
			[]string{"Deployment/x 4 SITE"},
		},
		"no site that suits": {
			[]runtime.Object{application("x", 1, func(spec *berthv1alpha1.ApplicationSpec) { spec.Constraints.ClusterLabels = []string{"tier is edge"} })},
			[]string{"Deployment/x 1 wait: no cluster matches: "},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := brief(settled(t, simulation(t, append(twoSites(), tc.objects...)...)))
			if len(got) != len(tc.want) {
				t.Fatalf("%q, want %q", got, tc.want)
			}
			for i, want := range tc.want {
				matches := strings.HasPrefix(got[i], strings.ReplaceAll(want, "SITE", "beijing")) || strings.HasPrefix(got[i], strings.ReplaceAll(want, "SITE", "hangzhou"))
				if !matches || strings.Count(got[i], "wait: ") != strings.Count(want, "wait: ") {
					t.Errorf("%q, want %q", got[i], want)
				}
			}
		})
	}
}
