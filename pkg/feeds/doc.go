// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package feeds tells of an object how many replicas it wants, what one replica needs of a cluster,
// and where in the object the number of replicas is written. An object that Berth is to spread over
// clusters is called a feed.
//
// A Registry knows how to read the kinds. Rules, which are data, come before parsers, which are Go
// code: BuiltIn returns those for the workloads of Kubernetes. An object of any other kind is no
// error; it wants no replicas, needs nothing and is copied whole.
//
// The package needs no cluster. Objects are the input of tenants: see package manifest for the
// bounds on what is read.
package feeds
