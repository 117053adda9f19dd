// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package ownership

// Patience is how long a pod waits for its owners.
const Patience = patience

// New is newDirectory.
var New = newDirectory

// MaxRead is how many kinds a Reader lists.
const MaxRead = maxRead

// NewReaderOf is newReader.
var NewReaderOf = newReader

// FreshKind is how long what is known of a kind counts.
const FreshKind = freshKind

// MaxFollowed is how many kinds are followed.
const MaxFollowed = maxFollowed
