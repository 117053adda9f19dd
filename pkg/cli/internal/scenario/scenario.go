// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package scenario reads a file that describes clusters, metrics and applications, and ranks the
// clusters for each application as the controllers would. Providers are not asked: fixed values are
// taken from the file, and for all others the values that stand in the status of the clusters.
package scenario

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/feeds/manifest"
	"berth.dev/berth/pkg/placement/rank"
)

// Scenario is what a file describes.
type Scenario struct {
	clusters     []*berthv1alpha1.Cluster
	applications []application
	metrics      map[key]*berthv1alpha1.MetricSpec
	providers    map[key]*berthv1alpha1.MetricsProviderSpec
}

// application is an Application with its constraints read.
type application struct {
	*berthv1alpha1.Application
	constraints rank.Constraints
}

// key names a metric or provider. The namespace of global ones is empty.
type key struct{ namespace, name string }

// keyOf returns the key under which a reference finds an object. Krake's names may have
// underscores, for which names of Kubernetes objects have hyphens.
func keyOf(namespace, name string) key {
	return key{namespace, strings.ReplaceAll(name, "_", "-")}
}

// defaultNamespace is where objects are that name no namespace.
const defaultNamespace = "default"

// Read reads a file. An error says in one line which document is wrong, and why.
func Read(raw []byte) (*Scenario, error) {
	documents, err := manifest.ReadAll(raw)
	if err != nil {
		return nil, err
	}
	s := &Scenario{
		metrics:   map[key]*berthv1alpha1.MetricSpec{},
		providers: map[key]*berthv1alpha1.MetricsProviderSpec{},
	}
	seen := map[string]string{}
	for _, document := range documents {
		d, err := decode(document.Raw)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", document.Place, err)
		}
		place := fmt.Sprintf("%s: %s %.253q", document.Place, d.kind, d.meta.Name)
		identity := fmt.Sprintf("%s %v", d.kind, keyOf(d.meta.Namespace, d.meta.Name))
		if other, twice := seen[identity]; twice {
			return nil, fmt.Errorf("%s is already in %s", place, other)
		}
		seen[identity] = document.Place
		if err := s.add(d); err != nil {
			return nil, fmt.Errorf("%s: %w", place, err)
		}
	}
	if len(s.applications) == 0 {
		return nil, errors.New("there is no Application in it")
	}
	return s, nil
}

// Ranking is what became of the clusters, for one application.
type Ranking struct {
	// Application is the application.
	Application *berthv1alpha1.Application
	// Results are the clusters, the best one first.
	Results []rank.Ranked
}

// Rank ranks the clusters for each application, in the order of the file. The stickiness is that of
// applications that set none.
func (s *Scenario) Rank(sticky rank.Stickiness) []Ranking {
	for _, cluster := range s.clusters {
		s.sample(cluster)
	}
	rankings := make([]Ranking, 0, len(s.applications))
	for _, a := range s.applications {
		candidates := make([]rank.Candidate, 0, len(s.clusters))
		for _, cluster := range s.clusters {
			candidates = append(candidates, rank.ApplicationCandidate(cluster, a.Application))
		}
		query := rank.ApplicationQuery(a.Application, a.constraints, sticky)
		query.UID = cmp.Or(query.UID, a.Namespace+"/"+a.Name)
		rankings = append(rankings, Ranking{Application: a.Application, Results: rank.Rank(query, candidates)})
	}
	return rankings
}
