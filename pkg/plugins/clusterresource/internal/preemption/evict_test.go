// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package preemption

import (
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	kubefake "k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/events"
	"k8s.io/component-base/metrics/legacyregistry"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	clocktesting "k8s.io/utils/clock/testing"
)

// handle is as much of the framework as deleting pods needs.
type handle struct {
	fwk.Handle

	client    *kubefake.Clientset
	recorder  *events.FakeRecorder
	permitted *waitingPod
	activated []string
}

func (h *handle) ClientSet() kubernetes.Interface     { return h.client }
func (h *handle) EventRecorder() events.EventRecorder { return h.recorder }

func (h *handle) GetWaitingPod(uid types.UID) fwk.WaitingPod {
	if h.permitted != nil && h.permitted.uid == uid {
		return h.permitted
	}
	return nil
}

func (h *handle) Activate(_ klog.Logger, pods map[string]*corev1.Pod) {
	for name := range pods {
		h.activated = append(h.activated, name)
	}
}

// waitingPod is a pod that waits for permission.
type waitingPod struct {
	fwk.WaitingPod

	uid      types.UID
	rejected string
}

func (w *waitingPod) Reject(plugin, _ string) { w.rejected = plugin }

func named(name string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID("uid of " + name), Generation: 3}}
}

// refusing lets requests fail, by verb.
func refusing(verb string, err error) func(*kubefake.Clientset) {
	return func(client *kubefake.Clientset) {
		client.PrependReactor(verb, "pods", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, err })
	}
}

func TestEvict(t *testing.T) {
	pods := schema.GroupResource{Resource: "pods"}
	const patched = `patch status one {"metadata":{"uid":"uid of one"},"status":{"conditions":[{"type":"DisruptionTarget",` +
		`"observedGeneration":3,"status":"True","lastProbeTime":null,"lastTransitionTime":"1970-01-01T00:01:40Z",` +
		`"reason":"PreemptionByScheduler","message":"berth-scheduler: preempting to accommodate a higher priority pod"}]}}`
	for name, tc := range map[string]struct {
		api       func(*kubefake.Clientset)
		permitted string
		want      []string
		// wantEvents is how many of the victims are told, wantKept whether the earmark stays.
		wantEvents int
		wantKept   bool
		wantReject string
	}{
		"the reason, then the deletion, of the one pod that is meant": {
			want: []string{patched, "delete one uid of one", "delete two uid of two"}, wantEvents: 2, wantKept: true,
		},
		"a victim that is gone": {
			api:  refusing("patch", apierrors.NewNotFound(pods, "one")),
			want: []string{patched}, wantKept: true,
		},
		"another pod has the name by now": {
			api:  refusing("delete", apierrors.NewConflict(pods, "one", nil)),
			want: []string{patched, "delete one uid of one", "delete two uid of two"}, wantKept: true,
		},
		"nobody else goes once a deletion has failed": {
			api:  refusing("delete", apierrors.NewForbidden(pods, "one", nil)),
			want: []string{patched, "delete one uid of one"},
		},
		"one that waits for permission is only rejected": {
			permitted: "uid of one",
			want:      []string{"delete two uid of two"}, wantEvents: 1, wantKept: true, wantReject: "ClusterResource",
		},
	} {
		t.Run(name, func(t *testing.T) {
			one, two, preemptor := named("one"), named("two"), named("preemptor")
			preemptor.Spec.SchedulerName = "berth-scheduler"
			h := &handle{
				client: kubefake.NewClientset(one, two), recorder: events.NewFakeRecorder(9),
				permitted: &waitingPod{uid: types.UID(tc.permitted)},
			}
			if tc.api != nil {
				tc.api(h.client)
			}
			clock := clocktesting.NewFakePassiveClock(time.Unix(100, 0))
			p := &Preemptor{Plugin: "ClusterResource", Handle: h, Clock: clock, Earmarks: NewEarmarks(clock)}
			chosen := &plan{node: "node", victims: []*corev1.Pod{one, two}}
			p.Earmarks.put(preemptor, chosen, time.Minute)
			if !p.Earmarks.Evicting(preemptor.UID) {
				t.Error("the pod is not held back while its victims are being deleted")
			}

			p.evict(klog.NewContext(t.Context(), logr.Discard()), preemptor, chosen)

			if diff := cmp.Diff(tc.want, requests(h.client)); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
			if got := len(h.recorder.Events); got != tc.wantEvents {
				t.Errorf("%d victims are told, want %d", got, tc.wantEvents)
			}
			if p.Earmarks.Evicting(preemptor.UID) || p.Earmarks.has(preemptor.UID) != tc.wantKept {
				t.Errorf("evicting: %t, kept: %t, want it kept: %t", p.Earmarks.Evicting(preemptor.UID), p.Earmarks.has(preemptor.UID), tc.wantKept)
			}
			if h.permitted.rejected != tc.wantReject {
				t.Errorf("rejected by %q, want %q", h.permitted.rejected, tc.wantReject)
			}
			if diff := cmp.Diff([]string{"default/preemptor"}, h.activated); diff != "" {
				t.Errorf("activated pods (-want +got):\n%s", diff)
			}
		})
	}
}

// requests returns what was asked of the API server, as "patch SUBRESOURCE NAME PATCH", of the
// first victim only, or "delete NAME UID".
func requests(client *kubefake.Clientset) []string {
	var texts []string
	for _, action := range client.Actions() {
		switch a := action.(type) {
		case clienttesting.PatchAction:
			if a.GetName() == "one" {
				texts = append(texts, "patch "+a.GetSubresource()+" "+a.GetName()+" "+string(a.GetPatch()))
			}
		case clienttesting.DeleteActionImpl:
			text := "delete " + a.GetName()
			if preconditions := a.DeleteOptions.Preconditions; preconditions != nil && preconditions.UID != nil {
				text += " " + string(*preconditions.UID)
			}
			texts = append(texts, text)
		}
	}
	return texts
}

func TestRegisterMetrics(t *testing.T) {
	RegisterMetrics()
	families, err := legacyregistry.DefaultGatherer.Gather()
	if err != nil {
		t.Fatal(err)
	}
	const want = "berth_cluster_resource_preempted_pods_total"
	for _, family := range families {
		if family.GetName() == want {
			return
		}
	}
	t.Errorf("no metric %s is served", want)
}
