// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"k8s.io/apimachinery/pkg/api/resource"
)

// Account sums up what pods hold of each pool. Its sums are exact, so what is taken away after it was added leaves nothing
// behind. It is not safe for concurrent use.
type Account struct {
	sums map[Key]*sum
}

type sum struct {
	quantity resource.Quantity
	holders  int
}

// NewAccount returns an account on which nothing is charged.
func NewAccount() *Account {
	return &Account{sums: map[Key]*sum{}}
}

// Add books the charges of a pod.
func (a *Account) Add(charges []Charge) {
	for _, c := range charges {
		key := Key{c.Resource, c.Pool}
		s := a.sums[key]
		if s == nil {
			s = &sum{}
			a.sums[key] = s
		}
		s.quantity.Add(c.Quantity)
		s.holders++
	}
}

// Remove takes back what Add has booked.
func (a *Account) Remove(charges []Charge) {
	for _, c := range charges {
		key := Key{c.Resource, c.Pool}
		s := a.sums[key]
		if s == nil {
			continue
		}
		s.quantity.Sub(c.Quantity)
		if s.holders--; s.holders == 0 {
			delete(a.sums, key)
		}
	}
}

// Held returns what pods hold of a pool and how many pods that are.
func (a *Account) Held(resourceName, pool string) (quantity resource.Quantity, holders int) {
	if s := a.sums[Key{resourceName, pool}]; s != nil {
		return s.quantity, s.holders
	}
	return resource.Quantity{}, 0
}

// Pools returns the names of the pools of a resource of which pods hold something, in no order.
func (a *Account) Pools(resourceName string) []string {
	var names []string
	for key := range a.sums {
		if key.Resource == resourceName {
			names = append(names, key.Pool)
		}
	}
	return names
}

// Stray is a pod that runs without Berth having charged it anything, because somebody else placed it.
type Stray struct {
	// Requests are what it asks for.
	Requests []Request
	// Labels are those of its node; nil if the node is not known.
	Labels map[string]string
}

// ChargeStrays books the pods that somebody else placed, by the rule of Owed. They are charged one after the other, so the
// caller must always give them in the same order. Requests for resources that are not in places are left out. It returns
// what each was charged.
func (a *Account) ChargeStrays(strays []Stray, places func(resourceName string) *Places) [][]Charge {
	booked := make([][]Charge, len(strays))
	for n, stray := range strays {
		for _, request := range stray.Requests {
			p := places(request.Resource)
			if p == nil {
				continue
			}
			r := p.resource
			units := UnitsUp(request.Quantity, r.unit)
			free := a.Free(r)
			chosen := r.Owed(p.At(stray.Labels), func(i int32) int64 { return free[i] }, units)
			charges := r.Charges(chosen, request)
			a.Add(charges)
			booked[n] = append(booked[n], charges...)
		}
	}
	return booked
}
