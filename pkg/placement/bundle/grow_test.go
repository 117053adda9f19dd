// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package bundle_test

import (
	"testing"

	"berth.dev/berth/pkg/placement/bundle"
)

// licensed is a ledger of CPUs of which each needs a licence. These are for all clusters together.
type licensed struct {
	cpus
	licences int64
}

func (l *licensed) Count(ref bundle.Ref, cluster string, limit int64) int64 {
	return l.cpus.Count(ref, cluster, min(limit, l.licences))
}

func (l *licensed) Reserve(ref bundle.Ref, cluster string, replicas int64) int64 {
	fits := l.cpus.Reserve(ref, cluster, min(replicas, l.licences))
	l.licences -= fits
	return fits
}

func (l *licensed) Rollback(mark int) {
	for _, r := range l.log[mark:] {
		l.licences += r.cpus
	}
	l.cpus.Rollback(mark)
}

// Each of the clusters has room for four, but not both.
func TestClustersThatShareALimitAreGivenNoMoreThanThat(t *testing.T) {
	room := &licensed{cpus{free: replicas{"a": 9, "b": 9}}, 4}
	results, err := bundle.Decide([]bundle.Subscription{spread(clusters("a", "b"), 6)}, room)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := text(&results[0]), "a=4 -2"; got != want {
		t.Errorf("division %q, want %q", got, want)
	}
	if room.licences != 0 || room.free["a"] != 5 || room.free["b"] != 9 {
		t.Errorf("%d licences are left, and CPUs %v, want what the division leaves", room.licences, room.free)
	}
}
