// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// atRest is a harness in which nothing is to be done.
func atRest(t *testing.T) *harness {
	t.Helper()
	h := newHarness(t, world(sites(), placed(), these(newPolicy("p")))...)
	h.pass() // the first one writes the status
	h.sync()
	h.wait(time.Second)
	h.pass()
	h.wholes = 0
	return h
}

// changePod changes a pod on the server, and lets the controller know.
func (h *harness) changePod(name string, mutate func(*corev1.Pod)) {
	h.t.Helper()
	before := h.pods()[name]
	change(h, before.DeepCopy(), mutate)
	h.refresh()
	h.PodChanged(before, h.pods()[name])
}

func setReady(status corev1.ConditionStatus) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: status}}
	}
}

// What changes nothing for others is looked at by itself.
func TestAGlanceIsEnough(t *testing.T) {
	for name, tc := range map[string]struct {
		mutate     func(*corev1.Pod)
		wantReady  string
		wantWholes int
	}{
		"a pod becomes unready":      {setReady(corev1.ConditionFalse), "4/5", 0},
		"an annotation of others":    {func(p *corev1.Pod) { p.Annotations["example.com/a"] = "b" }, "5/5", 0},
		"a pod loses its seat":       {func(p *corev1.Pod) { delete(p.Annotations, berthv1alpha1.SeatAnnotation) }, "", 1},
		"a pod goes to another node": {func(p *corev1.Pod) { p.Spec.NodeName = "node-elsewhere" }, "", 1},
		"a pod belongs to nobody":    {func(p *corev1.Pod) { p.OwnerReferences = nil }, "", 1},
	} {
		t.Run(name, func(t *testing.T) {
			h := atRest(t)
			first := slices.Sorted(maps.Keys(h.pods()))[0]
			h.wait(time.Second)
			h.changePod(first, tc.mutate)
			h.pass()
			if ready := h.policy("p").Status.Ready; h.wholes != tc.wantWholes || tc.wantWholes == 0 && ready != tc.wantReady {
				t.Errorf("READY %s after %d passes over the namespace, want %s and %d", ready, h.wholes, tc.wantReady, tc.wantWholes)
			}
		})
	}
}

// A glance does not put off what a pass has said is to be looked at later.
func TestAGlanceKeepsTheTimeOfTheNextPass(t *testing.T) {
	h := atRest(t)
	h.changePod("web-0", setReady(corev1.ConditionFalse))
	h.pass()
	if h.last.RequeueAfter != 0 {
		t.Errorf("there is a pass after %v, and nothing to wait for", h.last.RequeueAfter)
	}
	h.changePod("web-0", setReady(corev1.ConditionTrue))
	h.pass()
	if h.last.RequeueAfter <= 0 || h.last.RequeueAfter > time.Second || h.policy("p").Status.Ready != "4/5" {
		t.Errorf("READY %s, and a pass after %v; the status is not written again at once", h.policy("p").Status.Ready, h.last.RequeueAfter)
	}
	h.wait(time.Second)
	h.pass()
	if h.policy("p").Status.Ready != "5/5" || h.wholes != 0 {
		t.Errorf("READY %s after %d passes over the namespace, want 5/5 after none", h.policy("p").Status.Ready, h.wholes)
	}
}

// What is done, and told, is the same with glances as with passes over the whole namespace.
func TestGlancesLeaveNothingOut(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		with, without := atRest(t), atRest(t)
		for step := range rapid.IntRange(1, 3).Draw(rt, "steps") {
			do := rapid.SampledFrom(slices.Sorted(maps.Keys(steps))).Draw(rt, fmt.Sprint("step ", step))
			on := rapid.IntRange(0, 4).Draw(rt, fmt.Sprint("pod of step ", step))
			for _, h := range []*harness{with, without} {
				h.wait(time.Second)
				steps[do](h, on)
				if h == without {
					h.Changed(namespace)
				}
				h.pass()
			}
			if diff := cmp.Diff(without.told(), with.told()); diff != "" {
				rt.Fatalf("after %q of pod %d (-whole +glances):\n%s", do, on, diff)
			}
		}
	})
}

// told is what can be seen of what the controller has done.
func (h *harness) told() []string {
	h.t.Helper()
	status := h.policy("p").Status
	for i := range status.Conditions {
		status.Conditions[i].LastTransitionTime = metav1.Time{} // of the real clock
	}
	text, err := json.Marshal(status)
	if err != nil {
		h.t.Fatal(err)
	}
	told := []string{string(text)}
	for _, name := range slices.Sorted(maps.Keys(h.pods())) {
		told = append(told, name+": "+h.stampOf(name))
	}
	return append(told, h.evictor.evicted...)
}

// steps are what may happen to the pods of the workload, by number.
var steps = map[string]func(h *harness, n int){
	"ready":   func(h *harness, n int) { h.onPod(n, setReady(corev1.ConditionTrue)) },
	"unready": func(h *harness, n int) { h.onPod(n, setReady(corev1.ConditionFalse)) },
	"annotation": func(h *harness, n int) {
		h.onPod(n, func(p *corev1.Pod) { p.Annotations["example.com/a"] = h.clock.Now().String() })
	},
	"no seat": func(h *harness, n int) {
		h.onPod(n, func(p *corev1.Pod) { delete(p.Annotations, berthv1alpha1.SeatAnnotation) })
	},
	"another cost": func(h *harness, n int) {
		h.onPod(n, func(p *corev1.Pod) { p.Annotations[corev1.PodDeletionCost] = "7" })
	},
	"deletion": func(h *harness, n int) {
		names := slices.Sorted(maps.Keys(h.pods()))
		if n < len(names) {
			if err := h.server.Delete(h.t.Context(), h.pods()[names[n]]); err != nil {
				h.t.Fatal(err)
			}
			h.refresh()
			h.Changed(namespace)
		}
	},
	"replacement": func(h *harness, n int) {
		h.replace(fmt.Sprintf("new-%d", h.clock.Now().Unix()), []string{"beijing-0", "hangzhou-0"}[n%2], int32(n))
		h.refresh()
		h.Changed(namespace)
	},
	"status of the Deployment": func(h *harness, n int) {
		h.onDeployment(func(d *appsv1.Deployment) { d.Status.ReadyReplicas = int32(n) })
	},
	"a roll-out": func(h *harness, n int) {
		h.onDeployment(func(d *appsv1.Deployment) { d.Status.UpdatedReplicas = int32(n) })
	},
	"scaled": func(h *harness, n int) {
		h.onDeployment(func(d *appsv1.Deployment) {
			if replicas := int32(n + 1); *d.Spec.Replicas != replicas {
				d.Spec.Replicas = &replicas
				d.Generation++
				d.Status.ObservedGeneration = d.Generation
			}
		})
	},
}

func (h *harness) onPod(n int, mutate func(*corev1.Pod)) {
	h.t.Helper()
	if names := slices.Sorted(maps.Keys(h.pods())); n < len(names) {
		h.changePod(names[n], mutate)
	}
}

func (h *harness) onDeployment(mutate func(*appsv1.Deployment)) {
	h.t.Helper()
	read := func() *appsv1.Deployment {
		d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "web"}}
		if err := h.server.Get(h.t.Context(), client.ObjectKeyFromObject(d), d); err != nil {
			h.t.Fatal(err)
		}
		return d
	}
	before := read()
	change(h, read(), mutate)
	h.refresh()
	h.OwnerChanged(before, read())
}
