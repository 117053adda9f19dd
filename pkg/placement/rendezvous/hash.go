// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package rendezvous

// HashVersion names the hash below. A scheduler's share of the clusters depends on it, so another
// hash needs another version and a migration.
const HashVersion = "v1"

// prefixHash is the state of a hash after the name of a scheduler.
type prefixHash uint64

const (
	fnvOffset = 14695981039346656037
	fnvPrime  = 1099511628211
)

// hashPrefix starts the hash of the pairs of one scheduler: FNV-1a over the name and a separator
// that no name contains.
func hashPrefix(scheduler string) prefixHash {
	// A zero byte leaves the state as it is before the multiplication.
	return prefixHash(fnv(fnvOffset, scheduler) * fnvPrime)
}

// with returns the hash of the pair. FNV alone leaves names that differ in the last letter side by
// side; the finaliser of splitmix64 spreads them.
func (p prefixHash) with(key string) uint64 {
	h := fnv(uint64(p), key)
	h ^= h >> 30
	h *= 0xbf58476d1ce4e5b9
	h ^= h >> 27
	h *= 0x94d049bb133111eb
	return h ^ h>>31
}

func fnv(h uint64, text string) uint64 {
	for i := range len(text) {
		h = (h ^ uint64(text[i])) * fnvPrime
	}
	return h
}

// Hash returns the hash of a pair, version HashVersion.
func Hash(scheduler, cluster string) uint64 {
	return hashPrefix(scheduler).with(cluster)
}
