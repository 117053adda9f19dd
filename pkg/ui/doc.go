// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package ui is the page in the browser: sites, pools, applications, waiting pods, and a page for
// each of them with its explanation, and what is wrong with Berth itself. It only reads, with the
// rights of whoever looks at it, and asks nobody but the API server and, if it is told of one, a
// Prometheus.
//
// A Source watches what a page shows. Pages are whole HTML documents that need no script; the
// script fetches the page anew whenever the Source has changed.
package ui
