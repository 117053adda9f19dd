// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package clusterpolicy carries out ClusterPropagationPolicies: it keeps a PropagationPolicy for
// each in the namespaces that it selects, which the others carry out as any other, and sums up what
// these report. A policy of users that has the name of such a one is left alone and told.
package clusterpolicy
