// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package berthbinder

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"

	"berth.dev/berth/pkg/plugins/internal/ledger"
	"berth.dev/berth/pkg/plugins/internal/settle"
)

// errUnknownOutcome says that the process ends before anybody could tell whether a binding was
// carried out.
var errUnknownOutcome = errors.New("the outcome is unknown")

// settle makes the outcome of a binding certain that may have been carried out, or may yet be. It
// returns nil if the pod is bound as the binding says, and the cause otherwise.
func (b *BerthBinder) settle(ctx context.Context, binding *corev1.Binding, cause error) error {
	unclear.Inc()
	klog.FromContext(ctx).V(2).Info("A Binding has no clear answer and is being settled",
		"pod", klog.KRef(binding.Namespace, binding.Name), "node", binding.Target.Name, "reason", cause.Error())
	settler := settle.Settler{Client: b.handle.ClientSet(), Known: b.given.Pod}
	ref := ledger.PodRef{Namespace: binding.Namespace, Name: binding.Name, UID: binding.UID}
	pod, err := settler.Pod(ctx, ref, binding.ResourceVersion)
	switch {
	case err != nil:
		return fmt.Errorf("%w: %w", errUnknownOutcome, cause)
	case pod == nil:
		return cause
	default:
		return outcome(pod, binding, cause)
	}
}
