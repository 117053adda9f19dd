// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package subscription_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestSamplesAreWhatTheAPIServerMakes divides 9 replicas over a cluster of 4 and one of 8 CPUs by
// what their template becomes, before there is any pod.
func TestSamplesAreWhatTheAPIServerMakes(t *testing.T) {
	cpu := func(amount string) corev1.ResourceList {
		return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(amount)}
	}
	limits := func(item corev1.LimitRangeItem) client.Object {
		item.Type = corev1.LimitTypeContainer
		return &corev1.LimitRange{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "limits"}, Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{item}},
		}
	}
	container := func(resources corev1.ResourceRequirements) func(*corev1.PodTemplateSpec) {
		return func(p *corev1.PodTemplateSpec) {
			p.Spec.Containers = []corev1.Container{{Name: "main", Resources: resources}}
		}
	}
	tests := map[string]struct {
		objects     []client.Object
		asks        func(*corev1.PodTemplateSpec)
		want        string
		wantReason  string
		wantMessage string
	}{
		"nothing": {asks: container(corev1.ResourceRequirements{}), want: "web a=5 b=4", wantReason: "AllPlaced"},
		"a default of a LimitRange": {
			[]client.Object{limits(corev1.LimitRangeItem{DefaultRequest: cpu("2")})},
			container(corev1.ResourceRequirements{}), "web a=2 b=4 -3", "NoRoom", "no room for 3 of 9 replicas of Deployment web" + fullOfCPU,
		},
		"a default that fits nowhere": {
			[]client.Object{limits(corev1.LimitRangeItem{DefaultRequest: cpu("20")})},
			container(corev1.ResourceRequirements{}), "web -9", "NoRoom", "no room for 9 of 9 replicas of Deployment web" + fullOfCPU,
		},
		"a limit without a request": {
			asks: container(corev1.ResourceRequirements{Limits: cpu("4")}),
			want: "web a=1 b=2 -6", wantReason: "NoRoom", wantMessage: "no room for 6 of 9 replicas of Deployment web" + fullOfCPU,
		},
		"the overhead of a RuntimeClass": {
			[]client.Object{&nodev1.RuntimeClass{
				ObjectMeta: metav1.ObjectMeta{Name: "kata"}, Handler: "kata", Overhead: &nodev1.Overhead{PodFixed: cpu("1")},
			}},
			func(p *corev1.PodTemplateSpec) {
				container(corev1.ResourceRequirements{Requests: cpu("1")})(p)
				p.Spec.RuntimeClassName = new("kata")
			}, "web a=2 b=4 -3", "NoRoom", "no room for 3 of 9 replicas of Deployment web" + fullOfCPU,
		},
		"more than a LimitRange allows": {
			[]client.Object{limits(corev1.LimitRangeItem{Max: cpu("1")})},
			container(corev1.ResourceRequirements{Requests: cpu("2"), Limits: cpu("2")}), "web", "PodsRefused",
			`Deployment web: its pods would be refused: pods "web" is forbidden: maximum cpu usage per Container is 1, but limit is 2`,
		},
		"a PriorityClass that does not exist": {
			[]client.Object{&schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: "low"}, Value: 1}},
			func(p *corev1.PodTemplateSpec) {
				container(corev1.ResourceRequirements{})(p)
				p.Spec.PriorityClassName = "high"
			}, "web", "PodsRefused",
			`Deployment web: its pods would be refused: pods "web" is forbidden: no PriorityClass with name high was found`,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.ownInventories = true
			w.restart()
			w.create(tc.objects...)
			w.site("a", 4)
			w.site("b", 8)
			w.deploy("web", 9)
			w.asks("web", tc.asks)
			w.subscribe("shop", []string{"web"})
			w.parsed("shop")
			w.pass()
			w.want("the status", w.told("shop"), tc.want)
			w.want("Scheduled", w.reason("shop", "Scheduled"), tc.wantReason)
			if tc.wantMessage != "" {
				w.want("the message", w.message("shop", "Scheduled"), tc.wantMessage)
			}
		})
	}
}

// fullOfCPU is what the scheduler says of Clusters of one node each.
const fullOfCPU = " (Cluster a: 0/1 nodes are available: 1 Insufficient cpu; Cluster b: 0/1 nodes are available: 1 Insufficient cpu)"

// TestMoreThanThereIsRoomFor divides over a cluster of 4 and one of 8 CPUs what they can never
// hold.
func TestMoreThanThereIsRoomFor(t *testing.T) {
	tests := map[string]struct {
		replicas               int32
		cpu, want, wantMessage string
	}{
		"very many replicas":               {100_000, "1", "web a=4 b=8 -99988", "no room for 99988 of 100000 replicas of Deployment web" + fullOfCPU},
		"a template that no node can hold": {3, "1000", "web -3", "no room for 3 of 3 replicas of Deployment web" + fullOfCPU},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.ownInventories = true
			w.restart()
			w.site("a", 4)
			w.site("b", 8)
			w.deploy("web", tc.replicas)
			w.asks("web", func(p *corev1.PodTemplateSpec) {
				p.Spec.Containers = []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{
					Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(tc.cpu)},
				}}}
			})
			w.subscribe("shop", []string{"web"})
			w.parsed("shop")
			w.pass()
			w.want("the status", w.told("shop"), tc.want)
			w.want("Scheduled", w.reason("shop", "Scheduled"), "NoRoom")
			w.want("the message", w.message("shop", "Scheduled"), tc.wantMessage)
		})
	}
}
