// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package berthbinder_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	kubefake "k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/component-base/metrics/legacyregistry"
	fwk "k8s.io/kube-scheduler/framework"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	st "k8s.io/kubernetes/pkg/scheduler/testing"

	"berth.dev/berth/pkg/fence"
	"berth.dev/berth/pkg/model/stamp"
	"berth.dev/berth/pkg/plugins/berthbinder"
)

const node = "node-1"

// given is what the Reserve plugins gave, by pod.
type given map[types.UID]stamp.Stamp

func (g given) Annotations(pod *corev1.Pod, node string) map[string]string {
	if s, found := g[pod.UID]; found {
		return s.Annotations(pod, node)
	}
	return nil
}

func (given) Pod(string, string) *corev1.Pod { return nil }

func (given) Contested(*corev1.Pod) bool { return false }

func (given) Fenced() bool { return false }

func (given) Bound(*corev1.Pod, string, map[string]string) {}

// server is an API server whose answers to bindings a test decides on.
type server struct {
	*kubefake.Clientset

	// outcome carries the binding out, or not, and answers.
	outcome func(binding *corev1.Binding) error
	sent    []*corev1.Binding
}

func newServer(outcome func(*corev1.Binding) error, objects ...runtime.Object) *server {
	s := &server{Clientset: kubefake.NewClientset(objects...), outcome: outcome}
	s.PrependReactor("create", "pods", func(action clienttesting.Action) (bool, runtime.Object, error) {
		create, ok := action.(clienttesting.CreateAction)
		if !ok || action.GetSubresource() != "binding" {
			return false, nil, nil
		}
		binding, ok := create.GetObject().(*corev1.Binding)
		if !ok {
			return false, nil, nil
		}
		s.sent = append(s.sent, binding)
		return true, binding, s.outcome(binding)
	})
	return s
}

// binder returns the plugin of a scheduler that talks to the API server.
func (s *server) binder(tb testing.TB, placed given, leader *fence.Fence) *berthbinder.BerthBinder {
	tb.Helper()
	handle, err := frameworkruntime.NewFramework(tb.Context(), nil, nil, frameworkruntime.WithClientSet(s))
	if err != nil {
		tb.Fatal(err)
	}
	return berthbinder.New(handle, placed, leader, berthbinder.NewSlots())
}

// bind binds the pod to the node.
func (s *server) bind(t *testing.T, placed given, leader *fence.Fence, pod *corev1.Pod) *fwk.Status {
	t.Helper()
	return s.binder(t, placed, leader).Bind(t.Context(), nil, pod, node)
}

func newPod() *corev1.Pod {
	return st.MakePod().Namespace("default").Name("nginx-0").UID("uid-0").Obj()
}

func open() *fence.Fence {
	f := fence.New()
	f.KeepOpen()
	return f
}

func accept(*corev1.Binding) error { return nil }

func TestBindingsCarryTheStamp(t *testing.T) {
	tests := map[string]struct {
		placed      given
		annotations map[string]string
		want        map[string]string
	}{
		"a pod that was given nothing": {placed: given{}, want: map[string]string{"berth.dev/placed-by": "uid-0/node-1"}},
		"a pod with a seat": {
			placed: given{"uid-0": {Policy: "web", Cluster: "beijing", Seat: 3}},
			want: map[string]string{
				"berth.dev/placed-by": "uid-0/node-1", "berth.dev/policy": "web", "berth.dev/cluster": "beijing",
				"berth.dev/seat": "3", "groupingpolicy.kubeedge.io": "web",
				"controller.kubernetes.io/pod-deletion-cost": "-3000",
			},
		},
		"a pod beyond the shares, in no cluster": {
			placed: given{"uid-0": {Policy: "web", Seat: stamp.NoSeat}},
			want: map[string]string{
				"berth.dev/placed-by": "uid-0/node-1", "berth.dev/policy": "web", "groupingpolicy.kubeedge.io": "web",
				"controller.kubernetes.io/pod-deletion-cost": "-2147483648",
			},
		},
		"a pod whose template has a deletion cost": {
			placed:      given{"uid-0": {Policy: "web", Cluster: "beijing", Seat: 3}},
			annotations: map[string]string{"controller.kubernetes.io/pod-deletion-cost": "100"},
			want: map[string]string{
				"berth.dev/placed-by": "uid-0/node-1", "berth.dev/policy": "web", "berth.dev/cluster": "beijing",
				"berth.dev/seat": "3", "groupingpolicy.kubeedge.io": "web",
			},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := newServer(accept)
			pod := newPod()
			pod.Annotations = tc.annotations
			if status := s.bind(t, tc.placed, open(), pod); !status.IsSuccess() {
				t.Fatal(status.AsError())
			}
			if len(s.sent) != 1 {
				t.Fatalf("%d bindings were sent, want 1", len(s.sent))
			}
			got := s.sent[0]
			if diff := cmp.Diff(tc.want, got.Annotations); diff != "" {
				t.Errorf("annotations (-want +got):\n%s", diff)
			}
			wantLabel := tc.want["berth.dev/cluster"]
			if got.Labels["berth.dev/cluster"] != wantLabel || wantLabel == "" && got.Labels != nil {
				t.Errorf("labels are %v, want the cluster %q alone", got.Labels, wantLabel)
			}
			if got.UID != "uid-0" || got.Name != "nginx-0" || got.Namespace != "default" || got.Target.Name != node {
				t.Errorf("the binding is of pod %s/%s with UID %s to %s", got.Namespace, got.Name, got.UID, got.Target.Name)
			}
		})
	}
}

// told remembers which pods were bound, as it is told.
type told struct {
	given
	bound map[string]map[string]string
}

func (t *told) Bound(pod *corev1.Pod, node string, annotations map[string]string) {
	t.bound[pod.Name+" on "+node] = annotations
}

// What was bound is told of with what the Binding carried, and nothing else is.
func TestWhatIsBoundIsTold(t *testing.T) {
	for name, tc := range map[string]struct {
		placed  given
		outcome func(*corev1.Binding) error
		want    bool
	}{
		"a pod that was given nothing": {given{}, accept, true},
		"a pod with a seat":            {given{"uid-0": {Policy: "web", Cluster: "beijing", Seat: 3}}, accept, true},
		"a pod that is refused":        {given{}, func(*corev1.Binding) error { return apierrors.NewBadRequest("no") }, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(tc.outcome)
			handle, err := frameworkruntime.NewFramework(t.Context(), nil, nil, frameworkruntime.WithClientSet(s))
			if err != nil {
				t.Fatal(err)
			}
			bound := &told{given: tc.placed, bound: map[string]map[string]string{}}
			berthbinder.New(handle, bound, open(), berthbinder.NewSlots()).Bind(t.Context(), nil, newPod(), node)
			want := map[string]map[string]string{}
			if tc.want {
				want["nginx-0 on "+node] = s.sent[0].Annotations
			}
			if diff := cmp.Diff(want, bound.bound); diff != "" {
				t.Errorf("told of what was bound (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAClearRefusalIsNotLookedInto(t *testing.T) {
	pods := corev1.Resource("pods")
	for name, answer := range map[string]error{
		"not found": apierrors.NewNotFound(pods, "nginx-0"), "forbidden": apierrors.NewForbidden(pods, "nginx-0", nil),
		"invalid":     apierrors.NewInvalid(corev1.SchemeGroupVersion.WithKind("Binding").GroupKind(), "nginx-0", nil),
		"bad request": apierrors.NewBadRequest("bad"), "unauthorized": apierrors.NewUnauthorized("who are you"),
		"too many requests": apierrors.NewTooManyRequests("slow down", 1),
	} {
		t.Run(name, func(t *testing.T) {
			for _, placed := range []given{{}, {"uid-0": {Policy: "web"}}} {
				s := newServer(func(*corev1.Binding) error { return answer }, newPod())
				status := s.bind(t, placed, open(), newPod())
				if !errors.Is(status.AsError(), answer) {
					t.Errorf("given %v, Bind says %v, want %v", placed, status.AsError(), answer)
				}
				if len(s.Actions()) != 1 {
					t.Errorf("given %v, there are other requests than the Binding: %v", placed, s.Actions())
				}
			}
		})
	}
}

func TestWithoutTheLeaseNoPodIsBound(t *testing.T) {
	expired := func() *fence.Fence { f := fence.New(); f.Renewed(time.Now()); return f }
	held := func() *fence.Fence { f := fence.New(); f.Renewed(time.Now().Add(time.Hour)); return f }
	tests := map[string]struct {
		placed   given
		leader   func() *fence.Fence
		wantSent int
	}{
		"never held":                 {given{"uid-0": {Policy: "web"}}, fence.New, 0},
		"expired":                    {given{"uid-0": {Policy: "web"}}, expired, 0},
		"held":                       {given{"uid-0": {Policy: "web"}}, held, 1},
		"without a policy":           {given{}, expired, 0},
		"without a policy, held":     {given{}, held, 1},
		"without a policy, no lease": {given{}, open, 1},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := newServer(accept)
			status := s.bind(t, tc.placed, tc.leader(), newPod())
			if len(s.sent) != tc.wantSent {
				t.Errorf("%d bindings were sent, want %d", len(s.sent), tc.wantSent)
			}
			if closed := errors.Is(status.AsError(), fence.ErrClosed); closed != (tc.wantSent == 0) {
				t.Errorf("Bind says %v", status.AsError())
			}
		})
	}
}

// More than may be under way at a time, one after the other.
func TestABindingThatHasEndedMakesRoomForAnother(t *testing.T) {
	s := newServer(accept)
	binder := s.binder(t, given{"uid-0": {Policy: "web"}}, open())
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for i := range 100 {
		if status := binder.Bind(ctx, nil, newPod(), node); !status.IsSuccess() {
			t.Fatalf("binding %d: %v", i, status.AsError())
		}
	}
}

func TestUnclearBindingsAreCounted(t *testing.T) {
	berthbinder.RegisterMetrics()
	s := newStore()
	s.onBind = func(int, *corev1.Binding) (bool, error) { return true, errLost }
	before := unclear(t)
	s.bindSeat(t, nobody)
	if after := unclear(t); after != before+1 {
		t.Errorf("the metric goes from %v to %v", before, after)
	}
}

// unclear returns how many Bindings had no clear answer, as the scheduler shows it.
func unclear(t *testing.T) float64 {
	t.Helper()
	families, err := legacyregistry.DefaultGatherer.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		if family.GetName() == "berth_binds_unclear_total" {
			return family.GetMetric()[0].GetCounter().GetValue()
		}
	}
	t.Fatal("there is no such metric")
	return 0
}

// A new leader must not begin before what the old one has sent is settled.
func TestTheFenceWaitsForBindingsUnderWay(t *testing.T) {
	leader := fence.New()
	leader.Renewed(time.Now().Add(time.Hour))
	entered, answer := make(chan struct{}), make(chan struct{})
	s := newServer(func(*corev1.Binding) error {
		close(entered)
		<-answer
		return nil
	})
	bound := make(chan *fwk.Status, 1)
	binder := s.binder(t, given{"uid-0": {Policy: "web"}}, leader)
	go func() { bound <- binder.Bind(t.Context(), nil, newPod(), node) }()
	<-entered
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := leader.Close(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("the fence was closed with a binding under way: %v", err)
	}
	close(answer)
	if status := <-bound; !status.IsSuccess() {
		t.Error(status.AsError())
	}
	if err := leader.Close(t.Context()); err != nil {
		t.Errorf("the fence cannot be closed: %v", err)
	}
}

// cacher is the scheduler's dispatcher of API calls, which is used if the feature gate
// SchedulerAsyncAPICalls is on.
type cacher struct {
	fwk.APICacher

	server        *server
	refuse, async error
}

func (c *cacher) BindPod(binding *corev1.Binding) (<-chan error, error) {
	if c.refuse != nil {
		return nil, c.refuse
	}
	c.server.sent = append(c.server.sent, binding)
	finished := make(chan error, 1)
	finished <- c.async
	return finished, nil
}

func (*cacher) WaitOnFinish(_ context.Context, finished <-chan error) error { return <-finished }

func TestPodsThatWereGivenNothingGoThroughTheDispatcherIfThereIsOne(t *testing.T) {
	tests := map[string]struct {
		refuse, async error
		wantBound     bool
	}{
		"carried out":     {wantBound: true},
		"not even queued": {refuse: errors.New("the queue is full")},
		"failed":          {async: errors.New("connection reset")},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := newServer(func(*corev1.Binding) error { return errors.New("sent without the dispatcher") })
			handle, err := frameworkruntime.NewFramework(t.Context(), nil, nil, frameworkruntime.WithClientSet(s))
			if err != nil {
				t.Fatal(err)
			}
			handle.SetAPICacher(&cacher{server: s, refuse: tc.refuse, async: tc.async})
			status := berthbinder.New(handle, given{}, open(), berthbinder.NewSlots()).Bind(t.Context(), nil, newPod(), node)
			if gotBound := status.IsSuccess(); gotBound != tc.wantBound {
				t.Errorf("Bind says %v, want that the pod is bound: %t", status, tc.wantBound)
			}
			if tc.refuse == nil && len(s.sent) != 1 {
				t.Errorf("the dispatcher got %v, want one binding", s.sent)
			}
			for _, sent := range s.sent {
				if diff := cmp.Diff(map[string]string{"berth.dev/placed-by": "uid-0/node-1"}, sent.Annotations); diff != "" {
					t.Errorf("annotations (-want +got):\n%s", diff)
				}
				if sent.ResourceVersion != "" {
					t.Errorf("the binding is bound to version %s of the pod", sent.ResourceVersion)
				}
			}
		})
	}
}

func TestAPanicFailsOneBinding(t *testing.T) {
	s := newServer(func(*corev1.Binding) error { panic("a bug") })
	if status := s.bind(t, given{}, open(), newPod()); status.Code() != fwk.Error {
		t.Errorf("got %v, want an error", status)
	}
}
