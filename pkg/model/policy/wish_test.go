// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/policy"
	"berth.dev/berth/pkg/placement/rank"
)

// admittedBy returns the names of the clusters that will do for a wish.
func admittedBy(wish *rank.Wish) string {
	clusters := map[string]map[string]string{
		"berlin": {"location": "DE", "capital": "yes"}, "bonn": {"location": "DE"}, "paris": {"capital": "yes"},
	}
	var admitted []string
	for _, name := range []string{"berlin", "bonn", "paris"} {
		if wish.Constraints.Admits(&rank.Candidate{Name: name, Labels: clusters[name]}) {
			admitted = append(admitted, name)
		}
	}
	return strings.Join(admitted, " ")
}

func TestWishOf(t *testing.T) {
	const mine, its = berthv1alpha1.ClusterLabelConstraintAnnotation, "location is DE"
	constrained := func(labels ...string) *policy.Policy {
		o := object(1, "beijing")
		if labels != nil {
			o.Spec.Placement.Constraints = &berthv1alpha1.ClusterConstraints{ClusterLabels: labels}
		}
		return policy.Compile(o, nil)
	}
	tests := map[string]struct {
		annotations map[string]string
		policy      *policy.Policy
		// wantNone means that nothing is asked for; else wantAdmits are the clusters that will do.
		wantNone   bool
		wantAdmits string
		wantErr    string
	}{
		"neither asks for anything, there is no policy": {wantNone: true},
		"neither asks for anything":                     {policy: constrained(), wantNone: true},
		"the pod":                                       {annotations: map[string]string{mine: its}, wantAdmits: "berlin bonn"},
		"the pod, under a policy that does not":         {annotations: map[string]string{mine: its}, policy: constrained(), wantAdmits: "berlin bonn"},
		"the policy":                                    {policy: constrained("capital is yes"), wantAdmits: "berlin paris"},
		"both": {
			annotations: map[string]string{mine: its}, policy: constrained("capital is yes"), wantAdmits: "berlin",
		},
		"a policy with empty lists": {policy: constrained([]string{}...), wantAdmits: "berlin bonn paris"},
		"a pod that cannot be understood": {
			annotations: map[string]string{mine: "location is"}, policy: constrained("capital is yes"), wantErr: "annotation " + mine,
		},
		"a policy that cannot be understood": {
			annotations: map[string]string{mine: its}, policy: constrained("capital"), wantErr: "constraints of policy web: clusterLabels[0]",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Annotations: tc.annotations}}
			wish, err := policy.WishOf(pod, tc.policy)
			if tc.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), tc.wantErr) || wish != nil {
					t.Errorf("wish %v, error %v; want an error that has %q", wish, err, tc.wantErr)
				}
				return
			}
			if err != nil || (wish == nil) != tc.wantNone {
				t.Fatalf("wish %v, error %v; want none: %t", wish, err, tc.wantNone)
			}
			if wish == nil {
				return
			}
			if got := admittedBy(wish); got != tc.wantAdmits {
				t.Errorf("admits %q, want %q", got, tc.wantAdmits)
			}
		})
	}
}
