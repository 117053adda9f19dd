// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package explain works out why something is as it is, from the objects that an API server has and
// with the code that decides. It reads nothing itself and changes nothing: the commands of berthctl
// and the page in the browser give it what they have read, and show what it says.
package explain
