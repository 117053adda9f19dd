// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"strings"
)

// Profile is a row of a decision of which a profile is kept.
type Profile struct {
	Scenario, Peer string
}

// Profiles are those of a usual run.
var Profiles = []Profile{{"bystanders-1000", stock}, {"bystanders-1000", addsOnly}, {tenth, shipped}}

// File returns where the profile is kept, seen from the root of the repository.
func (p Profile) File() string {
	return fmt.Sprintf("bench/results/profiles/%s-%s.pb.gz", p.Scenario, p.Peer)
}

// profileList links to the profiles.
func profileList() string {
	var b strings.Builder
	b.WriteString("\n## Profiles\n\nWhere the processors worked in three rows, for `go tool pprof -top FILE`:\n\n")
	for _, p := range Profiles {
		fmt.Fprintf(&b, "* [%s, %s](../../%s)\n", p.Scenario, p.Peer, p.File())
	}
	return b.String()
}
