// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package nodegrouppolicy_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"berth.dev/berth/pkg/plugintest"
)

func TestReplicasAreSharedByWeight(t *testing.T) {
	fifty := map[string]int{}
	var sites []string
	fiftyPolicy := plugintest.MakePolicy("web").Deployment("nginx")
	for i := range 50 {
		site := fmt.Sprintf("site%02d", i)
		sites = append(sites, site)
		fiftyPolicy.Weight(int64(1+i%3), site)
		fifty[site] = 2 * (1 + i%3)
	}
	tests := map[string]struct {
		sites    []string
		policy   *plugintest.PolicyWrapper
		replicas int32
		want     map[string]int
	}{
		"as many replicas as the weights add up to give the weights": {
			policy:   beijingHangzhou(),
			replicas: 5,
			want:     map[string]int{"beijing": 2, "hangzhou": 3},
		},
		"twice as many give twice the weights": {
			policy:   beijingHangzhou(),
			replicas: 10,
			want:     map[string]int{"beijing": 4, "hangzhou": 6},
		},
		"one replica goes to the largest weight": {
			policy:   beijingHangzhou(),
			replicas: 1,
			want:     map[string]int{"hangzhou": 1},
		},
		"each of the clusters listed together gets the weight": {
			policy:   plugintest.MakePolicy("web").Deployment("nginx").Weight(1, "beijing", "hangzhou"),
			replicas: 4,
			want:     map[string]int{"beijing": 2, "hangzhou": 2},
		},
		"fifty clusters": {
			sites: sites, policy: fiftyPolicy, replicas: 198, want: fifty,
		},
		"a cluster at its max leaves the rest to the others": {
			policy: plugintest.MakePolicy("web").Deployment("nginx").
				Weight(1, "beijing").Weight(9, "hangzhou").Bounds(0, 2),
			replicas: 6,
			want:     map[string]int{"beijing": 4, "hangzhou": 2},
		},
		"a cluster gets its min first": {
			policy: plugintest.MakePolicy("web").Deployment("nginx").
				Weight(1, "beijing").Bounds(3, -1).Weight(9, "hangzhou"),
			replicas: 4,
			want:     map[string]int{"beijing": 3, "hangzhou": 1},
		},
		"replicas beyond every max wait": {
			policy: plugintest.MakePolicy("web").Deployment("nginx").
				Weight(1, "beijing", "hangzhou").Bounds(0, 2),
			replicas: 6,
			want:     map[string]int{"beijing": 2, "hangzhou": 2},
		},
		"the share of a cluster that does not exist waits": {
			policy:   plugintest.MakePolicy("web").Deployment("nginx").Weight(1, "beijing", "atlantis"),
			replicas: 6,
			want:     map[string]int{"beijing": 3},
		},
		"clusters that the policy does not name get nothing": {
			policy:   plugintest.MakePolicy("web").Deployment("nginx").Weight(1, "beijing"),
			replicas: 3,
			want:     map[string]int{"beijing": 3},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if tc.sites == nil {
				tc.sites = []string{"beijing", "hangzhou"}
			}
			d, rs := deployment("nginx", tc.replicas)
			s := plugintest.New(t, append(plugintest.Sites(2, tc.sites...), tc.policy.Obj(), d, rs))
			// One more than asked for: the last one is the surplus of a rollout gone wrong and must
			// never be placed.
			got := bySite(place(t, s, rs, 0, int(tc.replicas)+1))
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("replicas by site (-want +got):\n%s", diff)
			}
		})
	}
}
