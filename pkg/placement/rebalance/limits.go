// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package rebalance

import (
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"
)

// Defaults of spec.rebalance, for policies that were stored without them.
const (
	// DefaultCooldown is the least time between two rounds.
	DefaultCooldown = 10 * time.Second
	// DefaultMinPodAge is how long a pod must have been running.
	DefaultMinPodAge = 30 * time.Second
	// defaultMaxUnavailablePercent is the part of the replicas that may be missing.
	defaultMaxUnavailablePercent = 25
)

const (
	// leastPause is the shortest pause after a round that changed nothing.
	leastPause = 10 * time.Second
	// longestPause bounds the pause after rounds that changed nothing.
	longestPause = time.Hour
)

// leastPatience is the shortest time after which a pod that finds no node is stuck.
const leastPatience = 10 * time.Second

// Patience returns how long a pod of a workload may be without a node before it is stuck: the
// workload is no longer kept as it is for it.
func Patience(minPodAge time.Duration) time.Duration {
	return max(minPodAge, leastPatience)
}

// MaxUnavailableOf returns how many of the replicas may be missing at once: the number, or the
// percentage of the replicas rounded down; at least 1. Nil, and what is neither a number nor a
// percentage, is the default of 25%.
func MaxUnavailableOf(value *intstr.IntOrString, replicas int) int {
	n := replicas * defaultMaxUnavailablePercent / 100
	if value != nil {
		if scaled, err := intstr.GetScaledValueFromIntOrPercent(value, replicas, false); err == nil {
			n = scaled
		}
	}
	return max(1, n)
}

// Pause returns the cool-down after a number of rounds in a row that left as many pods misplaced as
// before. Something that Berth does not know of brings the pods back then, so the cool-down doubles
// each time, up to an hour.
func Pause(cooldown time.Duration, fruitless int) time.Duration {
	if fruitless <= 0 {
		return cooldown
	}
	pause := max(cooldown, leastPause)
	for range fruitless {
		if pause *= 2; pause >= longestPause {
			return max(cooldown, longestPause)
		}
	}
	return pause
}
