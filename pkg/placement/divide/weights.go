// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package divide

import (
	"fmt"

	"k8s.io/apimachinery/pkg/labels"

	"berth.dev/berth/pkg/placement/apportion"
)

// Subscriber gives weight to the clusters that it selects: each of them gets all of it.
type Subscriber struct {
	// Selector selects clusters by their labels.
	Selector labels.Selector

	// Weight is not negative.
	Weight int64
}

// Weights returns for each cluster, given by its labels, the sum of the weights of all subscribers
// that select it, and whether any does: a cluster can be selected with weight 0. It fails if a
// weight is negative or a sum exceeds apportion.MaxWeight.
func Weights(clusters []labels.Set, subscribers []Subscriber) (weights []int64, selected []bool, err error) {
	weights, selected = make([]int64, len(clusters)), make([]bool, len(clusters))
	for n, subscriber := range subscribers {
		if subscriber.Weight < 0 || subscriber.Weight > apportion.MaxWeight {
			return nil, nil, fmt.Errorf("subscriber %d: weight %d is not in the range [0, %d]",
				n, subscriber.Weight, apportion.MaxWeight)
		}
		for i := range clusters {
			if !subscriber.Selector.Matches(clusters[i]) {
				continue
			}
			selected[i] = true
			if weights[i] += subscriber.Weight; weights[i] > apportion.MaxWeight {
				return nil, nil, fmt.Errorf("subscriber %d: the weights of a cluster add up to more than %d", n, apportion.MaxWeight)
			}
		}
	}
	return weights, selected, nil
}
