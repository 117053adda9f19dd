// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package subscription

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// lapse withdraws the admission of a bundle that had its time and of which no pod has a node.
func (p *pass) lapse(m *member) {
	if !m.bundled {
		m.pledge = nil
	}
	if m.pledge == nil {
		return
	}
	var wanted, bound int64
	for _, f := range m.feeds {
		if f.wanted != nil {
			wanted += *f.wanted
		}
		bound += sum(f.bound)
	}
	if bound > 0 || wanted == 0 {
		return
	}
	if left := m.pledge.ExpirationTime.Sub(p.now.Time); left > 0 {
		p.again(left)
		return
	}
	m.pledge = nil
}

// admit gives a bundle that waits all that it wants, or nothing.
func (p *pass) admit(m *member) error {
	if m.waiting = m.obstacle(); m.waiting != "" {
		m.hold()
		return nil
	}
	mark := p.ledger.mark()
	for _, f := range m.feeds {
		if f.wanted == nil {
			continue
		}
		missing, err := p.try(m, f)
		if err != nil {
			return m.failed(f, err)
		}
		if missing > 0 {
			m.waiting = fmt.Sprintf("the bundle waits for room: %d of %d replicas of %s %s find none",
				missing, *f.wanted, f.ref.Kind, f.ref.Name)
			m.hold()
			return p.ledger.withdraw(mark)
		}
	}
	m.pledge = &berthv1alpha1.Pledge{AdmissionTime: p.now, ExpirationTime: metav1.NewTime(p.now.Add(pledgeLife))}
	p.again(pledgeLife)
	return nil
}

// obstacle says what keeps a bundle from being tried at all.
func (m *member) obstacle() string {
	if m.problem != nil {
		return m.problem.message
	}
	for _, f := range m.feeds {
		if why := f.unknown + f.lost; why != "" {
			return fmt.Sprintf("the bundle waits for %s %s: %s", f.ref.Kind, f.ref.Name, why)
		}
	}
	return ""
}

// try divides a feed and returns how many replicas find no room.
func (p *pass) try(m *member, f *feed) (int64, error) {
	if !m.dynamic() {
		return p.fill(m, f)
	}
	err := p.divide(m, f)
	return f.unplaced, err
}

// hold leaves the feeds of a bundle where they are.
func (m *member) hold() {
	for _, f := range m.feeds {
		if !f.divided() {
			continue
		}
		if !m.dynamic() {
			f.held = map[string]int64{}
			for name, n := range f.shares {
				if kept := min(n, f.bound[name]); kept > 0 {
					f.held[name] = kept
				}
			}
		}
		f.shares, f.unplaced = f.held, *f.wanted-sum(f.held)
	}
}
