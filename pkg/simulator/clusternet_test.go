// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package simulator_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"berth.dev/berth/pkg/plugintest"
)

// capacityTable holds what Clusternet's predictor is tested for. Its rows on taints of clusters are
// not checked: Clusters of Berth are groups of nodes, and have none of their own.
type capacityTable struct {
	Node []struct {
		Name        string
		Allocatable map[string]any
		Pods        []map[string]any
		Request     map[string]any
		Want        *int
		WantBetter  *int `json:"want_better"`
	}
	NodeFilter struct {
		Cases []struct {
			Tolerations []corev1.Toleration
			Taints      []map[string]string
			Want        bool
		}
	} `json:"node_filter"`
}

func readCapacity(t *testing.T) (table capacityTable) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", "capacity.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &table); err != nil {
		t.Fatal(err)
	}
	return table
}

func quantities(amounts map[string]any) corev1.ResourceList {
	list := corev1.ResourceList{}
	for name, amount := range amounts {
		list[corev1.ResourceName(name)] = resource.MustParse(fmt.Sprint(amount))
	}
	return list
}

func asking(name string, requests corev1.ResourceList) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, UID: types.UID(name)},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: requests}}}},
	}
}

// countOn returns how many pods like the sample a node takes beside others.
func countOn(t *testing.T, n *corev1.Node, others []runtime.Object, sample *corev1.Pod) int {
	t.Helper()
	objects := append([]runtime.Object{plugintest.Site("beijing"), n}, others...)
	room, err := snapshot(t, objects...).Room(t.Context(), "beijing", sample, 1000)
	if err != nil {
		t.Fatal(err)
	}
	return room.Copies
}

// bareNode is a node of the site that lists nothing it could give.
func bareNode() *corev1.Node {
	n := plugintest.MakeNode("beijing", 0).Obj()
	n.Status.Allocatable = corev1.ResourceList{corev1.ResourcePods: resource.MustParse("110")}
	return n
}

func TestCapacityCasesOfClusternet(t *testing.T) {
	for i, tc := range readCapacity(t).Node {
		t.Run(fmt.Sprint(i, " ", tc.Name), func(t *testing.T) {
			want := tc.Want
			if tc.WantBetter != nil {
				want = tc.WantBetter
			}
			n := bareNode()
			n.Status.Allocatable = quantities(tc.Allocatable)
			n.Status.Capacity = n.Status.Allocatable
			var others []runtime.Object
			for j, requests := range tc.Pods {
				other := asking(fmt.Sprint("other-", j), quantities(requests))
				other.Spec.NodeName = n.Name
				others = append(others, other)
			}
			if got := countOn(t, n, others, asking("web", quantities(tc.Request))); got != *want {
				t.Errorf("%d pods fit, want %d", got, *want)
			}
		})
	}
}

func TestTaintCasesOfClusternet(t *testing.T) {
	for i, tc := range readCapacity(t).NodeFilter.Cases {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			n := bareNode()
			for _, taint := range tc.Taints {
				for key, value := range taint {
					if key != "effect" {
						n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: key, Value: value, Effect: corev1.TaintEffect(taint["effect"])})
					}
				}
			}
			sample := asking("web", nil)
			sample.Spec.Tolerations = tc.Tolerations
			if got := countOn(t, n, nil, sample) > 0; got != tc.Want {
				t.Errorf("pods fit: %t, want %t", got, tc.Want)
			}
		})
	}
}
