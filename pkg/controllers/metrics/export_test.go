// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"context"
	"sync"
)

// Round reads each metric once and waits for it.
func (s *Sampler) Round(ctx context.Context) error {
	var running sync.WaitGroup
	err := s.round(ctx, &running, everything)
	running.Wait()
	return err
}

// Notice does what a changed metric does.
func (s *Sampler) Notice() { s.notice() }
