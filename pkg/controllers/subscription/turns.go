// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package subscription

// maxWritten is how many Subscriptions of a namespace are written in one pass if other namespaces
// have some, too. A pass looks at all of them anew, so that one of another namespace waits for no
// more than that.
const maxWritten = 100

// turns says in which order Subscriptions are written, so that those of one namespace do not wait
// for thousands of another one.
type turns struct {
	// order are indexes of outcomes: one of each namespace after the other. Those of a namespace keep
	// their order.
	order   []int
	shared  bool
	written map[string]int
	// postponed reports whether something is left to the next pass.
	postponed bool
}

func newTurns(outcomes []outcome) *turns {
	t := &turns{written: map[string]int{}}
	waiting, namespaces := map[string][]int{}, []string{}
	for i := range outcomes {
		namespace := outcomes[i].object.Namespace
		if len(waiting[namespace]) == 0 {
			namespaces = append(namespaces, namespace)
		}
		waiting[namespace] = append(waiting[namespace], i)
	}
	t.shared = len(namespaces) > 1
	for round := 0; len(t.order) < len(outcomes); round++ {
		left := namespaces[:0]
		for _, namespace := range namespaces {
			t.order = append(t.order, waiting[namespace][round])
			if len(waiting[namespace]) > round+1 {
				left = append(left, namespace)
			}
		}
		namespaces = left
	}
	return t
}

// over reports whether a namespace has had its turns, and notes that something of it is left.
func (t *turns) over(namespace string) bool {
	if !t.shared || t.written[namespace] < maxWritten {
		return false
	}
	t.postponed = true
	return true
}

// note counts a Subscription for which something was written.
func (t *turns) note(namespace string, wrote bool) {
	if wrote {
		t.written[namespace]++
	}
}
