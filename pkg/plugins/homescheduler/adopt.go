// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package homescheduler

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	fwk "k8s.io/kube-scheduler/framework"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/plugins/internal/catalog"
)

// adoption is a cluster that came to this scheduler, with the pods that the API server says are on its nodes. What others bound
// there may not be in the snapshot yet, and until it is nothing is placed there.
type adoption struct {
	revision int64
	// expected are the pods that the snapshot must have.
	expected []expectedPod
	// again is when that may be read again, behind is true if the snapshot lacked one of them since.
	again  time.Time
	behind bool
}

type expectedPod struct {
	uid  types.UID
	node string
}

const (
	// relist is how old the expectation may become while the snapshot lacks a pod, which may have been deleted.
	relist = time.Second
	// relistShare is how many times as long as a reading takes it is not repeated: an API server that is slow because it has too
	// much to do is not asked for all pods again and again.
	relistShare = 10
	// wakePause is how long pods are left alone after they have been woken to look at what is being adopted: there may be thousands.
	wakePause = 500 * time.Millisecond
)

// settle adopts the clusters all of whose pods the snapshot has, and returns a number that changes whenever it adopts some.
func (s *Shared) settle(homes *catalog.Homes, lister fwk.SharedLister) int64 {
	for name, a := range s.adopting {
		if h := homes.Clusters[name]; h.Scheduler != s.Self || h.Revision != a.revision {
			delete(s.adopting, name)
			continue
		}
		a.expected = slices.DeleteFunc(a.expected, func(e expectedPod) bool { return has(lister, e) })
		if len(a.expected) > 0 {
			a.behind = true
			continue
		}
		delete(s.adopting, name)
		s.adopted[name] = a.revision
		s.set.adoption++
		s.set.homes = nil
	}
	return s.set.adoption
}

func has(lister fwk.SharedLister, e expectedPod) bool {
	info, err := lister.NodeInfos().Get(e.node)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(info.GetPods(), func(p fwk.PodInfo) bool { return p.GetPod().UID == e.uid })
}

// toAdopt returns the bindings whose pods have to be read.
func (s *Shared) toAdopt(homes *catalog.Homes, now time.Time) map[string]int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	var due map[string]int64
	for name, h := range homes.Clusters {
		if h.Scheduler != s.Self || h.Draining || s.adopted[name] == h.Revision {
			continue
		}
		if a := s.adopting[name]; a != nil && a.revision == h.Revision && (!a.behind || now.Before(a.again)) {
			continue
		}
		if due == nil {
			due = map[string]int64{}
		}
		due[name] = h.Revision
	}
	return due
}

// wakeDue says whether the waiting pods are to be tried: clusters have been adopted since the last call, so pods may have found no
// node meanwhile; or some are being adopted, and only a scheduling cycle, of whatever pod, can look into the snapshot.
func (s *Shared) wakeDue(now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	news := s.told != s.set.adoption
	if !news && (len(s.adopting) == 0 || now.Before(s.wakeAgain)) {
		return false
	}
	s.told, s.wakeAgain = s.set.adoption, now.Add(wakePause)
	return true
}

const adoptionPage = 500

// adopt reads from the API server itself that the bindings are still what they seem, and which pods are on the nodes.
func (s *Shared) adopt(ctx context.Context, b *Background, due map[string]int64) error {
	began := time.Now()
	if err := s.confirm(ctx, b, due); err != nil {
		return err
	}
	found := make(map[string]*adoption, len(due))
	for name, revision := range due {
		found[name] = &adoption{revision: revision}
	}
	options := metav1.ListOptions{FieldSelector: "spec.nodeName!=,status.phase!=Succeeded,status.phase!=Failed", Limit: adoptionPage}
	for {
		list, err := page(ctx, b.Client, options)
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
	again := began.Add(max(relist, relistShare*time.Since(began)))
	for _, a := range found {
		a.again = again
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

// confirm drops the bindings that have changed since they were seen.
func (s *Shared) confirm(ctx context.Context, b *Background, due map[string]int64) error {
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
	for name, revision := range due {
		if live[name] != (catalog.Home{Scheduler: s.Self, Revision: revision}) {
			delete(due, name)
		}
	}
	return nil
}

// expect notes a pod with the cluster of its node.
func (s *Shared) expect(pod *corev1.Pod, b *Background, found map[string]*adoption) {
	e := expectedPod{uid: pod.UID, node: pod.Spec.NodeName}
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
