// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package world

import (
	"errors"
	"fmt"
	"hash/fnv"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"berth.dev/berth/test/internal/record"
)

// fault is what goes wrong with a request.
type fault struct {
	kind string
	// delay is how much later than usual the request arrives, answerDelay the answer.
	delay, answerDelay time.Duration
	// twice is how much later it arrives once more, 0 for not.
	twice time.Duration
	// lost is true if it never arrives, cut if there is no answer.
	lost, cut bool
	// refusal is what the API server answers without carrying the request out, wrong what the client
	// is told although it has been carried out.
	refusal, wrong error
}

func (f *fault) text() string {
	if f.kind == "" {
		return ""
	}
	return " (" + f.kind + ")"
}

// rates are how often faults happen.
type rates struct {
	// perMille is how many of a thousand writes, and of ten thousand reads, something happens to.
	perMille uint64
	slowest  time.Duration
	// beset are the kinds of which nearly every write meets with a fault.
	beset map[string]bool
}

// late is the kind of a fault of requests that arrive late, and are answered as any other.
const late = "late"

// faults are what can happen to a request.
var faults = []struct {
	kind string
	make func(h uint64) fault
}{
	{"lost", func(uint64) fault { return fault{lost: true} }},
	{"answer lost", func(uint64) fault { return fault{cut: true} }},
	{late, func(h uint64) fault { return fault{delay: seconds(h, 20)} }},
	{"answer late", func(h uint64) fault { return fault{answerDelay: seconds(h, 20)} }},
	{"late, answer lost", func(h uint64) fault { return fault{delay: seconds(h, 20), cut: true} }},
	{"reordered", func(h uint64) fault { return fault{delay: seconds(h, 1)} }},
	{"twice", func(h uint64) fault { return fault{twice: time.Millisecond + seconds(h, 20)} }},
	{"answered 500", func(uint64) fault { return fault{wrong: apierrors.NewInternalError(errors.New("simulated"))} }},
	{"answered 504", func(uint64) fault { return fault{wrong: apierrors.NewTimeoutError("simulated", 1)} }},
	{"409", func(uint64) fault {
		return fault{refusal: apierrors.NewConflict(schema.GroupResource{}, "", errors.New("simulated"))}
	}},
	{"429", func(uint64) fault { return fault{refusal: apierrors.NewTooManyRequests("simulated", 1)} }},
	{"500", func(uint64) fault { return fault{refusal: apierrors.NewInternalError(errors.New("simulated"))} }},
	{"503", func(uint64) fault {
		return fault{refusal: apierrors.NewGenericServerResponse(
			http.StatusServiceUnavailable, "", schema.GroupResource{}, "", "simulated", 0, true)}
	}},
}

// seconds returns a time of up to some seconds.
func seconds(h uint64, most uint64) time.Duration {
	return time.Duration(h%(most*1000)) * time.Millisecond
}

// hash returns a number that depends on the seed and the name only.
func (w *World) hash(name string) uint64 {
	h := fnv.New64a()
	var seed [8]byte
	for i := range seed {
		seed[i] = byte(w.seed >> (8 * i))
	}
	h.Write(seed[:])
	h.Write([]byte(name))
	x := h.Sum64()
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	return x
}

// draw decides what goes wrong with a request.
func (w *World) draw(c *call) {
	if !w.faulty || w.skip[c.name] || w.fallInto(c) {
		return
	}
	h, limit, about := w.hash(c.name), w.rates.perMille, reads
	if c.request.Writes() {
		about = c.request.Kind()
		limit = w.limit(about)
	}
	if h%10_000 >= limit {
		return
	}
	h /= 10_000
	kind := faults[h%uint64(len(faults))]
	drawn := kind.make(h / uint64(len(faults)))
	drawn.kind = kind.kind
	w.inject(c, about, drawn)
}

// inject lets a fault happen to a request, which is counted with those about the same.
func (w *World) inject(c *call, about string, f fault) {
	c.fault = f
	w.Counts.Faults.Add(record.Table{f.kind: {about: 1}})
	w.injected = append(w.injected, c.name)
}

// common are the kinds of which a world has many writes, rare those of which it has few, and rarest
// those of which many worlds have one or none.
var (
	common = map[string]bool{
		"update leases": true, "create pods/binding": true, "patch pods": true, "patch pods/status": true, "patch applications/status": true,
		"patch propagationpolicies/status": true, "patch clusters/status": true, "patch clusterresources/status": true,
	}
	rare = []string{
		"create leases", "create propagationpolicies", "create schedulers", "patch clusters", "patch deployments",
		"patch feedinventories/status", "patch propagationpolicies", "patch subscriptions/status",
	}
	rarest = []string{
		"create feedinventories", "create pods/eviction", "delete propagationpolicies", "patch clusterresources", "patch schedulers",
		"update feedinventories", "update propagationpolicies",
	}
)

// beset returns the kinds of which nearly every write of the world meets with a fault, and with
// another one when it is tried again: one of those that are rare, and up to four of the rarest.
func (w *World) beset() map[string]bool {
	kinds := map[string]bool{rare[w.hash("a rare one is beset")%uint64(len(rare))]: true}
	for n := range 4 {
		kinds[rarest[w.hash(fmt.Sprintf("one of the rarest is beset: %d", n))%uint64(len(rarest))]] = true
	}
	return kinds
}

// limit returns how many of ten thousand writes of a kind something happens to. In one world of
// four that is every third, and of what is seldom written, which would meet with few faults
// otherwise, in one of two.
func (w *World) limit(kind string) uint64 {
	every := uint64(2)
	if common[kind] {
		every = 4
	}
	switch {
	case w.rates.perMille == 0:
		return 0
	case w.rates.beset[kind]:
		return 9_000
	case w.hash("many faults of "+kind)%every == 0, kind == "patch schedulers/status" && w.shakes():
		return max(3_333, w.rates.perMille*10)
	}
	return w.rates.perMille * 10
}

// latency is how long a message is on its way.
func (w *World) latency(name string) time.Duration {
	return time.Duration(w.hash(name)%5000) * time.Microsecond
}

// eventDelay is how long the next event of a watch is on its way, behind the last one.
func (w *World) eventDelay() time.Duration {
	if !w.faulty || w.rates.slowest == 0 || w.rng.IntN(200) > 0 {
		return 0
	}
	return time.Duration(w.rng.Int64N(int64(w.rates.slowest)))
}
