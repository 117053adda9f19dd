// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package owners_test

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	kubefake "k8s.io/client-go/kubernetes/fake"

	"berth.dev/berth/pkg/model/workload"
	"berth.dev/berth/pkg/plugins/internal/owners"
	"berth.dev/berth/pkg/plugintest"
)

// operators has one object of a kind beyond the table, as package ownership follows them.
type operators struct{ owner *workload.FurtherOwner }

func (o operators) Further(string, *metav1.OwnerReference) (*workload.FurtherOwner, error) {
	return o.owner, nil
}

// batch is how many look-ups are timed at once.
const batch = 1000

// BenchmarkChain looks up whose a pod is when the informers have everything, among a thousand other
// workloads: by way of a ReplicaSet and a Deployment, and by way of an object of an operator above
// these. "best-ns/op" is the time of the quickest batch, in which nothing else had the
// processor.
func BenchmarkChain(b *testing.B) {
	above := &workload.FurtherOwner{Object: &metav1.ObjectMeta{Namespace: plugintest.Namespace, Name: "app", UID: "app"}}
	for name, owned := range map[string]bool{"deployment": false, "operator": true} {
		b.Run(name, func(b *testing.B) {
			var objects []runtime.Object
			var pod *corev1.Pod
			for i := range 1000 {
				d := plugintest.Deployment(fmt.Sprintf("web-%d", i), 2)
				if owned {
					d.OwnerReferences = []metav1.OwnerReference{{
						APIVersion: "example.com/v1", Kind: "App", Name: "app", UID: "app", Controller: new(true),
					}}
				}
				rs := plugintest.ReplicaSet(d, "v1")
				objects = append(objects, d, rs)
				pod = plugintest.MakePodOf(rs, 0).Obj()
			}
			factory := informers.NewSharedInformerFactory(kubefake.NewClientset(objects...), 0)
			source, err := owners.New(factory, operators{above}, func([]*corev1.Pod) {})
			if err != nil {
				b.Fatal(err)
			}
			factory.Start(b.Context().Done())
			factory.WaitForCacheSync(b.Context().Done())
			b.ReportAllocs()
			best, began, done := time.Hour, time.Now(), 0
			for b.Loop() {
				if _, err := workload.Of(pod, source); err != nil {
					b.Fatal(err)
				}
				if done++; done%batch == 0 {
					now := time.Now()
					best, began = min(best, now.Sub(began)), now
				}
			}
			b.ReportMetric(float64(best)/batch, "best-ns/op")
		})
	}
}
