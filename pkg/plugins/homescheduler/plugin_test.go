// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package homescheduler_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	st "k8s.io/kubernetes/pkg/scheduler/testing"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/plugins/homescheduler"
	"berth.dev/berth/pkg/plugintest"
)

func TestPodsOfOthersAreHeldBack(t *testing.T) {
	s := plugintest.New(t, world(), plugintest.Named("a"))
	tests := map[string]struct {
		home string
		want fwk.Code
	}{
		"its own":           {"a", fwk.Success},
		"another's":         {"b", fwk.UnschedulableAndUnresolvable},
		"with no home yet":  {"", fwk.UnschedulableAndUnresolvable},
		"of nobody's there": {"gone", fwk.UnschedulableAndUnresolvable},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := s.PreEnqueue(pod(0, tc.home)).Code(); got != tc.want {
				t.Errorf("PreEnqueue = %v, want %v", got, tc.want)
			}
		})
	}
}

func TestPodsStayInTheClustersOfTheirHome(t *testing.T) {
	s := plugintest.New(t, world(), plugintest.Named("a"))
	for i := range 8 {
		if got := place(t, s, pod(i, "a")); got != "mine" {
			t.Fatalf("a pod went to %s", got)
		}
	}
	elsewhere := pod(9, "a")
	elsewhere.Spec.NodeSelector = map[string]string{plugintest.SiteLabel: "other"}
	if attempt := s.Try(elsewhere); attempt.Node != "" {
		t.Errorf("a pod that asks for it went to %s", attempt.Node)
	}
}

// The framework tries a nominated node first, whatever PreFilter says.
func TestANominatedNodeOfAnotherSchedulerIsRejected(t *testing.T) {
	s := plugintest.New(t, world(), plugintest.Named("a"))
	p := pod(0, "a")
	place(t, s, pod(1, "a"))
	p.Status.NominatedNodeName = "other-0"
	if got := plugintest.SiteOf(s.Try(p).Node); got != "mine" {
		t.Errorf("the pod went to %q", got)
	}
}

func TestNodesInNoClusterHaveAHome(t *testing.T) {
	objects := world()
	objects[0] = shard("a", &berthv1alpha1.Commons{Revision: 1})
	s := plugintest.New(t, objects, plugintest.Named("a"))
	p := pod(0, "a")
	p.Spec.Affinity = st.MakePod().NodeAffinityIn("metadata.name", []string{"loose"}, st.NodeSelectorTypeMatchFields).Obj().Spec.Affinity
	s.WaitFor("the node", func() bool { return s.Try(p).Node == "loose" })
}

func TestAHomeThatChangesMeanwhileIsSeen(t *testing.T) {
	s := plugintest.New(t, world(), plugintest.Named("a"))
	attempt := s.Try(pod(0, "b"))
	if attempt.PostFilter.Code() != fwk.UnschedulableAndUnresolvable {
		t.Errorf("preemption is tried for a pod of another scheduler: %v", attempt.PostFilter)
	}
	if attempt.Fit == nil || !slices.Contains(attempt.Fit.Diagnosis.UnschedulablePlugins.UnsortedList(), homescheduler.Name) {
		t.Errorf("a pod of another scheduler passed: %+v", attempt)
	}
}

func TestADrainIsAcknowledgedWhenNothingIsUnderWay(t *testing.T) {
	s := plugintest.New(t, append(world(), bound("idle", "a", 1)), plugintest.Named("a"))
	first := pod(0, "a")
	s.WaitFor("a node", func() bool { return s.Try(first).Node != "" })
	attempt := s.Try(first)
	assumed := s.Assume(first, attempt)
	late := pod(1, "a")
	lateAttempt := s.Try(late)

	change(t, s, "mine", func(c *berthv1alpha1.ClusterStatus) {
		c.HomeTransfer, c.HomeRevision = &berthv1alpha1.HomeTransfer{To: "b"}, 2
	})
	s.WaitFor("the drain to be seen", func() bool { return s.Try(pod(2, "a")).Node == "" })
	idle := []berthv1alpha1.Drained{{Cluster: "idle", Revision: 2}}
	change(t, s, "idle", func(c *berthv1alpha1.ClusterStatus) {
		c.HomeTransfer, c.HomeRevision = &berthv1alpha1.HomeTransfer{To: "b"}, 2
	})
	// It is told after the other one would have been.
	s.WaitFor("the acknowledgement of an idle cluster", func() bool { return len(drained(t, s, "a")) > 0 })
	if diff := cmp.Diff(idle, drained(t, s, "a")); diff != "" {
		t.Fatalf("a drain is acknowledged while a pod is being bound there (-want +got):\n%s", diff)
	}
	status := s.Framework.RunReservePluginsReserve(s.Context(), lateAttempt.State, late, lateAttempt.Node)
	if status.IsSuccess() {
		t.Error("a pod that had found its node before the drain is sent there after it")
	}
	s.Bind(assumed, attempt)
	s.Framework.RunPostBindPlugins(s.Context(), attempt.State, assumed, attempt.Node)
	want := append(slices.Clone(idle), berthv1alpha1.Drained{Cluster: "mine", Revision: 2})
	s.WaitFor("the acknowledgement", func() bool { return cmp.Equal(want, drained(t, s, "a")) })

	change(t, s, "mine", func(c *berthv1alpha1.ClusterStatus) { c.HomeTransfer, c.HomeRevision = nil, 3 })
	s.WaitFor("the acknowledgement to be withdrawn", func() bool { return cmp.Equal(idle, drained(t, s, "a")) })
	place(t, s, pod(3, "a"))
}

// The Binding may arrive all the same.
func TestAPodOnItsWayToANodeThatHasGoneHoldsADrainUp(t *testing.T) {
	s := plugintest.New(t, append(world(), bound("idle", "a", 1)), plugintest.Named("a"))
	first := pod(0, "a")
	s.WaitFor("a node", func() bool { return s.Try(first).Node != "" })
	attempt := s.Try(first)
	assumed := s.Assume(first, attempt)
	gone := plugintest.MakeNode("mine", 0).Obj()
	gone.Name = attempt.Node
	s.Remove(gone)
	for _, cluster := range []string{"mine", "idle"} {
		change(t, s, cluster, func(c *berthv1alpha1.ClusterStatus) {
			c.HomeTransfer, c.HomeRevision = &berthv1alpha1.HomeTransfer{To: "b"}, 2
		})
	}
	s.WaitFor("the acknowledgement of an idle cluster", func() bool { return len(drained(t, s, "a")) > 0 })
	if diff := cmp.Diff([]berthv1alpha1.Drained{{Cluster: "idle", Revision: 2}}, drained(t, s, "a")); diff != "" {
		t.Fatalf("a drain is acknowledged while a pod is being bound there (-want +got):\n%s", diff)
	}
	s.Framework.RunReservePluginsUnreserve(s.Context(), attempt.State, assumed, attempt.Node)
	s.WaitFor("the acknowledgement", func() bool { return len(drained(t, s, "a")) == 2 })
}

// No cycle comes between the drain and the pod that had found its node before.
func TestAPodThatHadFoundItsNodeIsStoppedByADrain(t *testing.T) {
	s := plugintest.New(t, append(world(), bound("idle", "a", 1)), plugintest.Named("a"))
	late := pod(0, "a")
	s.WaitFor("a node", func() bool { return s.Try(late).Node != "" })
	attempt := s.Try(late)
	for _, cluster := range []string{"mine", "idle"} {
		change(t, s, cluster, func(c *berthv1alpha1.ClusterStatus) {
			c.HomeTransfer, c.HomeRevision = &berthv1alpha1.HomeTransfer{To: "b"}, 2
		})
	}
	s.WaitFor("the acknowledgements", func() bool { return len(drained(t, s, "a")) == 2 })
	if status := s.Framework.RunReservePluginsReserve(s.Context(), attempt.State, late, attempt.Node); status.IsSuccess() {
		t.Error("the pod is sent to a cluster that was given up")
	}
}

// A change of another cluster makes no difference to the pod that had found its node before.
func TestAPodThatHadFoundItsNodeGoesThereBesideAChange(t *testing.T) {
	s := plugintest.New(t, append(world(), bound("idle", "a", 1)), plugintest.Named("a"))
	late := pod(0, "a")
	s.WaitFor("a node", func() bool { return s.Try(late).Node != "" })
	attempt := s.Try(late)
	change(t, s, "idle", func(c *berthv1alpha1.ClusterStatus) {
		c.HomeTransfer, c.HomeRevision = &berthv1alpha1.HomeTransfer{To: "b"}, 2
	})
	s.WaitFor("the acknowledgement", func() bool { return len(drained(t, s, "a")) == 1 })
	if status := s.Framework.RunReservePluginsReserve(s.Context(), attempt.State, late, attempt.Node); !status.IsSuccess() {
		t.Errorf("the pod is kept from its node: %v", status)
	}
}

func TestANodeThatComesToAClusterIsUsed(t *testing.T) {
	s := plugintest.New(t, world(), plugintest.Named("a"))
	place(t, s, pod(0, "a"))
	s.Add(plugintest.MakeNode("mine", 7).Obj())
	p := pod(1, "a")
	p.Spec.Affinity = st.MakePod().NodeAffinityIn("metadata.name", []string{"mine-7"}, st.NodeSelectorTypeMatchFields).Obj().Spec.Affinity
	if got := s.Try(p).Node; got != "mine-7" {
		t.Errorf("the pod went to %q", got)
	}
}

func TestAPodWhoseBindingIsOpenHoldsUpTheDrain(t *testing.T) {
	s := plugintest.New(t, append(world(), bound("idle", "a", 1)), plugintest.Named("a"))
	p := pod(0, "a")
	s.WaitFor("a node", func() bool { return s.Try(p).Node != "" })
	attempt := s.Try(p)
	assumed := s.Assume(p, attempt)
	unreachable := fail(s, "*", "pods")
	answer := make(chan *fwk.Status, 1)
	go func() { answer <- s.Framework.RunBindPlugins(s.Context(), attempt.State, assumed, attempt.Node) }()
	for _, cluster := range []string{"mine", "idle"} {
		change(t, s, cluster, func(c *berthv1alpha1.ClusterStatus) {
			c.HomeTransfer, c.HomeRevision = &berthv1alpha1.HomeTransfer{To: "b"}, 2
		})
	}
	s.WaitFor("several attempts to settle the binding", func() bool { return unreachable.count() > 2 })
	s.WaitFor("the acknowledgement of an idle cluster", func() bool { return len(drained(t, s, "a")) > 0 })
	want := []berthv1alpha1.Drained{{Cluster: "idle", Revision: 2}}
	if diff := cmp.Diff(want, drained(t, s, "a")); diff != "" {
		t.Fatalf("a drain is acknowledged while a binding there is open (-want +got):\n%s", diff)
	}
	unreachable.end()
	if status := <-answer; status.IsSuccess() {
		t.Fatal("the pod is bound")
	}
	s.Forget(assumed, attempt)
	s.WaitFor("the acknowledgement", func() bool { return len(drained(t, s, "a")) == 2 })
}

func TestHints(t *testing.T) {
	s := plugintest.New(t, world(), plugintest.Named("a"))
	homeless := pod(0, "")
	relabelled := func(home string) *corev1.Pod {
		p := homeless.DeepCopy()
		p.Labels[berthv1alpha1.HomeSchedulerLabel] = home
		return p
	}
	tests := map[string]struct {
		resource      fwk.EventResource
		pod           *corev1.Pod
		before, after any
		want          fwk.QueueingHint
	}{
		"it gets this scheduler":     {fwk.Pod, homeless, homeless, relabelled("a"), fwk.Queue},
		"it comes with this one":     {fwk.Pod, homeless, nil, relabelled("a"), fwk.Queue},
		"it had this one before":     {fwk.Pod, homeless, relabelled("a"), relabelled("a"), fwk.QueueSkip},
		"it gets another one":        {fwk.Pod, homeless, homeless, relabelled("b"), fwk.QueueSkip},
		"another pod gets this one":  {fwk.Pod, pod(1, ""), homeless, relabelled("a"), fwk.QueueSkip},
		"a node comes":               {fwk.Node, pod(0, "a"), nil, plugintest.MakeNode("mine", 7).Obj(), fwk.Queue},
		"a node comes for another's": {fwk.Node, pod(0, "b"), nil, plugintest.MakeNode("mine", 7).Obj(), fwk.QueueSkip},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := s.Hint(homescheduler.Name, tc.resource, tc.pod, tc.before, tc.after); got != tc.want {
				t.Errorf("hint = %v, want %v", got, tc.want)
			}
		})
	}
}

// With one scheduler, or none, nothing is felt and nothing is written.
func TestAloneItDoesNothing(t *testing.T) {
	objects := world()[4:]
	objects = append(objects, plugintest.Site("mine"), plugintest.Site("other"))
	tests := map[string][]plugintest.Option{"no Scheduler": nil, "the only one": {plugintest.Named("a")}}
	for name, options := range tests {
		t.Run(name, func(t *testing.T) {
			s := plugintest.New(t, objects, options...)
			p := pod(0, "whoever")
			delete(p.Labels, berthv1alpha1.HomeSchedulerLabel)
			s.WaitFor("the queue to take it", func() bool { return s.PreEnqueue(p).IsSuccess() })
			s.MustPlace(p)
			plugin := pluginOf(t, s)
			cycle := framework.NewCycleState()
			nodes, err := s.Framework.SnapshotSharedLister().NodeInfos().List()
			if err != nil {
				t.Fatal(err)
			}
			allocations := testing.AllocsPerRun(100, func() {
				plugin.PreEnqueue(t.Context(), p)
				plugin.SignPod(t.Context(), p)
				if _, status := plugin.PreFilter(t.Context(), cycle, p, nodes); !status.IsSkip() {
					t.Fatalf("PreFilter = %v, want Skip", status)
				}
				plugin.Reserve(t.Context(), cycle, p, "mine-0")
				plugin.PostBind(t.Context(), cycle, p, "mine-0")
			})
			if allocations != 0 {
				t.Errorf("it allocates %v times for each pod", allocations)
			}
		})
	}
}

func TestAnUnnamedSchedulerStandsBack(t *testing.T) {
	s := plugintest.New(t, world()[2:])
	s.MustPlace(pod(0, ""))
	if _, err := s.Berth.BerthV1alpha1().Schedulers().Create(t.Context(), shard("a", nil), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	s.WaitFor("it to stand back", func() bool { return !s.PreEnqueue(pod(1, "")).IsSuccess() })
}

// TestAnUnnamedSchedulerTakesOverFromTheDead lets the only Scheduler die, and then be fenced.
func TestAnUnnamedSchedulerTakesOverFromTheDead(t *testing.T) {
	dead := shard("a", &berthv1alpha1.Commons{Revision: 1})
	dead.Status.Conditions = []metav1.Condition{{Type: berthv1alpha1.SchedulerReady, Status: metav1.ConditionFalse}}
	s := plugintest.New(t, append(world()[4:], dead))
	s.WaitFor("it to tell why the pod waits", func() bool {
		return s.PreEnqueue(pod(0, "a")).IsSuccess() && strings.Contains(s.Try(pod(0, "a")).Why(), "no Scheduler runs")
	})
	fenced := dead.DeepCopy()
	fenced.Status.Commons = nil
	if _, err := s.Berth.BerthV1alpha1().Schedulers().UpdateStatus(t.Context(), fenced, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	s.WaitFor("it to place the pod", func() bool { return s.Try(pod(0, "a")).Node != "" })
}

func TestItRegistersItself(t *testing.T) {
	s := plugintest.New(t, nil, plugintest.Named("a"), plugintest.Held())
	s.Watch()
	var got *berthv1alpha1.Scheduler
	s.WaitFor("the Scheduler", func() bool {
		var err error
		got, err = s.Berth.BerthV1alpha1().Schedulers().Get(t.Context(), "a", metav1.GetOptions{})
		return err == nil
	})
	want := berthv1alpha1.SchedulerSpec{
		Weight: 1, Lease: &berthv1alpha1.LeaseReference{Namespace: "berth-schedulers", Name: "berth-scheduler-a"},
	}
	if diff := cmp.Diff(want, got.Spec); diff != "" {
		t.Errorf("spec mismatch (-want +got):\n%s", diff)
	}
}

// A policy names clusters of several schedulers. The plugin of policies must not look for room, or
// take samples, in those of others.
func TestAPolicyIsCarriedOutInTheOwnClusters(t *testing.T) {
	d := plugintest.Deployment("web", 10)
	rs := plugintest.ReplicaSet(d, "v1")
	policy := plugintest.MakePolicy("web").Deployment("web").Weight(2, "mine").Weight(3, "other")
	s := plugintest.New(t, append(world(), d, rs, policy.Obj()), plugintest.Named("a"))
	home := func(number int) *corev1.Pod {
		p := plugintest.MakePodOf(rs, number).Obj()
		p.Labels[berthv1alpha1.HomeSchedulerLabel] = "a"
		return p
	}
	for i := range 4 {
		if got := place(t, s, home(i)); got != "mine" {
			t.Fatalf("a pod went to %s", got)
		}
	}
	attempt := s.Try(home(4))
	if attempt.Node != "" {
		t.Fatalf("a fifth pod of a share of four went to %s", attempt.Node)
	}
	if code := attempt.PostFilter.Code(); code != fwk.Unschedulable {
		t.Errorf("PostFilter = %v, want Unschedulable: %v", code, attempt.PostFilter)
	}
}
