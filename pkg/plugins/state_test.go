// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package plugins_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/apis/config"
	"berth.dev/berth/pkg/fence"
	berthfake "berth.dev/berth/pkg/generated/clientset/versioned/fake"
	"berth.dev/berth/pkg/plugins"
	"berth.dev/berth/pkg/plugins/nodegrouppolicy"
	"berth.dev/berth/pkg/plugintest"
)

// twoProfiles is the configuration of the tests with a second profile.
const twoProfiles = plugintest.Configuration + `
- schedulerName: second
  plugins:
    multiPoint:
      enabled:
      - name: NodeGroupPolicy
    bind:
      disabled:
      - name: "*"
      enabled:
      - name: BerthBinder
`

func TestProfilesCountTogether(t *testing.T) {
	d := plugintest.Deployment("nginx", 5)
	rs := plugintest.ReplicaSet(d, "v1")
	policy := plugintest.MakePolicy("web").Deployment("nginx").Weight(2, "beijing").Weight(3, "hangzhou")
	s := plugintest.New(t, append(plugintest.Sites(2, "beijing", "hangzhou"), policy.Obj(), d, rs),
		plugintest.WithConfiguration(twoProfiles))
	got := map[string]int{}
	seats := map[string]bool{}
	first := s.Framework
	for i := range 5 {
		// One pod by one profile, the next by the other.
		if s.Framework = first; i%2 == 1 {
			s.Framework = s.Profiles["second"]
		}
		pod := s.MustPlace(plugintest.MakePodOf(rs, i).Obj())
		got[plugintest.SiteOf(pod.Spec.NodeName)]++
		seats[pod.Annotations[berthv1alpha1.SeatAnnotation]] = true
	}
	if diff := cmp.Diff(map[string]int{"beijing": 2, "hangzhou": 3}, got); diff != "" {
		t.Errorf("pods by site (-want +got):\n%s", diff)
	}
	if len(seats) != 5 {
		t.Errorf("five pods have the seats %v", seats)
	}
}

// stamped reports whether the binding of the pod would carry a stamp, which is so as long as its
// seat is remembered.
func stamped(s *plugintest.Scheduler, pod *corev1.Pod) bool {
	return len(s.State.Annotations(pod, pod.Spec.NodeName)) > 0
}

func TestSeatsAreRememberedUntilTheStampIsSeen(t *testing.T) {
	d := plugintest.Deployment("nginx", 5)
	rs := plugintest.ReplicaSet(d, "v1")
	policy := plugintest.MakePolicy("web").Deployment("nginx").Weight(2, "beijing").Weight(3, "hangzhou")
	s := plugintest.New(t, append(plugintest.Sites(2, "beijing", "hangzhou"), policy.Obj(), d, rs))
	pods := s.Kube.CoreV1().Pods(plugintest.Namespace)
	update := func(pod *corev1.Pod, version string, change func(*corev1.Pod)) *corev1.Pod {
		t.Helper()
		changed := pod.DeepCopy()
		changed.ResourceVersion = version
		change(changed)
		if _, err := pods.Update(t.Context(), changed, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		s.WaitFor("the update", func() bool {
			got, err := s.Informers.Core().V1().Pods().Lister().Pods(pod.Namespace).Get(pod.Name)
			return err == nil && got.ResourceVersion == version
		})
		return changed
	}
	reserve := func(number int) (waiting, assumed *corev1.Pod, annotations map[string]string) {
		t.Helper()
		waiting = plugintest.MakePodOf(rs, number).Obj()
		if _, err := pods.Create(t.Context(), waiting, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		s.WaitFor("the pod", func() bool { return s.Knows(waiting) })
		attempt := s.Try(waiting)
		assumed = s.Assume(waiting, attempt)
		if !stamped(s, assumed) {
			t.Fatal("the pod has no seat")
		}
		return waiting, assumed, s.State.Annotations(assumed, assumed.Spec.NodeName)
	}

	waiting, assumed, annotations := reserve(0)
	bound := update(waiting, "2", func(p *corev1.Pod) { p.Annotations, p.Spec.NodeName = annotations, assumed.Spec.NodeName })
	// Another pod's event that is handled afterwards tells that the first one has been handled.
	barrier, barrierAssumed, _ := reserve(1)
	if err := pods.Delete(t.Context(), barrier.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	s.WaitFor("the seat of a deleted pod to be forgotten", func() bool { return !stamped(s, barrierAssumed) })
	if !stamped(s, assumed) {
		t.Error("the seat is forgotten although the scheduler's cache may not have seen the stamp yet")
	}
	update(bound, "3", func(p *corev1.Pod) { p.Status.Phase = corev1.PodRunning })
	s.WaitFor("the seat to be forgotten", func() bool { return !stamped(s, assumed) })
}

func TestASeatIsTakenBackWhenBindingFails(t *testing.T) {
	d := plugintest.Deployment("nginx", 5)
	rs := plugintest.ReplicaSet(d, "v1")
	policy := plugintest.MakePolicy("web").Deployment("nginx").Weight(2, "beijing").Weight(3, "hangzhou")
	s := plugintest.New(t, append(plugintest.Sites(2, "beijing", "hangzhou"), policy.Obj(), d, rs))
	pod := plugintest.MakePodOf(rs, 0).Obj()
	attempt := s.Try(pod)
	assumed := s.Assume(pod, attempt)
	s.Forget(assumed, attempt)
	if stamped(s, assumed) {
		t.Error("the seat is still remembered")
	}
}

func TestArgumentsAreChecked(t *testing.T) {
	tests := map[string]struct {
		args runtime.Object
		want string
	}{
		"none":            {nil, "<nil>"},
		"another type":    {&corev1.Pod{}, "*v1.Pod"},
		"not in range":    {&config.NodeGroupPolicyArgs{FirstReadTimeout: metav1.Duration{Duration: -1}}, "args.firstReadTimeout"},
		"not even filled": {&config.NodeGroupPolicyArgs{}, "args.firstReadTimeout"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			factory := plugins.NewState(fence.New(), berthfake.NewSimpleClientset()).Registry()[nodegrouppolicy.Name]
			_, err := factory(t.Context(), tc.args, nil)
			if err == nil || !strings.Contains(err.Error(), tc.want) || !strings.Contains(err.Error(), nodegrouppolicy.Name) {
				t.Errorf("got error %v, want one that names %s and %s", err, nodegrouppolicy.Name, tc.want)
			}
		})
	}
}

func TestNothingIsWatchedForProfilesWithoutThePlugin(t *testing.T) {
	s := plugintest.New(t, nil, plugintest.WithConfiguration(plugintest.StockConfiguration), plugintest.Held())
	// It returns although the context has not ended.
	s.State.Run(context.Background())
	if got := s.Berth.Actions(); len(got) > 0 {
		t.Errorf("requests were sent: %v", got)
	}
}

// The scheduler speaks protobuf with the API server, which custom resources have no form in.
func TestTheClientOfBerthsKindsSpeaksJSON(t *testing.T) {
	var mu sync.Mutex
	accepted := map[string]string{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		accepted[r.URL.Path] = r.Header.Get("Accept")
		http.Error(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404}`, http.StatusNotFound)
	}))
	defer server.Close()
	kubeConfig := &rest.Config{Host: server.URL, ContentConfig: rest.ContentConfig{
		ContentType: runtime.ContentTypeProtobuf, AcceptContentTypes: runtime.ContentTypeProtobuf,
	}}
	s := plugintest.New(t, nil, plugintest.WithKubeConfig(kubeConfig), plugintest.Held())
	defer s.Stop()
	s.Watch()
	// Kinds that are not installed have no objects.
	s.WaitFor("the gate to open", func() bool { return s.PreEnqueue(&corev1.Pod{}).IsSuccess() })
	want := map[string]string{
		"/apis/berth.dev/v1alpha1/clusterresources":    runtime.ContentTypeJSON,
		"/apis/berth.dev/v1alpha1/feedparsers":         runtime.ContentTypeJSON,
		"/apis/berth.dev/v1alpha1/clusters":            runtime.ContentTypeJSON,
		"/apis/berth.dev/v1alpha1/propagationpolicies": runtime.ContentTypeJSON,
		"/apis/berth.dev/v1alpha1/schedulers":          runtime.ContentTypeJSON,
		"/apis/berth.dev/v1alpha1/subscriptions":       runtime.ContentTypeJSON,
	}
	// A pod that asks for nothing does not wait for ClusterResources.
	s.WaitFor("a request for each kind", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return len(accepted) >= len(want)
	})
	mu.Lock()
	defer mu.Unlock()
	if diff := cmp.Diff(want, accepted); diff != "" {
		t.Errorf("accepted content by path (-want +got):\n%s", diff)
	}
	if kubeConfig.ContentType != runtime.ContentTypeProtobuf {
		t.Error("the scheduler's own kubeconfig was changed")
	}
}

func TestOptionsHoldTheWholeRegistry(t *testing.T) {
	state := plugins.NewState(fence.New(), berthfake.NewSimpleClientset())
	registry := map[string]bool{}
	for name := range state.Registry() {
		registry[name] = true
	}
	want := map[string]bool{
		"NodeGroupPolicy": true, "ClusterResource": true, "ClusterMetrics": true, "HomeScheduler": true, "BerthBinder": true,
		"FeedInventory": true, "Coscheduling": true, "CapacityScheduling": true,
	}
	if diff := cmp.Diff(want, registry); diff != "" {
		t.Errorf("plugins (-want +got):\n%s", diff)
	}
	if got := len(state.Options()); got != len(want) {
		t.Errorf("%d options, want one for each of %d plugins", got, len(want))
	}
}
