// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"context"
	"encoding/json"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/util/flowcontrol"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/controllers/adviser"
	"berth.dev/berth/pkg/controllers/policy"
	"berth.dev/berth/pkg/controllers/state"
	"berth.dev/berth/pkg/model/stamp"
)

// memory answers lists of one namespace as a cache does that does not copy, and takes every write.
type memory struct {
	client.Client
	clusters    []berthv1alpha1.Cluster
	nodes       []corev1.Node
	policies    []berthv1alpha1.PropagationPolicy
	deployments []appsv1.Deployment
	replicaSets []appsv1.ReplicaSet
	pods        []corev1.Pod
	// byController are the pods by the UID of their controller.
	byController map[string][]corev1.Pod
	writes       int
	// wholes is how often all pods were read.
	wholes int
	// status is the last one that was written of a policy, of statusBytes as JSON.
	status      berthv1alpha1.PropagationPolicyStatus
	statuses    map[string]berthv1alpha1.PropagationPolicyStatus
	statusBytes int
	// patches counts the pods that were written to, several at a time.
	patches atomic.Int64
}

func (m *memory) List(_ context.Context, list client.ObjectList, opts ...client.ListOption) error {
	options := client.ListOptions{}
	options.ApplyOptions(opts)
	if pods, are := list.(*corev1.PodList); are && options.FieldSelector != nil {
		pods.Items = append(pods.Items, m.byController[options.FieldSelector.Requirements()[0].Value]...)
		return nil
	}
	switch l := list.(type) {
	case *berthv1alpha1.ClusterList:
		l.Items = append(l.Items, m.clusters...)
	case *berthv1alpha1.PropagationPolicyList:
		l.Items = append(l.Items, m.policies...)
	case *corev1.NodeList:
		l.Items = append(l.Items, m.nodes...)
	case *appsv1.DeploymentList:
		l.Items = append(l.Items, m.deployments...)
	case *appsv1.ReplicaSetList:
		l.Items = append(l.Items, m.replicaSets...)
	case *corev1.PodList:
		m.wholes++
		l.Items = append(l.Items, m.pods...)
	case *appsv1.StatefulSetList, *batchv1.JobList, *batchv1.CronJobList, *corev1.ReplicationControllerList:
	default:
		return fmt.Errorf("nobody lists a %T", list)
	}
	return nil
}

func (m *memory) Get(_ context.Context, key client.ObjectKey, o client.Object, _ ...client.GetOption) error {
	for i := range m.policies {
		if policy, is := o.(*berthv1alpha1.PropagationPolicy); is && m.policies[i].Name == key.Name {
			m.policies[i].DeepCopyInto(policy)
			return nil
		}
	}
	return fmt.Errorf("there is no %T %s", o, key.Name)
}

func (m *memory) Patch(context.Context, client.Object, client.Patch, ...client.PatchOption) error {
	m.patches.Add(1)
	return nil
}

func (m *memory) Status() client.SubResourceWriter { return statusWriter{m} }

type statusWriter struct{ m *memory }

func (s statusWriter) Create(context.Context, client.Object, client.Object, ...client.SubResourceCreateOption) error {
	return nil
}

func (s statusWriter) Update(context.Context, client.Object, ...client.SubResourceUpdateOption) error {
	return nil
}

func (s statusWriter) Apply(context.Context, runtime.ApplyConfiguration, ...client.SubResourceApplyOption) error {
	return nil
}

func (s statusWriter) Patch(_ context.Context, o client.Object, _ client.Patch, _ ...client.SubResourcePatchOption) error {
	s.m.writes++
	if policy, is := o.(*berthv1alpha1.PropagationPolicy); is {
		written, err := json.Marshal(policy.Status)
		if err != nil {
			return err
		}
		s.m.status, s.m.statusBytes = policy.Status, len(written)
		if s.m.statuses != nil {
			s.m.statuses[policy.Name] = policy.Status
		}
	}
	return nil
}

// newMemory has policies with a Deployment each, and so many pods in all, over ten clusters of
// twenty nodes.
func newMemory(policies, pods int) *memory {
	m := &memory{byController: map[string][]corev1.Pod{}, statuses: map[string]berthv1alpha1.PropagationPolicyStatus{}}
	var clusterNames []string
	for c := range 10 {
		name := fmt.Sprintf("c%d", c)
		clusterNames = append(clusterNames, name)
		cluster := newCluster(name)
		for n := range 20 {
			node := newNode(fmt.Sprintf("%s-%02d", name, n))
			cluster.Spec.Nodes = append(cluster.Spec.Nodes, node.Name)
			m.nodes = append(m.nodes, *node)
		}
		m.clusters = append(m.clusters, *cluster)
	}
	each := pods / policies
	for i := range policies {
		name := fmt.Sprintf("web-%d", i)
		p := newPolicy(name)
		p.Spec.ResourceSelectors[0].Name = name
		p.Spec.Placement.StaticWeightList = []berthv1alpha1.StaticClusterWeight{{ClusterNames: clusterNames, Weight: 1}}
		m.policies = append(m.policies, *p)
		d := newDeployment(int32(each))
		d.Name, d.UID = name, types.UID(name)
		rs := newReplicaSet("rs-"+name, "1", int32(each))
		rs.OwnerReferences[0].Name, rs.OwnerReferences[0].UID = name, d.UID
		m.deployments, m.replicaSets = append(m.deployments, *d), append(m.replicaSets, *rs)
		for k := range each {
			node := m.nodes[(k%10)*20].Name
			pod := webPod(fmt.Sprintf("%s-%d", name, k), node, int32(k), func(p *corev1.Pod) {
				p.OwnerReferences[0].Name, p.OwnerReferences[0].UID = rs.Name, rs.UID
				p.Annotations = stamp.Stamp{Policy: name, Cluster: clusterNames[k%10], Seat: int32(k)}.Annotations(p, node)
			})
			m.pods = append(m.pods, *pod)
		}
		m.byController[string(rs.UID)] = m.pods[len(m.pods)-each:]
	}
	return m
}

// BenchmarkPass is one pass over a namespace, with a new process each time or with one that has
// seen it before.
func BenchmarkPass(b *testing.B) {
	for _, size := range []struct{ policies, pods int }{{1, 100}, {100, 10_000}, {1_000, 10_000}} {
		for _, start := range []string{"cold", "warm"} {
			b.Run(fmt.Sprintf("policies=%d/pods=%d/%s", size.policies, size.pods, start), func(b *testing.B) {
				m := newMemory(size.policies, size.pods)
				r := benchReconciler(m)
				b.ReportAllocs()
				for b.Loop() {
					if start == "cold" {
						r = benchReconciler(m)
					}
					if _, err := r.Reconcile(b.Context(), namespace); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkGlance is what a change costs of one pod of a namespace in which all others are where
// they should be.
func BenchmarkGlance(b *testing.B) {
	for _, size := range []struct{ policies, pods int }{{1, 100}, {100, 10_000}, {1_000, 10_000}} {
		b.Run(fmt.Sprintf("policies=%d/pods=%d", size.policies, size.pods), func(b *testing.B) {
			m := newMemory(size.policies, size.pods)
			r := benchReconciler(m)
			if _, err := r.Reconcile(b.Context(), namespace); err != nil {
				b.Fatal(err)
			}
			for i := range m.policies { // its status is as it should be
				m.policies[i].Status = m.statuses[m.policies[i].Name]
			}
			before, after := &m.pods[0], m.pods[0].DeepCopy()
			after.Annotations["example.com/changed"] = "true"
			b.ReportAllocs()
			for b.Loop() {
				r.PodChanged(before, after)
				if _, err := r.Reconcile(b.Context(), namespace); err != nil {
					b.Fatal(err)
				}
			}
			if m.wholes > 1 {
				b.Fatalf("all pods were read %d times, want once", m.wholes)
			}
		})
	}
}

// BenchmarkAdoption is the pass that takes over 2,000 pods of a workload, with an API server that
// answers at once.
func BenchmarkAdoption(b *testing.B) {
	m := newMemory(1, 2_000)
	for i := range m.pods {
		m.pods[i].Annotations = nil
	}
	b.ReportAllocs()
	for b.Loop() {
		m.patches.Store(0)
		r := benchReconciler(m)
		r.Restamps = flowcontrol.NewFakeAlwaysRateLimiter()
		if _, err := r.Reconcile(b.Context(), namespace); err != nil {
			b.Fatal(err)
		}
		if got := m.patches.Load(); got != 2_000 {
			b.Fatalf("%d writes, want one for each pod", got)
		}
	}
}

func benchReconciler(m *memory) *policy.Reconciler {
	return policy.New(policy.Options{
		Client: m, Live: m, Stamps: m, Topology: state.NewTracker(m), Evictor: &evictor{}, Recorder: events.NewFakeRecorder(1),
		Clock: clocktesting.NewFakePassiveClock(birth.Add(time.Hour)), Schedulers: []string{"berth-scheduler"},
		Restamps: flowcontrol.NewFakeNeverRateLimiter(),
		Adviser:  &adviser.Adviser{},
	})
}

// A pass looks at each pod a bounded number of times, however many policies there are: with a
// hundred times the policies it must not take anything like a hundred times as long. The best of
// several runs is compared, which the machine hardly disturbs.
func TestPassesDoNotMultiplyPoliciesByPods(t *testing.T) {
	pass := func(r *policy.Reconciler) time.Duration {
		began := time.Now()
		if _, err := r.Reconcile(t.Context(), namespace); err != nil {
			t.Fatal(err)
		}
		return time.Since(began)
	}
	ofFew, ofMany := benchReconciler(newMemory(5, 5_000)), benchReconciler(newMemory(500, 5_000))
	few, many := time.Hour, time.Hour
	for range 5 {
		few, many = min(few, pass(ofFew)), min(many, pass(ofMany))
	}
	t.Logf("5 policies: %v, 500 policies: %v", few, many)
	if many > 20*few {
		t.Errorf("a pass over 5000 pods takes %v with 5 policies and %v with 500", few, many)
	}
}
