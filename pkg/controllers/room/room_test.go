// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package room_test

import (
	"context"
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2/ktesting"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"berth.dev/berth/pkg/controllers/room"
)

// node makes a ready node with 4 CPUs and room for 10 pods.
func node(name string, changes ...func(*st.NodeWrapper)) *corev1.Node {
	w := st.MakeNode().Name(name).Label(corev1.LabelHostname, name).
		Capacity(map[corev1.ResourceName]string{corev1.ResourceCPU: "4", corev1.ResourcePods: "10"})
	w.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	for _, change := range changes {
		change(w)
	}
	return w.Obj()
}

func in(zone string) func(*st.NodeWrapper) {
	return func(w *st.NodeWrapper) { w.Label(corev1.LabelTopologyZone, zone) }
}

// webPod asks for one CPU.
func webPod() *st.PodWrapper {
	return st.MakePod().Namespace("ns").Name("web").Label("app", "web").
		Req(map[corev1.ResourceName]string{corev1.ResourceCPU: "1"})
}

func notAWeb(key string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{key: "web"}}
}

type countCase struct {
	nodes []*corev1.Node
	// others are the pods that run already.
	others  []*corev1.Pod
	pod     *corev1.Pod
	volumes *room.Volumes
	want    int
}

func runCount(t *testing.T, tests map[string]countCase) {
	t.Helper()
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			logger, _ := ktesting.NewTestContext(t)
			nodes := tc.nodes
			e := room.NewEstimator(logger, func() []*corev1.Node { return nodes }, podsOn(tc.others))
			if tc.pod == nil {
				tc.pod = webPod().Obj()
			}
			got, err := e.Count(tc.nodes, tc.pod, tc.volumes, 100)
			if err != nil || got != tc.want {
				t.Errorf("Count() = %d, %v, want %d", got, err, tc.want)
			}
			if got, err = e.Count(tc.nodes, tc.pod, tc.volumes, 1); err != nil || got != min(tc.want, 1) {
				t.Errorf("Count() up to 1 = %d, %v, want %d", got, err, min(tc.want, 1))
			}
		})
	}
}

func podsOn(all []*corev1.Pod) room.PodsOn {
	return func(node string) ([]corev1.Pod, error) {
		var pods []corev1.Pod
		for _, pod := range all {
			if pod.Spec.NodeName == node {
				pods = append(pods, *pod)
			}
		}
		return pods, nil
	}
}

func TestCountResources(t *testing.T) {
	runCount(t, map[string]countCase{
		"as many as the CPUs": {nodes: []*corev1.Node{node("a"), node("b")}, want: 8},
		"no nodes":            {want: 0},
		"what runs takes its part": {
			nodes:  []*corev1.Node{node("a")},
			others: []*corev1.Pod{st.MakePod().Node("a").Req(map[corev1.ResourceName]string{corev1.ResourceCPU: "2500m"}).Obj()},
			want:   1,
		},
		"what has finished takes none": {
			nodes: []*corev1.Node{node("a")},
			others: []*corev1.Pod{
				st.MakePod().Node("a").Phase(corev1.PodSucceeded).Req(map[corev1.ResourceName]string{corev1.ResourceCPU: "4"}).Obj(),
				st.MakePod().Node("a").Phase(corev1.PodFailed).Req(map[corev1.ResourceName]string{corev1.ResourceCPU: "4"}).Obj(),
			},
			want: 4,
		},
		"what is terminating still takes its part": {
			nodes:  []*corev1.Node{node("a")},
			others: []*corev1.Pod{st.MakePod().Node("a").Terminating().Req(map[corev1.ResourceName]string{corev1.ResourceCPU: "4"}).Obj()},
			want:   0,
		},
		"more than there is": {
			nodes:  []*corev1.Node{node("a")},
			others: []*corev1.Pod{st.MakePod().Node("a").Req(map[corev1.ResourceName]string{corev1.ResourceCPU: "40"}).Obj()},
			want:   0,
		},
		"as many as the pods": {
			nodes: []*corev1.Node{node("a")}, pod: st.MakePod().Namespace("ns").Obj(), want: 10,
		},
		"a resource that the node does not have": {
			nodes: []*corev1.Node{node("a")},
			pod:   st.MakePod().Req(map[corev1.ResourceName]string{"example.com/gpu": "1"}).Obj(),
			want:  0,
		},
		"a request of nothing of a resource that the node does not have": {
			nodes: []*corev1.Node{node("a")},
			pod:   st.MakePod().Req(map[corev1.ResourceName]string{"example.com/gpu": "0", corev1.ResourceCPU: "1"}).Obj(),
			want:  4,
		},
		"a host port is taken once for each node": {
			nodes: []*corev1.Node{node("a"), node("b")}, pod: webPod().HostPort(80).Obj(), want: 2,
		},
		"a host port that is taken": {
			nodes:  []*corev1.Node{node("a"), node("b")},
			others: []*corev1.Pod{st.MakePod().Node("a").HostPort(80).Obj()},
			pod:    webPod().HostPort(80).Obj(), want: 1,
		},
		"devices are not understood": {
			nodes: []*corev1.Node{node("a")}, pod: webPod().PodResourceClaims(corev1.PodResourceClaim{Name: "gpu"}).Obj(), want: 0,
		},
	})
}

func TestCountAdmission(t *testing.T) {
	tainted := func(effect corev1.TaintEffect) func(*st.NodeWrapper) {
		return func(w *st.NodeWrapper) { w.Taints([]corev1.Taint{{Key: "k", Value: "v", Effect: effect}}) }
	}
	runCount(t, map[string]countCase{
		"a cordoned node": {nodes: []*corev1.Node{node("a", func(w *st.NodeWrapper) { w.Unschedulable(true) })}, want: 0},
		"a node that is not ready": {nodes: []*corev1.Node{node("a", func(w *st.NodeWrapper) {
			w.Status.Conditions[0].Status = corev1.ConditionFalse
		})}, want: 0},
		"a taint": {
			nodes: []*corev1.Node{node("a", tainted(corev1.TaintEffectNoSchedule)), node("b", tainted(corev1.TaintEffectNoExecute))},
			want:  0,
		},
		"a taint that only discourages": {
			nodes: []*corev1.Node{node("a", tainted(corev1.TaintEffectPreferNoSchedule))}, want: 4,
		},
		"a taint that the pod tolerates": {
			nodes: []*corev1.Node{node("a", tainted(corev1.TaintEffectNoSchedule))},
			pod:   webPod().Toleration("k").Obj(), want: 4,
		},
		"a node selector": {
			nodes: []*corev1.Node{node("a", in("z1")), node("b", in("z2"))},
			pod:   webPod().NodeSelector(map[string]string{corev1.LabelTopologyZone: "z2"}).Obj(), want: 4,
		},
		"a node affinity": {
			nodes: []*corev1.Node{node("a", in("z1")), node("b", in("z2"))},
			pod:   webPod().NodeAffinityIn(corev1.LabelTopologyZone, []string{"z1"}, st.NodeSelectorTypeMatchExpressions).Obj(), want: 4,
		},
	})
}

func TestCountExclusions(t *testing.T) {
	alone := func(key string) *st.PodWrapper {
		return webPod().PodAntiAffinity(key, notAWeb("app"), st.PodAntiAffinityWithRequiredReq)
	}
	runCount(t, map[string]countCase{
		"one for each node": {
			nodes: []*corev1.Node{node("a"), node("b")}, pod: alone(corev1.LabelHostname).Obj(), want: 2,
		},
		"not where one runs": {
			nodes:  []*corev1.Node{node("a"), node("b")},
			others: []*corev1.Pod{webPod().Name("other").Node("a").Obj()},
			pod:    alone(corev1.LabelHostname).Obj(), want: 1,
		},
		"one that is going does not count": {
			nodes:  []*corev1.Node{node("a")},
			others: []*corev1.Pod{webPod().Name("other").Node("a").Terminating().Obj()},
			pod:    alone(corev1.LabelHostname).Obj(), want: 1,
		},
		"one of another namespace does not count": {
			nodes:  []*corev1.Node{node("a")},
			others: []*corev1.Pod{webPod().Namespace("other").Node("a").Obj()},
			pod:    alone(corev1.LabelHostname).Obj(), want: 1,
		},
		"not where there is no room": {
			nodes:  []*corev1.Node{node("a")},
			others: []*corev1.Pod{st.MakePod().Node("a").Req(map[corev1.ResourceName]string{corev1.ResourceCPU: "4"}).Obj()},
			pod:    alone(corev1.LabelHostname).Obj(), want: 0,
		},
		"one for each zone": {
			nodes: []*corev1.Node{node("a", in("z1")), node("b", in("z1")), node("c", in("z2"))},
			pod:   alone(corev1.LabelTopologyZone).Obj(), want: 2,
		},
		"not in the zone where one runs on another node": {
			nodes:  []*corev1.Node{node("a", in("z1")), node("b", in("z1"))},
			others: []*corev1.Pod{webPod().Name("other").Node("b").Obj()},
			pod:    alone(corev1.LabelTopologyZone).Obj(), want: 0,
		},
		"a node without the label is in no domain": {
			nodes: []*corev1.Node{node("a")}, pod: alone(corev1.LabelTopologyZone).Obj(), want: 4,
		},
		"a pod that excludes only others may stand beside its like": {
			nodes: []*corev1.Node{node("a")},
			pod:   webPod().PodAntiAffinity(corev1.LabelHostname, notAWeb("other"), st.PodAntiAffinityWithRequiredReq).Obj(),
			want:  4,
		},
		"what is only preferred does not count": {
			nodes: []*corev1.Node{node("a")},
			pod:   webPod().PodAntiAffinity(corev1.LabelHostname, notAWeb("app"), st.PodAntiAffinityWithPreferredReq).Obj(),
			want:  4,
		},
	})
}

func TestReserveTakesRoom(t *testing.T) {
	logger, _ := ktesting.NewTestContext(t)
	nodes := []*corev1.Node{node("a"), node("b")}
	e := room.NewEstimator(logger, func() []*corev1.Node { return nodes }, podsOn(nil))
	pod := webPod().HostPort(80).Obj()
	for want := 2; want >= 0; want-- {
		got, err := e.Count(nodes, pod, nil, 10)
		if err != nil || got != want {
			t.Fatalf("Count() = %d, %v, want %d", got, err, want)
		}
		if err := e.Reserve(nodes, pod, nil, 1); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := e.Count(nodes, webPod().Obj(), nil, 100); err != nil || got != 6 {
		t.Errorf("Count() of pods without the port = %d, %v, want 6", got, err)
	}
}

func TestCountFailsIfPodsCannotBeListed(t *testing.T) {
	logger, _ := ktesting.NewTestContext(t)
	broken := errors.New("broken")
	nodes := []*corev1.Node{node("a")}
	e := room.NewEstimator(logger, func() []*corev1.Node { return nodes },
		func(string) ([]corev1.Pod, error) { return nil, broken })
	if got, err := e.Count(nodes, webPod().Obj(), nil, 1); !errors.Is(err, broken) {
		t.Errorf("Count() = %d, %v, want %v", got, err, broken)
	}
	if err := e.Reserve(nodes, webPod().Obj(), nil, 1); !errors.Is(err, broken) {
		t.Errorf("Reserve() = %v, want %v", err, broken)
	}
}

func claim(name, volume string) *corev1.PersistentVolumeClaim {
	return &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name},
		Spec:       corev1.PersistentVolumeClaimSpec{VolumeName: volume},
	}
}

func TestVolumes(t *testing.T) {
	labelled := func(zone string) *corev1.PersistentVolume {
		return st.MakePersistentVolume().Name("v").Label(corev1.LabelTopologyZone, zone).Obj()
	}
	tests := map[string]struct {
		objects []client.Object
		want    int
	}{
		"a volume that is anywhere":    {objects: []client.Object{claim("c", "v"), st.MakePersistentVolume().Name("v").Obj()}, want: 8},
		"a claim that is not bound":    {objects: []client.Object{claim("c", "")}, want: 8},
		"a claim that does not exist":  {want: 0},
		"a volume that does not exist": {objects: []client.Object{claim("c", "v")}, want: 0},
		"a volume in one zone, by node affinity": {objects: []client.Object{
			claim("c", "v"), st.MakePersistentVolume().Name("v").NodeAffinityIn(corev1.LabelTopologyZone, []string{"z2"}).Obj(),
		}, want: 4},
		"a volume in one zone, by label":                      {objects: []client.Object{claim("c", "v"), labelled("z1")}, want: 4},
		"a volume in several zones, by label":                 {objects: []client.Object{claim("c", "v"), labelled("z1__z2")}, want: 8},
		"a volume in a zone whose name begins like another's": {objects: []client.Object{claim("c", "v"), labelled("z10")}, want: 0},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			api := fake.NewClientBuilder().WithObjects(tc.objects...).Build()
			pod := webPod().PVC("c").Obj()
			volumes, err := room.VolumesOf(t.Context(), api, pod)
			if err != nil {
				t.Fatal(err)
			}
			logger, _ := ktesting.NewTestContext(t)
			nodes := []*corev1.Node{node("a", in("z1")), node("b", in("z2"))}
			e := room.NewEstimator(logger, func() []*corev1.Node { return nodes }, podsOn(nil))
			if got, err := e.Count(nodes, pod, volumes, 100); err != nil || got != tc.want {
				t.Errorf("Count() = %d, %v, want %d", got, err, tc.want)
			}
		})
	}
}

func TestVolumesThatCannotBeRead(t *testing.T) {
	broken := errors.New("broken")
	for name, fails := range map[string]func(client.Object) bool{
		"claim":  func(o client.Object) bool { _, is := o.(*corev1.PersistentVolumeClaim); return is },
		"volume": func(o client.Object) bool { _, is := o.(*corev1.PersistentVolume); return is },
	} {
		t.Run(name, func(t *testing.T) {
			api := fake.NewClientBuilder().WithObjects(claim("c", "v")).WithInterceptorFuncs(interceptor.Funcs{
				Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
					if fails(o) {
						return broken
					}
					return c.Get(ctx, key, o, opts...)
				},
			}).Build()
			if _, err := room.VolumesOf(t.Context(), api, webPod().PVC("c").Obj()); !errors.Is(err, broken) {
				t.Errorf("VolumesOf() = %v, want %v", err, broken)
			}
		})
	}
}
