// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package workload_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/workload"
)

// seen is what a test compares of a workload.
type seen struct {
	Name     string
	Replicas int32
	Known    bool
	// Bound are the pods that count, Pending and AllPending those of the newest and of all
	// revisions that are not bound.
	Bound               []string
	Pending, AllPending int
	Finished            bool
}

func look(objects *workload.Objects) []seen {
	var all []seen
	for _, o := range workload.Observe(objects) {
		s := seen{
			Name: o.Kind + " " + o.Name, Replicas: o.Replicas, Known: o.ReplicasKnown,
			Pending: o.Pending(false), AllPending: o.Pending(true), Finished: o.RolloutFinished(),
		}
		for _, p := range o.Bound() {
			s.Bound = append(s.Bound, p.Name)
		}
		all = append(all, s)
	}
	return all
}

type observeCase struct {
	objects workload.Objects
	want    []seen
}

func runObserve(t *testing.T, tests map[string]observeCase) {
	t.Helper()
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, look(&tc.objects)); diff != "" {
				t.Errorf("Observe() mismatch (-want +got):\n%s", diff)
			}
		})
	}
}

// forged returns a reference to what may not exist.
func forged(apiVersion, kind, name string, uid types.UID) *metav1.OwnerReference {
	ref := ownedBy(apiVersion, kind, name)
	ref.UID = uid
	return ref
}

func TestObserveDeployment(t *testing.T) {
	d := ownedBy("apps/v1", "Deployment", "web")
	rs := func(name string) *metav1.OwnerReference { return ownedBy("apps/v1", "ReplicaSet", name) }
	runObserve(t, map[string]observeCase{
		"one revision": {
			objects: workload.Objects{
				Owners: []workload.Object{deployment("web", "1", 3), replicaSet("rs1", d, "1", 3)},
				Pods: []corev1.Pod{
					pod("a", rs("rs1")), pod("b", rs("rs1"), pending), pod("c", rs("rs1"), terminating),
					pod("d", rs("rs1"), phase(corev1.PodFailed)), pod("e", rs("rs1"), phase(corev1.PodSucceeded)),
				},
			},
			want: []seen{{Name: "Deployment web", Replicas: 3, Known: true, Bound: []string{"a"}, Pending: 1, AllPending: 1, Finished: true}},
		},
		"the revision with the highest number counts, compared as numbers": {
			objects: workload.Objects{
				Owners: []workload.Object{deployment("web", "10", 2), replicaSet("rs9", d, "9", 1), replicaSet("rs10", d, "10", 1)},
				Pods:   []corev1.Pod{pod("old", rs("rs9")), pod("new", rs("rs10")), pod("waits", rs("rs9"), pending)},
			},
			want: []seen{{Name: "Deployment web", Replicas: 2, Known: true, Bound: []string{"new"}, AllPending: 1}},
		},
		"a terminating pod of the old revision does not keep the rollout from being finished": {
			objects: workload.Objects{
				Owners: []workload.Object{deployment("web", "2", 1), replicaSet("rs1", d, "1", 0), replicaSet("rs2", d, "2", 1)},
				Pods:   []corev1.Pod{pod("old", rs("rs1"), terminating), pod("new", rs("rs2"))},
			},
			want: []seen{{Name: "Deployment web", Replicas: 1, Known: true, Bound: []string{"new"}, Finished: true}},
		},
		"a change that the controller has not seen": {
			objects: workload.Objects{
				Owners: []workload.Object{deployment("web", "1", 1, func(d *appsv1.Deployment) { d.Generation = 2 }), replicaSet("rs1", d, "1", 1)},
			},
			want: []seen{{Name: "Deployment web", Replicas: 1, Known: true}},
		},
		"paused with a new template of which there are no pods": {
			objects: workload.Objects{
				Owners: []workload.Object{deployment("web", "1", 1, func(d *appsv1.Deployment) {
					d.Spec.Paused, d.Status.UpdatedReplicas = true, 0
				}), replicaSet("rs1", d, "1", 1)},
			},
			want: []seen{{Name: "Deployment web", Replicas: 1, Known: true}},
		},
		"the ReplicaSet of the new revision is not known yet": {
			objects: workload.Objects{
				Owners: []workload.Object{deployment("web", "2", 1), replicaSet("rs1", d, "1", 1)},
			},
			want: []seen{{Name: "Deployment web", Replicas: 1, Known: true}},
		},
		"a ReplicaSet of a Deployment that is not known is nothing yet": {
			objects: workload.Objects{
				Owners: []workload.Object{replicaSet("rs1", d, "1", 1)}, Pods: []corev1.Pod{pod("a", rs("rs1"))},
			},
		},
		"pods that name the UID of a ReplicaSet or of the Deployment, and nothing else of it": {
			objects: workload.Objects{
				Owners: []workload.Object{deployment("web", "1", 3), replicaSet("rs1", d, "1", 3)},
				Pods: []corev1.Pod{
					pod("a", rs("rs1")), pod("b", forged("apps/v9", "ReplicaSet", "rs1", "rs1")),
					pod("c", forged("example.com/v1", "Thing", "web", "web")), pod("d", forged("apps/v1", "ReplicaSet", "other", "rs1")),
				},
			},
			want: []seen{
				{Name: "Deployment web", Replicas: 3, Known: true, Bound: []string{"a"}, Finished: true},
				{Name: "Pod b", Bound: []string{"b"}, Finished: true},
				{Name: "Thing web", Bound: []string{"c"}},
			},
		},
		"a ReplicaSet that has no number yet": {
			objects: workload.Objects{
				Owners: []workload.Object{deployment("web", "", 1), replicaSet("rs1", d, "", 1)}, Pods: []corev1.Pod{pod("a", rs("rs1"))},
			},
			want: []seen{{Name: "Deployment web", Replicas: 1, Known: true, Bound: []string{"a"}, Finished: true}},
		},
		"absent replicas are one": {
			objects: workload.Objects{
				Owners: []workload.Object{deployment("web", "1", 1, func(d *appsv1.Deployment) { d.Spec.Replicas = nil }), replicaSet("rs1", d, "1", 1)},
			},
			want: []seen{{Name: "Deployment web", Replicas: 1, Known: true, Finished: true}},
		},
	})
}

func TestObserveOtherOwners(t *testing.T) {
	rollout := ownedBy("argoproj.io/v1alpha1", "Rollout", "ro")
	rs := func(name string) *metav1.OwnerReference { return ownedBy("apps/v1", "ReplicaSet", name) }
	set := ownedBy("apps/v1", "StatefulSet", "db")
	clone := ownedBy("apps.kruise.io/v1alpha1", "CloneSet", "cs")
	younger := func(r *appsv1.ReplicaSet) *appsv1.ReplicaSet {
		r.CreationTimestamp = metav1.NewTime(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
		return r
	}
	runObserve(t, map[string]observeCase{
		"a ReplicaSet of its own": {
			objects: workload.Objects{
				Owners: []workload.Object{replicaSet("rs", nil, "", 2)}, Pods: []corev1.Pod{pod("a", rs("rs"))},
			},
			want: []seen{{Name: "ReplicaSet rs", Replicas: 2, Known: true, Bound: []string{"a"}, Finished: true}},
		},
		"a ReplicaSet that a controller of another kind owns": {
			objects: workload.Objects{
				Owners: []workload.Object{replicaSet("rs", rollout, "", 2)}, Pods: []corev1.Pod{pod("a", rs("rs"))},
			},
			want: []seen{{Name: "Rollout ro", Replicas: 2, Known: true, Bound: []string{"a"}, Finished: true}},
		},
		"two such ReplicaSets in use are a rollout, and the younger counts": {
			objects: workload.Objects{
				Owners: []workload.Object{younger(replicaSet("new", rollout, "", 1)), replicaSet("old", rollout, "", 2)},
				Pods:   []corev1.Pod{pod("a", rs("old")), pod("b", rs("new"))},
			},
			want: []seen{{Name: "Rollout ro", Replicas: 1, Known: true, Bound: []string{"b"}}},
		},
		"one of two such ReplicaSets in use is none": {
			objects: workload.Objects{
				Owners: []workload.Object{younger(replicaSet("new", rollout, "", 0)), replicaSet("old", rollout, "", 2)},
				Pods:   []corev1.Pod{pod("a", rs("old"))},
			},
			want: []seen{{Name: "Rollout ro", Replicas: 2, Known: true, Bound: []string{"a"}, Finished: true}},
		},
		"the older one is none, and comes first": {
			objects: workload.Objects{
				Owners: []workload.Object{replicaSet("old", rollout, "", 2), younger(replicaSet("new", rollout, "", 0))},
				Pods:   []corev1.Pod{pod("a", rs("old"))},
			},
			want: []seen{{Name: "Rollout ro", Replicas: 2, Known: true, Bound: []string{"a"}, Finished: true}},
		},
		"two in use, of one pod each": {
			objects: workload.Objects{
				Owners: []workload.Object{replicaSet("old", rollout, "", 1), younger(replicaSet("new", rollout, "", 1))},
				Pods:   []corev1.Pod{pod("a", rs("old")), pod("b", rs("new"))},
			},
			want: []seen{{Name: "Rollout ro", Replicas: 1, Known: true, Bound: []string{"b"}}},
		},
		"one that its controller has not seen": {
			objects: workload.Objects{Owners: []workload.Object{func() *appsv1.ReplicaSet { r := replicaSet("rs", rollout, "", 2); r.Generation = 2; return r }()}},
			want:    []seen{{Name: "Rollout ro", Replicas: 2, Known: true}},
		},
		"one that is scaled to none, whose last pod goes": {
			objects: workload.Objects{
				Owners: []workload.Object{replicaSet("rs", rollout, "", 0)}, Pods: []corev1.Pod{pod("a", rs("rs"))},
			},
			want: []seen{{Name: "Rollout ro", Known: true, Bound: []string{"a"}, Finished: true}},
		},
		"a StatefulSet whose controller has not seen the latest change": {
			objects: workload.Objects{
				Owners: []workload.Object{func() *appsv1.StatefulSet { s := statefulSet("db", "r2", "r2"); s.Generation = 2; return s }()},
				Pods:   []corev1.Pod{pod("db-5", set, revisionHash("r2"))},
			},
			want: []seen{{Name: "StatefulSet db", Replicas: 3, Known: true, Bound: []string{"db-5"}}},
		},
		"a StatefulSet that is rolled out": {
			objects: workload.Objects{
				Owners: []workload.Object{statefulSet("db", "r1", "r2")},
				Pods:   []corev1.Pod{pod("db-5", set, revisionHash("r2")), pod("db-6", set, revisionHash("r1"))},
			},
			want: []seen{{Name: "StatefulSet db", Replicas: 3, Known: true, Bound: []string{"db-5"}}},
		},
		"a StatefulSet at rest": {
			objects: workload.Objects{
				Owners: []workload.Object{statefulSet("db", "r2", "r2")},
				Pods:   []corev1.Pod{pod("db-5", set, revisionHash("r2"))},
			},
			want: []seen{{Name: "StatefulSet db", Replicas: 3, Known: true, Bound: []string{"db-5"}, Finished: true}},
		},
		"Jobs that have finished are not there": {
			objects: workload.Objects{
				Owners: []workload.Object{job("done", true), job("works", false)},
				Pods:   []corev1.Pod{pod("a", ownedBy("batch/v1", "Job", "works"))},
			},
			want: []seen{{Name: "Job works", Replicas: 2, Known: true, Bound: []string{"a"}, Finished: true}},
		},
		"a ReplicationController, with an owner or without": {
			objects: workload.Objects{
				Owners: []workload.Object{&corev1.ReplicationController{
					ObjectMeta: meta("rc", ownedBy("apps.openshift.io/v1", "DeploymentConfig", "dc")),
					Spec:       corev1.ReplicationControllerSpec{Replicas: new(int32(2))}, Status: corev1.ReplicationControllerStatus{ObservedGeneration: 1},
				}},
				Pods: []corev1.Pod{pod("a", ownedBy("v1", "ReplicationController", "rc"))},
			},
			want: []seen{{Name: "ReplicationController rc", Replicas: 2, Known: true, Bound: []string{"a"}, Finished: true}},
		},
		"an owner of a kind that is not read: the revision of the youngest pod counts": {
			objects: workload.Objects{Pods: []corev1.Pod{
				pod("b", clone, revisionHash("2"), bornAt(2)), pod("a", clone, revisionHash("1"), bornAt(1)),
			}},
			want: []seen{{Name: "CloneSet cs", Bound: []string{"b"}}},
		},
		"a pod without an owner": {
			objects: workload.Objects{Pods: []corev1.Pod{pod("bare", nil)}},
			want:    []seen{{Name: "Pod bare", Bound: []string{"bare"}, Finished: true}},
		},
		"a kind of the same name in another group is not read": {
			objects: workload.Objects{Pods: []corev1.Pod{pod("a", ownedBy("example.com/v1", "StatefulSet", "db"))}},
			want:    []seen{{Name: "StatefulSet db", Bound: []string{"a"}}},
		},
		"an owner that does not exist": {
			objects: workload.Objects{Pods: []corev1.Pod{
				pod("a", rs("absent")), pod("b", set), pod("c", ownedBy("batch/v1", "Job", "absent")),
				pod("d", ownedBy("v1", "ReplicationController", "absent")),
			}},
		},
	})
}

func TestObserveOrder(t *testing.T) {
	set := statefulSet("a", "", "")
	set.UID = "set"
	objects := workload.Objects{
		Owners: []workload.Object{set, deployment("b", "", 1), deployment("a", "", 1)},
	}
	var names []string
	for _, o := range workload.Observe(&objects) {
		names = append(names, o.Kind+" "+o.Name)
	}
	if diff := cmp.Diff([]string{"Deployment a", "Deployment b", "StatefulSet a"}, names); diff != "" {
		t.Errorf("order mismatch (-want +got):\n%s", diff)
	}
}

func TestRequestAndScheduler(t *testing.T) {
	set := statefulSet("db", "", "")
	bare := pod("bare", nil, func(p *corev1.Pod) {
		p.Annotations[berthv1alpha1.PolicyAnnotation], p.Spec.SchedulerName = "mine", "other"
	})
	stamped := pod("stamped", nil, func(p *corev1.Pod) {
		p.Annotations[berthv1alpha1.PlacedByAnnotation], p.Spec.SchedulerName = "stamped/node", "other"
		p.Annotations[berthv1alpha1.PlacedPolicyAnnotation] = "p"
	})
	rs := replicaSet("rs", ownedBy("argoproj.io/v1alpha1", "Rollout", "ro"), "", 2)
	objects := workload.Objects{Owners: []workload.Object{set, rs}, Pods: []corev1.Pod{bare, stamped}}
	type answer struct {
		Request string
		Asks    bool
	}
	got := map[string]answer{}
	for _, o := range workload.Observe(&objects) {
		if want := int32(5); o.Name == "db" && o.FirstOrdinal != want {
			t.Errorf("the first ordinal is %d, want %d", o.FirstOrdinal, want)
		}
		got[o.Name] = answer{o.Request, o.Asks([]string{"berth-scheduler"})}
	}
	want := map[string]answer{"db": {"p", true}, "ro": {"p", true}, "bare": {"mine", false}, "stamped": {"", true}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("mismatch (-want +got):\n%s", diff)
	}
}
