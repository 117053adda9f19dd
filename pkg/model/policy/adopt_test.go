// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"maps"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/policy"
	"berth.dev/berth/pkg/model/stamp"
	"berth.dev/berth/pkg/model/workload"
)

func TestAdopts(t *testing.T) {
	known := &workload.Workload{Kind: "Deployment", Name: "web", ReplicasKnown: true}
	charged := map[string]string{berthv1alpha1.ChargedAnnotation: "licence/all=1"}
	requesting := func(name string) map[string]string { return map[string]string{berthv1alpha1.PolicyAnnotation: name} }
	tests := map[string]struct {
		workload    *workload.Workload
		scheduler   string
		marked      bool
		annotations map[string]string
		want        bool
	}{
		"bound by another":              {known, "berth-scheduler", false, nil, true},
		"bound by Berth":                {known, "berth-scheduler", true, nil, true},
		"bound by Berth and charged":    {known, "berth-scheduler", true, charged, true},
		"with charges that nobody made": {known, "berth-scheduler", false, charged, false},
		"with a grantee that is none": {
			known, "berth-scheduler", false, map[string]string{berthv1alpha1.GranteeAnnotation: "a"}, false,
		},
		"asking for the policy":  {known, "berth-scheduler", true, requesting("p"), true},
		"asking for another":     {known, "berth-scheduler", true, requesting("q"), false},
		"asking for none":        {known, "berth-scheduler", true, requesting("none"), false},
		"placed by a policy":     {known, "berth-scheduler", true, map[string]string{berthv1alpha1.PlacedPolicyAnnotation: "q"}, false},
		"of another scheduler":   {known, "default-scheduler", true, nil, false},
		"of an owner not known":  {&workload.Workload{Kind: "CloneSet"}, "berth-scheduler", true, nil, false},
		"with a stamp of others": {known, "berth-scheduler", false, map[string]string{berthv1alpha1.PlacedPolicyAnnotation: "p"}, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			pod := &corev1.Pod{
				ObjectMeta: metav1.ObjectMeta{Name: "web-1", UID: "uid"},
				Spec:       corev1.PodSpec{NodeName: "node", SchedulerName: tc.scheduler},
			}
			pod.Annotations = maps.Clone(tc.annotations)
			if tc.marked {
				for key, value := range stamp.Mark(pod, "node") {
					metav1.SetMetaDataAnnotation(&pod.ObjectMeta, key, value)
				}
			}
			if got := policy.Adopts("p", tc.workload, pod, []string{"berth-scheduler"}); got != tc.want {
				t.Errorf("got %t, want %t", got, tc.want)
			}
		})
	}
}
