// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package admit

// Succession is what a scheduler that has taken over from another one knows of the other pods of a
// pod's workload. Bindings which that one has sent may still arrive.
type Succession struct {
	// Held is the number of replicas that each cluster held at the take-over.
	Held []int32
	// Claimants is how many pods a late Binding may still bind, which had no node at the take-over.
	Claimants int
	// Missing is how many pods have been bound that are not among those that are counted.
	Missing int
}

// Contended reports whether somebody else may have the seat that the pod would get. A late Binding
// can only take seats that were free at the take-over. So a pod does not wait
//
//	if its controller numbers it       no other pod has its seat
//	if it is the only one that waits   a late Binding of the pod itself and a new one exclude each other
//	if no cluster had a free seat      what has become free since, no late Binding can take
//
// Say 2 of 5 replicas ran at the take-over and 3 waited: each waits until nothing can happen to the
// other two. Which seat a late Binding takes is written in it, so 2 seats cannot be kept free for
// them while the third is given away.
func (s *Succession) Contended(q *Question) bool {
	switch {
	case q.Seat >= 0:
		return false
	case s.Missing > 0:
		return true
	case s.Claimants == 0:
		return false
	case q.Plan == nil:
		return true
	}
	for cluster, held := range s.Held {
		if q.eligible(cluster) && q.Plan.Share(cluster) > int(held) {
			return true
		}
	}
	return false
}
