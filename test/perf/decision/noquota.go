// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build kubernetes_1_36 || kubernetes_1_37

package decision

// quotaPeers are none: there are no scheduler-plugins for this Kubernetes.
var quotaPeers []peer
