// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package demand_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"berth.dev/berth/pkg/model/demand"
	"berth.dev/berth/pkg/model/stamp"
	"berth.dev/berth/pkg/placement/pool"
)

const (
	domain = "cluster-resource.berth.dev/"
	prefix = "pod.alpha.kubernetes.io/cluster-resource-"
)

// list returns requests, given as names and quantities in turn.
func list(pairs ...string) corev1.ResourceList {
	requests := corev1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		requests[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return requests
}

func container(pairs ...string) corev1.Container {
	return corev1.Container{Resources: corev1.ResourceRequirements{Requests: list(pairs...)}}
}

func sidecar(pairs ...string) corev1.Container {
	c := container(pairs...)
	c.RestartPolicy = ptr.To(corev1.ContainerRestartPolicyAlways)
	return c
}

func annotated(pairs ...string) *corev1.Pod {
	pod := &corev1.Pod{}
	pod.Annotations = map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		pod.Annotations[prefix+pairs[i]] = pairs[i+1]
	}
	return pod
}

func running(spec corev1.PodSpec) *corev1.Pod {
	return &corev1.Pod{Spec: spec}
}

// asked returns requests as "NAME=QUANTITY".
func asked(requests []pool.Request) string {
	texts := make([]string, len(requests))
	for i, r := range requests {
		texts[i] = r.Resource + "=" + r.Quantity.String()
	}
	return strings.Join(texts, " ")
}

func TestWhatAPodAsksFor(t *testing.T) {
	for name, tc := range map[string]struct {
		pod  *corev1.Pod
		want string
	}{
		"nothing": {pod: running(corev1.PodSpec{Containers: []corev1.Container{container("cpu", "1")}})},
		"other resources and annotations of similar names": {
			pod: func() *corev1.Pod {
				pod := running(corev1.PodSpec{Containers: []corev1.Container{
					container("cluster-resource.berth.dev.example.com/a", "1", "example.com/cluster-resource.berth.dev", "1"),
				}})
				pod.Annotations = map[string]string{"example.com/cluster-resource-a": "1"}
				return pod
			}(),
		},
		"by annotation": {pod: annotated("b", "500M", "a", "0.5"), want: "a=500m b=500M"},
		"containers add up": {
			pod: running(corev1.PodSpec{
				Containers: []corev1.Container{container(domain+"a", "1"), container(domain+"a", "2", domain+"b", "1")},
			}),
			want: "a=3 b=1",
		},
		"an init container counts if it needs more than all others": {
			pod: running(corev1.PodSpec{
				Containers:     []corev1.Container{container(domain+"a", "1")},
				InitContainers: []corev1.Container{container(domain+"a", "4"), container(domain+"a", "3")},
			}),
			want: "a=4",
		},
		"a sidecar adds to the containers": {
			pod: running(corev1.PodSpec{
				Containers:     []corev1.Container{container(domain+"a", "1")},
				InitContainers: []corev1.Container{sidecar(domain+"a", "2")},
			}),
			want: "a=3",
		},
		"overhead counts": {
			pod: running(corev1.PodSpec{
				Containers: []corev1.Container{container(domain+"a", "1")}, Overhead: list(domain+"a", "1"),
			}),
			want: "a=2",
		},
		"overhead counts by itself": {
			pod: running(corev1.PodSpec{
				Containers: []corev1.Container{container("cpu", "1")}, Overhead: list(domain+"a", "1"),
			}),
			want: "a=1",
		},
		"an init container counts by itself": {
			pod: running(corev1.PodSpec{
				Containers:     []corev1.Container{container("cpu", "1")},
				InitContainers: []corev1.Container{container("cpu", "1"), container(domain+"a", "2")},
			}),
			want: "a=2",
		},
		"a resource of the node is none of a cluster beside one": {
			pod:  running(corev1.PodSpec{Containers: []corev1.Container{container("cpu", "1", domain+"a", "2")}}),
			want: "a=2",
		},
		"an annotation of something else is no request beside one": {
			pod: func() *corev1.Pod {
				pod := annotated("a", "1")
				pod.Annotations["example.com/owner"] = "somebody"
				return pod
			}(),
			want: "a=1",
		},
		"both forms for different resources": {
			pod: func() *corev1.Pod {
				pod := annotated("a", "1")
				pod.Spec.Containers = []corev1.Container{container(domain+"b", "2")}
				return pod
			}(),
			want: "a=1 b=2",
		},
		"zero is nothing": {
			pod: func() *corev1.Pod {
				pod := annotated("a", "0")
				pod.Spec.Containers = []corev1.Container{container(domain+"b", "0")}
				return pod
			}(),
		},
		"an exponent is written out": {
			pod:  running(corev1.PodSpec{Containers: []corev1.Container{container(domain+"a", "1e3")}}),
			want: "a=1k",
		},
		"a part with an exponent is written out": {
			pod:  running(corev1.PodSpec{Containers: []corev1.Container{container(domain+"a", "5e-1")}}),
			want: "a=500m",
		},
		"what other resources amount to does not matter": {
			pod:  running(corev1.PodSpec{Containers: []corev1.Container{container(domain+"a", "1", "example.com/a", "1e30")}}),
			want: "a=1",
		},
		"another form stays as it is": {
			pod:  running(corev1.PodSpec{Containers: []corev1.Container{container(domain+"a", "2Gi")}}),
			want: "a=2Gi",
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := demand.Of(tc.pod)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, asked(got)); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
			if tc.want != "" && !demand.Asks(tc.pod) {
				t.Error("the pod is taken for one that asks for nothing")
			}
		})
	}
}

// Pods that ask for nothing are not looked at any further.
func TestWhetherAPodAsksForAnything(t *testing.T) {
	plain, asking := container("cpu", "1"), container(domain+"a", "1")
	for name, tc := range map[string]struct {
		pod  *corev1.Pod
		want bool
	}{
		"nothing":                       {pod: running(corev1.PodSpec{Containers: []corev1.Container{container()}})},
		"for cpu":                       {pod: running(corev1.PodSpec{Containers: []corev1.Container{plain}})},
		"for cpu before it starts":      {pod: running(corev1.PodSpec{InitContainers: []corev1.Container{plain}})},
		"for cpu to be run":             {pod: running(corev1.PodSpec{Overhead: list("cpu", "1")})},
		"for cpu as a whole":            {pod: running(corev1.PodSpec{Resources: &plain.Resources})},
		"by a container":                {pod: running(corev1.PodSpec{Containers: []corev1.Container{plain, asking}}), want: true},
		"by an init container":          {pod: running(corev1.PodSpec{InitContainers: []corev1.Container{plain, asking}}), want: true},
		"to be run":                     {pod: running(corev1.PodSpec{Overhead: list(domain+"a", "1")}), want: true},
		"as a whole":                    {pod: running(corev1.PodSpec{Resources: &asking.Resources}), want: true},
		"by an annotation":              {pod: annotated("a", "1"), want: true},
		"for none of it":                {pod: annotated("a", "0"), want: true},
		"for what cannot be told":       {pod: annotated("a", "many"), want: true},
		"an annotation of another kind": {pod: &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{"example.com/a": "1"}}}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := demand.Asks(tc.pod); got != tc.want {
				t.Errorf("Asks() = %t, want %t", got, tc.want)
			}
		})
	}
}

func TestRequestsThatCannotBeRead(t *testing.T) {
	for name, tc := range map[string]struct {
		pod  *corev1.Pod
		want string
	}{
		"no number":         {annotated("a", "many"), `cluster resource a cannot be read: "many" is not a quantity`},
		"an empty value":    {annotated("a", ""), `cluster resource a cannot be read: "" is not a quantity`},
		"negative":          {annotated("a", "-1"), `cluster resource a cannot be read: "-1" is not a quantity`},
		"would hang":        {annotated("a", "1e-2147483647"), `cluster resource a cannot be read: "1e-2147483647"`},
		"thirty digits":     {annotated("a", strings.Repeat("9", 30)), "cluster resource a cannot be read: a quantity has at most 16"},
		"a megabyte":        {annotated("a", strings.Repeat("9", 1<<20)), "cluster resource a cannot be read: a quantity has at most 16"},
		"more than fits":    {annotated("a", "100000E"), "cluster resource a cannot be read"},
		"beside a good one": {annotated("a", "1", "b", "?"), "cluster resource b cannot be read"},
		"both forms for one": {
			func() *corev1.Pod {
				pod := annotated("a", "1")
				pod.Spec.Containers = []corev1.Container{container(domain+"a", "1")}
				return pod
			}(),
			"cluster resource a both by annotation and as a resource of a container",
		},
		"a container's that would hang": {
			running(corev1.PodSpec{Containers: []corev1.Container{container(domain+"a", "1e2147483647"), container(domain+"a", "1")}}),
			"the request for cluster resource a is too large",
		},
		"an init container's that would hang": {
			running(corev1.PodSpec{
				Containers:     []corev1.Container{container(domain+"a", "1")},
				InitContainers: []corev1.Container{container(domain+"a", "1e2147483647")},
			}),
			"the request for cluster resource a is too large",
		},
		"nothing that would take a second": {
			running(corev1.PodSpec{Containers: []corev1.Container{container(domain+"a", "0e2147483647")}}),
			"the request for cluster resource a is too large",
		},
		"overhead that would hang": {
			running(corev1.PodSpec{
				Containers: []corev1.Container{container(domain+"a", "1")}, Overhead: list(domain+"a", "1e2147483647"),
			}),
			"the request for cluster resource a is too large",
		},
		"the whole pod's that would hang": {
			running(corev1.PodSpec{
				Containers: []corev1.Container{container("cpu", "1")},
				Resources:  &corev1.ResourceRequirements{Requests: list(domain+"a", "1e2147483647")},
			}),
			"the request for cluster resource a is too large",
		},
		"a sum beyond an int64": {
			running(corev1.PodSpec{Containers: []corev1.Container{container(domain+"a", "9E"), container(domain+"a", "9E")}}),
			"the request for cluster resource a is too large",
		},
		"a negative resource": {
			running(corev1.PodSpec{Containers: []corev1.Container{container(domain+"a", "-1")}}),
			"the request for cluster resource a must not be negative",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if !demand.Asks(tc.pod) {
				t.Error("the pod is taken for one that asks for nothing")
			}
			if _, err := demand.Of(tc.pod); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error = %v, want one with %q", err, tc.want)
			}
		})
	}
}

func TestHowManyResourcesAPodMayAskFor(t *testing.T) {
	for name, tc := range map[string]struct {
		resources int
		wantError bool
	}{
		"fifty": {resources: 50}, "as many as are allowed": {resources: 64}, "one more": {resources: 65, wantError: true},
	} {
		t.Run(name, func(t *testing.T) {
			pod := annotated()
			for i := range tc.resources {
				pod.Annotations[fmt.Sprintf("%sr%02d", prefix, i)] = "1"
			}
			got, err := demand.Of(pod)
			if (err != nil) != tc.wantError {
				t.Fatalf("error = %v, want one: %t", err, tc.wantError)
			}
			if !tc.wantError && len(got) != tc.resources {
				t.Errorf("%d requests, want %d", len(got), tc.resources)
			}
		})
	}
}

func TestAsksDoesNotAllocate(t *testing.T) {
	pod := running(corev1.PodSpec{Containers: []corev1.Container{container("cpu", "1", "memory", "1Gi")}})
	pod.Annotations = map[string]string{"example.com/a": "1"}
	if n := testing.AllocsPerRun(100, func() { demand.Asks(pod) }); n > 0 {
		t.Errorf("%v allocations for a pod that asks for nothing", n)
	}
}

func FuzzOf(f *testing.F) {
	f.Add("matlab", "500M", int64(1), int32(0))
	f.Add("", "1e-2147483647", int64(0), int32(2147483647))
	f.Fuzz(func(t *testing.T, name, text string, value int64, scale int32) {
		pod := annotated(name, text)
		pod.Spec.Containers = []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
			domain + "scaled": *resource.NewScaledQuantity(value, resource.Scale(max(scale, -1000))),
		}}}}
		requests, err := demand.Of(pod)
		if err != nil {
			return
		}
		// What is asked for can be written on the pod and read again.
		var charges []pool.Charge
		for _, r := range requests {
			if r.Quantity.Sign() <= 0 {
				t.Errorf("asks for %s of %s", r.Quantity.String(), r.Resource)
			}
			if r.Resource == "scaled" {
				charges = append(charges, pool.Charge{Resource: r.Resource, Pool: "default", Quantity: r.Quantity})
			}
		}
		if len(charges) == 0 {
			return
		}
		pod.UID, pod.Spec.NodeName = "uid", "node"
		pod.Annotations = stamp.ChargeAnnotations(pod, "node", charges)
		read, ok := stamp.ChargesOf(pod)
		if !ok || read[0].Quantity.Cmp(charges[0].Quantity) != 0 {
			t.Errorf("%v is read as %v, %t", charges, read, ok)
		}
	})
}
