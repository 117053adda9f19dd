// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package history

import (
	"slices"
	"time"
	"unsafe"

	"berth.dev/berth/pkg/placement/names"
)

// bound cuts what users can make long.
func (e *Entry) bound() {
	e.Message, e.Key = names.ClipTo(e.Message, maxMessage), names.ClipTo(e.Key, maxMessage)
	if p := e.Place; p != nil && len(p.Charges) > maxCharges {
		p.Charges = p.Charges[:maxCharges]
	}
	if e.Reasons == nil {
		return
	}
	e.Reasons.Untried = names.ClipTo(e.Reasons.Untried, maxReason)
	e.Reasons.Others = boundReasons(e.Reasons.Others)
	for i := range e.Reasons.Clusters {
		e.Reasons.Clusters[i].Reasons = boundReasons(e.Reasons.Clusters[i].Reasons)
	}
}

// boundReasons keeps the reasons that most nodes give.
func boundReasons(reasons []Reason) []Reason {
	reasons = reasons[:min(len(reasons), maxReasons)]
	for i := range reasons {
		reasons[i].Text = names.ClipTo(reasons[i].Text, maxReason)
	}
	return reasons
}

// perEntry is what an entry takes beside its parts: itself, and where it stands in the index.
const perEntry = int(unsafe.Sizeof(Entry{})) + 64

// size estimates how many bytes an entry takes, texts that it shares with others included.
func (e *Entry) size() int {
	n := perEntry + e.About.size() + len(e.Message) + len(e.Key)
	for _, o := range []*Object{e.Workload, e.For} {
		if o != nil {
			n += int(unsafe.Sizeof(*o)) + o.size()
		}
	}
	return n + e.Place.size() + e.Reasons.size()
}

func (o *Object) size() int {
	return len(o.Group) + len(o.Kind) + len(o.Namespace) + len(o.Name) + len(o.UID)
}

func (p *Place) size() int {
	if p == nil {
		return 0
	}
	n := int(unsafe.Sizeof(*p)) + len(p.Node) + len(p.Cluster) + len(p.Policy) + int(unsafe.Sizeof(int32(0)))
	for _, c := range p.Charges {
		n += int(unsafe.Sizeof(c)) + len(c.Resource) + len(c.Pool) + len(c.Quantity)
	}
	return n
}

func (r *Reasons) size() int {
	if r == nil {
		return 0
	}
	n := int(unsafe.Sizeof(*r)) + len(r.Untried) + sizeOf(r.Others)
	for _, c := range r.Clusters {
		n += int(unsafe.Sizeof(c)) + len(c.Cluster) + sizeOf(c.Reasons)
	}
	return n
}

func sizeOf(reasons []Reason) int {
	n := 0
	for _, r := range reasons {
		n += int(unsafe.Sizeof(r)) + len(r.Text)
	}
	return n
}

// repeats reports whether an entry says of its object what an earlier one did.
func (e *Entry) repeats(before *Entry) bool {
	if e.Decision != before.Decision || e.About != before.About || e.Key != before.Key {
		return false
	}
	return e.Key != "" ||
		e.Message == before.Message && same(e.For, before.For) && e.Place.equal(before.Place) && e.Reasons.equal(before.Reasons)
}

// repeated counts that an entry was decided again.
func (e *Entry) repeated(now time.Time) {
	e.Last = now
	e.Times++
}

func same[T comparable](a, b *T) bool {
	return a == b || a != nil && b != nil && *a == *b
}

func (p *Place) equal(other *Place) bool {
	if p == nil || other == nil {
		return p == other
	}
	return p.Node == other.Node && p.Cluster == other.Cluster && p.Policy == other.Policy && same(p.Seat, other.Seat) &&
		slices.Equal(p.Charges, other.Charges)
}

func (r *Reasons) equal(other *Reasons) bool {
	if r == nil || other == nil {
		return r == other
	}
	return r.Untried == other.Untried && r.OtherClusters == other.OtherClusters && slices.Equal(r.Others, other.Others) &&
		slices.EqualFunc(r.Clusters, other.Clusters, func(a, b ClusterReasons) bool {
			return a.Cluster == b.Cluster && slices.Equal(a.Reasons, b.Reasons)
		})
}
