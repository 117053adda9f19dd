// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package nodegrouppolicy_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/plugintest"
)

// line is a scheduler with two replicas of nginx that have a place, one in each site, and three
// that wait, the oldest first.
type line struct {
	*plugintest.Scheduler
	t                *testing.T
	holders, waiting []*corev1.Pod
}

func newLine(t *testing.T) *line {
	t.Helper()
	d, rs := deployment("nginx", 2)
	l := &line{t: t, Scheduler: newTwoSites(t, beijingHangzhou().Obj(), d, rs)}
	l.holders = place(t, l.Scheduler, rs, 0, 2)
	for i := range 3 {
		pod := plugintest.MakePodOf(rs, 2+i).Obj()
		pod.CreationTimestamp = metav1.Unix(int64(i), 0)
		l.waiting = append(l.waiting, pod)
		if attempt := l.Try(pod); attempt.Node != "" {
			t.Fatalf("pod %s does not wait", pod.Name)
		}
	}
	return l
}

// wokenBy tells which of those that wait are woken by a pod that is gone.
func (l *line) wokenBy(gone *corev1.Pod) (woken [3]bool) {
	l.t.Helper()
	for i, pod := range l.waiting {
		woken[i] = hint(l.t, l.Scheduler, fwk.Pod, pod, gone, nil) == fwk.Queue
	}
	return woken
}

// cordon keeps pods off all nodes.
func (l *line) cordon() {
	l.t.Helper()
	for i := range 2 {
		for _, site := range []string{"beijing", "hangzhou"} {
			plugintest.Update(l.Scheduler, plugintest.MakeNode(site, i).Obj(), func(n *corev1.Node) { n.Spec.Unschedulable = true })
		}
	}
}

// leave takes a holder away.
func (l *line) leave(i int) (woken [3]bool) {
	l.t.Helper()
	l.Remove(l.holders[i])
	return l.wokenBy(l.holders[i])
}

func TestAPlaceWakesOnePod(t *testing.T) {
	for name, tc := range map[string]struct {
		do   func(l *line) (woken [3]bool)
		want [3]bool
	}{
		"the oldest": {func(l *line) [3]bool { return l.leave(0) }, [3]bool{true}},
		"another one for another place": {
			func(l *line) [3]bool {
				l.leave(0)
				return l.leave(1)
			}, [3]bool{1: true},
		},
		"nobody else once it is taken": {
			func(l *line) [3]bool {
				l.leave(0)
				l.MustPlace(l.waiting[0])
				return l.wokenBy(l.holders[0])
			}, [3]bool{true}, // It does not wait any longer.
		},
		"the next if the first has no use for it": {
			func(l *line) [3]bool {
				l.cordon()
				l.leave(0)
				l.Try(l.waiting[0])
				return l.wokenBy(l.holders[0])
			}, [3]bool{1: true},
		},
		"the next if the first has no use for the place of a pod that had no node yet": {
			func(l *line) [3]bool {
				l.cordon()
				i := slices.IndexFunc(l.holders, func(p *corev1.Pod) bool { return plugintest.SiteOf(p.Spec.NodeName) == "beijing" })
				gone := l.holders[i].DeepCopy()
				gone.Annotations, gone.Status.NominatedNodeName, gone.Spec.NodeName = nil, gone.Spec.NodeName, ""
				l.Remove(l.holders[i])
				l.wokenBy(gone)
				l.Try(l.waiting[0])
				return l.wokenBy(gone)
			}, [3]bool{1: true},
		},
		"the first again if its cycle had begun before": {
			func(l *line) [3]bool {
				woken := l.wokenBy(l.holders[0])
				l.Try(l.waiting[0]) // The holder is there still.
				if woken != l.wokenBy(l.holders[0]) {
					l.t.Error("the place is given to somebody else")
				}
				return woken
			}, [3]bool{true},
		},
		"the first again if its cycle counted the pod on a node that has gone": {
			func(l *line) [3]bool {
				site := plugintest.SiteOf(l.holders[0].Spec.NodeName)
				l.Remove(plugintest.MakeNode(site, 0).Obj(), plugintest.MakeNode(site, 1).Obj())
				woken := l.wokenBy(l.holders[0])
				l.Try(l.waiting[0])
				if woken != l.wokenBy(l.holders[0]) {
					l.t.Error("the place is given to somebody else")
				}
				return woken
			}, [3]bool{true},
		},
		"nobody who was deleted while being tried": {
			func(l *line) [3]bool {
				l.Remove(l.waiting[0])
				state := framework.NewCycleState()
				_, err := l.SchedulePod(l.Context(), l.Framework, state, l.waiting[0])
				var fit *framework.FitError
				if !errors.As(err, &fit) {
					l.t.Fatalf("error %v, want that no node fits", err)
				}
				l.Framework.RunPostFilterPlugins(l.Context(), state, l.waiting[0], fit.Diagnosis.NodeToStatus)
				return l.leave(0)
			}, [3]bool{true, true, false}, // The first does not wait any longer.
		},
		"the next if the first cannot be bound": {
			func(l *line) [3]bool {
				l.leave(0)
				attempt := l.Try(l.waiting[0])
				l.Forget(l.Assume(l.waiting[0], attempt), attempt)
				return l.wokenBy(newlyGone(l.holders[0]))
			}, [3]bool{0: true, 2: true}, // The second has been woken already.
		},
		"the next if the first finds another place": {
			func(l *line) [3]bool {
				l.Remove(l.holders[0], l.holders[1])
				attempt, other := l.Try(l.waiting[0]), l.holders[0]
				if plugintest.SiteOf(attempt.Node) == plugintest.SiteOf(other.Spec.NodeName) {
					other = l.holders[1]
				}
				l.wokenBy(other)
				l.Bind(l.Assume(l.waiting[0], attempt), attempt)
				return l.wokenBy(newlyGone(other))
			}, [3]bool{0: true, 2: true},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, tc.do(newLine(t))); diff != "" {
				t.Errorf("who is woken (-want +got):\n%s", diff)
			}
		})
	}
}

// newlyGone makes another event of a pod that is gone, which wakes the next one who has not been
// woken yet. A pod that does not wait any longer is always told to be.
func newlyGone(pod *corev1.Pod) *corev1.Pod {
	return pod.DeepCopy()
}

func TestAPlaceOfPodsWithoutAnOwnerWakesAll(t *testing.T) {
	policy := beijingHangzhou().Obj()
	bare := func(name string) *corev1.Pod {
		return plugintest.MakePod(name).Annotation(berthv1alpha1.PolicyAnnotation, policy.Name).Obj()
	}
	s := newTwoSites(t, policy)
	holder := bare("holder")
	holder.Spec.NodeName = "beijing-0"
	for _, name := range []string{"a", "b"} {
		pod := bare(name)
		s.Try(pod)
		if got := hint(t, s, fwk.Pod, pod, holder, nil); got != fwk.Queue {
			t.Errorf("pod %s: got %v, want it to be woken", name, got)
		}
	}
}
