// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build deps

// Package deps keeps in go.mod what hack/build.sh builds and no package here imports: the control
// plane of the playground and of the integration tests. Programs cannot be imported, so it names
// the packages their mains consist of.
package deps

import (
	_ "go.etcd.io/etcd/server/v3/etcdmain"
	_ "k8s.io/kubernetes/cmd/kube-apiserver/app"
	_ "k8s.io/kubernetes/cmd/kube-controller-manager/app"
)
