// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package view_test

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"

	"berth.dev/berth/pkg/model/stamp"
)

var (
	sites    = []string{"a", "b", "c", ""}
	nodeName = rapid.SampledFrom([]string{"n0", "n1", "n2", "n3", "n4", "n5", "n6", "n7"})
)

func (w *world) addNode(r *rapid.T) {
	name := nodeName.Draw(r, "node")
	if w.nodes[name] != nil {
		r.Skip()
	}
	w.nodes[name] = st.MakeNode().Name(name).Label("site", rapid.SampledFrom(sites).Draw(r, "site")).Obj()
	w.cache.AddNode(w.logger, w.nodes[name])
}

func (w *world) anyNode(r *rapid.T) string {
	if len(w.nodes) == 0 {
		r.Skip()
	}
	return rapid.SampledFrom(slices.Sorted(maps.Keys(w.nodes))).Draw(r, "node")
}

func (w *world) removeNode(r *rapid.T) {
	name := w.anyNode(r)
	if err := w.cache.RemoveNode(w.logger, w.nodes[name]); err != nil {
		r.Fatal(err)
	}
	delete(w.nodes, name)
}

func (w *world) relabelNode(r *rapid.T) {
	old := w.nodes[w.anyNode(r)]
	changed := old.DeepCopy()
	changed.Labels["site"] = rapid.SampledFrom(sites).Draw(r, "site")
	w.cache.UpdateNode(w.logger, old, changed)
	w.moves(old)
	w.nodes[old.Name] = changed
}

// moves notes in which cluster the view has seen a node that gets new labels.
func (w *world) moves(before *corev1.Node) {
	if _, moved := w.moved[before.Name]; !moved {
		w.moved[before.Name], _ = w.members.ClusterOf(before.Name, before.Labels)
	}
}

// replaceNode deletes a node and makes another one before the snapshot is taken. If that has the
// name of the old one, the snapshot takes it for the old one.
func (w *world) replaceNode(r *rapid.T) {
	old := w.nodes[w.anyNode(r)]
	name := old.Name
	if other := nodeName.Draw(r, "new name"); w.nodes[other] == nil {
		name = other
	}
	another := st.MakeNode().Name(name).Label("site", rapid.SampledFrom(sites).Draw(r, "site")).Obj()
	if err := w.cache.RemoveNode(w.logger, old); err != nil {
		r.Fatal(err)
	}
	delete(w.nodes, old.Name)
	w.cache.AddNode(w.logger, another)
	if name == old.Name {
		w.moves(old)
	}
	w.nodes[name] = another
}

func (w *world) changeMembership(r *rapid.T) {
	cluster := rapid.SampledFrom(clusters)
	clusters := map[string]string{}
	for _, site := range []string{"a", "b", "c"} {
		if rapid.Bool().Draw(r, "has cluster") {
			clusters[site] = cluster.Draw(r, "cluster")
		}
	}
	w.members = &byLabel{clusters}
}

// newPod returns a pod on a node that is not known to anybody yet.
func (w *world) newPod(r *rapid.T) *corev1.Pod {
	w.serial++
	name := fmt.Sprintf("pod-%03d", w.serial)
	pod := st.MakePod().Namespace("default").Name(name).UID(name).Node(w.anyNode(r)).Obj()
	if owner := rapid.SampledFrom([]string{"old", "new", ""}).Draw(r, "owner"); owner != "" {
		pod.OwnerReferences = []metav1.OwnerReference{{
			APIVersion: "apps/v1", Kind: "ReplicaSet", Name: owner, UID: types.UID(owner), Controller: ptr.To(true),
		}}
	}
	return pod
}

func someStamp(r *rapid.T) stamp.Stamp {
	return stamp.Stamp{
		Policy:  "web",
		Cluster: rapid.SampledFrom([]string{"beijing", "hangzhou", ""}).Draw(r, "stamped cluster"),
		Seat:    rapid.Int32Range(stamp.NoSeat, 5).Draw(r, "seat"),
	}
}

func (w *world) addPod(r *rapid.T) {
	pod := w.newPod(r)
	if rapid.Bool().Draw(r, "stamped") {
		pod.Annotations = someStamp(r).Annotations(pod, pod.Spec.NodeName)
	}
	w.pods[pod.Name] = pod
	if err := w.cache.AddPod(w.logger, pod); err != nil {
		r.Fatal(err)
	}
}

// boundPod returns some pod that is bound.
func (w *world) boundPod(r *rapid.T) *corev1.Pod {
	pods := w.BoundPods()
	if len(pods) == 0 {
		r.Skip()
	}
	return rapid.SampledFrom(pods).Draw(r, "pod")
}

func (w *world) removePod(r *rapid.T) {
	pod := w.boundPod(r)
	delete(w.pods, pod.Name)
	w.reservations.Drop(pod.UID)
	if err := w.cache.RemovePod(w.logger, pod); err != nil {
		r.Fatal(err)
	}
}

func (w *world) change(r *rapid.T, pod *corev1.Pod, change func(*corev1.Pod)) {
	changed := pod.DeepCopy()
	change(changed)
	w.pods[pod.Name] = changed
	if err := w.cache.UpdatePod(w.logger, pod, changed); err != nil {
		r.Fatal(err)
	}
}

func (w *world) terminatePod(r *rapid.T) {
	w.change(r, w.boundPod(r), func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{} })
}

func (w *world) finishPod(r *rapid.T) {
	pod := w.boundPod(r)
	if w.nodes[pod.Spec.NodeName] == nil {
		r.Skip("an informer of the scheduler drops such a pod")
	}
	phase := rapid.SampledFrom([]corev1.PodPhase{corev1.PodSucceeded, corev1.PodFailed}).Draw(r, "phase")
	w.change(r, pod, func(p *corev1.Pod) { p.Status.Phase = phase })
}

func (w *world) changeStamp(r *rapid.T) {
	pod := w.boundPod(r)
	if w.nodes[pod.Spec.NodeName] == nil {
		r.Skip("the seat of a pod without a node is that of its last look")
	}
	w.change(r, pod, func(p *corev1.Pod) { p.Annotations = someStamp(r).Annotations(p, p.Spec.NodeName) })
}

func (w *world) assumePod(r *rapid.T) {
	pod := w.newPod(r)
	if err := w.cache.AssumePod(w.logger, pod); err != nil {
		r.Fatal(err)
	}
	w.pods[pod.Name], w.assumed[pod.Name] = pod, someStamp(r)
	w.reservations.Put(pod, w.assumed[pod.Name])
}

func (w *world) anyAssumed(r *rapid.T) *corev1.Pod {
	if len(w.assumed) == 0 {
		r.Skip()
	}
	return w.pods[rapid.SampledFrom(slices.Sorted(maps.Keys(w.assumed))).Draw(r, "assumed")]
}

func (w *world) forgetPod(r *rapid.T) {
	pod := w.anyAssumed(r)
	w.reservations.Drop(pod.UID)
	delete(w.pods, pod.Name)
	delete(w.assumed, pod.Name)
	if err := w.cache.ForgetPod(w.logger, pod); err != nil {
		r.Fatal(err)
	}
}

func (w *world) bindPod(r *rapid.T) {
	pod := w.anyAssumed(r)
	bound := pod.DeepCopy()
	bound.Annotations = w.assumed[pod.Name].Annotations(pod, pod.Spec.NodeName)
	delete(w.assumed, pod.Name)
	w.pods[pod.Name] = bound
	if err := w.cache.AddPod(w.logger, bound); err != nil {
		r.Fatal(err)
	}
	if rapid.Bool().Draw(r, "stamp seen twice") {
		w.reservations.Drop(pod.UID)
	}
}
