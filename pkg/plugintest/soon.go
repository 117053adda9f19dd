// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package plugintest

import (
	"testing"
	"time"
)

// patience bounds what would otherwise last for ever.
const patience = 5 * time.Second

// EndsSoon fails if a function waits for something that does not come while it runs.
func EndsSoon(tb testing.TB, function func()) {
	tb.Helper()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		function()
	}()
	select {
	case <-ended:
	case <-time.After(patience):
		tb.Error("it waits, and has not ended in time")
	}
}
