// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package localplane_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"berth.dev/berth/pkg/localplane"
)

func TestAwait(t *testing.T) {
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	dead := make(chan error, 1)
	dead <- errors.New("etcd exited")
	tests := map[string]struct {
		ctx     context.Context //nolint:containedctx // The argument of a test.
		timeout time.Duration
		exited  chan error
		check   func(context.Context) error
		want    string
	}{
		"the check succeeds in the end": {ctx: t.Context(), timeout: endTimeout, check: succeedsAt(3)},
		"the timeout passes": {
			ctx: t.Context(), timeout: 100 * time.Millisecond, check: complains, want: "after 100ms: not yet",
		},
		"the last check was cut off": {
			ctx: t.Context(), timeout: 100 * time.Millisecond, check: hangsAt(2), want: "after 100ms: not yet",
		},
		"the caller gives up": {ctx: canceled, timeout: endTimeout, check: complains, want: "context canceled (not yet)"},
		"a program has ended": {ctx: t.Context(), timeout: endTimeout, exited: dead, check: complains, want: "etcd exited"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			err := localplane.Await(tc.ctx, tc.timeout, tc.exited, tc.check)
			switch {
			case tc.want == "" && err != nil:
				t.Errorf("Await() = %v, want nil", err)
			case tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)):
				t.Errorf("Await() = %v, want an error with %q", err, tc.want)
			}
		})
	}
}

func complains(context.Context) error { return errors.New("not yet") }

// succeedsAt returns a check that succeeds when it is called for the nth time.
func succeedsAt(n int) func(context.Context) error {
	calls := 0
	return func(ctx context.Context) error {
		if calls++; calls >= n {
			return nil
		}
		return complains(ctx)
	}
}

// hangsAt returns a check that hangs from the nth call on until its context
// ends.
func hangsAt(n int) func(context.Context) error {
	calls := 0
	return func(ctx context.Context) error {
		if calls++; calls >= n {
			<-ctx.Done()
			return ctx.Err()
		}
		return complains(ctx)
	}
}
