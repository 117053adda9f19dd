// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package judge

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// most bounds how many lines of a history are shown, the last ones.
const most = 200

// entry is what happened at a revision.
type entry struct {
	revision int64
	at       time.Time
	text     string
}

// notef notes what happened to a pod, or to something that it depends on.
func (j *Judge) notef(about string, revision int64, format string, args ...any) {
	j.histories[about] = append(j.histories[about], entry{revision: revision, at: time.Now(), text: fmt.Sprintf(format, args...)})
}

// history returns what happened to some pods and what they depend on, in the order of revisions.
func (j *Judge) history(about []string) string {
	var all []entry
	for _, name := range about {
		all = append(all, j.histories[name]...)
	}
	slices.SortStableFunc(all, func(a, b entry) int { return cmp.Compare(a.revision, b.revision) })
	var text strings.Builder
	for _, e := range all[max(0, len(all)-most):] {
		fmt.Fprintf(&text, "  %s revision %d: %s\n", e.at.Format("15:04:05.000"), e.revision, e.text)
	}
	return text.String()
}
