// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package grants_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"berth.dev/berth/pkg/placement/grants"
)

// taker is a scheduler that may be granted something.
var taker = grants.Standing{Registered: true, Alive: true, Keeps: true}

func standing(change func(*grants.Standing)) grants.Standing {
	s := taker
	change(&s)
	return s
}

func TestRoles(t *testing.T) {
	died := standing(func(s *grants.Standing) { s.Alive, s.Granted = false, true })
	stopped := standing(func(s *grants.Standing) { s.Alive, s.Granted, s.Stopped = false, true, true })
	gone := grants.Standing{Granted: true, Stopped: true}
	unlimited := standing(func(s *grants.Standing) { s.Keeps = false })
	closed := standing(func(s *grants.Standing) { s.Leaving, s.Granted, s.Closed = true, true, true })
	tests := map[string]struct {
		other          grants.Standing
		alone          bool // there is no scheduler beside it that takes
		uncounted      bool
		want           grants.Grantee
		wantNobody     bool // nobody takes anything
		wantIncomplete bool
	}{
		"one that runs and keeps to its grants takes":               {other: taker, want: grants.Grantee{Takes: true}},
		"one that does not run takes nothing":                       {other: standing(func(s *grants.Standing) { s.Alive = false })},
		"one that is deleted leaves":                                {other: standing(func(s *grants.Standing) { s.Leaving = true }), want: grants.Grantee{Leaving: true}},
		"one that is deleted and does not run does not leave":       {other: standing(func(s *grants.Standing) { s.Leaving, s.Alive = true, false })},
		"one that is deleted and says that it has finished":         {other: closed, want: grants.Grantee{Settled: true}},
		"one that has finished and whose pods are not all known":    {other: closed, uncounted: true, want: grants.Grantee{Leaving: true}, wantIncomplete: true},
		"one that says so without being deleted has not":            {other: standing(func(s *grants.Standing) { s.Granted, s.Closed = true, true }), want: grants.Grantee{Takes: true}},
		"one that is deleted and has not finished":                  {other: standing(func(s *grants.Standing) { s.Granted, s.Leaving = true, true }), want: grants.Grantee{Leaving: true}},
		"one that was granted nothing need not be settled":          {other: standing(func(s *grants.Standing) { s.Leaving, s.Closed = true, true }), want: grants.Grantee{Leaving: true}},
		"one that has died keeps what it has until it is stopped":   {other: died, wantIncomplete: true},
		"one that has died and was stopped is settled":              {other: stopped, want: grants.Grantee{Settled: true}},
		"one that was stopped and whose pods are not all known":     {other: stopped, uncounted: true, wantIncomplete: true},
		"one that is gone altogether is settled once it is stopped": {other: gone, want: grants.Grantee{Settled: true}},
		"one that is gone and not stopped keeps nobody waiting":     {other: grants.Standing{Granted: true}, wantIncomplete: true},
		"one that may charge everything keeps all from taking":      {other: unlimited, wantNobody: true, wantIncomplete: true},
		"one that may charge everything and is stopped":             {other: standing(func(s *grants.Standing) { s.Keeps, s.Stopped = false, true })},
		"one that does not run, was granted nothing and is stopped": {
			other: standing(func(s *grants.Standing) { s.Keeps, s.Alive, s.Stopped = false, false, true }),
		},
		"one that has died and never kept to its grants": {
			other:      standing(func(s *grants.Standing) { s.Keeps, s.Alive, s.Granted = false, false, true }),
			wantNobody: true, wantIncomplete: true,
		},
		"a dead one is stopped and still deleted": {
			other: standing(func(s *grants.Standing) { s.Alive, s.Leaving, s.Granted, s.Stopped = false, true, true, true }),
			want:  grants.Grantee{Settled: true},
		},
		"the last one is settled for whoever takes over": {other: stopped, alone: true, want: grants.Grantee{Settled: true}},
		"the last one keeps what it has until then":      {other: died, alone: true, wantIncomplete: true},
		"nobody is waited for while nobody takes":        {other: unlimited, alone: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			standings := map[string]grants.Standing{"other": tc.other}
			want := map[string]grants.Grantee{"other": tc.want}
			if !tc.alone {
				standings["taker"], want["taker"] = taker, grants.Grantee{Takes: !tc.wantNobody}
			}
			got, complete := grants.Roles(standings, !tc.uncounted)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("roles (-want +got):\n%s", diff)
			}
			if complete == tc.wantIncomplete {
				t.Errorf("complete: %t, want %t", complete, !tc.wantIncomplete)
			}
		})
	}
}

func TestMustStop(t *testing.T) {
	tests := map[string]struct {
		standing grants.Standing
		want     bool
	}{
		"one that runs and keeps to its grants": {standing: standing(func(s *grants.Standing) { s.Granted = true })},
		"one that has died":                     {standing: standing(func(s *grants.Standing) { s.Granted, s.Alive = true, false }), want: true},
		"one that has died and had nothing":     {standing: standing(func(s *grants.Standing) { s.Alive = false })},
		"one that may charge everything":        {standing: standing(func(s *grants.Standing) { s.Keeps = false }), want: true},
		"one that is gone":                      {standing: grants.Standing{Granted: true}, want: true},
		"one that is gone and had nothing":      {standing: grants.Standing{}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := tc.standing.MustStop(); got != tc.want {
				t.Errorf("must be stopped: %t, want %t", got, tc.want)
			}
		})
	}
}

func TestAlone(t *testing.T) {
	unlimited := standing(func(s *grants.Standing) { s.Keeps = false })
	tests := map[string]struct {
		standings []grants.Standing
		want      bool
	}{
		"nobody":                                {want: true},
		"one that may charge everything":        {standings: []grants.Standing{unlimited}, want: true},
		"one that keeps to its grants":          {standings: []grants.Standing{taker}},
		"two that may charge everything":        {standings: []grants.Standing{unlimited, unlimited}},
		"one beside grants of one that is gone": {standings: []grants.Standing{unlimited, {Granted: true}}, want: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			standings := map[string]grants.Standing{}
			for i, s := range tc.standings {
				standings[string(rune('a'+i))] = s
			}
			if got := grants.Alone(standings); got != tc.want {
				t.Errorf("alone: %t, want %t", got, tc.want)
			}
		})
	}
}

// standingOf reads the seven facts of a scheduler from the bits of a number.
func standingOf(bits uint8) grants.Standing {
	is := func(n int) bool { return bits&(1<<n) != 0 }
	return grants.Standing{
		Registered: is(0), Alive: is(0) && is(1), Leaving: is(2), Keeps: is(0) && is(3), Closed: is(4), Granted: is(5),
		Stopped: is(6),
	}
}

// checkRole fails if a scheduler is settled too early or has two roles.
func checkRole(t *testing.T, s grants.Standing, role grants.Grantee, counted bool) {
	t.Helper()
	if role.Settled && (s.Alive && !s.Closed || !s.Alive && !s.Stopped || !counted) {
		t.Errorf("%+v is settled", s)
	}
	if role.Takes && (role.Leaving || role.Settled) || role.Leaving && role.Settled {
		t.Errorf("%+v has the roles %+v", s, role)
	}
}

// checkBeside fails if others take something, or wait for nobody, while a scheduler has yet to be
// stopped.
func checkBeside(t *testing.T, s grants.Standing, takes, complete bool) {
	t.Helper()
	if takes && s.Registered && !s.Keeps && !s.Stopped {
		t.Errorf("somebody takes something beside %+v", s)
	}
	if takes && complete && s.Died() && !s.Stopped {
		t.Errorf("nobody waits for %+v to be stopped", s)
	}
}

// FuzzRoles draws two schedulers, seven facts of each from the bits of a number.
func FuzzRoles(f *testing.F) {
	f.Add(uint8(0b0001011), uint8(0b1100000), true)
	f.Fuzz(func(t *testing.T, a, b uint8, counted bool) {
		standings := map[string]grants.Standing{}
		for name, bits := range map[string]uint8{"a": a, "b": b} {
			standings[name] = standingOf(bits)
		}
		roles, complete := grants.Roles(standings, counted)
		takes := false
		for name, s := range standings {
			role := roles[name]
			takes = takes || role.Takes
			checkRole(t, s, role, counted)
		}
		for _, s := range standings {
			checkBeside(t, s, takes, complete)
		}
	})
}
