// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package application

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	schedulinghelpers "k8s.io/component-helpers/scheduling/corev1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/policy"
	"berth.dev/berth/pkg/model/stamp"
	"berth.dev/berth/pkg/model/workload"
	"berth.dev/berth/pkg/placement/migrate"
)

// observed is what a pass finds of an Application.
type observed struct {
	// policies are those of the Application, by name.
	policies map[string]*berthv1alpha1.PropagationPolicy
	// pods are the pods that these policies placed, and waiting those that ask for one of them and
	// have no node, both by policy. Astray are those that ask for one and have a node that no policy
	// has given them, since somebody has deleted the policy.
	pods            map[string]migrate.Pods
	waiting, astray map[string][]*corev1.Pod
	// live are the workloads with a number of replicas as the cache has them, by policy. Those that
	// are not there, and those of kinds that the cache does not have, are missing.
	live map[string]client.Object
	// ready and leaving are how many of the pods are ready, and how many are being deleted and have
	// not ended, by policy.
	ready, leaving map[string]int64
	// priority is the highest of the pods that have a node.
	priority int32
	// scaled are the numbers of replicas that the move has set that is under way, by policy.
	scaled map[string]*scaled
	// schedulers are the names of the schedulers whose pods count.
	schedulers []string
	// minReady is for how long a pod must be ready to be available, by policy. Next is when the next
	// pod becomes available, the zero time for none.
	minReady map[string]time.Duration
	now      time.Time
	next     time.Time
}

// read reads the policies of an Application, and their pods.
func read(
	ctx context.Context, reader client.Reader, app *berthv1alpha1.Application, objects []*object, schedulers []string, now time.Time,
) (*observed, error) {
	seen := &observed{
		schedulers: schedulers,
		policies:   map[string]*berthv1alpha1.PropagationPolicy{}, pods: map[string]migrate.Pods{},
		waiting: map[string][]*corev1.Pod{}, astray: map[string][]*corev1.Pod{},
		ready: map[string]int64{}, leaving: map[string]int64{}, minReady: map[string]time.Duration{}, now: now,
		live: map[string]client.Object{},
	}
	for _, o := range objects {
		seen.minReady[o.policy] = o.minReady
		if err := seen.readLive(ctx, reader, app, o); err != nil {
			return nil, err
		}
	}
	for name := range policiesOf(app, objects) {
		if err := seen.readPolicy(ctx, reader, app, name); err != nil {
			return nil, err
		}
	}
	return seen, nil
}

// cached returns the kind of an object that has a number of replicas, nil if it has none or the
// cache does not have such objects.
func (o *object) cached() *workload.Kind {
	if !o.scales {
		return nil
	}
	return workload.KindFor(o.GetAPIVersion(), o.GetKind())
}

// readLive reads a workload that has a number of replicas.
func (s *observed) readLive(ctx context.Context, reader client.Reader, app *berthv1alpha1.Application, o *object) error {
	kind := o.cached()
	if kind == nil {
		return nil
	}
	live := kind.NewObject()
	switch err := reader.Get(ctx, client.ObjectKey{Namespace: app.Namespace, Name: o.GetName()}, live); {
	case err == nil:
		s.live[o.policy] = live
	case !apierrors.IsNotFound(err):
		return fmt.Errorf("reading %s: %w", o, err)
	}
	return nil
}

// policiesOf returns the names that policies of an Application may have: those for its objects, and
// for what the status lists, which may not be in the spec any more.
func policiesOf(app *berthv1alpha1.Application, objects []*object) sets.Set[string] {
	names := sets.New[string]()
	for _, made := range app.Status.Objects {
		names.Insert(policy.NameForApplication(app.Name, made.Kind, made.Name))
	}
	for _, o := range objects {
		names.Delete(policy.NameForApplication(app.Name, o.GetKind(), o.GetName()))
	}
	for _, o := range objects {
		if o.policy != "" {
			names.Insert(o.policy)
		}
	}
	return names
}

// readPolicy reads a policy of an Application, if there is one of this name, and the pods that it
// places. They belong to the cache. Of one that somebody has deleted during a move the pods count.
func (s *observed) readPolicy(ctx context.Context, reader client.Reader, app *berthv1alpha1.Application, name string) error {
	found := &berthv1alpha1.PropagationPolicy{}
	err := reader.Get(ctx, client.ObjectKey{Namespace: app.Namespace, Name: name}, found)
	switch {
	case apierrors.IsNotFound(err):
		if app.Status.Move == nil {
			return nil
		}
	case err != nil:
		return fmt.Errorf("reading policy %s/%s: %w", app.Namespace, name, err)
	case !metav1.IsControlledBy(found, app):
		return nil
	default:
		s.policies[name] = found
	}
	s.pods[name] = migrate.Pods{}
	var pods corev1.PodList
	err = reader.List(ctx, &pods, client.InNamespace(app.Namespace), client.MatchingFields{podIndex: name}, client.UnsafeDisableDeepCopy)
	if err != nil {
		return fmt.Errorf("listing the pods of policy %s/%s: %w", app.Namespace, name, err)
	}
	for i := range pods.Items {
		s.count(&pods.Items[i])
	}
	return nil
}

// count counts a pod that a policy of the Application placed or is to place, unless it is being
// deleted or has ended. A pod of another scheduler may ask for a policy, too: it is no pod of the
// Application, whose templates name one of Berth's schedulers.
func (s *observed) count(pod *corev1.Pod) {
	of := policyOf(pod)
	if s.pods[of] == nil || workload.Finished(pod) {
		return
	}
	if !stamp.IsBerths(pod, s.schedulers) {
		return
	}
	placed, stamped := stamp.Of(pod)
	switch {
	case workload.Pending(pod):
		s.waiting[of] = append(s.waiting[of], pod)
		return
	case !workload.Lives(pod):
		s.leaving[of]++
		return
	case !stamped:
		s.astray[of] = append(s.astray[of], pod)
		return
	}
	s.priority = max(s.priority, schedulinghelpers.PodPriority(pod))
	if workload.Ready(pod) {
		s.ready[of]++
	}
	s.pods[of].Add(s.bound(pod, placed))
}

// bound returns what a pod that has a node counts as.
func (s *observed) bound(pod *corev1.Pod, placed stamp.Stamp) migrate.BoundPod {
	available := s.available(pod, placed.Policy)
	return migrate.BoundPod{
		Cluster: placed.Cluster, Ready: available, Warming: !available && workload.Ready(pod), OwnCost: !placed.OwnsDeletionCost(pod),
		DeletionCost: stamp.ParseDeletionCost(pod.Annotations[corev1.PodDeletionCost]),
	}
}

// available reports whether a pod has been ready for long enough.
func (s *observed) available(pod *corev1.Pod, policy string) bool {
	since, ready := workload.ReadySince(pod)
	if !ready || s.minReady[policy] == 0 {
		return ready
	}
	at := since.Add(s.minReady[policy])
	if !s.now.Before(at) {
		return true
	}
	if s.next.IsZero() || at.Before(s.next) {
		s.next = at
	}
	return false
}

// unschedulable returns since when the scheduler finds no node for some pod, the zero time if it
// finds one for each.
func (s *observed) unschedulable() (since time.Time) {
	for _, pod := range s.allWaiting() {
		if at := workload.UnschedulableSince(pod); !at.IsZero() && (since.IsZero() || at.Before(since)) {
			since = at
		}
	}
	return since
}

// allWaiting returns the pods without a node.
func (s *observed) allWaiting() (pods []*corev1.Pod) {
	for _, policy := range slices.Sorted(maps.Keys(s.waiting)) {
		pods = append(pods, s.waiting[policy]...)
	}
	return pods
}

// moving reports whether a workload of the Application is on its way to another cluster.
func (s *observed) moving() bool {
	for _, policy := range s.policies {
		if (&migrate.Situation{Policy: policy.Spec.Placement.StaticWeightList}).Moving() {
			return true
		}
	}
	return false
}
