// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package state_test

import (
	"fmt"
	"reflect"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"pgregory.net/rapid"

	"berth.dev/berth/pkg/controllers/state"
)

// ownedPod returns a pod as it comes from the API server.
func ownedPod(owner types.UID, number int) *corev1.Pod {
	pod := fullPod(nil)
	pod.Name, pod.UID, pod.GenerateName = fmt.Sprintf("web-%d", number), types.UID(fmt.Sprint(owner, number)), "web-"
	pod.Spec.NodeName = fmt.Sprintf("node-%d", number)
	pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web", UID: owner, Controller: new(true)}}
	pod.Spec.Priority, pod.Spec.RuntimeClassName = new(int32(1)), new("runc")
	pod.Spec.Tolerations[0].TolerationSeconds = new(int64(300))
	pod.Spec.InitContainers = []corev1.Container{{Name: "sidecar", RestartPolicy: new(corev1.ContainerRestartPolicyAlways)}}
	pod.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{MaxSkew: 1, LabelSelector: &metav1.LabelSelector{}}}
	return pod
}

// decoded returns a pod that holds nothing of the other one.
func decoded(tb testing.TB, pod *corev1.Pod) *corev1.Pod {
	tb.Helper()
	wire, err := pod.Marshal()
	if err != nil {
		tb.Fatal(err)
	}
	pod = &corev1.Pod{}
	if err := pod.Unmarshal(wire); err != nil {
		tb.Fatal(err)
	}
	return pod
}

// at tells where a part of a pod is held.
func at(part any) uintptr { return reflect.ValueOf(part).Pointer() }

func TestPodsOfAnOwnerShareWhatIsTheSame(t *testing.T) {
	type parts struct{ Labels, Owners, Tolerations, Containers bool }
	tests := map[string]struct {
		owner  types.UID
		change func(*corev1.Pod)
		want   parts
	}{
		"name and node": {"one", func(*corev1.Pod) {}, parts{true, true, true, true}},
		"a label":       {"one", func(p *corev1.Pod) { p.Labels["index"] = "1" }, parts{false, true, true, true}},
		"a resized container": {"one", func(p *corev1.Pod) {
			p.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = resource.MustParse("3")
		}, parts{true, true, true, false}},
		"a toleration":          {"one", func(p *corev1.Pod) { *p.Spec.Tolerations[0].TolerationSeconds = 1 }, parts{true, true, false, true}},
		"its owner":             {"two", func(*corev1.Pod) {}, parts{}},
		"that it has no owner":  {"one", func(p *corev1.Pod) { p.OwnerReferences = nil }, parts{}},
		"what is not looked at": {"one", func(p *corev1.Pod) { p.Spec.Containers[0].Image = "other" }, parts{true, true, true, true}},
	}
	for name, tt := range tests {
		t.Run("differs in "+name, func(t *testing.T) {
			transform := transformOf[corev1.Pod](t)
			first, second := ownedPod("one", 1), ownedPod(tt.owner, 2)
			tt.change(second)
			for _, pod := range []*corev1.Pod{first, second} {
				if _, err := transform(pod); err != nil {
					t.Fatal(err)
				}
			}
			got := parts{
				Labels:      at(first.Labels) == at(second.Labels),
				Owners:      at(first.OwnerReferences) == at(second.OwnerReferences),
				Tolerations: at(first.Spec.Tolerations) == at(second.Spec.Tolerations),
				Containers:  at(first.Spec.Containers) == at(second.Spec.Containers),
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("shared (-want +got):\n%s", diff)
			}
		})
	}
}

// TestSharingChangesNoPod: whatever two pods of an owner differ in, each stays what it is alone.
func TestSharingChangesNoPod(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		transform := transformOf[corev1.Pod](t)
		var want, got []*corev1.Pod
		for n := range 2 {
			pod := ownedPod("one", n)
			alter(rt, reflect.ValueOf(pod).Elem())
			want = append(want, trimmed(t, decoded(t, pod)))
			received := decoded(t, pod)
			if _, err := transform(received); err != nil {
				rt.Fatal(err)
			}
			got = append(got, received)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			rt.Fatalf("pods (-alone +together):\n%s", diff)
		}
	})
}

// alter changes texts and numbers here and there.
func alter(t *rapid.T, v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if field := v.Field(i); field.CanSet() {
				alter(t, field)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			alter(t, v.Index(i))
		}
	case reflect.Pointer:
		if !v.IsNil() {
			alter(t, v.Elem())
		}
	case reflect.String:
		if v.String() != "" && rapid.IntRange(0, 30).Draw(t, "alter") == 0 {
			v.SetString(v.String() + "x")
		}
	case reflect.Int32, reflect.Int64:
		if v.Int() != 0 && rapid.IntRange(0, 30).Draw(t, "alter") == 0 {
			v.SetInt(v.Int() + 1)
		}
	case reflect.Map:
		alterMap(t, v)
	}
}

func alterMap(t *rapid.T, v reflect.Value) {
	if v.Len() == 0 || rapid.IntRange(0, 5).Draw(t, "alter") != 0 {
		return
	}
	switch m := v.Interface().(type) {
	case map[string]string:
		m["altered"] = "x"
	case corev1.ResourceList:
		m["altered"] = resource.MustParse("1")
	}
}

// BenchmarkPodsInTheCache tells what a pod is for the garbage collector, and what its transform
// takes. A hundred pods have the same owner.
func BenchmarkPodsInTheCache(b *testing.B) {
	for name, transform := range map[string]cache.TransformFunc{
		"apart":  func(pod any) (any, error) { state.Pod(pod.(*corev1.Pod)); return pod, nil },
		"shared": transformOf[corev1.Pod](b),
	} {
		b.Run(name, func(b *testing.B) {
			pods := make([]*corev1.Pod, b.N)
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			for i := range pods {
				pods[i] = decoded(b, ownedPod(types.UID(fmt.Sprint(i/100)), i))
			}
			b.ResetTimer()
			for _, pod := range pods {
				if _, err := transform(pod); err != nil {
					b.Fatal(err)
				}
			}
			b.StopTimer()
			runtime.GC()
			runtime.ReadMemStats(&after)
			b.ReportMetric(float64(after.HeapObjects-before.HeapObjects)/float64(b.N), "objects/pod")
			b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/float64(b.N), "B/pod")
			runtime.KeepAlive(pods)
		})
	}
}
