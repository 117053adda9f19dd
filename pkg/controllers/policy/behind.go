// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"context"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/stamp"
)

// clusterOf returns the name of the Cluster that a pod counts in. The scheduler may have known more than this process does: the caches of
// pods, nodes and Clusters fill one by one, the more so after the API server could not be reached. So the stamp counts if its Cluster,
// one of the policy, exists and has not been heard of yet, as it does if the node has not been: without its seat the pod would be the
// first that goes when its workload shrinks. Given is the stamp of the pod, empty if it has none.
func (a *assessor) clusterOf(in *inForce, pod *corev1.Pod, given stamp.Stamp) string {
	name := a.snapshot.ClusterOf(pod)
	if given.Cluster == "" || given.Cluster == name {
		return name
	}
	if _, named := in.order.Index(given.Cluster); named && a.snapshot.Cluster(given.Cluster) == nil && a.unheard(given.Cluster) {
		return given.Cluster
	}
	return name
}

const (
	// lookupAgain is how long it is taken for granted that a Cluster exists, or that it does not.
	lookupAgain = time.Second

	// failedLookupAgain is how long nothing is looked up after that has failed.
	failedLookupAgain = 10 * time.Second
)

// lookups remembers whether Clusters exist that are not in the cache, for all namespaces, so that the API server is seldom asked. It is
// safe for concurrent use.
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

// recall returns what is remembered, and until when it is worth nothing to ask again. Whoever cannot tell must not say that a Cluster
// is gone.
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

// lookUp returns a function that says whether a Cluster that is not in the cache exists, and that asks for another pass if it may.
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
			p.again(a.until.Sub(p.now))
		}
		return a.exists
	}
}
