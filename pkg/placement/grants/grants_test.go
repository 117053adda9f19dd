// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package grants_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"berth.dev/berth/pkg/placement/grants"
)

// asks reports nothing but demands.
func asks(demands ...grants.Demand) grants.Report {
	return grants.Report{Demands: demands}
}

// world is what grants depend on, and the grants that are to be recorded next.
type world struct {
	pool grants.SharedPool
	// schedulers are a, b and c that take, unless it is told.
	schedulers map[string]grants.Grantee
	want       map[string]grants.Grant
}

// next is the revision of what changes.
const next = 10

func checkNext(t *testing.T, worlds map[string]world) {
	t.Helper()
	for name, tc := range worlds {
		t.Run(name, func(t *testing.T) {
			schedulers := tc.schedulers
			if schedulers == nil {
				schedulers = map[string]grants.Grantee{"a": {Takes: true}, "b": {Takes: true}, "c": {Takes: true}}
			}
			if diff := cmp.Diff(tc.want, grants.Next(tc.pool, schedulers, next)); diff != "" {
				t.Errorf("grants (-want +got):\n%s", diff)
			}
		})
	}
}

// wants reports a demand of pods that ask for a unit each.
func wants(units int64) grants.Report { return asks(grants.Demand{Wanted: units, Least: 1}) }

func TestNext(t *testing.T) {
	checkNext(t, map[string]world{
		"what nobody has goes to whom pods wait for": {
			pool: grants.SharedPool{Allocatable: 5, Reports: map[string]grants.Report{"a": wants(3)}},
			want: map[string]grants.Grant{"a": {Quantity: 3, Revision: next}},
		},
		"what pods hold that nobody granted is not there": {
			pool: grants.SharedPool{Allocatable: 5, Held: map[string]int64{"": 2, "gone": 2}, Reports: map[string]grants.Report{"a": wants(3)}},
			want: map[string]grants.Grant{"a": {Quantity: 1, Revision: next}},
		},
		"nobody is granted anything while one does not keep to its grants": {
			pool:       grants.SharedPool{Allocatable: 5, Reports: map[string]grants.Report{"a": wants(3)}},
			schedulers: map[string]grants.Grantee{"a": {}, "b": {}},
			want:       map[string]grants.Grant{},
		},
		"who has something to spare is asked first": {
			pool: grants.SharedPool{
				Allocatable: 5, Grants: map[string]grants.Grant{"b": {Quantity: 5, Revision: 1}}, Held: map[string]int64{"b": 1},
				Reports: map[string]grants.Report{"a": wants(3)},
			},
			want: map[string]grants.Grant{"b": {Quantity: 5, Shrinking: true, Target: 2, Revision: next}},
		},
		"then it answers with what it holds by now, and the rest goes on": {
			pool: grants.SharedPool{
				Allocatable: 5, Grants: map[string]grants.Grant{"b": {Quantity: 5, Shrinking: true, Target: 2, Revision: 1}},
				Held:    map[string]int64{"b": 1},
				Reports: map[string]grants.Report{"a": wants(3), "b": {Revision: 1, Acknowledges: true, Limit: 3}},
			},
			want: map[string]grants.Grant{"a": {Quantity: 2, Revision: next}, "b": {Quantity: 3, Revision: next}},
		},
		"an answer to an earlier question does not count": {
			pool: grants.SharedPool{
				Allocatable: 5, Grants: map[string]grants.Grant{"b": {Quantity: 5, Shrinking: true, Target: 3, Revision: 4}},
				Reports: map[string]grants.Report{"a": wants(2), "b": {Revision: 1, Acknowledges: true, Limit: 2}},
			},
			want: map[string]grants.Grant{"b": {Quantity: 5, Shrinking: true, Target: 3, Revision: 4}},
		},
		"what is spare stays with the pod whose turn it is": {
			pool: grants.SharedPool{
				Allocatable: 6, Grants: map[string]grants.Grant{"a": {Quantity: 3, Revision: 1}, "b": {Quantity: 3, Revision: 1}},
				Reports: map[string]grants.Report{
					"a": asks(grants.Demand{Wanted: 5, Least: 5, Since: 2}), "b": asks(grants.Demand{Wanted: 5, Least: 5, Since: 1}),
				},
			},
			want: map[string]grants.Grant{
				"a": {Quantity: 3, Shrinking: true, Target: 1, Revision: next}, "b": {Quantity: 3, Revision: 1},
			},
		},
		"a higher priority comes first": {
			pool: grants.SharedPool{Allocatable: 2, Reports: map[string]grants.Report{
				"a": asks(grants.Demand{Wanted: 2, Least: 2, Since: 1}), "b": asks(grants.Demand{Wanted: 2, Least: 2, Since: 2, Priority: 1}),
			}},
			want: map[string]grants.Grant{"b": {Quantity: 2, Revision: next}},
		},
		"a higher priority elsewhere comes before the many behind one of a still higher priority": {
			pool: grants.SharedPool{Allocatable: 5, Reports: map[string]grants.Report{
				"a": asks(grants.Demand{Wanted: 9, Least: 1}, grants.Demand{Wanted: 1, Least: 1, Priority: 2}),
				"b": asks(grants.Demand{Wanted: 3, Least: 1, Priority: 1}),
			}},
			want: map[string]grants.Grant{"a": {Quantity: 2, Revision: next}, "b": {Quantity: 3, Revision: next}},
		},
		"what has become spare goes to a higher priority elsewhere that was told that nothing is left": {
			pool: grants.SharedPool{
				Allocatable: 1, Grants: map[string]grants.Grant{"a": {Quantity: 1, Revision: 1}},
				Reports: map[string]grants.Report{
					"a": asks(grants.Demand{Wanted: 1, Least: 1, Priority: 1, Short: true}),
					"b": asks(grants.Demand{Wanted: 1, Least: 1, Priority: 2, Since: 9, Short: true}),
				},
			},
			want: map[string]grants.Grant{"a": {Quantity: 1, Shrinking: true, Revision: next}},
		},
		"it stays for the same priority, which may be about to take it": {
			pool: grants.SharedPool{Allocatable: 1, Grants: map[string]grants.Grant{"a": {Quantity: 1, Revision: 1}}, Reports: map[string]grants.Report{
				"a": asks(grants.Demand{Wanted: 1, Least: 1, Priority: 2, Since: 9, Short: true}),
				"b": asks(grants.Demand{Wanted: 1, Least: 1, Priority: 2, Since: 1, Short: true}),
			}},
			want: map[string]grants.Grant{"a": {Quantity: 1, Revision: 1}},
		},
		"what nobody has goes to one that was told that nothing is left": {
			pool: grants.SharedPool{Allocatable: 1, Reports: map[string]grants.Report{
				"a": asks(grants.Demand{Wanted: 1, Least: 1, Priority: 2}), "b": asks(grants.Demand{Wanted: 1, Least: 1, Priority: 3, Short: true}),
			}},
			want: map[string]grants.Grant{"b": {Quantity: 1, Revision: next}},
		},
		"what is spare is kept for some, if it does not serve all": {
			pool: grants.SharedPool{
				Allocatable: 1, Grants: map[string]grants.Grant{"a": {Quantity: 1, Revision: 1}},
				Reports: map[string]grants.Report{
					"a": asks(grants.Demand{Wanted: 2, Least: 1, Since: 1}), "b": asks(grants.Demand{Wanted: 1, Least: 1, Since: 2}),
				},
			},
			want: map[string]grants.Grant{"a": {Quantity: 1, Revision: 1}},
		},
		"what is spare goes to a higher priority elsewhere": {
			pool: grants.SharedPool{
				Allocatable: 5, Grants: map[string]grants.Grant{"a": {Quantity: 5, Revision: 1}},
				Reports: map[string]grants.Report{
					"a": asks(grants.Demand{Wanted: 1, Least: 1, Priority: 2}, grants.Demand{Wanted: 9, Least: 1, Since: 1}),
					"b": asks(grants.Demand{Wanted: 3, Least: 1, Priority: 1, Since: 9}),
				},
			},
			want: map[string]grants.Grant{"a": {Quantity: 5, Shrinking: true, Target: 2, Revision: next}},
		},
		"what is spare stays for lower priorities that come before those elsewhere": {
			pool: grants.SharedPool{
				Allocatable: 5, Grants: map[string]grants.Grant{"a": {Quantity: 5, Revision: 1}},
				Reports: map[string]grants.Report{
					"a": asks(grants.Demand{Wanted: 1, Least: 1, Priority: 2}, grants.Demand{Wanted: 4, Least: 1, Priority: 1}),
					"b": asks(grants.Demand{Wanted: 3, Least: 1}),
				},
			},
			want: map[string]grants.Grant{"a": {Quantity: 5, Revision: 1}},
		},
		"a pod that all there is cannot serve keeps nothing from others": {
			pool: grants.SharedPool{
				Allocatable: 4, Grants: map[string]grants.Grant{"a": {Quantity: 3, Revision: 1}},
				Held:    map[string]int64{"": 1},
				Reports: map[string]grants.Report{"a": asks(grants.Demand{Wanted: 9, Least: 9, Since: 1}), "b": asks(grants.Demand{Wanted: 2, Least: 2, Since: 2})},
			},
			want: map[string]grants.Grant{"a": {Quantity: 3, Shrinking: true, Target: 1, Revision: next}},
		},
		"nothing changes while nobody waits": {
			pool: grants.SharedPool{Allocatable: 9, Grants: map[string]grants.Grant{"a": {Quantity: 3, Revision: 1}, "b": {Quantity: 1, Revision: 2}}},
			want: map[string]grants.Grant{"a": {Quantity: 3, Revision: 1}, "b": {Quantity: 1, Revision: 2}},
		},
	})
}

func TestNextAsksForNoMoreThanIsNeeded(t *testing.T) {
	checkNext(t, map[string]world{
		"who is asked to give something back and wants it is let off, and granted no more": {
			pool: grants.SharedPool{
				Allocatable: 9, Grants: map[string]grants.Grant{"a": {Quantity: 5, Shrinking: true, Target: 2, Revision: 1}},
				Held: map[string]int64{"a": 2}, Reports: map[string]grants.Report{"a": wants(3)},
			},
			want: map[string]grants.Grant{"a": {Quantity: 5, Revision: next}},
		},
		"nobody is asked for what there is anyway": {
			pool: grants.SharedPool{
				Allocatable: 5, Grants: map[string]grants.Grant{"b": {Quantity: 3, Revision: 1}}, Reports: map[string]grants.Report{"a": wants(2)},
			},
			want: map[string]grants.Grant{"a": {Quantity: 2, Revision: next}, "b": {Quantity: 3, Revision: 1}},
		},
		"two who want something do not get the same": {
			pool: grants.SharedPool{
				Allocatable: 4, Grants: map[string]grants.Grant{"b": {Quantity: 4, Revision: 1}}, Held: map[string]int64{"b": 1},
				Reports: map[string]grants.Report{"a": wants(2), "c": wants(2)},
			},
			want: map[string]grants.Grant{"b": {Quantity: 4, Shrinking: true, Target: 1, Revision: next}},
		},
		"nobody is asked for what another one gives": {
			pool: grants.SharedPool{
				Allocatable: 4, Grants: map[string]grants.Grant{"b": {Quantity: 2, Revision: 1}, "c": {Quantity: 2, Revision: 1}},
				Reports: map[string]grants.Report{"a": wants(2)},
			},
			want: map[string]grants.Grant{"b": {Quantity: 2, Shrinking: true, Revision: next}, "c": {Quantity: 2, Revision: 1}},
		},
		"who has most to spare is asked": {
			pool: grants.SharedPool{
				Allocatable: 6, Grants: map[string]grants.Grant{"b": {Quantity: 3, Revision: 1}, "c": {Quantity: 3, Revision: 1}},
				Held: map[string]int64{"b": 2}, Reports: map[string]grants.Report{"a": wants(3)},
			},
			want: map[string]grants.Grant{"b": {Quantity: 3, Revision: 1}, "c": {Quantity: 3, Shrinking: true, Revision: next}},
		},
		"who has acknowledged has the rest to spare": {
			pool: grants.SharedPool{
				Allocatable: 5, Grants: map[string]grants.Grant{"b": {Quantity: 5, Shrinking: true, Target: 2, Revision: 1}},
				Reports: map[string]grants.Report{"a": wants(5), "b": {Revision: 1, Acknowledges: true, Limit: 2}},
			},
			want: map[string]grants.Grant{"a": {Quantity: 3, Revision: next}, "b": {Quantity: 2, Shrinking: true, Revision: next}},
		},
		"who holds more than it was granted keeps that, and gets what it wants": {
			pool: grants.SharedPool{
				Allocatable: 9, Grants: map[string]grants.Grant{"a": {Quantity: 1, Revision: 1}}, Held: map[string]int64{"a": 4},
				Reports: map[string]grants.Report{"a": wants(2)},
			},
			want: map[string]grants.Grant{"a": {Quantity: 6, Revision: next}},
		},
		"others are asked for what there is too little of": {
			pool: grants.SharedPool{
				Allocatable: 4, Grants: map[string]grants.Grant{"b": {Quantity: 3, Revision: 1}}, Reports: map[string]grants.Report{"a": wants(2)},
			},
			want: map[string]grants.Grant{"a": {Quantity: 1, Revision: next}, "b": {Quantity: 3, Shrinking: true, Target: 2, Revision: next}},
		},
		"who wants nothing keeps nothing, whatever its priority": {
			pool: grants.SharedPool{Allocatable: 1, Grants: map[string]grants.Grant{"a": {Quantity: 1, Revision: 1}}, Reports: map[string]grants.Report{
				"a": asks(grants.Demand{Priority: 2}), "b": asks(grants.Demand{Wanted: 1, Least: 1, Priority: 1, Short: true}),
			}},
			want: map[string]grants.Grant{"a": {Quantity: 1, Shrinking: true, Revision: next}},
		},
		"a pod for which one unit is missing keeps nothing from others": {
			pool: grants.SharedPool{
				Allocatable: 3, Grants: map[string]grants.Grant{"a": {Quantity: 3, Revision: 1}},
				Reports: map[string]grants.Report{"a": asks(grants.Demand{Wanted: 4, Least: 4, Since: 1}), "b": asks(grants.Demand{Wanted: 2, Least: 2, Since: 2})},
			},
			want: map[string]grants.Grant{"a": {Quantity: 3, Shrinking: true, Target: 1, Revision: next}},
		},
		"who holds more than it was granted is granted no more if nothing is left": {
			pool: grants.SharedPool{
				Allocatable: 4, Grants: map[string]grants.Grant{"a": {Quantity: 1, Revision: 1}}, Held: map[string]int64{"a": 4},
				Reports: map[string]grants.Report{"a": wants(2)},
			},
			want: map[string]grants.Grant{"a": {Quantity: 1, Revision: 1}},
		},
		"what is on its way to one is not on its way to another": {
			pool: grants.SharedPool{
				Allocatable: 4, Grants: map[string]grants.Grant{"c": {Quantity: 4, Shrinking: true, Target: 2, Revision: 1}},
				Reports: map[string]grants.Report{"a": wants(2), "b": wants(2)},
			},
			want: map[string]grants.Grant{"c": {Quantity: 4, Shrinking: true, Revision: next}},
		},
		"who is let off keeps no more than it was asked for": {
			pool: grants.SharedPool{
				Allocatable: 10,
				Grants: map[string]grants.Grant{
					"a": {Quantity: 3, Shrinking: true, Target: 2, Revision: 1}, "c": {Quantity: 5, Shrinking: true, Revision: 1},
				},
				Held: map[string]int64{"a": 2}, Reports: map[string]grants.Report{"a": wants(3)},
			},
			want: map[string]grants.Grant{"a": {Quantity: 5, Revision: next}, "c": {Quantity: 5, Shrinking: true, Revision: 1}},
		},
		"what one is let off is not on its way to another": {
			pool: grants.SharedPool{
				Allocatable: 6,
				Grants: map[string]grants.Grant{
					"b": {Quantity: 2, Revision: 1}, "c": {Quantity: 4, Shrinking: true, Target: 2, Revision: 1},
				},
				Held: map[string]int64{"c": 2},
				Reports: map[string]grants.Report{
					"a": asks(grants.Demand{Wanted: 2, Least: 1, Since: 2}), "c": asks(grants.Demand{Wanted: 2, Least: 1, Since: 1}),
				},
			},
			want: map[string]grants.Grant{"b": {Quantity: 2, Shrinking: true, Revision: next}, "c": {Quantity: 4, Revision: next}},
		},
	})
}

func TestNextOfASmallerPool(t *testing.T) {
	checkNext(t, map[string]world{
		"of a smaller pool, who was asked for enough is asked for no more": {
			pool: grants.SharedPool{
				Allocatable: 3, Grants: map[string]grants.Grant{"b": {Quantity: 2, Shrinking: true, Target: 1, Revision: 1}},
				Held: map[string]int64{"": 2, "b": 1},
			},
			want: map[string]grants.Grant{"b": {Quantity: 2, Shrinking: true, Target: 1, Revision: 1}},
		},
		"of a smaller pool, who does not need it is asked": {
			pool: grants.SharedPool{
				Allocatable: 6, Grants: map[string]grants.Grant{"a": {Quantity: 5, Revision: 1}, "b": {Quantity: 3, Revision: 1}},
				Held: map[string]int64{"a": 5},
			},
			want: map[string]grants.Grant{"a": {Quantity: 5, Revision: 1}, "b": {Quantity: 3, Shrinking: true, Target: 1, Revision: next}},
		},
		"of a smaller pool, who was asked is not let off": {
			pool: grants.SharedPool{
				Allocatable: 3, Grants: map[string]grants.Grant{"b": {Quantity: 2, Shrinking: true, Target: 1, Revision: 1}},
				Held: map[string]int64{"": 2, "b": 1}, Reports: map[string]grants.Report{"b": wants(1)},
			},
			want: map[string]grants.Grant{"b": {Quantity: 2, Shrinking: true, Target: 1, Revision: 1}},
		},
		"of a smaller pool, who has most is asked if nobody has anything to spare": {
			pool: grants.SharedPool{
				Allocatable: 6, Grants: map[string]grants.Grant{"a": {Quantity: 2, Revision: 1}, "b": {Quantity: 5, Revision: 1}},
				Held: map[string]int64{"a": 2, "b": 5},
			},
			want: map[string]grants.Grant{"a": {Quantity: 2, Revision: 1}, "b": {Quantity: 5, Shrinking: true, Target: 4, Revision: next}},
		},
		"of a smaller pool, who is asked does not make up for one that has died": {
			pool: grants.SharedPool{
				Allocatable: 4, Grants: map[string]grants.Grant{"a": {Quantity: 5, Revision: 1}, "c": {Quantity: 1, Revision: 1}},
			},
			schedulers: map[string]grants.Grantee{"a": {Takes: true}, "c": {Settled: true}},
			want:       map[string]grants.Grant{"a": {Quantity: 5, Shrinking: true, Target: 4, Revision: next}},
		},
		"of a smaller pool, what is on its way beyond that serves others": {
			pool: grants.SharedPool{
				Allocatable: 8,
				Grants: map[string]grants.Grant{
					"b": {Quantity: 3, Revision: 1}, "c": {Quantity: 6, Shrinking: true, Target: 3, Revision: 1},
				},
				Held: map[string]int64{"c": 3}, Reports: map[string]grants.Report{"a": wants(2)},
			},
			want: map[string]grants.Grant{
				"b": {Quantity: 3, Revision: 1}, "c": {Quantity: 6, Shrinking: true, Target: 3, Revision: 1},
			},
		},
	})
}

func TestNextWithoutAScheduler(t *testing.T) {
	checkNext(t, map[string]world{
		"who has died keeps nothing but what its pods hold": {
			pool: grants.SharedPool{
				Allocatable: 5, Grants: map[string]grants.Grant{"c": {Quantity: 5, Revision: 1}}, Held: map[string]int64{"c": 2},
				Reports: map[string]grants.Report{"a": wants(9)},
			},
			schedulers: map[string]grants.Grantee{"a": {Takes: true}, "c": {Settled: true}},
			want:       map[string]grants.Grant{"a": {Quantity: 3, Revision: next}},
		},
		"who may still bind pods keeps what it was granted": {
			pool: grants.SharedPool{
				Allocatable: 5, Grants: map[string]grants.Grant{"c": {Quantity: 5, Revision: 1}}, Held: map[string]int64{"c": 2},
				Reports: map[string]grants.Report{"a": wants(9)},
			},
			schedulers: map[string]grants.Grantee{"a": {Takes: true}, "c": {}},
			want:       map[string]grants.Grant{"c": {Quantity: 5, Revision: 1}},
		},
		"who charges nothing any more is granted nothing": {
			pool:       grants.SharedPool{Allocatable: 5, Reports: map[string]grants.Report{"c": wants(3)}},
			schedulers: map[string]grants.Grantee{"c": {Takes: true, Settled: true}},
			want:       map[string]grants.Grant{},
		},
		"who leaves and has given back what it can is not waited for": {
			pool: grants.SharedPool{
				Allocatable: 8,
				Grants: map[string]grants.Grant{
					"b": {Quantity: 3, Revision: 1}, "c": {Quantity: 3, Shrinking: true, Target: 0, Revision: 1},
				},
				Held:    map[string]int64{"c": 3},
				Reports: map[string]grants.Report{"a": wants(3), "c": {Revision: 1, Acknowledges: true, Limit: 3}},
			},
			schedulers: map[string]grants.Grantee{"a": {Takes: true}, "b": {Takes: true}, "c": {Leaving: true}},
			want:       map[string]grants.Grant{"a": {Quantity: 2, Revision: next}, "b": {Quantity: 3, Shrinking: true, Target: 2, Revision: next}, "c": {Quantity: 3, Shrinking: true, Revision: 1}},
		},
		"who leaves and is asked anew is waited for": {
			pool: grants.SharedPool{
				Allocatable: 8,
				Grants: map[string]grants.Grant{
					"b": {Quantity: 3, Revision: 1}, "c": {Quantity: 5, Shrinking: true, Target: 0, Revision: 1},
				},
				Held:    map[string]int64{"c": 3},
				Reports: map[string]grants.Report{"a": wants(3), "c": {Revision: 1, Acknowledges: true, Limit: 3}},
			},
			schedulers: map[string]grants.Grantee{"a": {Takes: true}, "b": {Takes: true}, "c": {Leaving: true}},
			want:       map[string]grants.Grant{"a": {Quantity: 2, Revision: next}, "b": {Quantity: 3, Revision: 1}, "c": {Quantity: 3, Shrinking: true, Revision: next}},
		},
		"who begins to leave is waited for": {
			pool: grants.SharedPool{
				Allocatable: 8,
				Grants: map[string]grants.Grant{
					"b": {Quantity: 3, Revision: 1}, "c": {Quantity: 3, Shrinking: true, Target: 1, Revision: 1},
				},
				Held:    map[string]int64{"c": 3},
				Reports: map[string]grants.Report{"a": wants(3), "c": {Revision: 1, Acknowledges: true, Limit: 3}},
			},
			schedulers: map[string]grants.Grantee{"a": {Takes: true}, "b": {Takes: true}, "c": {Leaving: true}},
			want:       map[string]grants.Grant{"a": {Quantity: 2, Revision: next}, "b": {Quantity: 3, Revision: 1}, "c": {Quantity: 3, Shrinking: true, Revision: next}},
		},
	})
}
