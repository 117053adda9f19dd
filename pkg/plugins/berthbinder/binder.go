// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package berthbinder binds every pod of Berth's profiles. What a policy gave to a pod travels in
// the Binding itself: the API server copies its annotations onto the pod in the same write that
// sets the node, so there is no moment at which a bound pod lacks its stamp and no second write
// that could fail.
//
// A pod that was given nothing is bound as by the stock scheduler, but by nobody who can no
// longer prove to be the leader: another one may be filling the same nodes. Its Binding carries
// but the mark that Berth bound it, so that a policy which comes later can take it over. The
// Cluster of a pod travels as a label, too: the API server copies labels of a Binding since
// Kubernetes 1.35 (feature PodTopologyLabelsAdmission), and drops them otherwise. The Binding of
// any other pod carries the version of the pod that was decided on, and Bind does not return
// before its outcome is certain:
//
//	answer                       meaning                             what follows
//	success                      bound                               done
//	clear refusal (404, 403, …)  not bound                           the attempt fails
//	409                          the pod has changed, or is bound    read; the same decision is tried
//	                                                                 again
//	anything else, or no answer  perhaps bound, perhaps bound later  settle: a write that changes the
//	                                                                 pod
//
// While Bind waits the pod stays assumed, so that its seat and what it was charged are given to
// nobody else.
package berthbinder

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"berth.dev/berth/pkg/fence"
	"berth.dev/berth/pkg/model/stamp"
	"berth.dev/berth/pkg/plugins/internal/guard"
	"berth.dev/berth/pkg/plugins/internal/settle"
)

// Name is the name of the plugin in a KubeSchedulerConfiguration.
const Name = "BerthBinder"

// linger is how long a Binding is waited for once the process is to end. It is less than the time
// for which its lease is kept for that.
const linger = 5 * time.Second

// Slots has room for the Bindings that a process may have under way, settle.MaxUnderWay of them,
// whatever its profiles.
type Slots chan struct{}

// NewSlots returns those of one process.
func NewSlots() Slots { return make(Slots, settle.MaxUnderWay) }

// BerthBinder is a Bind plugin that writes the stamp of a pod together with its node.
type BerthBinder struct {
	handle fwk.Handle
	given  Given
	fence  *fence.Fence
	// underWay holds a token for each Binding under way.
	underWay Slots
}

var _ fwk.BindPlugin = &BerthBinder{}

// Given is what the Reserve plugins gave to pods, and the pods as the informer knows them. It must
// be safe for concurrent use.
type Given interface {
	// Annotations returns what the binding of the pod to the node must carry, nil if nothing was
	// given to the pod.
	Annotations(pod *corev1.Pod, node string) map[string]string
	// Pod returns the newest copy of a pod that the informer has, nil if it has none.
	Pod(namespace, name string) *corev1.Pod
	// Contested reports whether something that the pod was given is another pod's by now.
	Contested(pod *corev1.Pod) bool
	// Fenced reports whether the lease is kept until the Binding of every pod has ended, whatever it
	// was given.
	Fenced() bool
	// Bound is told of each pod that was bound, with the annotations of its binding.
	Bound(pod *corev1.Pod, node string, annotations map[string]string)
}

// New returns the plugin. Pods are bound only while the fence is open, and whoever closes it
// waits for the Bindings of those that were given something, or of all if given says so. The
// profiles of a process have the same slots.
func New(handle fwk.Handle, given Given, leader *fence.Fence, slots Slots) *BerthBinder {
	return &BerthBinder{handle: handle, given: given, fence: leader, underWay: slots}
}

// Name returns the name of the plugin.
func (*BerthBinder) Name() string {
	return Name
}

// Bind binds the pod to the node.
func (b *BerthBinder) Bind(ctx context.Context, _ fwk.CycleState, pod *corev1.Pod, node string) (status *fwk.Status) {
	defer guard.Rescue(ctx, Name, "Bind", &status)
	binding := &corev1.Binding{
		ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID},
		Target:     corev1.ObjectReference{Kind: "Node", Name: node},
	}
	binding.Annotations = b.given.Annotations(pod, node)
	plain := binding.Annotations == nil
	if plain {
		binding.Annotations = stamp.Mark(pod, node)
	} else {
		binding.Labels = stamp.Labels(binding.Annotations)
	}
	if plain && !b.given.Fenced() {
		if err := b.dispatch(ctx, binding); err != nil {
			return fwk.AsStatus(err)
		}
	} else if err := b.bindFenced(ctx, pod, binding); err != nil {
		return fwk.AsStatus(fmt.Errorf("binding pod %s/%s: %w", pod.Namespace, pod.Name, err))
	}
	b.given.Bound(pod, node, binding.Annotations)
	return nil
}

// bindFenced binds a pod that was given something, as one of those under way, and while the fence
// is open.
func (b *BerthBinder) bindFenced(ctx context.Context, pod *corev1.Pod, binding *corev1.Binding) error {
	select {
	case b.underWay <- struct{}{}:
		defer func() { <-b.underWay }()
	case <-ctx.Done():
		return ctx.Err()
	}
	// A Binding that is on its way when the process is to end is better waited for than cut off: its
	// outcome would have to be settled by the next leader.
	ctx, end := lingering(ctx)
	defer end()
	guarded, leave, err := b.fence.Enter(ctx)
	if err != nil {
		return err
	}
	// Whoever closes the fence waits for this one, until its outcome is certain.
	defer leave()
	cause, err := b.bindVersion(guarded, pod, binding)
	if cause == nil {
		return err
	}
	err = b.settle(ctx, binding, cause)
	if errors.Is(err, errUnknownOutcome) {
		b.fence.Unclear()
	}
	return err
}

// lingering returns a context that ends somewhat later than the given one.
func lingering(ctx context.Context) (longer context.Context, end context.CancelFunc) {
	longer, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		last, done := context.WithTimeout(longer, linger)
		defer done()
		<-last.Done()
		cancel()
	})
	return longer, func() {
		stop()
		cancel()
	}
}

// dispatch sends a binding through the scheduler's dispatcher of API calls, if it has one.
func (b *BerthBinder) dispatch(ctx context.Context, binding *corev1.Binding) error {
	if !b.fence.Open() {
		return fence.ErrClosed
	}
	cacher := b.handle.APICacher()
	if cacher == nil {
		return b.send(ctx, binding)
	}
	finished, err := cacher.BindPod(binding)
	if err != nil {
		return err
	}
	return cacher.WaitOnFinish(ctx, finished)
}

// send sends a binding at once.
func (b *BerthBinder) send(ctx context.Context, binding *corev1.Binding) error {
	return b.handle.ClientSet().CoreV1().Pods(binding.Namespace).Bind(ctx, binding, metav1.CreateOptions{})
}
