// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"k8s.io/apimachinery/pkg/api/resource"
)

// Account sums up what pods hold of each pool. Its sums are exact, so what is taken away after it
// was added leaves nothing behind. It is not safe for concurrent use.
type Account struct {
	sums map[Key]*sum
}

// sum is what some pods hold of a pool.
type sum struct {
	quantity resource.Quantity
	holders  int
	// byGrantee has the part of each grantee that has a name.
	byGrantee map[string]*sum
}

func (s *sum) add(quantity resource.Quantity) {
	s.quantity.Add(quantity)
	s.holders++
}

func (s *sum) remove(quantity resource.Quantity) {
	s.quantity.Sub(quantity)
	s.holders--
}

// NewAccount returns an account on which nothing is charged.
func NewAccount() *Account {
	return &Account{sums: map[Key]*sum{}}
}

// Add books the charges of a pod.
func (a *Account) Add(charges []Charge) {
	for i := range charges {
		c := &charges[i]
		s := part(a.sums, Key{c.Resource, c.Pool})
		s.add(c.Quantity)
		if c.Grantee == "" {
			continue
		}
		if s.byGrantee == nil {
			s.byGrantee = map[string]*sum{}
		}
		part(s.byGrantee, c.Grantee).add(c.Quantity)
	}
}

// part returns the sum of a key, a new one if there is none.
func part[K comparable](sums map[K]*sum, key K) *sum {
	s := sums[key]
	if s == nil {
		s = &sum{}
		sums[key] = s
	}
	return s
}

// Remove takes back what Add has booked.
func (a *Account) Remove(charges []Charge) {
	for i := range charges {
		c := &charges[i]
		key := Key{c.Resource, c.Pool}
		s := a.sums[key]
		if s == nil {
			continue
		}
		if s.remove(c.Quantity); s.holders == 0 {
			delete(a.sums, key)
		} else if of := s.byGrantee[c.Grantee]; of != nil {
			if of.remove(c.Quantity); of.holders == 0 {
				delete(s.byGrantee, c.Grantee)
			}
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

// HeldOf returns what pods hold of a pool out of the grant of a Scheduler, which must have a name.
func (a *Account) HeldOf(grantee, resourceName, pool string) resource.Quantity {
	if s := a.sums[Key{resourceName, pool}]; s != nil && s.byGrantee[grantee] != nil {
		return s.byGrantee[grantee].quantity
	}
	return resource.Quantity{}
}

// ByGrantee returns what pods hold of a pool, by the Scheduler out of whose grant that is; by the
// empty name what is of nobody's grant.
func (a *Account) ByGrantee(resourceName, pool string) map[string]resource.Quantity {
	s := a.sums[Key{resourceName, pool}]
	if s == nil {
		return nil
	}
	held := map[string]resource.Quantity{}
	rest := sum{quantity: s.quantity.DeepCopy(), holders: s.holders}
	for grantee, of := range s.byGrantee {
		held[grantee] = of.quantity
		rest.quantity.Sub(of.quantity)
		rest.holders -= of.holders
	}
	if rest.holders > 0 {
		held[""] = rest.quantity
	}
	return held
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

// Stray is a pod that runs without Berth having charged it anything, because somebody else placed
// it.
type Stray struct {
	// Requests are what it asks for.
	Requests []Request
	// Labels are those of its node; nil if the node is not known.
	Labels map[string]string
}

// ChargeStrays books the pods that somebody else placed, by the rule of Owed. They are charged one
// after the other, so the caller must always give them in the same order. Requests for resources
// that are not in places are left out. It returns what each was charged.
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
			chosen := r.owed(p.at(stray.Labels), func(i int32) int64 { return free[i] }, units)
			charges := r.Charges(chosen, request)
			a.Add(charges)
			booked[n] = append(booked[n], charges...)
		}
	}
	return booked
}
