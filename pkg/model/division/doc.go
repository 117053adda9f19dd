// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package division says what a Subscription is divided by, and which policies carry a division out.
package division
