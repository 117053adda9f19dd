// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package localplane

import (
	"context"
	"fmt"
	"time"
)

// Await polls the check until it returns nil. It gives up when the context is
// done, when a program has ended by itself, which exited tells (see
// ControlPlane.Exited), or after the timeout; then it returns what the check
// complained about last. A nil channel never tells anything.
func Await(ctx context.Context, timeout time.Duration, exited <-chan error, check func(context.Context) error) error {
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	ticker := time.NewTicker(readyPoll)
	defer ticker.Stop()
	var missing error
	for {
		result := check(limited)
		if result == nil {
			return nil
		}
		// A check that was cut off says less than the one before.
		if missing == nil || limited.Err() == nil {
			missing = result
		}
		select {
		case err := <-exited:
			return err
		case <-limited.Done():
			if ctx.Err() != nil {
				return fmt.Errorf("waiting: %w (%w)", ctx.Err(), missing)
			}
			return fmt.Errorf("after %s: %w", timeout, missing)
		case <-ticker.C:
		}
	}
}
