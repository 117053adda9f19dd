// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"bytes"
	"crypto/sha256"
	"maps"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/topology"
	"berth.dev/berth/pkg/placement/failover"
	"berth.dev/berth/pkg/placement/grouping"
)

const (
	// maxLeft bounds the clusters that one policy has left at a time, maxLeftNames those of them that
	// its status names. The schema allows no more.
	maxLeft, maxLeftNames = 1000, 50
	// digestBytes is what the status keeps of the hash of the name of any other: names of 63
	// characters would fill it.
	digestBytes = 8
)

type digest [digestBytes]byte

func digestOf(cluster string) digest {
	hash := sha256.Sum256([]byte(cluster))
	return digest(hash[:digestBytes])
}

// Left are the clusters that a policy has left because they are offline, as its status tells. The
// zero value is none.
type Left struct {
	named map[string]metav1.Time
	more  map[digest]bool
}

// LeftBy returns the clusters that a policy has left.
func LeftBy(status *berthv1alpha1.PropagationPolicyStatus) Left {
	l := Left{}
	if len(status.FailedOver) > 0 {
		l.named = make(map[string]metav1.Time, len(status.FailedOver))
	}
	for _, left := range status.FailedOver {
		l.named[left.Cluster] = left.Time
	}
	if len(status.FailedOverMore) > 0 {
		l.more = make(map[digest]bool, len(status.FailedOverMore)/digestBytes)
	}
	for rest := status.FailedOverMore; len(rest) >= digestBytes; rest = rest[digestBytes:] {
		l.more[digest(rest)] = true
	}
	return l
}

// Has reports whether a cluster was left.
func (l Left) Has(cluster string) bool {
	if _, named := l.named[cluster]; named || len(l.more) == 0 {
		return named
	}
	return l.more[digestOf(cluster)]
}

// Since returns when a cluster was left, if the status tells.
func (l Left) Since(cluster string) (since metav1.Time, told bool) {
	since, told = l.named[cluster]
	return since, told
}

// SetLeft writes into a status which clusters are left, and when they were: the first by name as
// far as the bounds allow.
func SetLeft(status *berthv1alpha1.PropagationPolicyStatus, left map[string]metav1.Time) {
	status.FailedOver, status.FailedOverMore = nil, nil
	names := slices.Sorted(maps.Keys(left))
	names = names[:min(len(names), maxLeft)]
	for i, name := range names {
		if i < maxLeftNames {
			status.FailedOver = append(status.FailedOver, berthv1alpha1.FailedOverCluster{Cluster: name, Time: left[name]})
			continue
		}
		is := digestOf(name)
		status.FailedOverMore = append(status.FailedOverMore, is[:]...)
	}
}

// Unsettled reports whether pods may have moved of late because clusters of a policy were offline:
// some are left, or may just have been returned to. Then pods that are fresh are not to move again.
// It returns after which time that is over if no cluster goes offline, 0 as long as one is left.
func Unsettled(object *berthv1alpha1.PropagationPolicy, clusters []*topology.Cluster, now time.Time) (unsettled bool, over time.Duration) {
	if object.Spec.Failover == nil {
		return false, 0
	}
	if len(object.Status.FailedOver) > 0 {
		return true, 0
	}
	rule := failover.Of(object.Spec.Failover)
	for _, c := range clusters {
		if c != nil {
			over = max(over, rule.MayHaveReturned(c.Object.Online(), c.Object.CreationTimestamp.Time, now))
		}
	}
	return over > 0, over
}

// leftNames returns the names of the clusters that a policy has left: those that the status does
// not name are found among the sites.
func leftNames(object *berthv1alpha1.PropagationPolicy, sites *grouping.Sites) []string {
	left := LeftBy(&object.Status)
	if len(left.more) > 0 {
		return sites.Named(left.Has)
	}
	return slices.Collect(maps.Keys(left.named))
}

// sameLeft reports whether two versions of a policy have left the same clusters.
func sameLeft(a, b *berthv1alpha1.PropagationPolicyStatus) bool {
	return bytes.Equal(a.FailedOverMore, b.FailedOverMore) &&
		slices.EqualFunc(a.FailedOver, b.FailedOver, func(x, y berthv1alpha1.FailedOverCluster) bool {
			return x.Cluster == y.Cluster
		})
}
