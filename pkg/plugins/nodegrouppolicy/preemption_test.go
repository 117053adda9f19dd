// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package nodegrouppolicy_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"berth.dev/berth/pkg/plugins/nodegrouppolicy"
	"berth.dev/berth/pkg/plugintest"
)

// allCPU makes a pod take a node of plugintest.MakeNode for itself.
var allCPU = map[corev1.ResourceName]string{corev1.ResourceCPU: "32"}

// victims returns the pods that were marked as victims of preemption.
func victims(s *plugintest.Scheduler) []string {
	var names []string
	for _, action := range s.Kube.Actions() {
		if patch, ok := action.(clienttesting.PatchAction); ok && action.GetResource().Resource == "pods" {
			names = append(names, patch.GetName())
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func TestPreemptionNeverTakesTheSeatOfASibling(t *testing.T) {
	tests := map[string]struct {
		anyway bool
	}{
		"DoNotSchedule":  {anyway: false},
		"ScheduleAnyway": {anyway: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			policy := beijingHangzhou()
			if tc.anyway {
				policy.Anyway()
			}
			d, rs := deployment("nginx", 5)
			s := newTwoSites(t, policy.Obj(), d, rs)
			place(t, s, rs, 0, 5)
			// The replicas run with priority 0. Were preemption to count a victim's seat as free,
			// any of them would do.
			attempt := s.Try(plugintest.MakePodOf(rs, 5).Priority(100).Obj())
			if attempt.Nominated != "" {
				t.Errorf("a sibling on %s is to make room", attempt.Nominated)
			}
			if gotNode := attempt.Node != ""; gotNode != tc.anyway {
				t.Errorf("the pod found node %q", attempt.Node)
			}
			if diff := cmp.Diff([]string(nil), victims(s)); diff != "" {
				t.Errorf("victims (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPreemptionOfOthersStaysWithinTheShares(t *testing.T) {
	d, rs := deployment("nginx", 2)
	// The only free seat is beijing's, and every node is full.
	policy := plugintest.MakePolicy("web").Deployment("nginx").Weight(1, "beijing", "hangzhou")
	s := newTwoSites(t, append(plugintest.Sites(1, "elsewhere"), policy.Obj(), d, rs)...)
	s.Add(
		plugintest.MakePodOf(rs, 0).Node("hangzhou-0").Req(allCPU).Obj(),
		plugintest.MakePod("hog-of-hangzhou").Node("hangzhou-1").Req(allCPU).Priority(-100).Obj(),
		plugintest.MakePod("hog-of-elsewhere").Node("elsewhere-0").Req(allCPU).Priority(-100).Obj(),
		plugintest.MakePod("hog-of-beijing").Node("beijing-1").Req(allCPU).Priority(-50).Obj(),
		plugintest.MakePod("equal").Node("beijing-0").Req(allCPU).Priority(100).Obj(),
	)
	attempt := s.Try(plugintest.MakePodOf(rs, 1).Req(allCPU).Priority(100).Obj())
	if attempt.Nominated != "beijing-1" {
		t.Fatalf("nominated for %q, want beijing-1: %s", attempt.Nominated, attempt.PostFilter.Message())
	}
	s.WaitFor("the victim", func() bool { return len(victims(s)) > 0 })
	if diff := cmp.Diff([]string{"hog-of-beijing"}, victims(s)); diff != "" {
		t.Errorf("victims (-want +got):\n%s", diff)
	}
}

func TestANominatedSiblingHoldsItsPlace(t *testing.T) {
	tests := map[string]struct {
		nominated func(pod *corev1.Pod)
		wantFree  bool
	}{
		"a sibling": {nominated: func(*corev1.Pod) {}, wantFree: false},
		"a pod of another revision": {
			nominated: func(pod *corev1.Pod) { pod.OwnerReferences[0].UID = "another-revision" }, wantFree: true,
		},
		"a pod of another namespace": {nominated: func(pod *corev1.Pod) { pod.Namespace = "elsewhere" }, wantFree: true},
		"a sibling of lower priority": {
			nominated: func(pod *corev1.Pod) { pod.Spec.Priority = new(int32); *pod.Spec.Priority = -1 }, wantFree: true,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			d, rs := deployment("nginx", 1)
			s := plugintest.New(t, append(plugintest.Sites(1, "beijing", "hangzhou"), beijingHangzhou().Obj(), d, rs))
			pod := plugintest.MakePodOf(rs, 0).NominatedNodeName("hangzhou-0").Obj()
			tc.nominated(pod)
			s.Add(pod)
			s.SchedulingQueue.Add(klog.FromContext(s.Context()), pod)
			attempt := s.Try(plugintest.MakePodOf(rs, 1).Obj())
			if gotFree := attempt.Node != ""; gotFree != tc.wantFree {
				t.Errorf("the only seat is free: %t, want %t", gotFree, tc.wantFree)
			}
		})
	}
}

// dryRun is a cycle up to PreFilter, on which tests play preemption.
type dryRun struct {
	t     *testing.T
	s     *plugintest.Scheduler
	pod   *corev1.Pod
	state fwk.CycleState
}

func newDryRun(t *testing.T, s *plugintest.Scheduler, pod *corev1.Pod) *dryRun {
	t.Helper()
	state := framework.NewCycleState()
	// The cache becomes the snapshot at the beginning of a cycle.
	s.Try(pod)
	if _, status, _ := s.Framework.RunPreFilterPlugins(s.Context(), state, pod); !status.IsSuccess() {
		t.Fatalf("PreFilter: %v", status.AsError())
	}
	return &dryRun{t: t, s: s, pod: pod, state: state}
}

func (d *dryRun) clone() *dryRun {
	return &dryRun{t: d.t, s: d.s, pod: d.pod, state: d.state.Clone()}
}

func (d *dryRun) node(name string) fwk.NodeInfo {
	d.t.Helper()
	info, err := d.s.Framework.SnapshotSharedLister().NodeInfos().Get(name)
	if err != nil {
		d.t.Fatal(err)
	}
	return info
}

func (d *dryRun) change(node string, pod *corev1.Pod,
	run func(info fwk.PodInfo, node fwk.NodeInfo) *fwk.Status,
) {
	d.t.Helper()
	info, err := framework.NewPodInfo(pod)
	if err != nil {
		d.t.Fatal(err)
	}
	if status := run(info, d.node(node)); !status.IsSuccess() {
		d.t.Fatal(status.AsError())
	}
}

func (d *dryRun) remove(node string, pod *corev1.Pod) {
	d.t.Helper()
	d.change(node, pod, func(info fwk.PodInfo, node fwk.NodeInfo) *fwk.Status {
		return d.s.Framework.RunPreFilterExtensionRemovePod(d.s.Context(), d.state, d.pod, info, node)
	})
}

func (d *dryRun) add(node string, pod *corev1.Pod) {
	d.t.Helper()
	d.change(node, pod, func(info fwk.PodInfo, node fwk.NodeInfo) *fwk.Status {
		return d.s.Framework.RunPreFilterExtensionAddPod(d.s.Context(), d.state, d.pod, info, node)
	})
}

// admits says which of the two sites the policy lets the pod go to.
func (d *dryRun) admits() [2]bool {
	d.t.Helper()
	var admitted [2]bool
	for i, node := range []string{"beijing-0", "hangzhou-0"} {
		status := d.s.Framework.RunFilterPlugins(d.s.Context(), d.state, d.pod, d.node(node))
		if !status.IsSuccess() && status.Plugin() != nodegrouppolicy.Name {
			d.t.Fatalf("plugin %s rejects %s: %v", status.Plugin(), node, status.AsError())
		}
		admitted[i] = status.IsSuccess()
	}
	return admitted
}

func TestDryRunsOfPreemption(t *testing.T) {
	d, rs := deployment("nginx", 4)
	policy := plugintest.MakePolicy("web").Deployment("nginx").Weight(1, "beijing", "hangzhou")
	s := newTwoSites(t, policy.Obj(), d, rs)
	// hangzhou holds its share of two, beijing one of its two.
	running := plugintest.MakePodOf(rs, 0).Node("beijing-0").Obj()
	sibling := plugintest.MakePodOf(rs, 1).Node("hangzhou-0").Obj()
	stranger := plugintest.MakePod("stranger").Node("hangzhou-0").Obj()
	s.Add(running, sibling, plugintest.MakePodOf(rs, 2).Node("hangzhou-1").Obj(), stranger)
	pod := plugintest.MakePodOf(rs, 3).Obj()
	nominated := plugintest.MakePodOf(rs, 4).Obj()

	onlyBeijing, none := [2]bool{true, false}, [2]bool{false, false}
	tests := map[string]struct {
		play func(d *dryRun)
		want [2]bool
	}{
		"nothing happens":                        {func(*dryRun) {}, onlyBeijing},
		"a sibling goes: no credit":              {func(d *dryRun) { d.remove("hangzhou-0", sibling) }, onlyBeijing},
		"a stranger goes":                        {func(d *dryRun) { d.remove("hangzhou-0", stranger) }, onlyBeijing},
		"a nominated sibling takes the last":     {func(d *dryRun) { d.add("beijing-0", nominated) }, none},
		"a nominated sibling where all is taken": {func(d *dryRun) { d.add("hangzhou-0", nominated) }, onlyBeijing},
		"a sibling goes and comes back": {func(d *dryRun) {
			d.remove("beijing-0", running)
			d.add("beijing-0", running)
		}, onlyBeijing},
		"a sibling goes, comes back, goes and comes back": {func(d *dryRun) {
			for range 2 {
				d.remove("beijing-0", running)
				d.add("beijing-0", running)
			}
		}, onlyBeijing},
		"the pod itself": {func(d *dryRun) { d.add("beijing-0", pod) }, onlyBeijing},
		"what a clone goes through": {func(d *dryRun) {
			d.clone().add("beijing-0", nominated)
		}, onlyBeijing},
		"what a clone goes through after a removal": {func(d *dryRun) {
			d.remove("beijing-0", running)
			clone := d.clone()
			clone.add("beijing-0", running)
			clone.add("beijing-0", nominated)
			d.add("beijing-0", running)
		}, onlyBeijing},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			run := newDryRun(t, s, pod)
			tc.play(run)
			if got := run.admits(); got != tc.want {
				t.Errorf("beijing and hangzhou are admitted: %v, want %v", got, tc.want)
			}
		})
	}
}
