// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package rank chooses the best place for something by labels, metrics and custom resources: the
// cluster of an application, the cloud of a cluster, the OpenStack project of a Magnum cluster. It
// has the rules of the Krake scheduler:
//
//   - A place is eligible if it is online and meets all constraints.
//   - Its score is the mean of its normalised metrics, weighted. Stickiness counts as one more
//     metric, worth its value where the application runs now and 0 elsewhere; its weight stands in
//     every denominator. A place without metrics has the product of value and weight of the
//     stickiness as its score.
//   - Places with metrics come before places without.
//   - Equal scores are ordered by a hash of the application's UID: applications spread, and each
//     answer can be repeated.
//
// Three rules are better than Krake's. Metric constraints compare the value that the provider gave,
// not its share of the score. A metric that fails does not move a running application: where it
// runs now keeps its last value, or if there never was one stays first. And everything is
// explained: each part of a score, and each reason why a place is out.
package rank
