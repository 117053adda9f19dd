// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"context"

	"berth.dev/berth/pkg/cli/internal/client"
)

// Finding is one thing that a check has found.
type Finding struct {
	// ID is under which docs/reference/checks.md tells of the check, Category its heading there.
	ID, Category string
	// Failed is set unless the finding is a warning.
	Failed bool
	// Text is what was found, in one line.
	Text string
}

// Find makes the checks of berthctl check, in their order, with the rights of the clients. It
// returns what they found, and how many were made: none after the first one that leaves nothing to
// be known.
func Find(ctx context.Context, clients client.Clients) (found []Finding, made int) {
	result := examine(checks, read(ctx, clients))
	for _, group := range result.Categories {
		made += len(group.Checks)
		for i := range group.Checks {
			c := &group.Checks[i]
			for _, text := range c.Findings {
				found = append(found, Finding{ID: c.ID, Category: group.Name, Failed: c.Result == failed, Text: text})
			}
		}
	}
	return found, made
}
