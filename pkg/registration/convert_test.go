// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package registration_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/registration"
)

func whole() *berthv1alpha1.Cluster {
	return &berthv1alpha1.Cluster{
		ObjectMeta: metav1.ObjectMeta{Name: "cluster1", UID: "3dda2801-d675-4688-a63f-dcda8d327f51", Labels: map[string]string{"tier": "edge"}},
		Spec: berthv1alpha1.ClusterSpec{
			Nodes:       []string{"n1"},
			MatchLabels: map[string]string{"site": "a"},
			ClusterProfile: berthv1alpha1.ClusterProfile{
				IPAddress:   "10.0.0.3",
				GeoLocation: &berthv1alpha1.GeoLocation{City: "Bellevue", Province: "Washington", Area: "West", Country: "US"},
				Region:      &berthv1alpha1.Region{Region: "us-west", AvailabilityZone: "us-west-1"},
				Operator:    &berthv1alpha1.Operator{Operator: "globalscheduler"},
				Flavors:     []berthv1alpha1.Flavor{{FlavorID: "small", TotalCapacity: 5}},
				Storage:     []berthv1alpha1.Storage{{TypeID: "sata", StorageCapacity: 2000}},
				EIPCapacity: 3, CPUCapacity: 8, MemCapacity: 256, ServerPrice: 10,
			},
			HomeScheduler:   "pinned",
			Unschedulable:   true,
			Drain:           true,
			HomeDispatcher:  "dispatcher1",
			Metrics:         []berthv1alpha1.MetricReference{{Name: "load", Namespace: "team", Weight: 2}},
			CustomResources: []string{"crontabs.stable.example.com"},
			Provision:       &berthv1alpha1.ClusterProvision{CloudLabels: []string{"location is DE"}},
		},
		Status: berthv1alpha1.ClusterStatus{HomeScheduler: "scheduler2"},
	}
}

func TestApplyTakesBackWhatFromClusterGives(t *testing.T) {
	profile := registration.FromCluster(whole())
	if profile.ID != "3dda2801-d675-4688-a63f-dcda8d327f51" || profile.Spec.HomeScheduler != "scheduler2" {
		t.Errorf("id %q, home scheduler %q", profile.ID, profile.Spec.HomeScheduler)
	}
	encoded, err := json.Marshal(registration.Document{Profile: profile})
	if err != nil {
		t.Fatal(err)
	}
	decoded, err := registration.Decode(encoded)
	if err != nil {
		t.Fatal(err)
	}
	got := whole()
	decoded.Apply(got)
	if diff := cmp.Diff(whole(), got); diff != "" {
		t.Errorf("cluster mismatch (-want +got):\n%s", diff)
	}
}

func TestApplyRemovesWhatTheProfileLacks(t *testing.T) {
	got := whole()
	(&registration.Profile{Name: "cluster1"}).Apply(got)
	want := &berthv1alpha1.Cluster{
		ObjectMeta: whole().ObjectMeta,
		Spec: berthv1alpha1.ClusterSpec{
			Nodes: []string{"n1"}, MatchLabels: map[string]string{"site": "a"}, HomeScheduler: "pinned", Provision: whole().Spec.Provision,
			Metrics: whole().Spec.Metrics, CustomResources: whole().Spec.CustomResources, Unschedulable: true, Drain: true,
		},
		Status: whole().Status,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("cluster mismatch (-want +got):\n%s", diff)
	}
}

func TestApplyRemovesWhatTheProfileHasEmpty(t *testing.T) {
	decoded, err := registration.DecodeReplacement([]byte(profile(`"nodes":[],"matchLables":{},"labels":{},"metrics":[],"customResources":[],"unschedulable":false,"drain":false`)), &registration.Profile{Name: "c"})
	if err != nil {
		t.Fatal(err)
	}
	got := whole()
	if warnings := decoded.ChangeWarnings(got); len(warnings) > 0 {
		t.Errorf("warnings %q", warnings)
	}
	decoded.Apply(got)
	want := &berthv1alpha1.Cluster{
		ObjectMeta: metav1.ObjectMeta{Name: "cluster1", UID: got.UID},
		Spec: berthv1alpha1.ClusterSpec{
			ClusterProfile: berthv1alpha1.ClusterProfile{Region: &berthv1alpha1.Region{Region: "r"}}, HomeScheduler: "pinned",
			Provision: whole().Spec.Provision,
		},
		Status: whole().Status,
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("cluster mismatch (-want +got):\n%s", diff)
	}
}

func TestChangeWarnings(t *testing.T) {
	const home = "HomeScheduler is ignored: Berth chooses the scheduler of a cluster"
	empty := func(home string) registration.Spec {
		return registration.Spec{
			Nodes: []string{}, MatchLabels: map[string]string{}, Labels: map[string]string{}, Metrics: []registration.Metric{},
			CustomResources: []string{}, Unschedulable: new(bool), Drain: new(bool), HomeScheduler: home,
		}
	}
	tests := map[string]struct {
		spec registration.Spec
		want []string
	}{
		"what is kept": {spec: registration.Spec{}, want: []string{
			"nodes are kept, because the request has none: an empty list removes them",
			"matchLabels are kept, because the request has none: an empty object removes them",
			"labels are kept, because the request has none: an empty object removes them",
			"metrics are kept, because the request has none: an empty list removes them",
			"customResources are kept, because the request has none: an empty list removes them",
			"unschedulable is kept, because the request has none: false removes it",
			"drain is kept, because the request has none: false removes it",
		}},
		"nothing is kept":            {spec: empty("")},
		"the scheduler that it has":  {spec: empty("scheduler2")},
		"a scheduler that is chosen": {spec: empty("s"), want: []string{home}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			changed := registration.Profile{Name: "cluster1", Spec: tc.spec}
			if diff := cmp.Diff(tc.want, changed.ChangeWarnings(whole())); diff != "" {
				t.Errorf("warnings mismatch (-want +got):\n%s", diff)
			}
		})
	}
}

func TestClusterTakesNoHomeScheduler(t *testing.T) {
	profile := published()
	cluster := profile.Cluster()
	if cluster.Name != "cluster1" || cluster.Spec.HomeScheduler != "" || cluster.Status.HomeScheduler != "" {
		t.Errorf("name %q, home scheduler %q and %q", cluster.Name, cluster.Spec.HomeScheduler, cluster.Status.HomeScheduler)
	}
}

func TestAnswersHaveEveryPublishedKey(t *testing.T) {
	encoded, err := json.Marshal(registration.Document{Profile: registration.FromCluster(&berthv1alpha1.Cluster{})})
	if err != nil {
		t.Fatal(err)
	}
	for key := range strings.FieldsSeq(`cluster_profile cluster_name cluster_spec ipAddress GeoLocation city province area country
		Region region AvailabilityZone Operator operator flavors storage EipCapacity CPUCapacity MemCapacity ServerPrice
		HomeScheduler HomeDispatcher`) {
		if !strings.Contains(string(encoded), `"`+key+`":`) {
			t.Errorf("%s is missing from %s", key, encoded)
		}
	}
	if !strings.Contains(string(encoded), `"flavors":[],"storage":[]`) {
		t.Errorf("the lists are not empty lists in %s", encoded)
	}
}

func TestWarnings(t *testing.T) {
	tests := map[string]struct {
		spec registration.Spec
		want []string
	}{
		"none":            {spec: registration.Spec{Storage: []registration.Storage{{TypeID: "sata"}, {TypeID: "sas"}, {TypeID: "ssd"}}}},
		"home scheduler":  {spec: registration.Spec{HomeScheduler: "s"}, want: []string{"HomeScheduler is ignored: Berth chooses the scheduler of a cluster"}},
		"unknown storage": {spec: registration.Spec{Storage: []registration.Storage{{TypeID: "nvme"}, {TypeID: "tape"}}}, want: []string{`storage type "nvme" is none of sata, sas and ssd`}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			profile := registration.Profile{Spec: tc.spec}
			if diff := cmp.Diff(tc.want, profile.Warnings()); diff != "" {
				t.Errorf("warnings mismatch (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNames(t *testing.T) {
	const uuid = "3dda2801-d675-4688-a63f-dcda8d327f51"
	tests := map[string]struct{ isID, isName, isNewName bool }{
		"cluster1":                             {false, true, true},
		"7":                                    {false, true, true},
		"id":                                   {false, true, false},
		"name":                                 {false, true, false},
		uuid:                                   {true, true, false},
		strings.ToUpper(uuid):                  {true, false, false},
		uuid[1:]:                               {false, true, true},
		uuid + "0":                             {false, true, true},
		"3dda2801xd675-4688-a63f-dcda8d327f51": {false, true, true},
		"Cluster_1":                            {false, false, false},
		"..":                                   {false, false, false},
		"a.b":                                  {false, false, false},
		"a\x00":                                {false, false, false},
		"":                                     {false, false, false},
		strings.Repeat("a", 64):                {false, false, false},
	}
	for text, want := range tests {
		t.Run(text, func(t *testing.T) {
			if got := registration.CheckID(text) == nil; got != want.isID {
				t.Errorf("an id: %v", got)
			}
			if got := registration.CheckName(text) == nil; got != want.isName {
				t.Errorf("a name: %v", got)
			}
			if got := registration.CheckNewName(text) == nil; got != want.isNewName {
				t.Errorf("a new name: %v", got)
			}
		})
	}
}
