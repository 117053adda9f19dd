// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"berth.dev/berth/test/perf/decision"
	"berth.dev/berth/test/perf/report"
)

// profileLength is how long decisions are profiled for each row.
const profileLength = 3 * time.Second

// writeProfiles keeps profiles of some rows, to which the documentation links.
func writeProfiles(ctx context.Context, out io.Writer, configurations *decision.Configurations) error {
	for _, p := range report.Profiles {
		fmt.Fprintf(out, "profile of %s in %s\n", p.Peer, p.Scenario)
		if err := os.MkdirAll(filepath.Dir(p.File()), 0o755); err != nil { //nolint:gosec // results are for everybody
			return fmt.Errorf("making the folder of the profiles: %w", err)
		}
		file, err := os.Create(p.File())
		if err != nil {
			return fmt.Errorf("writing a profile: %w", err)
		}
		err = decision.Profile(ctx, file, p.Scenario, p.Peer, configurations, profileLength)
		if err := errors.Join(err, file.Close()); err != nil {
			return fmt.Errorf("writing a profile: %w", err)
		}
	}
	return nil
}
