// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"fmt"
	"slices"
	"time"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/placement/failover"
	"berth.dev/berth/pkg/placement/names"
	"berth.dev/berth/pkg/placement/rank"
)

// WithoutFailed takes clusters out of the running that a move has failed to reach a short time ago,
// and reports until when in their remarks. The one with the name of the current cluster stays. The
// candidates themselves are left as they are.
func WithoutFailed(
	candidates []rank.Candidate, out []berthv1alpha1.LeftOutCluster, current string, now time.Time,
) []rank.Candidate {
	if len(out) == 0 {
		return candidates
	}
	candidates = slices.Clone(candidates)
	for i := range candidates {
		c := &candidates[i]
		at := slices.IndexFunc(out, func(l berthv1alpha1.LeftOutCluster) bool { return l.Cluster == c.Name })
		if at < 0 || c.Name == current || !now.Before(out[at].Until.Time) || c.Unavailable != "" {
			continue
		}
		c.Unavailable = rank.LeftOut
		remarkf(c, "until %s after %s: %s", clock(out[at].Until.Time), names.Count(int(out[at].Failures), "failed move"), out[at].Message)
	}
	return candidates
}

// Offline reports whether an application stays in its current cluster although that is offline, and
// until when, the zero time for ever. Nil stands for no current cluster.
func Offline(rule failover.Rule, current *rank.Candidate, results []rank.Ranked, now time.Time) (stays bool, until time.Time) {
	if current == nil || current.Unavailable != rank.Offline {
		return false, until
	}
	i := slices.IndexFunc(results, func(r rank.Ranked) bool { return r.Name == current.Name })
	if i < 0 || len(results[i].Rejections) != 1 {
		return false, until // It would not suit if it were online.
	}
	at, leaves := rule.LeaveAt(current.Since)
	switch {
	case !leaves:
		return true, until
	case now.Before(at):
		return true, at
	}
	return false, until
}

// Rank is rank.Rank, but clusters that the application has left because they were offline come into
// question only when they have been online for long enough again, unless the current one does not
// suit.
func Rank(
	request *rank.Query, candidates []rank.Candidate, rule failover.Rule, left []berthv1alpha1.FailedOverCluster, now time.Time,
) []rank.Ranked {
	results := rank.Rank(request, candidates)
	suits := slices.ContainsFunc(results, func(r rank.Ranked) bool { return r.Name == request.Current && r.Eligible })
	if !suits || len(left) == 0 {
		return results
	}
	rest := slices.Clone(candidates)
	for i := range rest {
		c := &rest[i]
		back := rule.ReturnAt(c.Since)
		if c.Name == request.Current || c.Unavailable != "" || !now.Before(back) ||
			!slices.ContainsFunc(left, func(l berthv1alpha1.FailedOverCluster) bool { return l.Cluster == c.Name }) {
			continue
		}
		c.Unavailable = rank.Recovering
		remarkf(c, "it was left because it was offline, and comes into question again at %s", clock(back))
	}
	return rank.Rank(request, rest)
}

// StillLeft returns those of the clusters that were left because they were offline that have not
// been online for long enough since.
func StillLeft(
	left []berthv1alpha1.FailedOverCluster, rule failover.Rule, current string, candidates []rank.Candidate, now time.Time,
) []berthv1alpha1.FailedOverCluster {
	var still []berthv1alpha1.FailedOverCluster
	for _, l := range left {
		i := slices.IndexFunc(candidates, func(c rank.Candidate) bool { return c.Name == l.Cluster })
		if i >= 0 && l.Cluster != current && (candidates[i].Unavailable != "" || now.Before(rule.ReturnAt(candidates[i].Since))) {
			still = append(still, l)
		}
	}
	return still
}

func remarkf(c *rank.Candidate, format string, args ...any) {
	c.Remarks = append(slices.Clone(c.Remarks), fmt.Sprintf(format, args...))
}

func clock(at time.Time) string { return at.UTC().Format(time.RFC3339) }
