// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"context"
	"net/http"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/lru"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	berthclient "berth.dev/berth/pkg/generated/clientset/versioned/typed/berth/v1alpha1"
)

const (
	// knownIDs bounds the ids whose names are remembered.
	knownIDs = 100_000

	// parallelScans bounds how many requests at once search all clusters for an id.
	parallelScans = 2
)

// lookup finds clusters. The API server finds them by name only, so it remembers the names of ids.
// Such a memory is never wrong: an id is given once and the name of a cluster does not change, so
// if the name has another id now, or is free, the id is gone for good. It is safe for concurrent
// use.
type lookup struct {
	clusters berthclient.ClusterInterface
	names    *lru.Cache
	scans    chan struct{}
}

func newLookup(clusters berthclient.ClusterInterface) *lookup {
	return &lookup{clusters: clusters, names: lru.New(knownIDs), scans: make(chan struct{}, parallelScans)}
}

func (l *lookup) remember(cluster *berthv1alpha1.Cluster) {
	l.names.Add(string(cluster.UID), cluster.Name)
}

// byName returns the named cluster.
func (l *lookup) byName(ctx context.Context, name string) (*berthv1alpha1.Cluster, error) {
	cluster, err := l.clusters.Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	l.remember(cluster)
	return cluster, nil
}

// byID returns the cluster with an id.
func (l *lookup) byID(ctx context.Context, id string) (*berthv1alpha1.Cluster, error) {
	id = strings.ToLower(id)
	name, err := l.nameOf(ctx, id)
	if err != nil {
		return nil, err
	}
	cluster, err := l.byName(ctx, name)
	if err != nil {
		if problemOf(err).Code == CodeNotFound {
			return nil, noSuchID(id)
		}
		return nil, err
	}
	if string(cluster.UID) != id {
		return nil, noSuchID(id)
	}
	return cluster, nil
}

func noSuchID(id string) *Problem {
	return problem(http.StatusNotFound, CodeNotFound, "there is no cluster with the cluster_id %q", id)
}

func (l *lookup) nameOf(ctx context.Context, id string) (string, error) {
	if name, found := l.remembered(id); found {
		return name, nil
	}
	select {
	case l.scans <- struct{}{}:
		defer func() { <-l.scans }()
	case <-ctx.Done():
		return "", unavailable(ctx.Err())
	}
	return l.scan(ctx, id)
}

func (l *lookup) remembered(id string) (string, bool) {
	found, ok := l.names.Get(id)
	name, isText := found.(string)
	return name, ok && isText
}

// scan goes through all clusters. It begins after the request did, so it sees whatever was
// registered before.
func (l *lookup) scan(ctx context.Context, id string) (string, error) {
	options := metav1.ListOptions{Limit: maxPage}
	for {
		page, err := l.clusters.List(ctx, options)
		if err != nil {
			return "", err
		}
		for i := range page.Items {
			l.remember(&page.Items[i])
			if string(page.Items[i].UID) == id {
				return page.Items[i].Name, nil
			}
		}
		if options.Continue = page.Continue; options.Continue == "" {
			return "", noSuchID(id)
		}
	}
}
