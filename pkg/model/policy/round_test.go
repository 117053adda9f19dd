// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/policy"
	"berth.dev/berth/pkg/model/stamp"
	"berth.dev/berth/pkg/model/topology"
	"berth.dev/berth/pkg/model/workload"
	"berth.dev/berth/pkg/placement/rebalance"
)

// sharesOf counts pods, of which each is in the cluster of its index, for a workload with so many
// replicas.
func sharesOf(t *testing.T, o *workload.Observed, pods []*corev1.Pod, clusters ...string) policy.Shares {
	t.Helper()
	in := map[*corev1.Pod]string{}
	for i, pod := range pods {
		in[pod] = clusters[i]
	}
	o.Pods = pods
	return webPolicy(t).Shares(o, pods, func(pod *corev1.Pod) string { return in[pod] })
}

func observed(kind string, replicas int32) *workload.Observed {
	return &workload.Observed{Workload: workload.Workload{Kind: kind, Replicas: replicas, ReplicasKnown: true}}
}

// Of 3 replicas the seats are hangzhou, beijing, hangzhou.
func TestRank(t *testing.T) {
	ours := stamp.Stamp{Policy: "web", Cluster: "beijing", Seat: 2}
	own := map[string]string{corev1.PodDeletionCost: "7"}
	tests := map[string]struct {
		pod     *corev1.Pod
		keep    rebalance.Keep
		cluster string
		// replicas are how many are wanted of the one that there is, negative if that is not known.
		replicas int32
		want     []rebalance.Place
		// wantPlace and wantCost are what the replica has then.
		wantPlace rebalance.Place
		wantCost  int64
	}{
		"in its cluster": {
			pod: stampedPod("web-1", ours, nil), cluster: "beijing", replicas: 3, want: []rebalance.Place{2000}, wantPlace: 2000, wantCost: -2000,
		},
		"as many as are wanted": {
			pod: stampedPod("web-1", ours, nil), cluster: "hangzhou", replicas: 1, want: []rebalance.Place{2000}, wantPlace: 2000, wantCost: -2000,
		},
		"more than are wanted": {
			pod: stampedPod("web-1", ours, nil), cluster: "beijing", replicas: 0, wantPlace: 2000, wantCost: 5,
		},
		"nobody knows how many": {
			pod: stampedPod("web-1", ours, nil), cluster: "beijing", replicas: -1, wantPlace: 2000, wantCost: 5,
		},
		"with a deletion cost of the user's": {
			pod: stampedPod("web-1", ours, own), cluster: "beijing", replicas: 3, want: []rebalance.Place{2000}, wantPlace: 2000, wantCost: 5,
		},
		"without a stamp": {
			pod: stampedPod("web-1", stamp.Stamp{}, nil), cluster: "beijing", replicas: 3, want: []rebalance.Place{1500}, wantPlace: rebalance.NoPlace, wantCost: 5,
		},
		"without a stamp, and taken over": {
			pod: stampedPod("web-1", stamp.Stamp{}, nil), keep: rebalance.TakenOver, cluster: "beijing", replicas: 3,
			want: []rebalance.Place{1500}, wantPlace: rebalance.NoPlace, wantCost: -1500,
		},
		"taken over with a deletion cost of the user's": {
			pod: stampedPod("web-1", stamp.Stamp{}, own), keep: rebalance.TakenOver, cluster: "beijing", replicas: 3,
			want: []rebalance.Place{1500}, wantPlace: rebalance.NoPlace, wantCost: 5,
		},
		"with a number of its own": {
			pod: ordinalPod(2), cluster: "beijing", replicas: 3, want: []rebalance.Place{rebalance.NoPlace}, wantPlace: 2000, wantCost: 5,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			o := observed("Deployment", max(0, tc.replicas))
			o.ReplicasKnown = tc.replicas >= 0
			pods := []*corev1.Pod{tc.pod}
			s := sharesOf(t, o, pods, tc.cluster)
			s.Pods[0].Keep, s.Pods[0].Cost = tc.keep, 5
			got := s.Rank(pods, tc.replicas)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("places (-want +got):\n%s", diff)
			}
			if p := s.Pods[0]; p.Place != tc.wantPlace || p.Cost != tc.wantCost {
				t.Errorf("the replica has place %d and cost %d, want %d and %d", p.Place, p.Cost, tc.wantPlace, tc.wantCost)
			}
		})
	}
}

// ordinalPod is a pod of a StatefulSet that carries a stamp.
func ordinalPod(n int) *corev1.Pod {
	pod := stampedPod(fmt.Sprint("db-", n), stamp.Stamp{Policy: "web", Cluster: "beijing", Seat: 2}, nil)
	pod.OwnerReferences = []metav1.OwnerReference{controller("apps/v1", "StatefulSet", "db")}
	return pod
}

func TestRound(t *testing.T) {
	waits, runs := stampedPod("web-0", stamp.Stamp{}, nil), stampedPod("web-1", stamp.Stamp{}, nil)
	waits.Spec.NodeName = ""
	o := observed("Deployment", 8)
	s := sharesOf(t, o, []*corev1.Pod{waits, runs}, "", "beijing")
	p := &berthv1alpha1.PropagationPolicy{}
	p.Spec.Rebalance.MaxUnavailable = &intstr.IntOrString{IntVal: 3}
	clusters := []*topology.Cluster{{ReadyNodes: 1}, nil}

	round := s.Round(o, p, clusters)
	round.Pods[0].Fits = true
	want := []any{1, 3, false, rebalance.Reason(""), []rebalance.Vacancy{{Ready: true}, {}}, false, true}
	got := []any{round.Pending, round.MaxUnavailable, round.RolloutFinished, round.Never, round.Clusters, s.Pods[0].Fits, round.Plan == s.Plan}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("pending, may be missing, rolled out, never, clusters, shared, plan (-want +got):\n%s", diff)
	}
}

func TestWhoseRoundNeverComes(t *testing.T) {
	tests := map[string]struct {
		kind    string
		unknown bool
		mode    berthv1alpha1.RebalanceMode
		divided string
		want    rebalance.Reason
	}{
		"a Job":                        {kind: "Job", want: rebalance.JobPods},
		"a workload that is not known": {kind: "CloneSet", unknown: true, want: rebalance.UnknownWorkload},
		"by a policy that forbids it":  {kind: "Deployment", mode: berthv1alpha1.RebalanceNever, want: rebalance.Forbidden},
		"divided for another number":   {kind: "Deployment", divided: "2", want: rebalance.Undivided},
		"divided for this number":      {kind: "Deployment", divided: "1"},
		"divided for any number":       {kind: "Deployment", divided: "*"},
		"any other comes":              {kind: "Deployment"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			o := observed(tc.kind, 1)
			o.ReplicasKnown = !tc.unknown
			s := sharesOf(t, o, nil)
			p := &berthv1alpha1.PropagationPolicy{}
			p.Annotations = map[string]string{berthv1alpha1.DividedAnnotation: tc.divided}
			p.Spec.Rebalance.Mode = tc.mode
			if got := s.Round(o, p, nil).Never; got != tc.want {
				t.Errorf("never, because of %q, want %q", got, tc.want)
			}
		})
	}
}

// rooms answers for the room in clusters, and notes what it was asked.
type rooms struct {
	room  map[string]int // by pod
	asked []string
}

func (r *rooms) in(cluster int, pod *corev1.Pod, limit int) (int, error) {
	r.asked = append(r.asked, fmt.Sprintf("%d for %s up to %d", cluster, pod.Name, limit))
	count, known := r.room[pod.Name]
	if !known {
		return 1, errNoAnswer
	}
	return count, nil
}

var errNoAnswer = errors.New("no answer")

func TestFindVacancies(t *testing.T) {
	ours := stamp.Stamp{Policy: "web", Cluster: "beijing", Seat: 2}
	pod := func(name string) *corev1.Pod {
		p := stampedPod(name, ours, nil)
		p.UID = types.UID(name)
		p.Annotations[berthv1alpha1.PlacedByAnnotation] = name + "/" + node
		return p
	}
	number := func(n int) *corev1.Pod {
		p := ordinalPod(n)
		p.UID = types.UID(p.Name)
		return p
	}
	tests := map[string]struct {
		pods     []*corev1.Pod
		clusters []string
		room     map[string]int
		want     policy.Vacancies
		// wantAsked is what is asked for, in order.
		wantAsked []string
		wantErr   error
	}{
		"one of those that are alike stands for them": {
			pods: []*corev1.Pod{pod("a"), pod("b"), pod("c")}, clusters: []string{"beijing", "beijing", "beijing"},
			room: map[string]int{"a": 1}, wantAsked: []string{"1 for a up to 2"},
			want: policy.Vacancies{Clusters: []int{0, 1}, Seats: map[types.UID]bool{}},
		},
		"there is no room": {
			pods: []*corev1.Pod{pod("a"), pod("b"), pod("c")}, clusters: []string{"beijing", "beijing", "beijing"},
			room: map[string]int{"a": 0}, wantAsked: []string{"1 for a up to 2"},
			want: policy.Vacancies{Clusters: []int{0, 0}, Seats: map[types.UID]bool{}},
		},
		"the least counts of what they may leave": {
			pods: []*corev1.Pod{pod("a"), pod("b"), pod("c")}, clusters: []string{"beijing", "beijing", "paris"},
			room: map[string]int{"a": 2, "c": 1}, wantAsked: []string{"1 for c up to 2", "1 for a up to 1"},
			want: policy.Vacancies{Clusters: []int{0, 1}, Seats: map[types.UID]bool{}},
		},
		"nobody else is asked where there is no room": {
			pods: []*corev1.Pod{pod("a"), pod("b"), pod("c")}, clusters: []string{"beijing", "beijing", "paris"},
			room: map[string]int{"a": 2, "c": 0}, wantAsked: []string{"1 for c up to 2"},
			want: policy.Vacancies{Clusters: []int{0, 0}, Seats: map[types.UID]bool{}},
		},
		"nobody is asked if none is too many": {
			pods: []*corev1.Pod{pod("a"), pod("b"), pod("c")}, clusters: []string{"beijing", "hangzhou", "hangzhou"},
			want: policy.Vacancies{Seats: map[types.UID]bool{}},
		},
		"nobody is asked about pods of others": {
			pods:     []*corev1.Pod{stampedPod("a", stamp.Stamp{}, nil), stampedPod("b", stamp.Stamp{}, nil), stampedPod("c", stamp.Stamp{}, nil)},
			clusters: []string{"beijing", "beijing", "beijing"}, want: policy.Vacancies{Seats: map[types.UID]bool{}},
		},
		"no answer": {
			pods: []*corev1.Pod{pod("a"), pod("b"), pod("c")}, clusters: []string{"beijing", "beijing", "beijing"},
			wantAsked: []string{"1 for a up to 2"}, wantErr: errNoAnswer,
		},
		"those with numbers stand for themselves": {
			pods: []*corev1.Pod{number(0), number(1), number(2)}, clusters: []string{"beijing", "beijing", "beijing"},
			room: map[string]int{"db-0": 1, "db-2": 0}, wantAsked: []string{"1 for db-0 up to 1", "1 for db-2 up to 1"},
			want: policy.Vacancies{Seats: map[types.UID]bool{"db-0": true, "db-2": false}},
		},
		"one with a number beyond all seats": {
			pods: []*corev1.Pod{number(7)}, clusters: []string{"beijing"},
			want: policy.Vacancies{Seats: map[types.UID]bool{}},
		},
		"no answer about one with a number": {
			pods: []*corev1.Pod{number(0)}, clusters: []string{"beijing"}, wantAsked: []string{"1 for db-0 up to 1"}, wantErr: errNoAnswer,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := sharesOf(t, observed("Deployment", 3), tc.pods, tc.clusters...)
			r := &rooms{room: tc.room}
			got, err := s.FindVacancies(tc.pods, r.in)
			if !errors.Is(err, tc.wantErr) {
				t.Fatalf("error %v, want %v", err, tc.wantErr)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" && err == nil {
				t.Errorf("vacancies (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.wantAsked, r.asked); diff != "" {
				t.Errorf("asked for (-want +got):\n%s", diff)
			}
		})
	}
}

func TestApply(t *testing.T) {
	first, second := ordinalPod(0), ordinalPod(1)
	first.UID, second.UID = "first", "second"
	round := &rebalance.Round{Clusters: make([]rebalance.Vacancy, 2), Pods: make([]rebalance.Replica, 2)}
	policy.Vacancies{Clusters: []int{3, 4}, Seats: map[types.UID]bool{"second": true}}.Apply(round, []*corev1.Pod{first, second})
	want := []any{3, 4, false, true}
	got := []any{round.Clusters[0].Room, round.Clusters[1].Room, round.Pods[0].Fits, round.Pods[1].Fits}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("room in each cluster, and who fits (-want +got):\n%s", diff)
	}
}

func TestReplacement(t *testing.T) {
	pod := stampedPod("web-1", stamp.Stamp{Policy: "web", Cluster: "beijing", Seat: 2}, map[string]string{"team": "a"})
	pod.Labels = map[string]string{"app": "web", berthv1alpha1.HomeSchedulerLabel: "west", berthv1alpha1.ClusterLabel: "beijing"}
	got := policy.Replacement(pod)
	if diff := cmp.Diff(map[string]string{"app": "web"}, got.Labels); diff != "" || len(pod.Labels) != 3 {
		t.Errorf("its labels, and those of the pod are %v (-want +got):\n%s", pod.Labels, diff)
	}
	want := map[string]string{"team": "a", corev1.PodDeletionCost: "-2000", berthv1alpha1.PolicyAnnotation: berthv1alpha1.PolicyNone}
	if diff := cmp.Diff(want, got.Annotations); diff != "" {
		t.Errorf("its annotations (-want +got):\n%s", diff)
	}
	if got.Spec.NodeName != "" || len(got.OwnerReferences) > 0 || pod.Spec.NodeName != node {
		t.Errorf("it is on node %q, has owners %v, and the pod is on node %q", got.Spec.NodeName, got.OwnerReferences, pod.Spec.NodeName)
	}
}
