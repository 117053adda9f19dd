// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package whatif

import (
	"context"
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/policy"
	"berth.dev/berth/pkg/model/workload"
	"berth.dev/berth/pkg/placement/migrate"
	"berth.dev/berth/pkg/placement/rank"
)

// need is what an object of an Application wants of the cluster where it is to run.
type need struct {
	id     id
	sample *corev1.Pod
	pods   int64
}

// nowhere is what an Application wants that no cluster suits, and why none does.
type nowhere struct {
	needs []need
	why   string
}

// choose returns the cluster for each Application, empty if none suits. What has been promised to
// one is not room for the next.
func (s *Simulation) choose(ctx context.Context, applications []*berthv1alpha1.Application) ([]string, error) {
	s.nowhere = nil
	observed := map[reference]*workload.Observed{}
	for _, o := range s.observe() {
		observed[reference{o.Namespace, o.Kind, o.Name}] = o
	}
	s.snapshot.Fork()
	defer s.snapshot.Revert()
	chosen := make([]string, len(applications))
	for i, app := range applications {
		needs, err := s.needsOf(ctx, app, observed)
		if err == nil {
			chosen[i], err = s.chooseCluster(ctx, app, needs, s.runsIn(app, needs, observed))
		}
		if err != nil {
			return nil, fmt.Errorf("application %s/%s: %w", app.Namespace, app.Name, err)
		}
	}
	return chosen, nil
}

// needsOf returns what the objects with pods want.
func (s *Simulation) needsOf(
	ctx context.Context, app *berthv1alpha1.Application, observed map[reference]*workload.Observed,
) ([]need, error) {
	var needs []need
	for i := range app.Spec.Manifests {
		decoded, err := Decode(app.Spec.Manifests[i].Raw, app.Namespace)
		if errors.Is(err, errUnknownKind) {
			continue // It makes no pods that are known of.
		}
		if err != nil {
			return nil, fmt.Errorf("manifests[%d]: %w", i, err)
		}
		typed, identity, err := identify(decoded)
		if err != nil {
			return nil, err
		}
		if !s.direct(typed, policy.NameForApplication(app.Name, identity.Kind, identity.Name)) {
			continue
		}
		o := observed[reference{identity.Namespace, identity.Kind, identity.Name}]
		if o != nil && app.Status.ObservedGeneration != app.Generation {
			o = nil // It is about to be changed.
		}
		n, err := s.needOf(ctx, identity, typed, o)
		if err != nil {
			return nil, fmt.Errorf("manifests[%d]: %w", i, err)
		}
		if n.sample != nil && n.pods > 0 {
			needs = append(needs, n)
		}
	}
	return needs, nil
}

// needOf returns what one object wants: as it is or, if it has not been observed, as it is to be.
func (s *Simulation) needOf(ctx context.Context, identity id, typed object, o *workload.Observed) (need, error) {
	n := need{id: identity, pods: 1}
	if o == nil {
		s.inherit(identity, typed, nil)
		stored, err := s.server.Create(ctx, typed)
		if err != nil {
			return n, err
		}
		if pod, is := stored.(*corev1.Pod); is {
			n.sample = pod
			pod.Annotations = workload.SampleAnnotations(pod.Annotations)
			return n, nil
		}
		made, _, err := identify(stored)
		if err != nil {
			return n, err
		}
		all := workload.Observe(&workload.Objects{Owners: []workload.Object{made}})
		if len(all) != 1 {
			return n, nil
		}
		o = all[0]
	}
	if o.ReplicasKnown {
		n.pods = int64(o.Replicas)
	}
	var err error
	n.sample, err = s.sampleOf(ctx, o)
	return n, err
}

// runsIn reports whether pods of an Application run in its cluster.
func (s *Simulation) runsIn(app *berthv1alpha1.Application, needs []need, observed map[reference]*workload.Observed) bool {
	for _, n := range needs {
		if o := observed[reference{n.id.Namespace, n.id.Kind, n.id.Name}]; o != nil && s.sharesOf(o)[place{cluster: app.Status.ScheduledTo}] > 0 {
			return true
		}
	}
	return false
}

// chooseCluster returns the cluster for an Application, empty if none suits, and takes the room
// that its pods are to have there. It has room where it runs.
func (s *Simulation) chooseCluster(ctx context.Context, app *berthv1alpha1.Application, needs []need, runs bool) (string, error) {
	current := app.Status.ScheduledTo
	constraints, err := rank.ParseConstraints(&app.Spec.Constraints)
	if err != nil {
		if current == "" {
			s.nowhere = append(s.nowhere, nowhere{needs, err.Error()})
		}
		return current, nil
	}
	clusters := kept[*berthv1alpha1.Cluster](s)
	candidates := make([]rank.Candidate, len(clusters))
	for i, cluster := range clusters {
		candidates[i] = rank.ApplicationCandidate(cluster, app)
	}
	query := rank.ApplicationQuery(app, constraints, rank.DefaultStickiness)
	var failure error
	results := query.Require(rank.Room{
		Anyway:  app.Spec.WhenUnsatisfiable == berthv1alpha1.ScheduleAnyway,
		Further: func(string) bool { return current == "" },
		Lacks: func(cluster string) (lack string) {
			if failure == nil && (cluster != current || !runs) {
				s.snapshot.Fork()
				defer s.snapshot.Revert()
				lack, failure = s.take(ctx, cluster, needs)
			}
			return lack
		},
	}, rank.Rank(query, candidates))
	chosen := migrate.Choose(migrate.Application{Current: current, Never: app.Spec.Migration == berthv1alpha1.MigrationNever}, results)
	switch {
	case failure != nil:
	case chosen == "":
		s.nowhere = append(s.nowhere, nowhere{needs, rank.Unmatched(results)})
	case chosen != current:
		_, failure = s.take(ctx, chosen, needs)
	}
	return chosen, failure
}

// take places what an Application wants in a cluster, and says what does not fit.
func (s *Simulation) take(ctx context.Context, cluster string, needs []need) (string, error) {
	for _, n := range needs {
		lack, err := s.snapshot.Take(ctx, cluster, strings.ToLower(n.id.Kind)+" "+n.id.Name, n.sample, 0, n.pods)
		if err != nil || lack != "" {
			return lack, err
		}
	}
	return "", nil
}

// unscheduled returns the workloads that are not made because no cluster suits their Application,
// but for those that are there.
func (s *Simulation) unscheduled(there map[reference]bool) []Workload {
	var found []Workload
	for _, app := range s.nowhere {
		for _, n := range app.needs {
			if there[reference{n.id.Namespace, n.id.Kind, n.id.Name}] {
				continue
			}
			found = append(found, Workload{
				Namespace: n.id.Namespace, Kind: n.id.Kind, Name: n.id.Name, Replicas: new(int32(n.pods)), Clusters: []ClusterPods{},
				Waiting: []Waiting{{Pods: int(n.pods), Reason: app.why}},
			})
		}
	}
	return found
}
