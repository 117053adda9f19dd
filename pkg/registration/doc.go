// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package registration reads and writes Clusters as the registration API of Global Resource
// Scheduler does: a cluster_profile in JSON, with the keys of that API. The gateway and berthctl
// share it.
//
// Decoding is lenient in the spelling of keys and strict in everything else. Keys are read in any
// case and with blanks around them, "ipAdrress" is read as "ipAddress" and "matchLables" as
// "matchLabels", because the published examples write them so. An unknown key, a missing value, a
// number that is no whole number, or two spellings of one key with different values are errors,
// which tell the line and the column. Whether the values make sense is left to the validation of
// the Cluster kind.
package registration

// MaxSize bounds an encoded profile, in bytes. It leaves room for every profile that the Cluster
// kind accepts, and an API server stores hardly larger objects.
const MaxSize = 1 << 20
