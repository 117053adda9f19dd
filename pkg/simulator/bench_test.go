// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package simulator_test

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/plugintest"
)

// sample is a pod without claims.
func sample() *corev1.Pod {
	return plugintest.MakePod("sample").Req(map[corev1.ResourceName]string{corev1.ResourceCPU: "500m"}).Obj()
}

// samples are pods that differ in what Room has to look at.
func samples() map[string]*corev1.Pod {
	spread := sample()
	spread.Labels = map[string]string{"app": "web"}
	spread.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
		MaxSkew: 5, TopologyKey: corev1.LabelHostname, WhenUnsatisfiable: corev1.DoNotSchedule,
		LabelSelector: &metav1.LabelSelector{MatchLabels: spread.Labels},
	}}
	units := sample()
	units.Annotations = map[string]string{"pod.alpha.kubernetes.io/cluster-resource-licence": "1"}
	claim := sample()
	claim.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{
		PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"},
	}}}
	device := withDevice(sample(), corev1.PodResourceClaim{ResourceClaimTemplateName: new("gpu")})
	return map[string]*corev1.Pod{"plain": sample(), "spread": spread, "pools": units, "claims": claim, "devices": device}
}

// shared is a claim that pods on all nodes can use, and its volume. Each node has four devices, of
// which a pod may claim one.
func shared(nodes int) []runtime.Object {
	objects := []runtime.Object{deviceClass("gpu"), claimTemplate("gpu")}
	for i := range nodes {
		objects = append(objects, gpus("gpu", fmt.Sprint("beijing-", i), nil, 4))
	}
	return append(objects,
		&corev1.PersistentVolumeClaim{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: plugintest.Namespace, Name: "data", UID: "data",
				Annotations: map[string]string{"pv.kubernetes.io/bind-completed": "yes"},
			},
			Spec: corev1.PersistentVolumeClaimSpec{
				VolumeName: "data", AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteMany},
			},
			Status: corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimBound},
		},
		&corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "data"}, Spec: corev1.PersistentVolumeSpec{
			ClaimRef: &corev1.ObjectReference{Namespace: plugintest.Namespace, Name: "data", UID: "data"},
		}},
	)
}

// licences are enough for all.
func licences() *berthv1alpha1.ClusterResource {
	r := &berthv1alpha1.ClusterResource{ObjectMeta: metav1.ObjectMeta{Name: "licence", UID: "licence", Generation: 1}}
	r.Spec.Capacity = []berthv1alpha1.ClusterResourceQuantity{{Name: "all", Quantity: resource.MustParse("100000")}}
	r.Status.Allocatable = r.Spec.Capacity
	return r
}

// reportCPU has a benchmark tell how much CPU time a pass takes, garbage collection included, since
// it was called. A busy machine changes that less than it does the time.
func reportCPU(b *testing.B) (report func()) {
	b.Helper()
	used := func() time.Duration {
		var usage syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
			b.Fatal(err)
		}
		return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
	}
	before := used()
	return func() { b.ReportMetric(float64((used()-before).Microseconds())/1000/float64(b.N), "cpu-ms/op") }
}

// BenchmarkRoom counts 1,000 copies of a pod in a cluster of 500 nodes: after a change there, and
// while nothing changes.
func BenchmarkRoom(b *testing.B) {
	for name, pod := range samples() {
		for _, changes := range []bool{true, false} {
			b.Run(fmt.Sprintf("%s/changed=%t", name, changes), func(b *testing.B) {
				s := snapshot(b, append(append(plugintest.Sites(500, "beijing"), licences()), shared(500)...)...)
				other := plugintest.MakePod("other").Node("beijing-0").Obj()
				if _, err := s.Room(b.Context(), "beijing", pod, 1000); err != nil {
					b.Fatal(err)
				}
				defer reportCPU(b)()
				for b.Loop() {
					if changes {
						if err := s.Put(other); err != nil {
							b.Fatal(err)
						}
					}
					room, err := s.Room(b.Context(), "beijing", pod, 1000)
					if err != nil || room.Copies != 1000 {
						b.Fatalf("%+v, %v", room, err)
					}
				}
			})
		}
	}
}

// BenchmarkOneAfterAnother finds the room as cluster-capacity does: one simulated pod after another
// goes through the whole scheduler, Score included.
func BenchmarkOneAfterAnother(b *testing.B) {
	s := snapshot(b, plugintest.Sites(500, "beijing")...)
	defer reportCPU(b)()
	for b.Loop() {
		s.Fork()
		for i := range 1000 {
			pod := sample()
			pod.Name, pod.UID = fmt.Sprint("copy-", i), types.UID(fmt.Sprint("copy-", i))
			outcome, err := s.TrySchedule(b.Context(), pod)
			if err != nil || outcome.Node == "" {
				b.Fatalf("%+v, %v", outcome, err)
			}
			if _, err := s.Place(b.Context(), pod, outcome); err != nil {
				b.Fatal(err)
			}
		}
		s.Revert()
	}
}
