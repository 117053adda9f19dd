// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package grants_test

import (
	"context"
	"fmt"
	"maps"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"berth.dev/berth/pkg/controllers/grants"
	"berth.dev/berth/pkg/controllers/internal/singleton"
)

// beside is a world in which two controllers do not know of each other, as those of two builds do
// that lead by Leases in different namespaces, and two schedulers keep to what they have read.
type beside struct {
	*harness
	first, second grants.Reconciler
	// between is called before the first one writes what it has decided.
	between func()
	// limits are what each scheduler gives out at most.
	limits map[string]int64
}

func newBeside(t *testing.T) *beside {
	t.Helper()
	b := &beside{harness: newHarness(t, shard("a", wants("0")), shard("b", wants("0"))), limits: map[string]int64{}}
	b.first, b.second = b.Reconciler, b.Reconciler
	b.first.Client = interceptor.NewClient(b.api, interceptor.Funcs{
		SubResourcePatch: func(
			ctx context.Context, c client.Client, sub string, object client.Object, patch client.Patch, opts ...client.SubResourcePatchOption,
		) error {
			b.between()
			return c.SubResource(sub).Patch(ctx, object, patch, opts...)
		},
	})
	return b
}

// reads lets a scheduler read its grant, keep to it, and say that and how much its pods want.
func (b *beside) reads(name string, wanted int64) {
	said := wants(resource.NewQuantity(wanted, resource.DecimalSI).String())
	limit := resource.Quantity{}
	for _, g := range b.object().Status.Grants {
		if g.Scheduler == name {
			limit, said.Pools[0].Revision = ptr.Deref(g.ShrinkTo, g.Quantity), g.Revision
		}
	}
	b.limits[name], said.Pools[0].Limit = limit.Value(), &limit
	b.say(name, said)
}

// check fails if more may be given out than there is.
func (b *beside) check(when string) {
	b.Helper()
	if sum := b.limits["a"] + b.limits["b"]; sum > 10 {
		b.Fatalf("%s schedulers give out %v of 10 units", when, b.limits)
	}
}

// settle lets a controller and the schedulers act until everything is where it is wanted.
func (b *beside) settle(r *grants.Reconciler, wantedByA, wantedByB int64) {
	b.Helper()
	for range 6 {
		if _, err := r.Reconcile(b.Context(), singleton.Key{}); err != nil {
			b.Fatal(err)
		}
		b.reads("b", wantedByB)
		b.check("after b has read")
		b.reads("a", wantedByA)
		b.check("after a has read")
	}
}

// Everything moves from a to b, and back while the first controller is about to write one of the
// steps.
func TestTwoControllersBesideEachOtherGrantNothingTwice(t *testing.T) {
	for step := range 4 {
		t.Run(fmt.Sprint("before step ", step), func(t *testing.T) {
			b := newBeside(t)
			b.settle(&b.second, 10, 0)
			writes := 0
			b.between = func() {
				if writes++; writes == step+1 {
					b.settle(&b.second, 10, 0)
				}
			}
			b.settle(&b.first, 0, 10)
			b.settle(&b.first, 0, 10)
			if want := map[string]int64{"a": 0, "b": 10}; !maps.Equal(b.limits, want) {
				t.Errorf("in the end schedulers give out %v, want %v", b.limits, want)
			}
		})
	}
}
