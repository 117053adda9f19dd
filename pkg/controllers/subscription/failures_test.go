// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package subscription_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/controllers/accounts"
	"berth.dev/berth/pkg/controllers/adviser/advisertest"
	"berth.dev/berth/pkg/controllers/internal/singleton"
)

func TestNothingIsWrittenIfRoomCannotBeCounted(t *testing.T) {
	for name, strategy := range map[string]change{
		"by room":     func(s *berthv1alpha1.Subscription) {},
		"as a bundle": bundle,
		"by subgroup": regions(1, []string{"a"}, []string{"b"}),
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.site("a", 4)
			w.site("b", 4)
			w.deploy("web", 6)
			w.subscribe("shop", []string{"web"}, strategy)
			closed := errors.New("the cache is closed")
			w.r.Adviser = advisertest.New(t, &poolsUnreadable{w.client, closed})
			_, err := w.r.Reconcile(t.Context(), singleton.Key{})
			want := "listing *v1alpha1.ClusterResourceList"
			if !errors.Is(err, closed) || !strings.Contains(err.Error(), want) {
				t.Errorf("error is %v, want one that wraps %q and says %q", err, closed, want)
			}
			if w.statusWrites+w.policyWrites > 0 {
				t.Errorf("%d writes of the status and %d of policies after a decision that is void", w.statusWrites, w.policyWrites)
			}
			w.pass()
			w.want("Scheduled when room can be counted", w.reason("shop", "Scheduled"), "AllPlaced")
		})
	}
}

// poolsUnreadable cannot list ClusterResources.
type poolsUnreadable struct {
	client.Client

	err error
}

func (c *poolsUnreadable) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	if _, pools := list.(*berthv1alpha1.ClusterResourceList); pools {
		return c.err
	}
	return c.Client.List(ctx, list, opts...)
}

// TestWithoutAnAccountNothingIsCopied checks that an account that cannot be written as is told, is
// tried again after a while, and is no failure.
func TestWithoutAnAccountNothingIsCopied(t *testing.T) {
	w := newWorld(t)
	w.site("b", 4)
	w.site("c", 4)
	w.deploy("web", 2)
	w.noAccount = &accounts.Refusal{Text: "not allowed"}
	w.subscribe("shop", []string{"web"}, everywhere("a", "b", "c"))
	result, err := w.r.Reconcile(t.Context(), singleton.Key{})
	if err != nil || result.RequeueAfter != 30*time.Second {
		t.Errorf("the next pass is after %v, error %v", result.RequeueAfter, err)
	}
	w.want("the Deployments", w.deployments(), "web")
	w.want("the reason", w.reason("shop", berthv1alpha1.SubscriptionScheduled), berthv1alpha1.ReasonNotAllowed)
	w.noAccount = nil
	w.pass()
	w.want("the Deployments", w.deployments(), "web web-c")
}
