// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package apiserver is a Kubernetes API server in memory, as far as clients see one: revisions like
// etcd's, preconditions of versions and UIDs, conflicts, subresources, selectors, watches with
// bookmarks, and versions that are too old to watch from. It speaks JSON.
//
// It answers nothing by itself: whoever simulates a world parses what clients send and calls Serve
// when the request is to be carried out, and takes from each Watch what is to be delivered next.
// Admission and access are left out. Custom resources get the defaults of their definitions, and
// are validated by them if that is wanted; other objects are not.
package apiserver
