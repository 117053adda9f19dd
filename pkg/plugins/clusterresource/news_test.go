// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package clusterresource

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/stamp"
	"berth.dev/berth/pkg/placement/pool"
	"berth.dev/berth/pkg/plugins/internal/catalog"
	"berth.dev/berth/pkg/plugins/internal/waitlist"
)

// inLine returns what a process knows of two licences, of which none is free, and of which pods
// wait for one.
func inLine(pods ...*corev1.Pod) *Shared {
	s, _ := licences()
	none := waitlist.Found{Resource: s.usablePools("licence"), Own: []int64{0}, All: []int64{0}}
	cycle := &waitlist.Cycle{Began: s.Waiting.Now(), Holds: func(types.UID) bool { return true }}
	seen := s.Waiting.Observe(cycle, nil, slices.Values([]waitlist.Found{none}))
	for _, pod := range pods {
		s.Waiting.Rejected(pod, []waitlist.Need{{Resource: "licence", Units: 1, Sites: [][]string{{"all"}}}}, true, seen)
	}
	return s
}

// holder is a pod on a node that was charged a licence.
func holder() *corev1.Pod {
	pod := claimant("holder")
	charges := []pool.Charge{{Resource: "licence", Pool: "all", Quantity: resource.MustParse("1")}}
	pod.Annotations = stamp.ChargeAnnotations(pod, "node", charges)
	pod.Spec.NodeName = "node"
	return pod
}

const asksForALicence = berthv1alpha1.ClusterResourceAnnotationPrefix + "licence"

func TestWhoseEndWakesAPodThatWaits(t *testing.T) {
	tests := map[string]struct {
		change func(*corev1.Pod)
		want   []string
	}{
		"of one that was charged": {want: []string{"waits"}},
		"of one that does not ask for it by now": {
			change: func(p *corev1.Pod) { delete(p.Annotations, asksForALicence) }, want: []string{"waits"},
		},
		"of one whose stamp was taken away": {
			change: func(p *corev1.Pod) { p.Annotations = claimant("").Annotations }, want: []string{"waits"},
		},
		"of none that has asked for nothing": {change: func(p *corev1.Pod) { p.Annotations = nil }},
		"of none that had no node":           {change: func(p *corev1.Pod) { p.Spec.NodeName = "" }},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, gone := inLine(claimant("waits")), holder()
				if tc.change != nil {
					tc.change(gone)
				}
				var woken []string
				go s.Waiting.Run(t.Context(), s.Clock, func(pods []*corev1.Pod) {
					for _, pod := range pods {
						woken = append(woken, pod.Name)
					}
				}, func(*corev1.Pod) bool { return false })
				s.Gone(gone)
				time.Sleep(2 * settles) //nolint:forbidigo // the time of the test is not the real one
				synctest.Wait()
				if diff := cmp.Diff(tc.want, woken); diff != "" {
					t.Errorf("woken pods (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// It would be offered what it cannot use, in front of those that can.
func TestAPodThatAsksForSomethingElseLeavesTheLine(t *testing.T) {
	before := claimant("edited")
	tests := map[string]struct {
		change func(*corev1.Pod)
		want   bool
	}{
		"nothing changes":              {change: func(*corev1.Pod) {}, want: true},
		"its labels change":            {change: func(p *corev1.Pod) { p.Labels = map[string]string{"team": "a"} }, want: true},
		"it asks for more":             {change: func(p *corev1.Pod) { p.Annotations[asksForALicence] = "2" }},
		"it asks for nothing":          {change: func(p *corev1.Pod) { p.Annotations = nil }},
		"what it asks for is unknown":  {change: func(p *corev1.Pod) { p.Annotations[asksForALicence] = "many" }},
		"the same in other words does": {change: func(p *corev1.Pod) { p.Annotations[asksForALicence] = "1000m" }, want: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s, after := inLine(before, claimant("other")), before.DeepCopy()
			tc.change(after)
			s.Edited(before, after)
			if got := s.Waiting.Has(before.UID); got != tc.want {
				t.Errorf("it is in line: %t, want %t", got, tc.want)
			}
			if !s.Waiting.Has("other") {
				t.Error("another pod has left the line")
			}
		})
	}
}

// What was free before says nothing of the new pools, so a pod is tried to find out.
func TestWhatWasFreeIsForgottenWhenThePoolsChange(t *testing.T) {
	resources := func(name, quantity string) *catalog.Resources {
		fixed := catalog.NewFixed(nil)
		fixed.Set(&catalog.Objects{Resources: []*berthv1alpha1.ClusterResource{{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Status: berthv1alpha1.ClusterResourceStatus{
				Allocatable: []berthv1alpha1.ClusterResourceQuantity{{Name: "all", Quantity: resource.MustParse(quantity)}},
			},
		}}})
		return fixed.Resources.Snapshot()
	}
	before := resources("licence", "2")
	tests := map[string]struct {
		after *catalog.Resources
		want  []string
	}{
		"they are as before":    {after: before},
		"there are fewer units": {after: resources("licence", "1"), want: []string{"waits"}},
		"they are gone":         {after: resources("other", "2"), want: []string{"waits"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			waits := claimant("waits")
			s := inLine(waits)
			names := func(pods []*corev1.Pod) (names []string) {
				for _, pod := range pods {
					names = append(names, pod.Name)
				}
				return names
			}
			if diff := cmp.Diff(tc.want, names(s.Changed(before, tc.after, []*corev1.Pod{waits}))); diff != "" {
				t.Errorf("pods that it concerns (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.want, names(s.Waiting.Probes(func(*corev1.Pod) bool { return false }))); diff != "" {
				t.Errorf("pods that are tried to find out (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTheUnitOfAClusterResource(t *testing.T) {
	s, _ := licences()
	if unit, known := s.unitOf("licence"); !known || unit.Cmp(resource.MustParse("1")) != 0 {
		t.Errorf("unit %s, known: %t; want 1, true", unit.String(), known)
	}
	if _, known := s.unitOf("maple"); known {
		t.Error("the unit of something that does not exist is known")
	}
}
