// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package localplane runs a whole Kubernetes control plane on one machine:
// etcd, kube-apiserver, kube-controller-manager and kwok, each a child process
// on the loopback interface. It serves the playground, the demo and the
// integration tests, so that all of them see the same cluster.
//
// A control plane owns one state directory (mode 0700). Everything in it,
// certificates included, is made anew for each run, and the private key of the
// certificate authority never leaves the memory of the parent. Children die
// with their parent: on Linux by a parent-death signal, elsewhere by Stop.
//
// There is no kubelet. Nodes that carry the annotation NodeAnnotation are
// driven by kwok: they become Ready, their pods run as soon as they are bound,
// pods of Jobs complete, deleted pods go away. The node lifecycle controller
// and the admission plugin TaintNodesByCondition are off, because both wait for
// a kubelet's heartbeat.
//
// It is not meant for production: etcd does not sync its writes to disk.
package localplane
