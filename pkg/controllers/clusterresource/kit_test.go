// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package clusterresource_test

import (
	"context"
	"fmt"
	"maps"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/controllers/clusterresource"
	"berth.dev/berth/pkg/controllers/internal/schemetest"
	"berth.dev/berth/pkg/controllers/internal/singleton"
	"berth.dev/berth/pkg/controllers/state"
	"berth.dev/berth/pkg/model/stamp"
	"berth.dev/berth/pkg/placement/pool"
)

// now is the time of all passes.
var now = time.Unix(1_000_000, 0)

// harness runs the reconciler on a fake API server.
type harness struct {
	t   *testing.T
	api client.Client
	clusterresource.Reconciler
	recorder *events.FakeRecorder
	// writes are the names of the objects that were written in the last pass, with "/status" for
	// writes of the status.
	writes []string
	// fail makes a write fail.
	fail func(write string) error
}

func newHarness(t *testing.T, objects ...client.Object) *harness {
	t.Helper()
	scheme := schemetest.New()
	h := &harness{t: t, recorder: events.NewFakeRecorder(100)}
	written := func(write string) error {
		h.writes = append(h.writes, write)
		if h.fail != nil {
			return h.fail(write)
		}
		return nil
	}
	h.api = fake.NewClientBuilder().WithScheme(scheme).WithStatusSubresource(&berthv1alpha1.ClusterResource{}).
		WithIndex(&corev1.Pod{}, state.ConcernedIndex, state.ConcernedValues).
		WithObjects(objects...).
		WithInterceptorFuncs(interceptor.Funcs{
			Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
				if err := written(o.GetName()); err != nil {
					return err
				}
				return c.Patch(ctx, o, p, opts...)
			},
			SubResourcePatch: func(
				ctx context.Context, c client.Client, sub string, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption,
			) error {
				if err := written(o.GetName() + "/" + sub); err != nil {
					return err
				}
				return c.SubResource(sub).Patch(ctx, o, p, opts...)
			},
		}).Build()
	h.Reconciler = clusterresource.Reconciler{
		Client: h.api, Live: h.api, Recorder: h.recorder, Clock: clocktesting.NewFakePassiveClock(now),
	}
	return h
}

// pass makes one pass over what the API server has.
func (h *harness) pass() (requeue time.Duration, err error) {
	h.t.Helper()
	h.writes = nil
	result, err := h.Reconcile(h.t.Context(), singleton.Key{})
	return result.RequeueAfter, err
}

// mustPass makes one pass that succeeds.
func (h *harness) mustPass() {
	h.t.Helper()
	if requeue, err := h.pass(); err != nil || requeue != 0 && requeue != time.Minute {
		h.t.Fatalf("the pass fails: %v, again in %v", err, requeue)
	}
}

func (h *harness) get(name string) *berthv1alpha1.ClusterResource {
	h.t.Helper()
	object := &berthv1alpha1.ClusterResource{}
	if err := h.api.Get(h.t.Context(), client.ObjectKey{Name: name}, object); err != nil {
		h.t.Fatal(err)
	}
	return object
}

func (h *harness) delete(object client.Object) {
	h.t.Helper()
	if err := h.api.Delete(h.t.Context(), object); err != nil {
		h.t.Fatal(err)
	}
}

// condition returns "Status Reason: message", or nothing.
func (h *harness) condition(name, conditionType string) string {
	h.t.Helper()
	c := apimeta.FindStatusCondition(h.get(name).Status.Conditions, conditionType)
	if c == nil {
		return ""
	}
	return fmt.Sprintf("%s %s: %s", c.Status, c.Reason, c.Message)
}

// events returns what was told since the last call.
func (h *harness) events() []string {
	var told []string
	for {
		select {
		case event := <-h.recorder.Events:
			told = append(told, event)
		default:
			return told
		}
	}
}

// declared returns the ClusterResource matlab with pools in its spec.
func declared(pools ...berthv1alpha1.ClusterResourceQuantity) *berthv1alpha1.ClusterResource {
	return &berthv1alpha1.ClusterResource{
		ObjectMeta: metav1.ObjectMeta{Name: "matlab", Generation: 1},
		Spec:       berthv1alpha1.ClusterResourceSpec{Capacity: pools},
	}
}

// of returns a pool; the selector is given as keys and values in turn.
func of(name, quantity string, selector ...string) berthv1alpha1.ClusterResourceQuantity {
	p := berthv1alpha1.ClusterResourceQuantity{Name: name, Quantity: resource.MustParse(quantity)}
	for i := 0; i < len(selector); i += 2 {
		p.NodeSelector = map[string]string{selector[i]: selector[i+1]}
	}
	return p
}

func node(name string, labels map[string]string) *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}
}

// pod returns a pod that asks for matlab by annotation.
func pod(namespace, name, quantity string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: namespace, Name: name, UID: types.UID("uid-" + name),
		Annotations: map[string]string{berthv1alpha1.ClusterResourceAnnotationPrefix + "matlab": quantity},
	}}
}

// on returns the pod as something other than Berth has bound it.
func on(pod *corev1.Pod, nodeName string) *corev1.Pod {
	pod.Spec.NodeName = nodeName
	return pod
}

// charged returns the pod as Berth has bound it, with charges to pools of matlab.
func charged(pod *corev1.Pod, nodeName, quantity string, pools ...string) *corev1.Pod {
	var charges []pool.Charge
	for _, name := range pools {
		charges = append(charges, pool.Charge{Resource: "matlab", Pool: name, Quantity: resource.MustParse(quantity)})
	}
	maps.Copy(pod.Annotations, stamp.ChargeAnnotations(pod, nodeName, charges))
	return on(pod, nodeName)
}
