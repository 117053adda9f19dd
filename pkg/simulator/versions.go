// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
)

// versions tell whether the snapshot is as it was when a question was answered. A version is never
// used for two states; what is undone gets back the one that it had. For example:
//
//	                                   rest   beijing   hangzhou
//	at first                              7         0          0
//	a pod begins to run in beijing        7         8          0
//	a StorageClass is changed             9         8          0
//
// The room of hangzhou is what it was until the rest changes.
type versions struct {
	last int64
	// rest is that of everything but pods that concern nobody beyond their node, of which there is
	// one for each Cluster.
	rest     int64
	clusters map[string]int64
}

func newVersions() versions { return versions{clusters: map[string]int64{}} }

func (v *versions) clone() versions {
	return versions{last: v.last, rest: v.rest, clusters: maps.Clone(v.clusters)}
}

// restore notes that everything is as it was when the versions were these.
func (v *versions) restore(were *versions) { v.rest, v.clusters = were.rest, were.clusters }

// change notes that something has changed that may concern everybody.
func (v *versions) change() (undo func()) {
	rest := v.rest
	v.last++
	v.rest = v.last
	return func() { v.rest = rest }
}

// changeIn notes that something has changed in a Cluster that concerns nobody beyond its node.
func (v *versions) changeIn(cluster string) (undo func()) {
	own := v.clusters[cluster]
	v.last++
	v.clusters[cluster] = v.last
	return func() { v.clusters[cluster] = own }
}

// noteNode notes that a node comes, in place of another one or of none. It is to be called once the
// node is there.
func (s *Snapshot) noteNode(node, before *corev1.Node) {
	if s.membership != nil {
		s.membership.drop(node.Name)
		s.membership.add(node, s.state.ClusterOf(node))
	}
	if before != nil && apiequality.Semantic.DeepEqual(before.Labels, node.Labels) {
		s.versions.changeIn(s.members().of[node.Name])
		return
	}
	s.versions.change()
}

// notePod notes that a pod takes up its node, or leaves it.
func (s *Snapshot) notePod(pod *corev1.Pod) (undo func()) {
	if interacts(pod) {
		return s.versions.change()
	}
	return s.versions.changeIn(s.members().of[pod.Spec.NodeName])
}

// membership is which node belongs to which Cluster.
type membership struct {
	// of has the Cluster of each node, and ready the nodes of each Cluster that are not known to be
	// not ready, by name.
	of    map[string]string
	ready map[string]map[string]bool
}

// members returns the membership of the nodes.
func (s *Snapshot) members() *membership {
	if s.membership != nil {
		return s.membership
	}
	m := &membership{of: make(map[string]string, len(s.nodes.list)), ready: map[string]map[string]bool{}}
	for _, info := range s.nodes.list {
		m.add(info.Node(), s.state.ClusterOf(info.Node()))
	}
	s.membership = m
	return m
}

func (m *membership) add(node *corev1.Node, cluster string) {
	m.of[node.Name] = cluster
	if notReady(node) {
		return
	}
	if m.ready[cluster] == nil {
		m.ready[cluster] = map[string]bool{}
	}
	m.ready[cluster][node.Name] = true
}

func (m *membership) drop(node string) {
	delete(m.ready[m.of[node]], node)
	delete(m.of, node)
}

// maxAnswers bounds the memory of answers.
const maxAnswers = 10_000

// question is what Room was asked, but for the rest of the pod and the limit.
type question struct {
	cluster, scheduler string
	pod                types.NamespacedName
}

// answer is what Room said of a pod. It holds while the versions are the same.
type answer struct {
	pod          *corev1.Pod
	limit        int
	room         Room
	rest, inside int64
}

// recall returns what Room has said to the same question, if that still holds.
func (s *Snapshot) recall(asked question, pod *corev1.Pod, limit int) (Room, bool) {
	known := s.answers[asked]
	switch {
	case known == nil, known.rest != s.versions.rest, known.inside != s.versions.clusters[asked.cluster],
		limit > known.limit && known.room.Copies >= known.limit, known.pod != pod && !alike(known.pod, pod):
		return Room{}, false
	}
	if limit <= known.room.Copies {
		return Room{Copies: limit}, true
	}
	return known.room, true
}

// remember keeps an answer.
func (s *Snapshot) remember(asked question, pod *corev1.Pod, limit int, room Room) {
	if s.answers == nil || len(s.answers) >= maxAnswers {
		s.answers = map[question]*answer{}
	}
	s.answers[asked] = &answer{
		pod: pod, limit: limit, room: room, rest: s.versions.rest, inside: s.versions.clusters[asked.cluster],
	}
}

// alike reports whether two pods differ in nothing that plugins read.
func alike(a, b *corev1.Pod) bool {
	return a.UID == b.UID && apiequality.Semantic.DeepEqual(a.Labels, b.Labels) &&
		apiequality.Semantic.DeepEqual(a.Annotations, b.Annotations) &&
		apiequality.Semantic.DeepEqual(a.OwnerReferences, b.OwnerReferences) && apiequality.Semantic.DeepEqual(a.Spec, b.Spec)
}
