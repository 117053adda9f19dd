// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package homescheduler

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	fwk "k8s.io/kube-scheduler/framework"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/plugins/internal/catalog"
	"berth.dev/berth/pkg/plugins/internal/ledger"
)

// What others bound to the nodes of a cluster before it came to this scheduler may not be in the
// snapshot yet, and pods that are not in the snapshot are not counted. So a cluster is adopted
// before anything is placed there:
//
//	state     what is known                   next state, and what leads there
//	due       the catalog has the binding     adopting: the API server confirms the binding, and
//	          (toAdopt)                       lists the pods (adopt)
//	adopting  the pods that the snapshot      adopted: a cycle's snapshot has all of them
//	          must have                       (completeAdoptions)
//	behind    a cycle's snapshot lacked some  adopting: those that are gone are dropped (recheck)
//	          of them
//	adopted   the snapshot has what others    due: the binding or the cluster is another one
//	          bound                           (forgetLocked)
//
// A cluster that is drained or bound to another scheduler leaves every state at once.

// adoption is a cluster that is being adopted.
type adoption struct {
	home catalog.Home
	// expected are the pods that the snapshot must have.
	expected []expectedPod
	// behind is true if the snapshot lacked one of them.
	behind bool
}

type expectedPod struct {
	ref  ledger.PodRef
	node string
}

const (
	// recheckPause is the time for the snapshot to catch up before the API server is asked whether
	// the pods that it lacks still exist, and recheckedPods is how many are asked for at a time.
	recheckPause  = time.Second
	recheckedPods = 100
	// wakePause is the least time between two wake-ups of the waiting pods, of which there may be
	// thousands, while clusters are being adopted.
	wakePause = 500 * time.Millisecond
	// adoptPause is the least pause after an attempt to adopt that failed. It lasts as long as the
	// attempt, if that was longer.
	adoptPause = time.Second
)

// completeAdoptions adopts the clusters all of whose pods the snapshot has, and returns a number
// that changes whenever it adopts some.
func (s *Shared) completeAdoptions(homes *catalog.Homes, lister fwk.SharedLister) int64 {
	maps.DeleteFunc(s.adopting, func(name string, a *adoption) bool {
		h := homes.Clusters[name]
		h.Draining = false
		return h != a.home
	})
	for name, a := range s.adopting {
		a.expected = slices.DeleteFunc(a.expected, func(e expectedPod) bool { return has(lister, e) })
		if len(a.expected) > 0 {
			a.behind = true
			continue
		}
		delete(s.adopting, name)
		s.adopted[name] = a.home
		s.set.adoption++
		s.set.homes = nil
	}
	return s.set.adoption
}

// forgetLocked forgets in which state clusters were adopted that are in another one. It is called
// before it is acknowledged that one is given up. The caller holds the lock.
func (s *Shared) forgetLocked(homes *catalog.Homes) {
	maps.DeleteFunc(s.adopted, func(name string, home catalog.Home) bool { return homes.Clusters[name] != home })
}

func has(lister fwk.SharedLister, e expectedPod) bool {
	info, err := lister.NodeInfos().Get(e.node)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(info.GetPods(), func(p fwk.PodInfo) bool { return p.GetPod().UID == e.ref.UID })
}

// toAdopt returns the clusters that are due, with their bindings.
func (s *Shared) toAdopt(homes *catalog.Homes) map[string]catalog.Home {
	s.mu.Lock()
	defer s.mu.Unlock()
	var due map[string]catalog.Home
	for name, h := range homes.Clusters {
		if h.Scheduler != s.Self || h.Draining || s.adopted[name] == h {
			continue
		}
		if a := s.adopting[name]; a != nil && a.home == h {
			continue
		}
		if due == nil {
			due = map[string]catalog.Home{}
		}
		due[name] = h
	}
	return due
}

// wakeDue reports whether the waiting pods are to be tried: clusters have been adopted since the
// last call, so pods may have found no node meanwhile; or some are being adopted, and only a
// scheduling cycle, of whatever pod, can look into the snapshot.
func (s *Shared) wakeDue(now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	news := s.woken != s.set.adoption
	if !news && (len(s.adopting) == 0 || now.Before(s.wakeAgain)) {
		return false
	}
	s.woken, s.wakeAgain = s.set.adoption, now.Add(wakePause)
	return true
}

const adoptionPage = 500

// adopt reads from the API server itself that the bindings are still what they seem, and which pods
// are on the nodes.
func (s *Shared) adopt(ctx context.Context, b *Background, due map[string]catalog.Home) error {
	if err := s.confirm(ctx, b, due); err != nil {
		return err
	}
	if len(due) == 0 {
		return nil
	}
	found := make(map[string]*adoption, len(due))
	for name, home := range due {
		found[name] = &adoption{home: home}
	}
	options := metav1.ListOptions{FieldSelector: "spec.nodeName!=,status.phase!=Succeeded,status.phase!=Failed", Limit: adoptionPage}
	for {
		list, err := page(ctx, b.Client, options)
		var expired apierrors.APIStatus
		if apierrors.IsResourceExpired(err) && errors.As(err, &expired) && expired.Status().Continue != "" {
			// The rest as it is now will do: nobody else binds pods there any more.
			options.Continue = expired.Status().Continue
			continue
		}
		if err != nil {
			return fmt.Errorf("listing pods: %w", err)
		}
		for i := range list.Items {
			s.expect(&list.Items[i], b, found)
		}
		if options.Continue = list.Continue; options.Continue == "" {
			break
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.Copy(s.adopting, found)
	return nil
}

// page reads some pods. Each page has its own time: all pods of thousands of nodes take long.
func page(ctx context.Context, client kubernetes.Interface, options metav1.ListOptions) (*corev1.PodList, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	return client.CoreV1().Pods(metav1.NamespaceAll).List(ctx, options)
}

// recheck drops what the snapshot lacks because it has gone since it was read.
func (s *Shared) recheck(ctx context.Context, b *Background) {
	for name, pods := range s.missing() {
		for _, e := range pods {
			if !s.gone(ctx, b, name, e) {
				continue
			}
			s.mu.Lock()
			if a := s.adopting[name]; a != nil {
				a.expected = slices.DeleteFunc(a.expected, func(other expectedPod) bool { return other == e })
			}
			s.mu.Unlock()
		}
	}
}

// missing returns some of the pods that the snapshot lacks, by cluster.
func (s *Shared) missing() map[string][]expectedPod {
	s.mu.Lock()
	defer s.mu.Unlock()
	pods, n := map[string][]expectedPod{}, 0
	for name, a := range s.adopting {
		if some := min(len(a.expected), recheckedPods-n); a.behind && some > 0 {
			pods[name] = slices.Clone(a.expected[:some])
			n += some
		}
	}
	return pods
}

// gone reports whether a pod does not take up any place in the cluster any more.
func (s *Shared) gone(ctx context.Context, b *Background, cluster string, e expectedPod) bool {
	node := b.Node(e.node)
	if node == nil || s.clusterOf(node) != cluster {
		return true
	}
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	bound, err := e.ref.Bound(ctx, b.Client)
	return err == nil && !bound
}

// confirm drops the bindings that have changed since they were seen.
func (s *Shared) confirm(ctx context.Context, b *Background, due map[string]catalog.Home) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	clusters, err := b.Berth.BerthV1alpha1().Clusters().List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("listing clusters: %w", err)
	}
	live := make(map[string]catalog.Home, len(clusters.Items)+1)
	for i := range clusters.Items {
		live[clusters.Items[i].Name] = catalog.HomeOf(&clusters.Items[i])
	}
	own, err := b.Berth.BerthV1alpha1().Schedulers().Get(ctx, s.Self, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("reading scheduler %s: %w", s.Self, err)
	}
	if c := own.Status.Commons; c != nil {
		live[berthv1alpha1.CommonsName] = catalog.Home{Scheduler: s.Self, Draining: c.Draining, Revision: c.Revision}
	}
	maps.DeleteFunc(due, func(name string, home catalog.Home) bool { return live[name] != home })
	return nil
}

// expect notes a pod with the cluster of its node.
func (s *Shared) expect(pod *corev1.Pod, b *Background, found map[string]*adoption) {
	e := expectedPod{ref: ledger.Ref(pod), node: pod.Spec.NodeName}
	node := b.Node(pod.Spec.NodeName)
	if node == nil {
		return // nobody places anything there
	}
	if a := found[s.clusterOf(node)]; a != nil {
		a.expected = append(a.expected, e)
	}
}

// clusterOf returns the cluster of a node, CommonsName if it lies in none.
func (s *Shared) clusterOf(node *corev1.Node) string {
	if m := s.Membership(); m != nil {
		if cluster, found := m.ClusterOf(node.Name, node.Labels); found {
			return cluster
		}
	}
	return berthv1alpha1.CommonsName
}
