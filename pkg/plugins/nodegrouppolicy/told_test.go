// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package nodegrouppolicy

import (
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	fwk "k8s.io/kube-scheduler/framework"
)

// recording is a handle that records events, if it can.
type recording struct {
	fwk.Handle
	recorder events.EventRecorder
}

func (r recording) EventRecorder() events.EventRecorder { return r.recorder }

func TestEachPodIsToldOnceThatItsOwnerIsNotConfirmed(t *testing.T) {
	recorder := events.NewFakeRecorder(10)
	p := &NodeGroupPolicy{handle: recording{recorder: recorder}, shared: &Shared{}}
	cut := &metav1.OwnerReference{APIVersion: "apps/v9", Kind: "ReplicaSet", Name: "forged"}
	for _, name := range []string{"a", "a", "b", "a"} {
		p.tellCut(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID(name)}}, cut)
	}
	close(recorder.Events)
	told := 0
	for event := range recorder.Events {
		if told++; !strings.Contains(event, eventOwnerUnconfirmed) || !strings.Contains(event, "forged") {
			t.Errorf("a pod is told %q", event)
		}
	}
	if told != 2 {
		t.Errorf("%d events for two pods", told)
	}
	(&NodeGroupPolicy{handle: recording{}, shared: &Shared{}}).tellCut(&corev1.Pod{}, cut) // nobody records events
}

func TestWhoWasToldIsForgottenWhenThereAreTooMany(t *testing.T) {
	var known told
	for i := range maxTold {
		if !known.first(types.UID(strconv.Itoa(i))) {
			t.Fatalf("pod %d has been told", i)
		}
	}
	got := []bool{known.first("0"), known.first("one more"), known.first("one more"), known.first("0")}
	if diff := cmp.Diff([]bool{false, true, false, true}, got); diff != "" {
		t.Errorf("is a pod the first, one more, that again, and the first pod (-want +got):\n%s", diff)
	}
}
