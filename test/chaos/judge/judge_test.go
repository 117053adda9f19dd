// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package judge_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/stamp"
	"berth.dev/berth/pkg/placement/pool"
	"berth.dev/berth/test/chaos/judge"
)

// story tells a judge what happens, one revision after the other.
type story struct {
	*judge.Judge
	clock    time.Time
	revision int64
}

// begin tells of two sites, a workload that has two pods at the first and one at the second, and a
// pool of two.
func begin() *story {
	s := &story{clock: time.Unix(1000, 0)}
	s.Judge = judge.New(func() time.Time { return s.clock })
	for _, node := range []string{"a-1", "b-1"} {
		s.tell("nodes/"+node, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: node}})
	}
	s.policy(2, 1)
	s.tell("deployments/default/web", &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: appsv1.DeploymentSpec{
		Replicas: ptr.To[int32](3), Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{
			Annotations: map[string]string{berthv1alpha1.ClusterResourceAnnotationPrefix + "licence": "1"},
		}},
	}})
	s.tell("clusterresources/licence", &berthv1alpha1.ClusterResource{
		ObjectMeta: metav1.ObjectMeta{Name: "licence"},
		Spec: berthv1alpha1.ClusterResourceSpec{Capacity: []berthv1alpha1.ClusterResourceQuantity{
			{Name: judge.Everywhere, Quantity: *resource.NewQuantity(3, resource.DecimalSI)},
		}},
	})
	s.clock = s.clock.Add(time.Hour)
	return s
}

func (s *story) tell(name string, object any) {
	s.revision++
	s.See(judge.Change{Name: name, Revision: s.revision, Object: object})
}

func (s *story) policy(a, b int64) {
	policy := &berthv1alpha1.PropagationPolicy{ObjectMeta: metav1.ObjectMeta{Name: "web", Generation: a*10 + b}}
	policy.Spec.Placement.StaticWeightList = []berthv1alpha1.StaticClusterWeight{
		{ClusterNames: []string{"a"}, Weight: a}, {ClusterNames: []string{"b"}, Weight: b},
	}
	s.tell("propagationpolicies/default/web", policy)
}

// pod returns a pod of the workload, bound with a charge.
func pod(name, node string, seat int32, charge int64) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: "default", Name: name, UID: types.UID(name), Labels: map[string]string{"app": "web"}, Annotations: map[string]string{},
		OwnerReferences: []metav1.OwnerReference{{UID: "owner", Controller: ptr.To(true)}},
	}, Spec: corev1.PodSpec{NodeName: node}}
	if node == "" {
		return p
	}
	given := stamp.Stamp{Policy: "web", Cluster: judge.SiteOf(node), Seat: seat}
	maps.Copy(p.Annotations, given.Annotations(p, node))
	if charge > 0 {
		charges := []pool.Charge{{Resource: "licence", Pool: judge.Everywhere, Quantity: *resource.NewQuantity(charge, resource.DecimalSI)}}
		maps.Copy(p.Annotations, stamp.ChargeAnnotations(p, node, charges))
	}
	return p
}

func (s *story) seen(pods ...*corev1.Pod) {
	for _, p := range pods {
		s.tell("pods/default/"+p.Name, p)
	}
}

func evicted(p *corev1.Pod) *corev1.Pod {
	p = p.DeepCopy()
	p.Status.Conditions = []corev1.PodCondition{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: "EvictionByEvictionAPI"}}
	return p
}

func TestBrokenPromises(t *testing.T) {
	for name, tc := range map[string]struct {
		happens func(*story)
		want    string
	}{
		"nothing": {happens: func(s *story) { s.seen(pod("p", "a-1", 0, 1), pod("q", "b-1", 1, 1), pod("r", "a-1", 2, 1)) }},
		"a pool over": {
			happens: func(s *story) { s.seen(pod("p", "a-1", 0, 2), pod("q", "b-1", 1, 2)) },
			want:    "pool licence/all is over: its pods hold 4 of 3, the last was q",
		},
		"a pod without its charge": {
			happens: func(s *story) { s.seen(pod("p", "a-1", 0, 0)) },
			want:    "pod p asks for 1 of licence and is bound without a charge",
		},
		"a pool that pods have left": {happens: func(s *story) {
			s.seen(pod("p", "a-1", 0, 2))
			s.tell("pods/default/p", nil)
			s.seen(pod("q", "b-1", 1, 2))
		}},
		"a seat twice": {
			happens: func(s *story) { s.seen(pod("p", "a-1", 0, 1), pod("q", "a-1", 0, 1)) },
			want:    "pods [p q] all have seat 0 of web",
		},
		"a seat twice after an edit": {happens: func(s *story) {
			s.policy(1, 1)
			s.seen(pod("p", "a-1", 0, 1), pod("q", "a-1", 0, 1))
		}},
		"a pod bound twice": {
			happens: func(s *story) { s.seen(pod("p", "a-1", 0, 1), pod("p", "b-1", 0, 1)) },
			want:    `pod p was bound to a-1 and then to "b-1"`,
		},
		"a pod of the same name": {happens: func(s *story) {
			other := pod("p", "b-1", 0, 1)
			other.UID = "other"
			s.seen(pod("p", "a-1", 0, 1), other)
		}, want: "pod p asks for 1 of licence and is bound without a charge"}, // its stamp is that of another pod
		"an eviction that is not due": {
			happens: func(s *story) { s.seen(pod("p", "a-1", 0, 1), evicted(pod("p", "a-1", 0, 1))) },
			want:    "pod p on a-1 was evicted although its site has no pod too many",
		},
		"an eviction that is due": {happens: func(s *story) {
			s.seen(pod("p", "b-1", 0, 1), pod("q", "b-1", 1, 1), evicted(pod("q", "b-1", 1, 1)))
		}},
		"an eviction that has been due for long": {happens: func(s *story) {
			s.seen(pod("p", "b-1", 0, 1), pod("q", "b-1", 1, 1))
			s.clock = s.clock.Add(time.Minute)
			s.seen(evicted(pod("q", "b-1", 1, 1)))
		}},
		"an eviction that was due long ago": {
			happens: func(s *story) {
				s.seen(pod("p", "b-1", 0, 1), pod("q", "b-1", 1, 1))
				s.tell("pods/default/q", nil)
				s.clock = s.clock.Add(time.Minute)
				s.seen(evicted(pod("p", "b-1", 0, 1)))
			},
			want: "pod p on b-1 was evicted although its site has no pod too many",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := begin()
			tc.happens(s)
			got := ""
			if err := s.Breach(); err != nil {
				got = err.Error()
			}
			if (got == "") != (tc.want == "") || !strings.HasPrefix(got, tc.want) {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestUnsettled(t *testing.T) {
	for name, tc := range map[string]struct {
		pods []*corev1.Pod
		want []string
	}{
		"missing pods": {want: []string{"web has 0 pods and wants 3"}},
		"a pod that waits although there is room": {
			pods: []*corev1.Pod{pod("p", "a-1", 0, 1), pod("q", "b-1", 1, 1), pod("r", "", 0, 0)},
			want: []string{"1 pods of web wait although there is room", "the status of policy web", "the status of pool all"},
		},
		"a pod that waits for the pool": {
			pods: []*corev1.Pod{pod("p", "a-1", 0, 2), pod("q", "b-1", 1, 1), pod("r", "", 0, 0)},
			want: []string{"the status of policy web", "the status of pool all"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := begin()
			s.seen(tc.pods...)
			got := s.Unsettled()
			if len(got) != len(tc.want) {
				t.Fatalf("got %q, want %q", got, tc.want)
			}
			for i, want := range tc.want {
				if !strings.HasPrefix(got[i], want) {
					t.Errorf("got %q, want %q", got[i], want)
				}
			}
		})
	}
}

// A pod that is where its policy has no share is told as misplaced, not with a cluster of its own.
func TestStatusOfAPolicyWithPodsElsewhere(t *testing.T) {
	for name, tc := range map[string]struct {
		status berthv1alpha1.WorkloadPlacement
		wrong  bool
	}{
		"told":            {status: berthv1alpha1.WorkloadPlacement{Misplaced: 1}},
		"not told":        {status: berthv1alpha1.WorkloadPlacement{}, wrong: true},
		"too many told":   {status: berthv1alpha1.WorkloadPlacement{Misplaced: 2}, wrong: true},
		"told as a share": {status: berthv1alpha1.WorkloadPlacement{Misplaced: 1, Clusters: []berthv1alpha1.ClusterPlacement{{Name: "b", Current: 1}}}, wrong: true},
	} {
		t.Run(name, func(t *testing.T) {
			s := begin()
			tc.status.Clusters = append(tc.status.Clusters, berthv1alpha1.ClusterPlacement{Name: "a", Current: 2})
			policy := &berthv1alpha1.PropagationPolicy{ObjectMeta: metav1.ObjectMeta{Name: "web", Generation: 7}}
			policy.Spec.Placement.StaticWeightList = []berthv1alpha1.StaticClusterWeight{{ClusterNames: []string{"a", "b"}, Weight: 1}}
			policy.Status.Workloads = []berthv1alpha1.WorkloadPlacement{tc.status}
			s.tell("propagationpolicies/default/web", policy)
			s.seen(pod("p", "a-1", 0, 1), pod("q", "a-1", 2, 1), pod("r", "elsewhere-1", 1, 1))
			got := s.Unsettled()
			if told := slices.ContainsFunc(got, func(line string) bool { return strings.HasPrefix(line, "the status of policy") }); told != tc.wrong {
				t.Errorf("got %q, want a word about the policy: %t", got, tc.wrong)
			}
		})
	}
}

// Of the three pods that are wanted Kubernetes has made one, and removes it once its node is gone.
func TestWhatKubernetesHasToDoIsNotBerths(t *testing.T) {
	s := begin()
	s.seen(pod("p", "a-1", 0, 1))
	if removed, made := s.Awaited(); removed != 0 || made != 2 {
		t.Errorf("%d pods are to be removed and %d to be made, want 0 and 2", removed, made)
	}
	s.tell("nodes/a-1", nil)
	if removed, made := s.Awaited(); removed != 1 || made != 2 {
		t.Errorf("%d pods are to be removed and %d to be made once the node is gone, want 1 and 2", removed, made)
	}
}
