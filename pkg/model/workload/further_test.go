// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package workload_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"berth.dev/berth/pkg/model/workload"
)

// operators knows objects of kinds beyond the table by "Kind name".
type operators map[string]*workload.FurtherOwner

func (o operators) Further(in string, ref *metav1.OwnerReference) (*workload.FurtherOwner, error) {
	owner := o[ref.Kind+" "+ref.Name]
	switch {
	case ref.Name == "slow":
		return nil, fmt.Errorf("%s: %w", ref.Name, workload.ErrOwnerNotFound)
	case owner == nil || in != namespace || owner.GetUID() != ref.UID:
		return nil, fmt.Errorf("%s: %w", ref.Name, workload.ErrUnconfirmed)
	}
	return owner, nil
}

const operatorVersion = "example.com/v1"

// made is an object of an operator, with a number of replicas unless that is negative.
func made(name string, replicas int32, owner *metav1.OwnerReference) *workload.FurtherOwner {
	m := meta(name, owner)
	return &workload.FurtherOwner{Object: &m, Replicas: max(0, replicas), ReplicasKnown: replicas >= 0}
}

// Of what controls a pod one is found wherever it is, also if it is being looked up itself; what is
// above one that is not known is not.
func TestBelow(t *testing.T) {
	known := operators{
		"Ring mid": made("mid", 4, ownedBy(operatorVersion, "Fleet", "slow")), "Ring loop": made("loop", 4, ownedBy(operatorVersion, "Ring", "loop")),
	}
	owners := []workload.Object{
		owning(deployment("d", "1", 1), operatorVersion, "Ring", "mid"), replicaSet("r", ownedBy("apps/v1", "Deployment", "d"), "1", 1),
	}
	for name, tc := range map[string]struct {
		of     *metav1.OwnerReference
		owner  types.UID
		owners []workload.Object
		want   bool
	}{
		"its controller":                  {ownedBy("apps/v1", "ReplicaSet", "r"), "r", nil, true},
		"above its controller":            {ownedBy("apps/v1", "ReplicaSet", "r"), "d", owners, true},
		"of an operator":                  {ownedBy("apps/v1", "ReplicaSet", "r"), "mid", owners, true},
		"being looked up":                 {ownedBy("apps/v1", "ReplicaSet", "r"), "slow", owners, true},
		"nothing to do with it":           {ownedBy("apps/v1", "ReplicaSet", "r"), "another", owners, false},
		"above one that is not there":     {ownedBy("apps/v1", "ReplicaSet", "r"), "d", owners[:1], false},
		"in a version that is not served": {ownedBy("apps/v9", "ReplicaSet", "r"), "d", owners, false},
		"not in a cycle":                  {ownedBy(operatorVersion, "Ring", "loop"), "d", nil, false},
		"no controller":                   {nil, "r", owners, false},
	} {
		t.Run(name, func(t *testing.T) {
			p := pod("p", tc.of)
			objects := &workload.Objects{Owners: tc.owners, Further: known}
			if got := workload.Below(&p, tc.owner, objects.Source()); got != tc.want {
				t.Errorf("it is below: %t, want %t", got, tc.want)
			}
		})
	}
}

func TestOwnersOfOperators(t *testing.T) {
	known := operators{
		"Fleet top": made("top", -1, nil), "Ring mid": made("mid", 4, ownedBy(operatorVersion, "Fleet", "top")),
		"Ring plain": made("plain", -1, nil), "Ring cut": made("cut", 4, ownedBy(operatorVersion, "Fleet", "unknown")),
		"Ring later": made("later", 4, ownedBy(operatorVersion, "Fleet", "slow")),
		"Ring loop":  made("loop", 4, ownedBy(operatorVersion, "Ring", "loop")),
	}
	ring := func(name string) *metav1.OwnerReference { return ownedBy(operatorVersion, "Ring", name) }
	forged := ring("mid")
	forged.UID = "forged"
	tests := map[string]struct {
		owner   *metav1.OwnerReference
		objects []workload.Object
		want    []string
		// wantReplicas is negative if nobody says how many.
		wantReplicas int32
		wantCut      string
		wantErr      error
	}{
		"its pods":                   {owner: ring("mid"), want: []string{"Ring mid", "Fleet top"}, wantReplicas: 4},
		"its pods, without a number": {owner: ring("plain"), want: []string{"Ring plain"}, wantReplicas: -1},
		"its Job": {
			owner: ownedBy("batch/v1", "Job", "j"), objects: []workload.Object{owning(job("j", false), operatorVersion, "Ring", "mid")},
			want: []string{"Job j", "Ring mid", "Fleet top"}, wantReplicas: 2,
		},
		"its ReplicaSet": {
			owner: ownedBy("apps/v1", "ReplicaSet", "r"), objects: []workload.Object{replicaSet("r", ring("mid"), "1", 1)},
			want: []string{"Ring mid", "Fleet top"}, wantReplicas: 4,
		},
		"its ReplicaSet, without a number": {
			owner: ownedBy("apps/v1", "ReplicaSet", "r"), objects: []workload.Object{replicaSet("r", ring("plain"), "1", 3)},
			want: []string{"Ring plain"}, wantReplicas: 3,
		},
		"its ReplicaSet, not confirmed": {
			owner: ownedBy("apps/v1", "ReplicaSet", "r"), objects: []workload.Object{replicaSet("r", forged, "1", 3)},
			want: []string{"ReplicaSet r"}, wantReplicas: 3, wantCut: "mid",
		},
		"not confirmed":              {owner: forged, want: []string{"Pod p"}, wantReplicas: -1, wantCut: "mid"},
		"not confirmed further up":   {owner: ring("cut"), want: []string{"Ring cut"}, wantReplicas: 4, wantCut: "unknown"},
		"of a version not served":    {owner: ownedBy("apps/v9", "ReplicaSet", "r"), want: []string{"Pod p"}, wantReplicas: -1, wantCut: "r"},
		"being looked up":            {owner: ring("slow"), wantErr: workload.ErrOwnerNotFound},
		"being looked up further up": {owner: ring("later"), wantErr: workload.ErrOwnerNotFound},
		"a cycle above its ReplicaSet": {
			owner: ownedBy("apps/v1", "ReplicaSet", "r"), objects: []workload.Object{replicaSet("r", ring("loop"), "1", 1)},
			want: slices.Repeat([]string{"Ring loop"}, 7), wantReplicas: 4, wantCut: "loop",
		},
		"a cycle": {
			owner: ring("loop"), wantReplicas: 4, wantCut: "loop",
			want: []string{"Ring loop", "Ring loop", "Ring loop", "Ring loop", "Ring loop", "Ring loop", "Ring loop", "Ring loop"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			p := pod("p", tc.owner)
			objects := &workload.Objects{Owners: tc.objects, Pods: []corev1.Pod{p}, Further: known}
			w, err := workload.Of(&p, objects.Source())
			if tc.wantErr != nil || err != nil {
				if !errors.Is(err, tc.wantErr) {
					t.Errorf("error %v, want %v", err, tc.wantErr)
				}
				return
			}
			if diff := cmp.Diff(tc.want, chainOf(w.Selectable())); diff != "" {
				t.Errorf("the workload and what is above it (-want +got):\n%s", diff)
			}
			if w.ReplicasKnown != (tc.wantReplicas >= 0) || w.ReplicasKnown && w.Replicas != tc.wantReplicas {
				t.Errorf("%d replicas, known: %t; want %d", w.Replicas, w.ReplicasKnown, tc.wantReplicas)
			}
			if cut := cutAt(&w); cut != tc.wantCut {
				t.Errorf("the chain was cut at %q, want %q", cut, tc.wantCut)
			}
			expectObserved(t, objects, &w)
		})
	}
}

// cutAt returns the name of the owner at which the chain was cut.
func cutAt(w *workload.Workload) string {
	if w.Cut == nil {
		return ""
	}
	return w.Cut.Name
}

// expectObserved checks that Observe gives the only pod to the same workload as Of.
func expectObserved(t *testing.T, objects *workload.Objects, w *workload.Workload) {
	t.Helper()
	for _, o := range workload.Observe(objects) {
		if len(o.Pods) == 1 && (o.ID() != w.ID() || o.Replicas != w.Replicas || !cmp.Equal(chainOf(o.Selectable()), chainOf(w.Selectable()))) {
			t.Errorf("Observe finds %v with %d replicas, Of %v with %d", chainOf(o.Selectable()), o.Replicas, chainOf(w.Selectable()), w.Replicas)
		}
	}
}

func TestWhyAChainEnds(t *testing.T) {
	known := operators{"Ring mid": made("mid", 4, nil)}
	tests := map[string]struct {
		cut    *metav1.OwnerReference
		source workload.FurtherSource
		want   string
	}{
		"a version that is not served": {ownedBy("apps/v9", "ReplicaSet", "r"), known, "objects of that version do not control pods"},
		"a kind of the table":          {ownedBy("apps/v1", "StatefulSet", "s-9"), known, "it is too far above the pod"},
		"an operator's, that is there": {ownedBy(operatorVersion, "Ring", "mid"), known, "it is too far above the pod"},
		"an operator's, that is not":   {ownedBy(operatorVersion, "Ring", "gone"), known, "gone: " + workload.ErrUnconfirmed.Error()},
		"an operator's, not read":      {ownedBy(operatorVersion, "Ring", "gone"), workload.NotRead{}, "it is too far above the pod"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			p := pod("p", nil)
			if got := workload.WhyCut(&p, tc.cut, tc.source); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

// Only of an object for which there is a rule that could not be followed is there something to say.
func TestWhyAWorkloadIsNotCounted(t *testing.T) {
	const why = "spec.size is a text"
	unreadable := func(name string) *workload.FurtherOwner {
		owner := made(name, -1, nil)
		owner.Unreadable = why
		return owner
	}
	known := operators{"Ring mid": unreadable("mid"), "Pod mid": unreadable("mid"), "Deployment mid": unreadable("mid"), "Ring plain": made("plain", -1, nil)}
	of := func(apiVersion, kind, name string, changes ...func(*workload.Workload)) *workload.Workload {
		w := &workload.Workload{APIVersion: apiVersion, Kind: kind, Namespace: namespace, Name: name, UID: types.UID(name)}
		for _, change := range changes {
			change(w)
		}
		return w
	}
	tests := map[string]struct {
		workload *workload.Workload
		source   workload.FurtherSource
		want     string
	}{
		"a number that cannot be read":  {of(operatorVersion, "Ring", "mid"), known, why},
		"no rule":                       {of(operatorVersion, "Ring", "plain"), known, ""},
		"gone since":                    {of(operatorVersion, "Ring", "gone"), known, ""},
		"counted by its ReplicaSets":    {of(operatorVersion, "Ring", "mid", func(w *workload.Workload) { w.ReplicasKnown = true }), known, ""},
		"not looked up":                 {of(operatorVersion, "Ring", "mid", func(w *workload.Workload) { w.LabelsUnknown = true }), known, ""},
		"a pod by itself":               {of("v1", "Pod", "mid"), known, ""},
		"a kind of the table":           {of("apps/v1", "Deployment", "mid"), known, ""},
		"nobody looks up anything":      {of(operatorVersion, "Ring", "mid"), nil, ""},
		"nobody looks up such as these": {of(operatorVersion, "Ring", "mid"), workload.NotRead{}, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := workload.WhyUncounted(tc.workload, tc.source); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestARolloutOfAnOperatorsPodsIsSeen(t *testing.T) {
	owner := ownedBy(operatorVersion, "Ring", "mid")
	hashed := func(name, hash string) corev1.Pod {
		return pod(name, owner, func(p *corev1.Pod) { p.Labels[appsv1.ControllerRevisionHashLabelKey] = hash })
	}
	for name, tc := range map[string]struct {
		pods []corev1.Pod
		want bool
	}{
		"all there":   {[]corev1.Pod{hashed("a", "1"), hashed("b", "1")}, true},
		"one missing": {[]corev1.Pod{hashed("a", "1")}, false},
		"one more":    {[]corev1.Pod{hashed("a", "1"), hashed("b", "1"), hashed("c", "1")}, false},
		"one old":     {[]corev1.Pod{hashed("a", "1"), hashed("b", "2")}, false},
	} {
		t.Run(name, func(t *testing.T) {
			observed := workload.Observe(&workload.Objects{Pods: tc.pods, Further: operators{"Ring mid": made("mid", 2, nil)}})
			if got := observed[0].RolloutFinished(); len(observed) != 1 || got != tc.want {
				t.Errorf("%d workloads, finished: %t, want %t", len(observed), got, tc.want)
			}
		})
	}
}
