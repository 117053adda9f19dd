// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package workload_test

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/workload"
	"berth.dev/berth/pkg/placement/policymatch"
)

// chains are the ways in which a pod "p" can be owned: the owners, from the pod's own to the
// topmost. Each is of the UID of its name. Owners of kinds that Berth does not read have no object.
var chains = map[string][]metav1.OwnerReference{
	"bare pod":                    nil,
	"Deployment":                  {*ownedBy("apps/v1", "ReplicaSet", "web-v1"), *ownedBy("apps/v1", "Deployment", "web")},
	"Deployment, without between": {*ownedBy("apps/v1", "Deployment", "web")},
	"ReplicaSet alone":            {*ownedBy("apps/v1", "ReplicaSet", "alone")},
	"ReplicaSet of a Rollout":     {*ownedBy("apps/v1", "ReplicaSet", "ro-v1"), *ownedBy("argoproj.io/v1alpha1", "Rollout", "ro")},
	"StatefulSet":                 {*ownedBy("apps/v1", "StatefulSet", "db")},
	"Job":                         {*ownedBy("batch/v1", "Job", "train")},
	"Deployment of an operator": {
		*ownedBy("apps/v1", "ReplicaSet", "web-v1"), *ownedBy("apps/v1", "Deployment", "web"), *ownedBy("example.com/v1", "Shop", "main"),
	},
	"Job of a CronJob":             {*ownedBy("batch/v1", "Job", "cron-1"), *ownedBy("batch/v1", "CronJob", "cron")},
	"ReplicationController":        {*ownedBy("v1", "ReplicationController", "old")},
	"CloneSet":                     {*ownedBy("apps.kruise.io/v1alpha1", "CloneSet", "cs")},
	"StatefulSet of another group": {*ownedBy("apps.kruise.io/v1beta1", "StatefulSet", "db")},
	"Job of another group":         {*ownedBy("batch.volcano.sh/v1alpha1", "Job", "train")},
	"ReplicaSet not served":        {*ownedBy("apps/v9", "ReplicaSet", "alone")},
}

// policySelectors select by each means, among them by the absence of a label.
func policySelectors(w *workload.Workload) map[string]berthv1alpha1.ResourceSelector {
	labelled := func(op metav1.LabelSelectorOperator, values ...string) berthv1alpha1.ResourceSelector {
		return berthv1alpha1.ResourceSelector{APIVersion: w.APIVersion, Kind: w.Kind, LabelSelector: &metav1.LabelSelector{
			MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "env", Operator: op, Values: values}},
		}}
	}
	return map[string]berthv1alpha1.ResourceSelector{
		"name":        {APIVersion: w.APIVersion, Kind: w.Kind, Name: w.Name},
		"kind":        {APIVersion: w.APIVersion, Kind: w.Kind},
		"in":          labelled(metav1.LabelSelectorOpIn, "test"),
		"not in":      labelled(metav1.LabelSelectorOpNotIn, "test"),
		"exists":      labelled(metav1.LabelSelectorOpExists),
		"none exists": labelled(metav1.LabelSelectorOpDoesNotExist),
		"CronJobs":    {APIVersion: "batch/v1", Kind: "CronJob"},
		"an operator": {APIVersion: "example.com/v1", Kind: "Shop", Name: "main"},
	}
}

// drawn is a namespace with one pod.
type drawn struct {
	objects workload.Objects
	pod     *corev1.Pod
}

// draw makes the objects of a chain, of which any may be missing, of another UID or without labels.
func draw(t *rapid.T) *drawn {
	chain := chains[rapid.SampledFrom(slices.Sorted(maps.Keys(chains))).Draw(t, "chain")]
	d := &drawn{}
	p := pod("p", nil)
	p.Labels = drawLabels(t)
	if len(chain) > 0 {
		p.OwnerReferences = chain[:1]
	}
	for i := range chain {
		state := rapid.SampledFrom([]string{"there", "there", "there", "missing", "another"}).Draw(t, "object")
		if state == "missing" {
			continue
		}
		m := meta(chain[i].Name, nil)
		m.Labels = drawLabels(t)
		if i+1 < len(chain) {
			m.OwnerReferences = chain[i+1 : i+2]
		}
		if state == "another" {
			m.UID = types.UID("another " + chain[i].Name)
		}
		if kind, _ := workload.ControllerKind(&chain[i]); kind != nil {
			d.objects.Owners = append(d.objects.Owners, drawObject(t, kind, m))
		}
	}
	d.objects.Pods = []corev1.Pod{p}
	d.pod = &d.objects.Pods[0]
	return d
}

// drawObject makes an object of a kind by way of JSON, so that a new kind needs no code here.
func drawObject(t *rapid.T, kind *workload.Kind, m metav1.ObjectMeta) workload.Object {
	spec := map[string]any{}
	for _, field := range []string{"replicas", "parallelism"} {
		if replicas := rapid.IntRange(-2, 5).Draw(t, field); replicas > -2 {
			spec[field] = replicas
		}
	}
	data, err := json.Marshal(map[string]any{"metadata": m, "spec": spec})
	if err != nil {
		t.Fatal(err)
	}
	object := kind.NewObject()
	if err := json.Unmarshal(data, object); err != nil {
		t.Fatal(err)
	}
	return object
}

func groupOf(apiVersion string) string {
	return schema.FromAPIVersionAndKind(apiVersion, "").Group
}

func drawLabels(t *rapid.T) map[string]string {
	return rapid.SampledFrom([]map[string]string{nil, {"env": "test"}, {"env": "prod"}, {"app": "web"}}).Draw(t, "labels")
}

// policyInForce is the policy for a workload among one policy of each selector.
func policyInForce(t *rapid.T, w *workload.Workload, selectors map[string]berthv1alpha1.ResourceSelector) string {
	var policies []*berthv1alpha1.PropagationPolicy
	for name, selector := range selectors {
		policies = append(policies, &berthv1alpha1.PropagationPolicy{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
			Spec:       berthv1alpha1.PropagationPolicySpec{ResourceSelectors: []berthv1alpha1.ResourceSelector{selector}},
		})
	}
	policy, by, err := policymatch.NewIndex(policies).Match(w.Selectable(), "")
	if err != nil {
		t.Fatal(err)
	}
	if policy == nil {
		return "none"
	}
	return policy.Name + " by " + by.String()
}

// The scheduler asks Of and the controllers ask Observe. Were they to differ, one would place pods
// by a policy by which the other finds them misplaced and evicts them.
func TestOfAndObserveNameTheSameWorkload(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := draw(t)
		of, err := workload.Of(d.pod, d.objects.Source())
		var observed *workload.Observed
		for _, o := range workload.Observe(&d.objects) {
			if slices.Contains(o.Pods, d.pod) {
				observed = o
			}
		}
		if (err == nil) != (observed != nil) {
			t.Fatalf("Of: %+v, %v; Observe: %+v", of, err, observed)
		}
		if err != nil {
			return
		}
		got := observed.Workload
		got.APIVersion = of.APIVersion // any version of the group
		if groupOf(observed.APIVersion) != groupOf(of.APIVersion) {
			t.Errorf("Of names the group of %s, Observe that of %s", of.APIVersion, observed.APIVersion)
		}
		if diff := cmp.Diff(of, got); diff != "" {
			t.Errorf("the workload (-Of +Observe):\n%s", diff)
		}
		selectors := policySelectors(&of)
		for name := range selectors {
			if rapid.Bool().Draw(t, "leave out") {
				delete(selectors, name)
			}
		}
		if a, b := policyInForce(t, &of, selectors), policyInForce(t, &got, selectors); a != b {
			t.Errorf("the policy in force: %s by Of, %s by Observe", a, b)
		}
	})
}
