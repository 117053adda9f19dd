// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package nodegrouppolicy_test

import (
	"errors"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"
	fwk "k8s.io/kube-scheduler/framework"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	berthfake "berth.dev/berth/pkg/generated/clientset/versioned/fake"
	"berth.dev/berth/pkg/model/stamp"
	"berth.dev/berth/pkg/plugintest"
)

func TestWhichPolicyPlacesAPod(t *testing.T) {
	d, rs := deployment("nginx", 5)
	other := plugintest.MakePolicy("other").Deployment("unrelated").Weight(1, "beijing")
	byKind := plugintest.MakePolicy("all").Deployment("").Weight(1, "beijing")
	foreign := plugintest.MakePolicy("foreign").Deployment("nginx").Weight(1, "beijing")
	foreign.Namespace = "elsewhere"
	tests := map[string]struct {
		policies   []runtime.Object
		annotation string
		wantPolicy string
		wantWhy    string
	}{
		"the one that names its Deployment":     {policies: []runtime.Object{beijingHangzhou().Obj()}, wantPolicy: "web"},
		"the name beats the kind":               {policies: []runtime.Object{byKind.Obj(), beijingHangzhou().Obj()}, wantPolicy: "web"},
		"none, if none selects it":              {policies: []runtime.Object{other.Obj()}},
		"none, if the policy is elsewhere":      {policies: []runtime.Object{foreign.Obj()}},
		"none, without policies":                {},
		"none, if the pod asks for none":        {policies: []runtime.Object{beijingHangzhou().Obj()}, annotation: "none"},
		"the one that the pod asks for":         {policies: []runtime.Object{other.Obj(), beijingHangzhou().Obj()}, annotation: "other", wantPolicy: "other"},
		"one that does not exist, and it waits": {policies: []runtime.Object{other.Obj()}, annotation: "gone", wantWhy: "the policy that the pod asks for does not exist"},
		"one that does not exist, in a namespace without policies": {
			annotation: "gone", wantWhy: "the policy that the pod asks for does not exist",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := newTwoSites(t, append(tc.policies, d, rs)...)
			pod := plugintest.MakePodOf(rs, 0).Obj()
			if tc.annotation != "" {
				pod.Annotations = map[string]string{berthv1alpha1.PolicyAnnotation: tc.annotation}
			}
			bound, attempt := s.Place(pod)
			if tc.wantWhy != "" {
				if bound != nil || !strings.Contains(attempt.Why(), tc.wantWhy) {
					t.Errorf("the pod is told %q, want %q", attempt.Why(), tc.wantWhy)
				}
				return
			}
			if bound == nil {
				t.Fatalf("the pod found no node: %s", attempt.Why())
			}
			given, _ := stamp.Of(bound)
			if given.Policy != tc.wantPolicy {
				t.Errorf("placed by policy %q, want %q", given.Policy, tc.wantPolicy)
			}
		})
	}
}

func TestPodsThatCannotBePlacedAreToldWhy(t *testing.T) {
	twice := plugintest.MakePolicy("web").Deployment("nginx").Weight(1, "beijing").Weight(2, "beijing")
	d, rs := deployment("nginx", 5)
	successor := rs.DeepCopy()
	successor.UID = "another-one-of-the-same-name"
	tests := map[string]struct {
		objects []runtime.Object
		want    string
	}{
		"a policy whose weights cannot be used": {[]runtime.Object{twice.Obj(), d, rs}, "the policy of the pod cannot be carried out, see its condition Accepted"},
		"no ReplicaSet":                         {[]runtime.Object{beijingHangzhou().Obj(), d}, "the owner of the pod does not exist or is not known yet"},
		"no Deployment":                         {[]runtime.Object{beijingHangzhou().Obj(), rs}, "the owner of the pod does not exist or is not known yet"},
		"another ReplicaSet of the same name":   {[]runtime.Object{beijingHangzhou().Obj(), d, successor}, "the owner of the pod does not exist or is not known yet"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := newTwoSites(t, tc.objects...)
			// Preemption would be of no use, and a victim is at hand.
			s.Add(plugintest.MakePod("victim").Node("beijing-0").Priority(-1).Obj())
			bound, attempt := s.Place(plugintest.MakePodOf(rs, 0).Priority(1).Obj())
			if bound != nil || !strings.Contains(attempt.Why(), tc.want) {
				t.Errorf("the pod is told %q, want %q", attempt.Why(), tc.want)
			}
			if got := attempt.Fit.Diagnosis.NodeToStatus.Get("beijing-0").Code(); got != fwk.UnschedulableAndUnresolvable {
				t.Errorf("the nodes are %v, as if evicting pods could help", got)
			}
			if attempt.Nominated != "" || attempt.PostFilter.AsError() != nil && !attempt.PostFilter.IsRejected() {
				t.Errorf("preemption was tried: node %q, %v", attempt.Nominated, attempt.PostFilter.AsError())
			}
		})
	}
}

func TestPodsWaitUntilPoliciesHaveBeenRead(t *testing.T) {
	client := berthfake.NewSimpleClientset()
	broken := make(chan struct{})
	client.PrependReactor("list", "clusters", func(clienttesting.Action) (bool, runtime.Object, error) {
		select {
		case <-broken:
			return false, nil, nil
		default:
			return true, nil, errors.New("the API server is on fire")
		}
	})
	// Without the plugin that cannot read Clusters either.
	configuration := strings.ReplaceAll(plugintest.Configuration, "      - name: HomeScheduler\n", "") + `
  - name: NodeGroupPolicy
    args:
      firstReadTimeout: 1ms
`
	d, rs := deployment("nginx", 5)
	objects := append(plugintest.Sites(2, "beijing", "hangzhou"), beijingHangzhou().Obj(), d, rs)
	s := plugintest.New(t, objects, plugintest.WithBerth(client), plugintest.WithConfiguration(configuration), plugintest.Held())

	pod := plugintest.MakePodOf(rs, 0).Priority(1).Obj()
	if got := s.PreEnqueue(pod).Message(); got != "Clusters and PropagationPolicies have not been read yet" {
		t.Errorf("PreEnqueue says %q before anything was read, want %q", got, "Clusters and PropagationPolicies have not been read yet")
	}
	s.Watch()
	s.WaitFor("the gate to open", func() bool { return s.PreEnqueue(pod).IsSuccess() })
	s.Add(plugintest.MakePod("victim").Node("beijing-0").Priority(-1).Obj())
	attempt := s.Try(pod)
	if attempt.Node != "" || !strings.Contains(attempt.Why(), "Clusters and PropagationPolicies cannot be read") {
		t.Errorf("the pod is told %q, want %q", attempt.Why(), "Clusters and PropagationPolicies cannot be read")
	}
	if attempt.Nominated != "" || attempt.PostFilter.AsError() != nil && !attempt.PostFilter.IsRejected() {
		t.Errorf("preemption was tried: node %q, %v", attempt.Nominated, attempt.PostFilter.AsError())
	}
	close(broken)
	s.WaitFor("the pod to find a node", func() bool { return s.Try(pod).Node != "" })
}

func TestTheTemplatesOwnDeletionCostStays(t *testing.T) {
	d, rs := deployment("nginx", 5)
	s := newTwoSites(t, beijingHangzhou().Obj(), d, rs)
	bound := s.MustPlace(plugintest.MakePodOf(rs, 0).Annotation(corev1.PodDeletionCost, "7").Obj())
	if got := bound.Annotations[corev1.PodDeletionCost]; got != "7" {
		t.Errorf("deletion cost is %s, want the template's 7", got)
	}
}

// Kube-scheduler counts nodes by equal reasons: "0/7 nodes are available: 3 node(s) ...".
func TestReasonsAreTheSameForAllNodes(t *testing.T) {
	for _, reason := range []string{
		"node(s) in no cluster of the policy", "node(s) in clusters that have their share of replicas", "node(s) in clusters that do not hold the seat of the pod",
		"node(s) in clusters whose turn comes later", "the policy that the pod asks for does not exist", "the policy of the pod cannot be carried out, see its condition Accepted",
		"the owner of the pod does not exist or is not known yet", "Clusters and PropagationPolicies cannot be read", "Clusters and PropagationPolicies have not been read yet",
		"no cluster with a free place could take the pod, trying the others",
	} {
		if strings.ContainsFunc(reason, unicode.IsDigit) {
			t.Errorf("%q contains a digit", reason)
		}
		if strings.HasSuffix(reason, ".") || reason == "" {
			t.Errorf("%q does not fit into the list of reasons", reason)
		}
	}
	// The reasons that Filter gives come from there: see the tests that compare the reasons by node.
	d, rs := deployment("nginx", 1)
	s := newTwoSites(t, append(plugintest.Sites(40, "elsewhere"), beijingHangzhou().Obj(), d, rs)...)
	s.MustPlace(plugintest.MakePodOf(rs, 0).Obj())
	_, attempt := s.Place(plugintest.MakePodOf(rs, 1).Obj())
	const want = "0/44 nodes are available: 4 node(s) in clusters that have their share of replicas, 40 node(s) in no cluster of the policy."
	if diff := cmp.Diff(want, strings.TrimSpace(attempt.Why())); diff != "" {
		t.Errorf("what the user reads (-want +got):\n%s", diff)
	}
}
