// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package ui

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"berth.dev/berth/pkg/model/workload"
	"berth.dev/berth/pkg/ownership"
)

// lookUpOwners returns what confirms the references of pods to objects of operators' kinds, with
// the rights of the user, until the context ends. Changed is called when more is known.
func lookUpOwners(ctx context.Context, clients Clients, namespace string, changed func()) (workload.FurtherSource, error) {
	if clients.Config == nil {
		return workload.NotRead{}, nil
	}
	owners, err := ownership.NewForConfig(clients.Config, nil, ownership.Options{
		Rules: ownership.RulesOf(clients.Berth), Named: func(schema.GroupKind) bool { return false },
		Clock: clock.RealClock{}, Namespace: namespace, AtTheirWord: true,
	})
	if err != nil {
		return nil, err
	}
	owners.Listen(func(string, types.UID) { changed() })
	go owners.Run(ctx)
	return owners, nil
}
