// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build kubernetes_1_36

package minor

import (
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/kubernetes/pkg/scheduler"
)

// Minor is the number of the minor.
const Minor = 36

// SharedLister has what plugins ask a snapshot for beside nodes and volumes: no groups of pods. It
// is for types to embed.
type SharedLister struct{ groups }

// NewInformerFactory returns the informers that a scheduler needs.
func NewInformerFactory(client kubernetes.Interface) informers.SharedInformerFactory {
	return scheduler.NewInformerFactory(client, 0)
}
