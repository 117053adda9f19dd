// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package purge

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"

	"berth.dev/berth/pkg/cli/internal/client"
)

// await returns when deleted objects are gone, so that their definitions may go too. A controller
// manager that was just ending may have put its finalizers back in between: they are removed again.
// Objects that the finalizers of others hold stay.
func (c *command) await(ctx context.Context, deleted []object) error {
	if c.dryRun || len(deleted) == 0 {
		return nil
	}
	known := map[types.UID]bool{}
	for i := range deleted {
		known[deleted[i].uid] = true
	}
	var left []object
	err := wait.PollUntilContextTimeout(ctx, look, patience, true, func(ctx context.Context) (bool, error) {
		now, err := c.objects(ctx)
		if err != nil {
			return false, err
		}
		left = left[:0]
		for i := range now {
			if o := &now[i]; known[o.uid] {
				if err := c.release(ctx, o); err != nil {
					return false, err
				}
				if !o.held() {
					left = append(left, *o)
				}
			}
		}
		return len(left) == 0, nil
	})
	if wait.Interrupted(err) && len(left) > 0 {
		return fmt.Errorf("%d objects are deleted and not gone yet, %s for instance: run this again when Kubernetes has let go of them",
			len(left), &left[0])
	}
	return err
}

// release removes Berth's finalizers from an object that may have them again.
func (c *command) release(ctx context.Context, o *object) error {
	if len(o.foreign()) == len(o.finalizers) {
		return nil
	}
	if err := c.dropFinalizers(ctx, o); err != nil && !apierrors.IsNotFound(err) {
		return client.DescribeError(o.String(), err)
	}
	return nil
}
