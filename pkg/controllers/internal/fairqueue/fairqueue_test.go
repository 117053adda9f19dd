// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package fairqueue_test

import (
	"strconv"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"berth.dev/berth/pkg/controllers/internal/fairqueue"
)

func request(namespace string, i int) reconcile.Request {
	return reconcile.Request{NamespacedName: types.NamespacedName{Namespace: namespace, Name: strconv.Itoa(i)}}
}

func newQueue(t interface{ Cleanup(func()) }) workqueue.TypedRateLimitingInterface[reconcile.Request] {
	q := fairqueue.New("", workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
	t.Cleanup(q.ShutDown)
	return q
}

// Ten thousand requests of one namespace hold up that of another one for as long as one would.
func TestManyOfOneNamespaceDoNotHoldUpAnother(t *testing.T) {
	const many = 10000
	position := func(before int) int {
		q := newQueue(t)
		for i := range before {
			q.Add(request("loud", i))
		}
		q.Add(request("quiet", 0))
		for i := 1; ; i++ {
			item, _ := q.Get()
			q.Done(item)
			if item.Namespace == "quiet" {
				return i
			}
		}
	}
	if got, want := position(many), position(1); got != want {
		t.Errorf("the request of the other namespace is the %d., with one before it the %d.", got, want)
	}
}

// Nothing is lost, what waits is there once, and the requests of a namespace keep their order.
func TestNothingIsLost(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		q := fairqueue.New("", workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
		defer q.ShutDown()
		waiting := map[string][]reconcile.Request{}
		known := map[reconcile.Request]bool{}
		steps := rapid.SliceOf(rapid.IntRange(-3, 8)).Draw(rt, "steps")
		for _, step := range steps {
			if step >= 0 {
				item := request([]string{"a", "b", "c"}[step%3], step)
				q.Add(item)
				if !known[item] {
					known[item] = true
					waiting[item.Namespace] = append(waiting[item.Namespace], item)
				}
				continue
			}
			if q.Len() == 0 {
				continue
			}
			item, _ := q.Get()
			q.Done(item)
			own := waiting[item.Namespace]
			if len(own) == 0 || own[0] != item {
				rt.Fatalf("got %v, want one of %v", item, waiting)
			}
			delete(known, item)
			waiting[item.Namespace] = own[1:]
		}
		if q.Len() != len(known) {
			rt.Fatalf("%d wait, want %d", q.Len(), len(known))
		}
	})
}
