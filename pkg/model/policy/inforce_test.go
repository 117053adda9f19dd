// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/policy"
	"berth.dev/berth/pkg/model/stamp"
	"berth.dev/berth/pkg/model/workload"
	"berth.dev/berth/pkg/placement/policymatch"
)

const node = "beijing-0"

// selecting returns a policy of the namespace default with one selector.
func selecting(name string, selector berthv1alpha1.ResourceSelector) *berthv1alpha1.PropagationPolicy {
	return &berthv1alpha1.PropagationPolicy{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID(name)},
		Spec:       berthv1alpha1.PropagationPolicySpec{ResourceSelectors: []berthv1alpha1.ResourceSelector{selector}},
	}
}

// asking returns a pod that carries the request and, unless placedBy is empty, the stamp of a
// policy.
func asking(request, placedBy string) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "p", UID: "p", Annotations: map[string]string{}}}
	if placedBy != "" {
		place(pod, placedBy)
	}
	if request != "" {
		pod.Annotations[berthv1alpha1.PolicyAnnotation] = request
	} else {
		delete(pod.Annotations, berthv1alpha1.PolicyAnnotation)
	}
	return pod
}

// place binds a pod as a policy does.
func place(pod *corev1.Pod, by string) {
	written := stamp.Stamp{Policy: by, Cluster: "beijing", Seat: 0}.Annotations(pod, node)
	for key, value := range pod.Annotations {
		if _, overwritten := written[key]; !overwritten {
			written[key] = value
		}
	}
	pod.Annotations, pod.Spec.NodeName = written, node
}

func TestInForceForAPod(t *testing.T) {
	byName := berthv1alpha1.ResourceSelector{APIVersion: "v1", Kind: "Pod", Name: "p"}
	byKind := berthv1alpha1.ResourceSelector{APIVersion: "v1", Kind: "Pod"}
	others := berthv1alpha1.ResourceSelector{APIVersion: "v1", Kind: "Pod", Name: "q"}
	tests := map[string]struct {
		policies []*berthv1alpha1.PropagationPolicy
		pod      *corev1.Pod
		want     string
		wantBy   policymatch.By
		wantErr  error
	}{
		"nothing asked for, nothing selects": {pod: asking("", "")},
		"a selector": {
			policies: []*berthv1alpha1.PropagationPolicy{selecting("a", byKind)}, pod: asking("", ""),
			want: "a", wantBy: policymatch.ByKind,
		},
		"a user's request beats selectors": {
			policies: []*berthv1alpha1.PropagationPolicy{selecting("a", others), selecting("b", byName)}, pod: asking("a", ""),
			want: "a", wantBy: policymatch.ByAnnotation,
		},
		"a user wants none": {
			policies: []*berthv1alpha1.PropagationPolicy{selecting("a", byName)}, pod: asking(berthv1alpha1.PolicyNone, ""),
		},
		"a user asks for one that does not exist": {
			policies: []*berthv1alpha1.PropagationPolicy{selecting("a", byName)}, pod: asking("ghost", ""),
			wantErr: policymatch.ErrNotFound,
		},
		"what Berth wrote is no request: a stronger policy comes": {
			policies: []*berthv1alpha1.PropagationPolicy{selecting("a", byKind), selecting("b", byName)}, pod: asking("a", "a"),
			want: "b", wantBy: policymatch.ByName,
		},
		"what Berth wrote is no request: the policy is gone": {
			policies: []*berthv1alpha1.PropagationPolicy{selecting("b", byKind)}, pod: asking("a", "a"),
			want: "b", wantBy: policymatch.ByKind,
		},
		"what Berth wrote is no request: the policy is gone, and there is no other": {pod: asking("a", "a")},
		"the policy that placed the pod would not have without a request": {
			policies: []*berthv1alpha1.PropagationPolicy{selecting("a", others), selecting("b", byName)}, pod: asking("a", "a"),
			want: "a", wantBy: policymatch.ByAnnotation,
		},
		"a user's request on a pod that another policy has placed": {
			policies: []*berthv1alpha1.PropagationPolicy{selecting("a", byKind), selecting("b", byName)}, pod: asking("a", "b"),
			want: "a", wantBy: policymatch.ByAnnotation,
		},
		"a user's request that is gone, on a pod that another policy has placed": {
			policies: []*berthv1alpha1.PropagationPolicy{selecting("b", byName)}, pod: asking("ghost", "b"),
			wantErr: policymatch.ErrNotFound,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := &policymatch.Workload{APIVersion: "v1", Kind: "Pod", Namespace: "default", Name: "p"}
			got, by, err := policy.InForce(policymatch.NewIndex(tc.policies), w, policy.RequestOf(tc.pod))
			if nameOf(got) != tc.want || by != tc.wantBy || !errors.Is(err, tc.wantErr) {
				t.Errorf("policy %q by %s, error %v; want %q by %s, error %v", nameOf(got), by, err, tc.want, tc.wantBy, tc.wantErr)
			}
		})
	}
}

func nameOf(p *berthv1alpha1.PropagationPolicy) string {
	if p == nil {
		return ""
	}
	return p.Name
}

// chains are the owners of a pod, the direct one first. The last of a chain need not be of a kind
// that Berth reads.
var chains = map[string][]metav1.OwnerReference{
	"bare":        nil,
	"Deployment":  {controller("apps/v1", "ReplicaSet", "rs"), controller("apps/v1", "Deployment", "web")},
	"ReplicaSet":  {controller("apps/v1", "ReplicaSet", "rs")},
	"StatefulSet": {controller("apps/v1", "StatefulSet", "db")},
	"Job":         {controller("batch/v1", "Job", "batch")},
	"Controller":  {controller("v1", "ReplicationController", "rc")},
	"Rollout":     {controller("apps/v1", "ReplicaSet", "rs"), controller("argoproj.io/v1alpha1", "Rollout", "web")},
	"CloneSet":    {controller("apps.kruise.io/v1alpha1", "CloneSet", "web")},
}

func controller(apiVersion, kind, name string) metav1.OwnerReference {
	return metav1.OwnerReference{APIVersion: apiVersion, Kind: kind, Name: name, UID: types.UID(name), Controller: new(true)}
}

// objectsOf returns the owners of a pod that Berth reads, with the annotations in their templates.
// They are made by way of JSON, so that a new kind needs no code here.
func objectsOf(t *rapid.T, chain []metav1.OwnerReference, annotations map[string]string) []workload.Object {
	var objects []workload.Object
	for i, ref := range chain {
		kind := workload.KindFor(ref.APIVersion, ref.Kind)
		if kind == nil {
			continue
		}
		data, err := json.Marshal(map[string]any{
			"metadata": metav1.ObjectMeta{
				Namespace: "default", Name: ref.Name, UID: ref.UID, OwnerReferences: chain[i+1 : min(i+2, len(chain))],
			},
			"spec": map[string]any{"replicas": 1, "template": map[string]any{"metadata": map[string]any{"annotations": annotations}}},
		})
		if err != nil {
			t.Fatal(err)
		}
		object := kind.NewObject()
		if err := json.Unmarshal(data, object); err != nil {
			t.Fatal(err)
		}
		objects = append(objects, object)
	}
	return objects
}

// drawPolicies makes policies that select the workload in some way or another, or not at all.
func drawPolicies(t *rapid.T, w *policymatch.Workload) *policymatch.Index {
	var policies []*berthv1alpha1.PropagationPolicy
	for i, name := range []string{"a", "b", "c"} {
		selector := berthv1alpha1.ResourceSelector{APIVersion: w.APIVersion, Kind: w.Kind}
		switch rapid.SampledFrom([]string{"name", "kind", "other", "absent"}).Draw(t, name) {
		case "name":
			selector.Name = w.Name
		case "other":
			selector.Name = "other"
		case "absent":
			continue
		}
		p := selecting(name, selector)
		p.CreationTimestamp = metav1.NewTime(time.Unix(int64(rapid.IntRange(0, 1).Draw(t, "age")+i), 0))
		policies = append(policies, p)
	}
	return policymatch.NewIndex(policies)
}

// The scheduler asks about a pod that waits, the controllers and the CLI about its workload. Were
// they to differ, one would place pods by a policy by which the others find them misplaced. The
// answer for the workload must not change either by what Berth writes on the pod, with one
// exception: where no template can be read, a request for a policy that selects the workload anyway
// cannot be told from Berth's own writing.
func TestSchedulerAndControllersFindTheSamePolicyInForce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		chain := chains[rapid.SampledFrom([]string{
			"bare", "Deployment", "ReplicaSet", "StatefulSet", "Job", "Controller", "Rollout", "CloneSet",
		}).Draw(t, "chain")]
		pod := asking(rapid.SampledFrom([]string{"", "", "a", "b", "ghost", berthv1alpha1.PolicyNone}).Draw(t, "request"), "")
		pod.OwnerReferences = chain[:min(1, len(chain))]
		objects := &workload.Objects{Owners: objectsOf(t, chain, pod.Annotations), Pods: []corev1.Pod{*pod}}
		w, err := workload.Of(pod, objects.Source())
		if err != nil {
			t.Fatal(err)
		}
		index := drawPolicies(t, w.Selectable())

		ofPod, _, err := policy.InForce(index, w.Selectable(), policy.RequestOf(pod))
		ofWorkload, errWorkload := observe(t, index, objects)
		if ofPod != ofWorkload || !errors.Is(errWorkload, err) {
			t.Fatalf("policy %q of the pod, %v; %q of its workload, %v", nameOf(ofPod), err, nameOf(ofWorkload), errWorkload)
		}
		if ofPod == nil {
			return
		}

		readable := len(objects.Owners) > 0
		_, selected := selectedBy(index, w.Selectable())[ofPod.Name]
		request := pod.Annotations[berthv1alpha1.PolicyAnnotation]
		place(&objects.Pods[0], ofPod.Name)
		if again, err := observe(t, index, objects); (readable || request == "" || !selected) && (again != ofPod || err != nil) {
			t.Errorf("policy %q has placed the pod, and then %q is in force, %v", ofPod.Name, nameOf(again), err)
		}

		wantSameUnderLaterPolicies(t, w.Selectable(), pod, objects)
	})
}

// wantSameUnderLaterPolicies checks that pods to come and their workload agree once policies
// change.
func wantSameUnderLaterPolicies(t *rapid.T, w *policymatch.Workload, pod *corev1.Pod, objects *workload.Objects) {
	t.Helper()
	later := drawPolicies(t, w)
	ofPod, _, err := policy.InForce(later, w, policy.RequestOf(pod))
	inNamespace := &policymatch.Workload{Namespace: "default"}
	exists, _, _ := later.Match(inNamespace, objects.Pods[0].Annotations[berthv1alpha1.PolicyAnnotation])
	_, selected := selectedBy(later, w)[nameOf(exists)]
	readable, request := len(objects.Owners) > 0, pod.Annotations[berthv1alpha1.PolicyAnnotation]
	// Without a template to read, Berth's writing may be taken for a request.
	if !readable && (request != "" || exists != nil && !selected) {
		return
	}
	if again, errAgain := observe(t, later, objects); again != ofPod || !errors.Is(errAgain, err) {
		t.Errorf("policy %q is in force for new pods, %v; %q for their workload, %v", nameOf(ofPod), err, nameOf(again), errAgain)
	}
}

func selectedBy(index *policymatch.Index, w *policymatch.Workload) map[string]struct{} {
	names := map[string]struct{}{}
	for _, p := range index.Claimants(w) {
		names[p.Name] = struct{}{}
	}
	return names
}

// observe returns the policy in force for the only workload among the objects that has a pod.
func observe(
	t *rapid.T, index *policymatch.Index, objects *workload.Objects,
) (*berthv1alpha1.PropagationPolicy, error) {
	for _, o := range workload.Observe(objects) {
		if len(o.Pods) == 1 {
			p, _, err := policy.InForce(index, o.Selectable(), policy.RequestOfWorkload(o))
			return p, err
		}
	}
	t.Fatal("no workload has the pod")
	return nil, nil
}
