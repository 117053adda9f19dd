// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package application

import (
	"fmt"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
	apimeta "k8s.io/apimachinery/pkg/api/meta"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/placement/migrate"
	"berth.dev/berth/pkg/placement/rank"
)

// within chooses a cluster, and puts a move to a better one off until a window opens. Of a move
// that is under way Moving tells, whatever the windows are.
func (p *pass) within(app migrate.Application, results []rank.Ranked) string {
	chosen := migrate.Choose(app, results)
	if app.Moving {
		return chosen
	}
	open, next, err := windowOpen(p.app.Spec.Move, p.now)
	if err != nil {
		p.condition(berthv1alpha1.ApplicationMoving, false, berthv1alpha1.ReasonInvalidWindow,
			err.Error()+"; until that is mended no move to a better cluster begins")
	}
	app.Closed = !open
	stays := migrate.Choose(app, results)
	told := apimeta.FindStatusCondition(p.app.Status.Conditions, berthv1alpha1.ApplicationMoving)
	switch {
	case chosen != stays && err == nil:
		p.again(next.Sub(p.now))
		p.condition(berthv1alpha1.ApplicationMoving, false, berthv1alpha1.ReasonWindowClosed,
			fmt.Sprintf("cluster %s is better; the next window opens at %s", chosen, next.UTC().Format(time.RFC3339)))
	case err == nil && told != nil && (told.Reason == berthv1alpha1.ReasonWindowClosed || told.Reason == berthv1alpha1.ReasonInvalidWindow):
		apimeta.RemoveStatusCondition(&p.app.Status.Conditions, berthv1alpha1.ApplicationMoving)
	}
	return stays
}

// windowOpen reports whether a move may begin, and when the next window opens if not. The error
// names a window that cannot be understood or never opens; no move begins by choice then.
func windowOpen(move *berthv1alpha1.ApplicationMove, now time.Time) (open bool, next time.Time, err error) {
	if move == nil || len(move.Windows) == 0 {
		return true, time.Time{}, nil
	}
	for i := range move.Windows {
		opens, at, err := readWindow(&move.Windows[i], now)
		if err != nil {
			return false, time.Time{}, fmt.Errorf("move.windows[%d]: %w", i, err)
		}
		open = open || opens
		if next.IsZero() || at.Before(next) {
			next = at
		}
	}
	return open, next, nil
}

// readWindow reports whether a window is open, and when it opens next.
func readWindow(window *berthv1alpha1.MoveWindow, now time.Time) (open bool, next time.Time, err error) {
	zone := time.UTC
	if window.TimeZone != "" {
		if zone, err = time.LoadLocation(window.TimeZone); err != nil || strings.EqualFold(window.TimeZone, "local") {
			return false, next, fmt.Errorf("time zone %.64q is not known", window.TimeZone)
		}
	}
	if strings.Contains(window.Schedule, "TZ") {
		return false, next, fmt.Errorf("schedule %.128q: the time zone belongs into timeZone", window.Schedule)
	}
	if strings.HasPrefix(window.Schedule, "@every") {
		return false, next, fmt.Errorf("schedule %.128q: it names no time of day, so it never opens", window.Schedule)
	}
	schedule, err := cron.ParseStandard(window.Schedule)
	if err != nil {
		return false, next, fmt.Errorf("schedule %.128q: %w", window.Schedule, err)
	}
	now = now.In(zone)
	if next = schedule.Next(now); next.IsZero() {
		return false, next, fmt.Errorf("schedule %.128q: it never opens", window.Schedule)
	}
	last := schedule.Next(now.Add(-window.Duration.Duration))
	return !last.After(now), next, nil
}
