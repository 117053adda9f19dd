// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package schemetest

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

// Indexer is a client.FieldIndexer that gives a fake client the indices that a cache would have.
type Indexer struct{ Builder *fake.ClientBuilder }

// IndexField implements client.FieldIndexer.
func (i Indexer) IndexField(_ context.Context, object client.Object, field string, extract client.IndexerFunc) error {
	i.Builder.WithIndex(object, field, extract)
	return nil
}
