// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package migrate_test

import (
	"testing"

	"berth.dev/berth/pkg/placement/migrate"
	"berth.dev/berth/pkg/placement/rank"
)

func TestChoose(t *testing.T) {
	eligible := func(name string) rank.Ranked { return rank.Ranked{Name: name, Eligible: true} }
	tests := map[string]struct {
		app     migrate.Application
		ranking []rank.Ranked
		want    string
	}{
		"there are no clusters": {migrate.Application{Current: "berlin"}, nil, "berlin"},
		"none is eligible":      {migrate.Application{Current: "berlin"}, []rank.Ranked{{Name: "madrid"}}, "berlin"},
		"none is eligible yet":  {migrate.Application{}, []rank.Ranked{{Name: "madrid"}}, ""},
		"it has none":           {migrate.Application{}, []rank.Ranked{eligible("madrid"), eligible("berlin")}, "madrid"},
		"it has none and stays": {migrate.Application{Never: true}, []rank.Ranked{eligible("madrid")}, "madrid"},
		"another is better": {
			migrate.Application{Current: "berlin"}, []rank.Ranked{eligible("madrid"), eligible("berlin")}, "madrid",
		},
		"another is better and it stays": {
			migrate.Application{Current: "berlin", Never: true}, []rank.Ranked{eligible("madrid"), eligible("berlin")}, "berlin",
		},
		"it stays even where it is not eligible": {
			migrate.Application{Current: "berlin", Never: true}, []rank.Ranked{eligible("madrid"), {Name: "berlin"}}, "berlin",
		},
		"it waits for its cluster to come back": {
			migrate.Application{Current: "berlin", Waits: true}, []rank.Ranked{eligible("madrid"), {Name: "berlin"}}, "berlin",
		},
		"it is on its way": {
			migrate.Application{Current: "berlin", Moving: true}, []rank.Ranked{eligible("madrid"), eligible("berlin")}, "berlin",
		},
		"it is on its way to what is not eligible any more": {
			migrate.Application{Current: "berlin", Moving: true}, []rank.Ranked{eligible("madrid"), {Name: "berlin"}}, "madrid",
		},
		"it is on its way to what is gone": {
			migrate.Application{Current: "berlin", Moving: true}, []rank.Ranked{eligible("madrid")}, "madrid",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := migrate.Choose(tc.app, tc.ranking); got != tc.want {
				t.Errorf("Choose() = %q, want %q", got, tc.want)
			}
		})
	}
}
