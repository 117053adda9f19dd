// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package report

// Ratios returns how many times as much as the base the samples are, round by round.
var Ratios = ratios
