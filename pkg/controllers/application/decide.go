// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package application

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/placement/rank"
)

// decide reviews the choice of the cluster if it is time to.
func (p *pass) decide(ctx context.Context) error {
	changed := p.app.Generation != p.app.Status.ObservedGeneration
	after := p.rescheduleAfter()
	if wait := after - p.now.Sub(p.decidedAt()); !changed && p.app.Status.ScheduledTo != "" && wait > 0 {
		p.again(wait)
		return nil
	}
	defer p.again(after)
	constraints, err := rank.ParseConstraints(&p.app.Spec.Constraints)
	if err != nil {
		p.settle(changed)
		p.condition(berthv1alpha1.ApplicationScheduled, false, berthv1alpha1.ReasonInvalidConstraints, err.Error())
		return nil
	}
	candidates, err := p.candidates.list(ctx, p.Client, p.app)
	if err != nil {
		return err
	}
	results := rank.Rank(&rank.Request{
		UID: string(p.app.UID), Current: p.app.Status.ScheduledTo, Constraints: constraints,
		Stickiness: rank.ApplicationStickiness(p.app.Spec.Stickiness, p.Stickiness),
	}, candidates)
	p.choose(results, changed)
	return nil
}

// decidedAt is when the choice was last reviewed, as far as that is known: events do not change it.
func (p *pass) decidedAt() time.Time {
	at := p.decided
	if triggered := p.app.Status.KubeControllerTriggered; triggered != nil && triggered.After(at) {
		at = triggered.Time
	}
	return at
}

func (p *pass) rescheduleAfter() time.Duration {
	if own := p.app.Spec.RescheduleAfter; own != nil && own.Duration > 0 {
		return own.Duration
	}
	return p.RescheduleAfter
}

// settle remembers that a decision was made. A changed spec has been decided about for good.
func (p *pass) settle(changed bool) {
	p.decided = p.now
	p.app.Status.ObservedGeneration = p.app.Generation
	if changed && p.app.Status.ScheduledTo != "" {
		p.app.Status.KubeControllerTriggered = p.time()
	}
}

func (p *pass) time() *metav1.Time {
	t := metav1.NewTime(p.now).Rfc3339Copy()
	return &t
}

// choose writes the decision into the status.
func (p *pass) choose(results []rank.Result, changed bool) {
	status := &p.app.Status
	before := status.ScheduledTo
	chosen := p.best(results)
	status.ScheduledTo = chosen
	p.settle(changed)
	if chosen != before {
		status.Scheduled, status.KubeControllerTriggered = p.time(), p.time()
		p.tellChoice(before, chosen)
	}
	i := slices.IndexFunc(results, func(r rank.Result) bool { return r.Name == chosen })
	switch {
	case i >= 0 && results[i].Eligible:
		p.condition(berthv1alpha1.ApplicationScheduled, true, berthv1alpha1.ReasonClusterChosen, scheduledMessage(&results[i]))
	case chosen == "" || !slices.ContainsFunc(results, func(r rank.Result) bool { return r.Eligible }):
		p.condition(berthv1alpha1.ApplicationScheduled, false, berthv1alpha1.ReasonNoClusterMatches, unmatched(results))
	default:
		p.condition(berthv1alpha1.ApplicationScheduled, false, berthv1alpha1.ReasonNoClusterMatches,
			fmt.Sprintf("cluster %s does not suit any more, and migration is Never", chosen))
	}
	if ranking := places(results); !alike(status.Ranking, ranking) {
		status.Ranking = ranking
		if i >= 0 && results[i].Eligible {
			score := results[i].Score
			status.Score = &score
		}
	}
}

// best returns the cluster where the Application should be. It stays while nothing suits, and while it is on its way.
func (p *pass) best(results []rank.Result) string {
	current := p.app.Status.ScheduledTo
	if len(results) == 0 || !results[0].Eligible {
		return current
	}
	if current == "" {
		return results[0].Name
	}
	if p.app.Spec.Migration == berthv1alpha1.MigrationNever {
		return current
	}
	suits := slices.ContainsFunc(results, func(r rank.Result) bool { return r.Name == current && r.Eligible })
	if suits && p.migrating() {
		return current
	}
	return results[0].Name
}

// migrating says whether some policy still names more than one cluster.
func (p *pass) migrating() bool {
	for _, policy := range p.policies {
		if len(clustersOf(policy)) > 1 {
			return true
		}
	}
	return false
}

func scheduledMessage(r *rank.Result) string {
	message := fmt.Sprintf("cluster %s meets the constraints, and no other one is better by more than the stickiness", r.Name)
	if len(r.Problems) > 0 {
		message += "; " + strings.Join(r.Problems, "; ")
	}
	return message
}

func unmatched(results []rank.Result) string {
	if len(results) == 0 {
		return "there are no Clusters"
	}
	return "no cluster matches: " + rank.Summarize(results)
}

func (p *pass) tellChoice(before, chosen string) {
	if before == "" {
		p.Recorder.Eventf(p.app, nil, corev1.EventTypeNormal, "Scheduled", "Schedule", "Chose cluster %s", chosen)
		return
	}
	p.Recorder.Eventf(p.app, nil, corev1.EventTypeNormal, "Rescheduled", "Schedule", "Chose cluster %s instead of %s", chosen, before)
}

// maxRanking is how many clusters the status tells of.
const maxRanking = 20

func places(results []rank.Result) []berthv1alpha1.RankedPlace {
	ranking := make([]berthv1alpha1.RankedPlace, 0, min(len(results), maxRanking))
	for i := range results[:min(len(results), maxRanking)] {
		r := &results[i]
		place := berthv1alpha1.RankedPlace{
			Name: r.Name, Eligible: r.Eligible, Score: r.Score, Reasons: slices.Concat(r.Rejections, r.Problems),
		}
		for _, part := range r.Parts {
			place.Parts = append(place.Parts, berthv1alpha1.ScorePart(part))
		}
		ranking = append(ranking, place)
	}
	return ranking
}

// noticeable is the least difference of scores that is written.
const noticeable = 0.005

// alike says whether two rankings differ in nothing but small parts of scores, which are not worth a write.
func alike(a, b []berthv1alpha1.RankedPlace) bool {
	return slices.EqualFunc(a, b, func(x, y berthv1alpha1.RankedPlace) bool {
		return x.Name == y.Name && x.Eligible == y.Eligible && slices.Equal(x.Reasons, y.Reasons) &&
			math.Abs(x.Score-y.Score) < noticeable &&
			slices.EqualFunc(x.Parts, y.Parts, func(p, q berthv1alpha1.ScorePart) bool {
				return p.Name == q.Name && p.Weight == q.Weight && math.Abs(p.Value-q.Value) < noticeable
			})
	})
}

// candidates remembers the Clusters as candidates, because hundreds of Applications ask for the same ones. It is safe for
// concurrent use.
type candidates struct {
	mu    sync.Mutex
	known map[string]*known
}

type known struct {
	resourceVersion string
	byNamespace     map[string]rank.Candidate
}

// list returns all Clusters as candidates for an Application.
func (c *candidates) list(ctx context.Context, reader client.Reader, app *berthv1alpha1.Application) ([]rank.Candidate, error) {
	var list berthv1alpha1.ClusterList
	if err := reader.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("listing clusters: %w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known == nil || len(c.known) > 2*len(list.Items)+maxRanking {
		c.known = map[string]*known{} // Most of them are gone.
	}
	found := make([]rank.Candidate, len(list.Items))
	for i := range list.Items {
		found[i] = c.of(&list.Items[i], app.Namespace)
		if found[i].Name == app.Status.ScheduledTo {
			found[i].LastScore = app.Status.Score
		}
	}
	return found, nil
}

func (c *candidates) of(cluster *berthv1alpha1.Cluster, namespace string) rank.Candidate {
	entry := c.known[cluster.Name]
	if entry == nil || entry.resourceVersion != cluster.ResourceVersion {
		entry = &known{cluster.ResourceVersion, map[string]rank.Candidate{}}
		c.known[cluster.Name] = entry
	}
	if !slices.ContainsFunc(cluster.Spec.Metrics, func(m berthv1alpha1.MetricReference) bool { return m.Namespace != "" }) {
		namespace = "" // It looks the same from all of them.
	}
	candidate, found := entry.byNamespace[namespace]
	if !found {
		candidate = rank.ClusterCandidate(cluster, namespace)
		entry.byNamespace[namespace] = candidate
	}
	return candidate
}
