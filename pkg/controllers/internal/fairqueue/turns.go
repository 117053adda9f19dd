// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package fairqueue

// Turns holds items and gives each namespace its turn. The zero value is empty. It is not safe for
// concurrent use.
type Turns[T any] struct {
	// waiting are the items of each namespace that has any, first in first out.
	waiting map[string][]T
	// order are these namespaces, the one whose turn it is first.
	order []string
	count int
}

// Add adds an item of a namespace.
func (t *Turns[T]) Add(namespace string, item T) {
	if t.waiting == nil {
		t.waiting = map[string][]T{}
	}
	if len(t.waiting[namespace]) == 0 {
		t.order = append(t.order, namespace)
	}
	t.waiting[namespace] = append(t.waiting[namespace], item)
	t.count++
}

// Len returns how many items wait.
func (t *Turns[T]) Len() int { return t.count }

// Namespaces returns how many namespaces have items.
func (t *Turns[T]) Namespaces() int { return len(t.order) }

// Pop takes the oldest item of the namespace whose turn it is, which then is the last one. It must
// not be called if nothing waits.
func (t *Turns[T]) Pop() T {
	namespace := t.order[0]
	t.order = t.order[1:]
	item := t.waiting[namespace][0]
	if rest := t.waiting[namespace][1:]; len(rest) > 0 {
		t.waiting[namespace] = rest
		t.order = append(t.order, namespace)
	} else {
		delete(t.waiting, namespace)
	}
	t.count--
	return item
}
