// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package application

// scaled is what is known of a number of replicas that a move, or the way back from one, has set,
// and that somebody else may set as well.
type scaled struct {
	// to is the number that was set last, and lowered how often somebody else has set a lower one.
	to      int64
	lowered int
}

// oftenLowered is how often somebody else must have lowered a number until that is told: once may
// be a change of mind.
const oftenLowered = 2

// set notes that a number of replicas was set, and what it was until then. The API server has
// refused the write unless it really was.
func (s *scaled) set(was, is int64) {
	if was < s.to {
		s.lowered++
	}
	s.to = is
}

// again reports whether somebody else lowers the number again and again.
func (s *scaled) again() bool { return s != nil && s.lowered >= oftenLowered }

// scales returns where to note the numbers of replicas that the move sets that is under way, or the
// way back from one; nil if there is neither.
func (p *pass) scales() map[string]*scaled {
	if p.app.Status.Move == nil && len(p.app.Status.ReplicasBefore) == 0 {
		p.memo.scaled = nil
	} else if p.memo.scaled == nil {
		p.memo.scaled = map[string]*scaled{}
	}
	return p.memo.scaled
}
