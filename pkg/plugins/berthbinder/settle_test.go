// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package berthbinder_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	kubefake "k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	fwk "k8s.io/kube-scheduler/framework"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	"pgregory.net/rapid"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/fence"
	"berth.dev/berth/pkg/plugins/berthbinder"
)

// store is an API server with one pod. It honours the versions and UIDs that requests carry, as the
// real one does.
type store struct {
	*kubefake.Clientset

	mu      sync.Mutex
	pod     *corev1.Pod // nil once it is gone
	version int
	// bindings are those that have arrived at the server or may yet.
	bindings []*corev1.Binding
	// onBind, onGet and onPatch come before the server's own answer. They may answer in its place.
	onBind  func(n int, binding *corev1.Binding) (answered bool, err error)
	onGet   func(n int) error
	onPatch func(n int) error
	gets    int
	patches int
}

func newStore() *store {
	s := &store{Clientset: kubefake.NewClientset(), pod: newPod(), version: 7}
	s.pod.ResourceVersion = "7"
	s.PrependReactor("*", "pods", func(action clienttesting.Action) (bool, runtime.Object, error) {
		switch a := action.(type) {
		case clienttesting.CreateAction:
			binding, ok := a.GetObject().(*corev1.Binding)
			if !ok {
				return false, nil, nil
			}
			return true, binding, s.receive(binding)
		case clienttesting.PatchAction:
			pod, err := s.patch()
			return true, pod, err
		case clienttesting.GetAction:
			pod, err := s.get()
			return true, pod, err
		default:
			return false, nil, nil
		}
	})
	return s
}

func (s *store) receive(binding *corev1.Binding) error {
	binding = binding.DeepCopy()
	s.mu.Lock()
	s.bindings = append(s.bindings, binding)
	n := len(s.bindings)
	s.mu.Unlock()
	if s.onBind != nil {
		if answered, err := s.onBind(n, binding); answered {
			return err
		}
	}
	return s.carryOut(binding)
}

// carryOut binds the pod, if what the binding carries is still true.
func (s *store) carryOut(binding *corev1.Binding) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	pods := corev1.Resource("pods/binding")
	switch {
	case s.pod == nil:
		return apierrors.NewNotFound(pods, binding.Name)
	case binding.UID != s.pod.UID, binding.ResourceVersion != s.pod.ResourceVersion:
		return apierrors.NewConflict(pods, binding.Name, errors.New("precondition failed"))
	case s.pod.Spec.NodeName != "":
		return apierrors.NewConflict(pods, binding.Name, errors.New("already assigned"))
	}
	s.change(func(pod *corev1.Pod) {
		pod.Spec.NodeName = binding.Target.Name
		pod.Annotations = binding.Annotations
	})
	return nil
}

// change writes the pod. The caller holds the lock.
func (s *store) change(what func(*corev1.Pod)) {
	pod := s.pod.DeepCopy()
	what(pod)
	s.version++
	pod.ResourceVersion = strconv.Itoa(s.version)
	s.pod = pod
}

func (s *store) update(what func(*corev1.Pod)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.change(what)
}

func (s *store) get() (*corev1.Pod, error) {
	s.gets++
	if s.onGet != nil {
		if err := s.onGet(s.gets); err != nil {
			return nil, err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pod == nil {
		return nil, apierrors.NewNotFound(corev1.Resource("pods"), "nginx-0")
	}
	return s.pod, nil
}

func (s *store) patch() (*corev1.Pod, error) {
	s.patches++
	if s.onPatch != nil {
		if err := s.onPatch(s.patches); err != nil {
			return nil, err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.pod == nil:
		return nil, apierrors.NewNotFound(corev1.Resource("pods"), "nginx-0")
	case s.pod.UID != "uid-0":
		return nil, apierrors.NewConflict(corev1.Resource("pods"), "nginx-0", errors.New("precondition failed: UID"))
	}
	s.change(func(*corev1.Pod) {})
	return s.pod, nil
}

// informed is what the Reserve plugins gave, and what an informer knows.
type informed struct {
	given

	pod func() *corev1.Pod
}

func (i informed) Pod(string, string) *corev1.Pod { return i.pod() }

// binder returns the plugin, for a pod that has been given a seat.
func (s *store) binder(t *testing.T, informer func() *corev1.Pod) *berthbinder.BerthBinder {
	t.Helper()
	return s.binderOf(t, informer, open())
}

// binderOf is one of a process with the given fence.
func (s *store) binderOf(t *testing.T, informer func() *corev1.Pod, leader *fence.Fence) *berthbinder.BerthBinder {
	t.Helper()
	handle, err := frameworkruntime.NewFramework(t.Context(), nil, nil, frameworkruntime.WithClientSet(s))
	if err != nil {
		t.Fatal(err)
	}
	placed := informed{given{"uid-0": {Policy: "web", Cluster: "beijing", Seat: 3}}, informer}
	return berthbinder.New(handle, placed, leader, berthbinder.NewSlots())
}

// decided is the pod as it was at version 7.
func decided() *corev1.Pod {
	pod := newPod()
	pod.ResourceVersion, pod.Spec.NodeName = "7", node
	return pod
}

// bindAsDecided binds the pod as it was at version 7.
func bindAsDecided(t *testing.T, binder *berthbinder.BerthBinder) *fwk.Status {
	t.Helper()
	return binder.Bind(t.Context(), nil, decided(), node)
}

func (s *store) bindSeat(t *testing.T, informer func() *corev1.Pod) *fwk.Status {
	t.Helper()
	return bindAsDecided(t, s.binder(t, informer))
}

func nobody() *corev1.Pod { return nil }

var errLost = errors.New("connection reset by peer")

// check compares what Bind reports with what the API server holds, also after everything under way
// has arrived.
func (s *store) check(t testing.TB, status *fwk.Status, wantBound bool) {
	t.Helper()
	for _, late := range s.bindings {
		_ = s.carryOut(late)
	}
	bound := s.pod != nil && s.pod.UID == "uid-0" && s.pod.Spec.NodeName == node && s.pod.Annotations["berth.dev/seat"] == "3"
	if bound != wantBound || status.IsSuccess() != wantBound {
		t.Errorf("the pod is bound: %t, want %t; Bind says %v", bound, wantBound, status)
	}
}

func TestBindingsCarryTheVersionThatWasDecidedOn(t *testing.T) {
	for name, tc := range map[string]struct {
		change    func(*corev1.Pod)
		informed  bool // the informer has heard of the change
		wantBound bool
	}{
		"nothing has changed":           {func(*corev1.Pod) {}, false, true},
		"its status, the informer late": {func(p *corev1.Pod) { p.Status.NominatedNodeName = node }, false, true},
		"its status":                    {func(p *corev1.Pod) { p.Status.NominatedNodeName = node }, true, true},
		"an annotation of others":       {func(p *corev1.Pod) { p.Annotations = map[string]string{"a": "b"} }, true, true},
		"a label":                       {func(p *corev1.Pod) { p.Labels = map[string]string{"a": "b"} }, true, false},
		"a label, the informer late":    {func(p *corev1.Pod) { p.Labels = map[string]string{"a": "b"} }, false, false},
		"what it asks for": {func(p *corev1.Pod) {
			p.Annotations = map[string]string{"pod.alpha.kubernetes.io/cluster-resource-x": "2"}
		}, true, false},
		"the policy it asks for": {func(p *corev1.Pod) { p.Annotations = map[string]string{"groupingpolicy.kubeedge.io": "x"} }, false, false},
		"its spec":               {func(p *corev1.Pod) { p.Spec.PriorityClassName = "high" }, true, false},
		"it is being deleted":    {func(p *corev1.Pod) { p.DeletionTimestamp = &p.CreationTimestamp }, false, false},
		"it is another pod":      {func(p *corev1.Pod) { p.UID = "uid-1" }, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore()
			old := s.pod
			s.update(tc.change)
			informer := func() *corev1.Pod { return old }
			if tc.informed {
				informer = func() *corev1.Pod { return s.pod }
			}
			s.check(t, s.bindSeat(t, informer), tc.wantBound)
			for _, b := range s.bindings {
				if b.ResourceVersion == "" {
					t.Error("a Binding carries no version")
				}
			}
		})
	}
}

func TestAVersionThatKeepsMovingIsTriedFiveTimes(t *testing.T) {
	for name, tc := range map[string]struct {
		moves     int
		wantSent  int
		wantBound bool
	}{
		"four times":       {4, 5, true},
		"again and again":  {1000, 5, false},
		"not after a look": {1, 2, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore()
			s.onBind = func(n int, _ *corev1.Binding) (bool, error) {
				if n <= tc.moves {
					s.update(func(p *corev1.Pod) { p.Status.Message = strconv.Itoa(n) })
				}
				return false, nil
			}
			status := s.bindSeat(t, nobody)
			if len(s.bindings) != tc.wantSent || s.patches != 0 {
				t.Errorf("%d bindings and %d settling writes, want %d and none", len(s.bindings), s.patches, tc.wantSent)
			}
			s.check(t, status, tc.wantBound)
		})
	}
}

func TestAnUnclearAnswerIsSettledByAWrite(t *testing.T) {
	serverTimeout := apierrors.NewServerTimeout(corev1.Resource("pods"), "create", 1)
	for name, tc := range map[string]struct {
		answer    error
		carryOut  bool // before the answer
		meanwhile func(*store)
		wantBound bool
	}{
		"carried out, answer lost":       {answer: errLost, carryOut: true, wantBound: true},
		"carried out, then 504":          {answer: serverTimeout, carryOut: true, wantBound: true},
		"carried out, then 500":          {answer: apierrors.NewInternalError(errLost), carryOut: true, wantBound: true},
		"not carried out, answer lost":   {answer: errLost},
		"not carried out, 504":           {answer: serverTimeout},
		"the pod is gone":                {answer: errLost, meanwhile: func(s *store) { s.pod = nil }},
		"another pod of that name":       {answer: errLost, meanwhile: func(s *store) { s.update(func(p *corev1.Pod) { p.UID = "uid-1" }) }},
		"somebody else bound it there":   {answer: errLost, meanwhile: func(s *store) { s.update(func(p *corev1.Pod) { p.Spec.NodeName = node }) }},
		"carried out, then 409":          {answer: apierrors.NewConflict(corev1.Resource("pods"), "nginx-0", errLost), carryOut: true, wantBound: true},
		"somebody else elsewhere, 409":   {answer: apierrors.NewConflict(corev1.Resource("pods"), "nginx-0", errLost), meanwhile: func(s *store) { s.update(func(p *corev1.Pod) { p.Spec.NodeName = "node-2" }) }},
		"deleted while it was asked for": {answer: apierrors.NewConflict(corev1.Resource("pods"), "nginx-0", errLost), meanwhile: func(s *store) { s.pod = nil }},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore()
			s.onBind = func(_ int, binding *corev1.Binding) (bool, error) {
				if tc.carryOut {
					if err := s.carryOut(binding); err != nil {
						t.Error(err)
					}
				}
				if tc.meanwhile != nil {
					tc.meanwhile(s)
				}
				return true, tc.answer
			}
			s.check(t, s.bindSeat(t, nobody), tc.wantBound)
		})
	}
}

// A binding that lands long after its answer was lost must not land at all once Bind has reported
// that the pod is not bound.
func TestBindEndsWithAnAnswerOnly(t *testing.T) {
	for name, wantBound := range map[string]bool{"not carried out": false, "carried out meanwhile": true} {
		t.Run(name, func(t *testing.T) {
			s := newStore()
			binder := s.binder(t, nobody)
			synctest.Test(t, func(t *testing.T) {
				s.onBind = func(int, *corev1.Binding) (bool, error) { return true, errLost }
				s.onPatch = func(n int) error {
					if n < 20 {
						return errLost
					}
					if n == 20 && wantBound {
						return s.carryOut(s.bindings[0])
					}
					return nil
				}
				s.onGet = func(int) error { return errLost }
				began := time.Now()
				s.check(t, bindAsDecided(t, binder), wantBound)
				if waited := time.Since(began); waited < 20*time.Second {
					t.Errorf("it waited %v, want longer than any timer of old", waited)
				}
			})
		})
	}
}

// A Binding that is on its way when the process is to end is settled, so that no process after this
// one need do it; if nobody answers, the lease does not say that all is settled.
func TestABindingOnItsWayIsSettledWhenTheProcessEnds(t *testing.T) {
	for name, tc := range map[string]struct {
		// silent is how many writes have no answer.
		silent  int
		wantAll bool
	}{
		"the API server answers":                        {wantAll: true},
		"the API server answers while it is waited for": {silent: 1, wantAll: true},
		"nobody answers":                                {silent: math.MaxInt},
	} {
		t.Run(name, func(t *testing.T) {
			s, leader := newStore(), fence.New()
			lock := fence.NewLock(&resourcelock.LeaseLock{
				LeaseMeta: metav1.ObjectMeta{Namespace: "berth-system", Name: "berth-scheduler"}, Client: s.CoordinationV1(),
				LockConfig: resourcelock.ResourceLockConfig{Identity: "me"},
			}, leader, time.Hour)
			if err := lock.Create(t.Context(), resourcelock.LeaderElectionRecord{HolderIdentity: "me"}); err != nil {
				t.Fatal(err)
			}
			leader.Settle(fence.Units)
			leader.Settle(fence.Seats)
			binder := s.binderOf(t, nobody, leader)
			synctest.Test(t, func(t *testing.T) {
				ctx, end := context.WithCancel(t.Context())
				s.onBind = func(int, *corev1.Binding) (bool, error) {
					end()
					return true, errLost
				}
				s.onPatch = func(n int) error {
					if n <= tc.silent {
						return errLost
					}
					return nil
				}
				if tc.silent > 0 {
					s.onGet = func(int) error { return errLost }
				}
				began := time.Now()
				if status := binder.Bind(ctx, nil, decided(), node); status.IsSuccess() {
					t.Error("the pod is bound, says Bind")
				}
				if waited := time.Since(began); waited > 6*time.Second {
					t.Errorf("it kept the process for %v", waited)
				}
			})
			if _, _, err := lock.Get(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := lock.Update(t.Context(), resourcelock.LeaderElectionRecord{}); err != nil {
				t.Fatal(err)
			}
			lease, err := s.CoordinationV1().Leases("berth-system").Get(t.Context(), "berth-scheduler", metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if note := lease.Labels[berthv1alpha1.SettledByLabel]; note == "" || strings.HasSuffix(note, "-all") != tc.wantAll {
				t.Errorf("the lease says %q, want that all is settled: %t", note, tc.wantAll)
			}
		})
	}
}

func TestANewerCopyInTheInformerSettlesABinding(t *testing.T) {
	for name, tc := range map[string]struct {
		version   string
		uid       types.UID
		node      string
		wantWrite bool
	}{
		"without a node":                   {version: "8"},
		"with the node":                    {version: "8", node: node},
		"the same version":                 {version: "7", wantWrite: true},
		"an older one":                     {version: "6", wantWrite: true},
		"a version that cannot be read":    {version: "x", wantWrite: true},
		"a pod of that name that is newer": {version: "9", uid: "uid-1"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore()
			known := newPod()
			known.ResourceVersion, known.Spec.NodeName = tc.version, tc.node
			if tc.uid != "" {
				known.UID = tc.uid
			}
			first := true
			informer := func() *corev1.Pod {
				if first {
					first = false
					return nil
				}
				return known
			}
			s.onBind = func(int, *corev1.Binding) (bool, error) { return true, errLost }
			if status := s.bindSeat(t, informer); status.IsSuccess() {
				t.Error("Bind says that the pod is bound")
			}
			if wrote := s.patches > 0; wrote != tc.wantWrite {
				t.Errorf("settled by a write: %t, want %t", wrote, tc.wantWrite)
			}
		})
	}
}

// TestWhatBindReportsStaysTrue plays answers, deliveries and changes in any order: what Bind
// reports holds also after every Binding that was ever sent has arrived.
func TestWhatBindReportsStaysTrue(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := newStore()
		binder := s.binder(t, nobody)
		synctest.Test(t, func(t *testing.T) {
			s.onBind = func(n int, binding *corev1.Binding) (bool, error) {
				switch rapid.IntRange(0, 5).Draw(rt, fmt.Sprintf("binding %d", n)) {
				case 0:
					return true, errLost
				case 1:
					_ = s.carryOut(binding)
					return true, errLost
				case 2:
					s.update(func(p *corev1.Pod) { p.Status.Message += "x" })
					return false, nil
				case 3:
					_ = s.carryOut(binding)
					return true, apierrors.NewConflict(corev1.Resource("pods"), "nginx-0", errLost)
				case 4:
					s.bindings = s.bindings[:n-1] // what was refused is not under way
					return true, apierrors.NewTooManyRequests("slow down", 1)
				}
				return false, nil
			}
			s.onPatch = func(n int) error {
				if n < 10 && rapid.Bool().Draw(rt, fmt.Sprintf("patch %d is lost", n)) {
					if rapid.Bool().Draw(rt, "a binding lands meanwhile") && len(s.bindings) > 0 {
						_ = s.carryOut(s.bindings[0])
					}
					return errLost
				}
				return nil
			}
			s.onGet = func(n int) error {
				if n < 5 && rapid.Bool().Draw(rt, fmt.Sprintf("get %d is lost", n)) {
					return errLost
				}
				return nil
			}
			status := bindAsDecided(t, binder)
			s.check(t, status, status.IsSuccess())
		})
	})
}

// A process that was stopped may read, when it goes on, a pod that the next leader has settled.
func TestNoVersionIsSentThatWasReadAfterTheFenceHadClosed(t *testing.T) {
	leader, closes := fence.New(), time.Time{}
	s := newServer(func(*corev1.Binding) error {
		<-time.After(time.Until(closes))
		return apierrors.NewConflict(corev1.Resource("pods"), "pod", errors.New("it has changed"))
	}, newPod())
	binder := s.binder(t, given{newPod().UID: {Policy: "web", Cluster: "a", Seat: 1}}, leader)
	closes = time.Now().Add(2 * time.Second) // enough for the process to begin, however busy the machine is
	leader.Renewed(closes)
	status := binder.Bind(t.Context(), nil, newPod(), node)
	if len(s.sent) != 1 || status.IsSuccess() {
		t.Errorf("%d bindings were sent, the outcome is %v", len(s.sent), status)
	}
}
