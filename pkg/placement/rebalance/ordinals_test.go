// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package rebalance_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"berth.dev/berth/pkg/placement/rebalance"
)

// With the weights 2 and 3 and five replicas hangzhou owns the ordinals 0, 2 and 4, beijing 1 and
// 3.
func TestDecideOrdinals(t *testing.T) {
	tests := map[string]struct {
		pods        []rebalance.Replica
		hangzhou    rebalance.Vacancy
		change      func(*rebalance.Round)
		wantVictims []rebalance.Victim
		wantHeld    rebalance.Reason
	}{
		"two pods that could change places stay, because each cluster has its share": {
			pods: all(in(beijing, 1, ordinal(0), fits), in(hangzhou, 1, ordinal(1), fits), in(hangzhou, 1, ordinal(2)),
				in(beijing, 1, ordinal(3)), in(hangzhou, 1, ordinal(4))),
			hangzhou: rebalance.Vacancy{Ready: true},
		},
		"two moves are enough where four pods are not in the cluster that owns their seat": {
			pods: all(in(beijing, 1, ordinal(0), fits), in(hangzhou, 1, ordinal(1), fits), in(beijing, 1, ordinal(2), fits),
				in(beijing, 1, ordinal(3)), in(beijing, 1, ordinal(4), fits)),
			hangzhou:    rebalance.Vacancy{Ready: true},
			wantVictims: []rebalance.Victim{{Pod: 0, To: hangzhou}, {Pod: 2, To: hangzhou}},
		},
		"a pod in no cluster of the policy goes": {
			pods: all(in(rebalance.Elsewhere, 1, ordinal(0), fits), in(beijing, 1, ordinal(1)), in(hangzhou, 1, ordinal(2)),
				in(beijing, 1, ordinal(3)), in(hangzhou, 1, ordinal(4))),
			hangzhou:    rebalance.Vacancy{Ready: true},
			wantVictims: []rebalance.Victim{{Pod: 0, To: hangzhou}},
		},
		"a pod whose volume is in its present place stays": {
			pods: all(in(beijing, 1, ordinal(0)), in(beijing, 1, ordinal(1)), in(hangzhou, 1, ordinal(2)),
				in(beijing, 1, ordinal(3)), in(hangzhou, 1, ordinal(4))),
			hangzhou: rebalance.Vacancy{Ready: true, Room: 10},
			wantHeld: rebalance.NoRoom,
		},
		"a pod whose own cluster is not ready stays": {
			pods: all(in(beijing, 1, ordinal(0), fits), in(beijing, 1, ordinal(1)), in(hangzhou, 1, ordinal(2)),
				in(beijing, 1, ordinal(3)), in(hangzhou, 1, ordinal(4))),
			hangzhou: rebalance.Vacancy{Room: 10},
			wantHeld: rebalance.NoRoom,
		},
		"a pod beyond the replicas is left to its controller": {
			pods: all(in(hangzhou, 1, ordinal(0)), in(beijing, 1, ordinal(1)), in(hangzhou, 1, ordinal(2)),
				in(beijing, 1, ordinal(3)), in(hangzhou, 1, ordinal(5), fits)),
			hangzhou: rebalance.Vacancy{Ready: true, Room: 10},
		},
		"a pod beyond the replicas is left to its controller, and another one goes": {
			pods: all(in(hangzhou, 1, ordinal(0)), in(hangzhou, 1, ordinal(1), fits), in(hangzhou, 1, ordinal(2)),
				in(beijing, 1, ordinal(3)), in(hangzhou, 1, ordinal(5), cost(-9), fits)),
			hangzhou:    rebalance.Vacancy{Ready: true},
			wantVictims: []rebalance.Victim{{Pod: 1, To: beijing}},
		},
		"what is stuck is in nobody's share": {
			pods: all(in(hangzhou, 1, ordinal(0)), in(hangzhou, 1, ordinal(1), fits), in(beijing, 1, ordinal(3)),
				in(hangzhou, 1, ordinal(4))),
			hangzhou:    rebalance.Vacancy{Ready: true},
			change:      func(r *rebalance.Round) { r.Pending, r.Stuck = 1, 1 },
			wantVictims: []rebalance.Victim{{Pod: 1, To: beijing}},
		},
		"those go first whose place is in a cluster that is short": {
			pods: all(in(rebalance.Elsewhere, 1, ordinal(0), fits), in(rebalance.Elsewhere, 1, ordinal(1), cost(-9), fits),
				in(beijing, 1, ordinal(2)), in(beijing, 1, ordinal(3)), in(hangzhou, 1, ordinal(4))),
			hangzhou:    rebalance.Vacancy{Ready: true},
			change:      func(r *rebalance.Round) { r.MaxUnavailable = 1 },
			wantVictims: []rebalance.Victim{{Pod: 0, To: hangzhou}},
			wantHeld:    rebalance.MaxUnavailable,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			round := willing(t, tc.pods)
			round.Plan = order(t, 2, 3).Plan(5)
			round.Clusters[hangzhou] = tc.hangzhou
			if tc.change != nil {
				tc.change(round)
			}
			got := rebalance.Decide(round)
			if diff := cmp.Diff(rebalance.Decision{Victims: tc.wantVictims, Held: tc.wantHeld}, got); diff != "" {
				t.Errorf("Decide() mismatch (-want +got):\n%s", diff)
			}
		})
	}
}
