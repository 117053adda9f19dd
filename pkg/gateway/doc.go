// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package gateway serves the registration API of Global Resource Scheduler over HTTP: it registers,
// lists, shows, changes and unregisters Clusters. It is a thin face of the Kubernetes API and keeps
// no state of its own but what saves requests, so any number of gateways may run at once.
//
// Who a caller is, and what the caller may do, is asked of the API server for each request:
// registering a cluster needs the right to create clusters.berth.dev, and so on. What a valid
// cluster is says the Cluster kind alone.
package gateway

import "time"

const (
	// pathPrefix begins the paths of all clusters.
	pathPrefix = "/globalscheduler/v1"

	// fieldManager is the name under which the API server notes what the gateway wrote.
	fieldManager = "berth-gateway"

	// maxPage bounds the clusters that are held at once, and those in an answer to a request with a
	// limit.
	maxPage = 500

	// maxChunks bounds how often the API server is asked for one page, of which few clusters may be
	// left when their fields are compared.
	maxChunks = 20

	// maxSelector bounds a label selector, in bytes.
	maxSelector = 4096

	// maxContinue bounds a continue token, in bytes.
	maxContinue = 4096

	// handlingTimeout bounds the work on a request once its body is there, which is mostly waiting
	// for the API server.
	handlingTimeout = 20 * time.Second

	// writeTimeout is how long a client may take to read an answer.
	writeTimeout = 10 * time.Second

	// retryAfter is what the header Retry-After says, in seconds.
	retryAfter = "1"
)
