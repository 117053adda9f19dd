// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package adviser_test

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache/informertest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/controllers/adviser/advisertest"
	"berth.dev/berth/pkg/controllers/internal/schemetest"
	"berth.dev/berth/pkg/plugintest"
	"berth.dev/berth/pkg/simulator"
)

// served begins an API server that serves the kinds of Kubernetes and of Berth.
func served(t *testing.T) *fake.ClientBuilder {
	t.Helper()
	scheme := schemetest.New()
	return fake.NewClientBuilder().WithScheme(scheme)
}

// A cache waits for its first list when it is asked for a kind for the first time. Handlers must
// not wait for that, and what they tell meanwhile counts at the next question at the latest.
func TestAdviserIsToldOfChangesWhileItReads(t *testing.T) {
	informers := &informertest.FakeInformers{}
	during := func(client.WithWatch) {}
	api := served(t).WithInterceptorFuncs(interceptor.Funcs{
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			err := c.List(ctx, list, options...)
			if _, last := list.(*berthv1alpha1.ClusterResourceList); last {
				during(c)
			}
			return err
		},
	}).Build()
	informers.Scheme = api.Scheme()
	a := advisertest.Watching(t, api, informers)
	if err := a.WatchObjects(t.Context(), informers); err != nil {
		t.Fatal(err)
	}
	tell := func(kind client.Object) {
		informer, err := informers.FakeInformerFor(t.Context(), kind)
		if err != nil {
			t.Fatal(err)
		}
		informer.Add(kind)
	}
	capacity := map[corev1.ResourceName]string{corev1.ResourceCPU: "4", corev1.ResourcePods: "9"}
	during = func(c client.WithWatch) {
		during = func(client.WithWatch) {}
		if err := c.Create(t.Context(), plugintest.Site("beijing")); err != nil {
			t.Error(err)
		}
		plugintest.EndsSoon(t, func() {
			tell(plugintest.MakeNode("beijing", 0).Capacity(capacity).Obj())
			tell(plugintest.Site("beijing"))
		})
	}
	pod := plugintest.MakePod("sample").Req(map[corev1.ResourceName]string{corev1.ResourceCPU: "1"}).Obj()
	for question, want := range []int{0, 4} {
		err := a.Ask(t.Context(), nil, func(s *simulator.Snapshot) error {
			room, err := s.Room(t.Context(), "beijing", pod, 9)
			if err == nil && room.Copies != want {
				t.Errorf("to question %d the answer is %d copies, want %d", question, room.Copies, want)
			}
			return err
		})
		if err != nil && want > 0 {
			t.Fatal(err)
		}
	}
}

// unserved are informers of an API server that lacks a group.
type unserved struct {
	*informertest.FakeInformers

	group string
}

func (u unserved) GetInformer(ctx context.Context, kind client.Object, options ...cache.InformerGetOption) (cache.Informer, error) {
	if gvk, err := apiutil.GVKForObject(kind, u.Scheme); err == nil && gvk.Group == u.group {
		return nil, &apimeta.NoKindMatchError{GroupKind: gvk.GroupKind(), SearchedVersions: []string{gvk.Version}}
	}
	return u.FakeInformers.GetInformer(ctx, kind, options...)
}

// Before Kubernetes 1.34 there is no such version of devices as Berth reads. Everything else is
// answered.
func TestAdviserDoesWithoutDevices(t *testing.T) {
	api := served(t).Build()
	a := advisertest.Watching(t, api, unserved{&informertest.FakeInformers{Scheme: api.Scheme()}, resourcev1.GroupName})
	pod := plugintest.MakePod("sample").Obj()
	if err := a.Ask(t.Context(), nil, func(s *simulator.Snapshot) error {
		_, err := s.Room(t.Context(), "beijing", pod, 9)
		return err
	}); err != nil {
		t.Error(err)
	}
}
