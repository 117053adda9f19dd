// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package adviser_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/controller-runtime/pkg/cache/informertest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/controllers/adviser/advisertest"
	"berth.dev/berth/pkg/controllers/internal/schemetest"
	"berth.dev/berth/pkg/plugintest"
)

// What may give a pod a node that found none is another version. What happens to pods that wait,
// and what is recorded of them, is none.
func TestVersion(t *testing.T) {
	scheme := schemetest.New()
	waits, runs := plugintest.MakePod("waits").Obj(), plugintest.MakePod("runs").Node("n").Obj()
	node, licence := plugintest.MakeNode("beijing", 0).Obj(), &berthv1alpha1.ClusterResource{}
	for name, tc := range map[string]struct {
		before, after client.Object
		change        func(client.Object)

		want bool
	}{
		"a pod waits":             {after: waits},
		"a pod waits no longer":   {before: waits},
		"a pod runs":              {after: runs, want: true},
		"a pod runs no longer":    {before: runs, want: true},
		"a pod gets a node":       {before: waits, change: func(o client.Object) { o.(*corev1.Pod).Spec.NodeName = "n" }, want: true},
		"another one is to try":   {before: waits, change: func(o client.Object) { o.SetLabels(map[string]string{"home": "b"}) }},
		"a pod tolerates more":    {before: waits, change: func(o client.Object) { o.(*corev1.Pod).Spec.Tolerations = []corev1.Toleration{{}} }, want: true},
		"a pod that runs changes": {before: runs, change: func(o client.Object) { o.SetLabels(map[string]string{"a": "b"}) }, want: true},
		"a node comes":            {after: node, want: true},
		"a node changes":          {before: node, change: func(o client.Object) { o.SetLabels(map[string]string{"a": "b"}) }, want: true},
		"a node reports nothing":  {before: node, change: func(client.Object) {}},
		"a volume comes":          {after: &corev1.PersistentVolume{}, want: true},
		"a pool is declared":      {before: licence, change: func(o client.Object) { o.SetGeneration(7) }, want: true},
		"units are used":          {before: licence, change: func(o client.Object) { status(o).ObservedGeneration = 3 }},
		"units are added":         {before: licence, change: func(o client.Object) { status(o).Allocatable = units("3") }, want: true},
		"a Cluster is changed":    {before: &berthv1alpha1.Cluster{}, change: func(o client.Object) { o.SetGeneration(7) }, want: true},
	} {
		t.Run(name, func(t *testing.T) {
			informers := &informertest.FakeInformers{Scheme: scheme}
			a := advisertest.Watching(t, fake.NewClientBuilder().WithScheme(scheme).Build(), informers)
			if err := a.WatchObjects(t.Context(), informers); err != nil {
				t.Fatal(err)
			}
			kind := tc.before
			if kind == nil {
				kind = tc.after
			}
			informer, err := informers.FakeInformerFor(t.Context(), kind)
			if err != nil {
				t.Fatal(err)
			}
			if tc.before != nil {
				informer.Add(tc.before)
			}
			version := a.Version()
			switch {
			case tc.before == nil:
				informer.Add(tc.after)
			case tc.change == nil:
				informer.Delete(tc.before)
			default:
				after, ok := tc.before.DeepCopyObject().(client.Object)
				if !ok {
					t.Fatalf("%T is no object", tc.before)
				}
				tc.change(after)
				informer.Update(tc.before, after)
			}
			if got := a.Version() != version; got != tc.want {
				t.Errorf("another version: %t, want %t", got, tc.want)
			}
		})
	}
}

func status(o client.Object) *berthv1alpha1.ClusterResourceStatus {
	r, ok := o.(*berthv1alpha1.ClusterResource)
	if !ok {
		return &berthv1alpha1.ClusterResourceStatus{}
	}
	return &r.Status
}

func units(n string) []berthv1alpha1.ClusterResourceQuantity {
	return []berthv1alpha1.ClusterResourceQuantity{{Name: "all", Quantity: resource.MustParse(n)}}
}
