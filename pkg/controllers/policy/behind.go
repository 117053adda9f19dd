// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"context"
	"sync"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

const (
	// lookupAgain is how long it is taken for granted that a Cluster exists, or that it does not.
	lookupAgain = time.Second

	// failedLookupAgain is how long nothing is looked up after that has failed.
	failedLookupAgain = 10 * time.Second
)

// lookups remembers whether Clusters exist that are not in the cache, for all namespaces, so that
// the API server is seldom asked. It is safe for concurrent use.
type lookups struct {
	mu      sync.Mutex
	answers map[string]answer
	// failed is until when the API server is not asked, because it has not answered.
	failed time.Time
}

type answer struct {
	exists bool
	until  time.Time
}

// recall returns what is remembered, and until when it is worth nothing to ask again. While the API
// server does not answer, a Cluster counts as one that exists.
func (l *lookups) recall(cluster string, now time.Time) (a answer, known bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now.Before(l.failed) {
		return answer{exists: true, until: l.failed}, true
	}
	a, known = l.answers[cluster]
	return a, known && now.Before(a.until)
}

// note remembers the answer of the API server, and forgets those that are out of date.
func (l *lookups) note(cluster string, exists bool, err error, now time.Time) answer {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		l.failed = now.Add(failedLookupAgain)
		return answer{exists: true, until: l.failed}
	}
	for name, a := range l.answers {
		if !now.Before(a.until) {
			delete(l.answers, name)
		}
	}
	if l.answers == nil {
		l.answers = map[string]answer{}
	}
	l.answers[cluster] = answer{exists: exists, until: now.Add(lookupAgain)}
	return l.answers[cluster]
}

// lookUp returns a function that reports whether a Cluster that is not in the cache exists, and
// that asks for another pass if it may.
func (p *pass) lookUp(ctx context.Context) func(cluster string) bool {
	return func(cluster string) bool {
		a, known := p.lookups.recall(cluster, p.now)
		if !known {
			var list berthv1alpha1.ClusterList
			err := p.Live.List(ctx, &list, client.MatchingFields{"metadata.name": cluster})
			if err != nil {
				p.logger.V(2).Info("A Cluster that pods were placed in cannot be looked up", "cluster", cluster, "reason", err.Error())
			}
			a = p.lookups.note(cluster, len(list.Items) > 0, err, p.now)
		}
		if a.exists {
			p.requeueAfter(a.until.Sub(p.now))
		}
		return a.exists
	}
}
