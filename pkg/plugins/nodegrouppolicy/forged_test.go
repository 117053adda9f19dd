// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package nodegrouppolicy_test

import (
	"fmt"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth.dev/berth/pkg/plugintest"
)

// The garbage collector lets pods with such references live: it cannot resolve apps/v9.
func TestForgedOwnersTakeNobodysSeat(t *testing.T) {
	unresolvable := func(ref *metav1.OwnerReference) { ref.APIVersion = "apps/v9" }
	for name, forge := range map[string]func(*corev1.Pod, *metav1.OwnerReference){
		"in another namespace": func(pod *corev1.Pod, _ *metav1.OwnerReference) { pod.Namespace = "attacker" },
		"in another namespace, of a version that is not served": func(pod *corev1.Pod, ref *metav1.OwnerReference) {
			pod.Namespace = "attacker"
			unresolvable(ref)
		},
		"of a version that is not served": func(_ *corev1.Pod, ref *metav1.OwnerReference) { unresolvable(ref) },
		"of another name":                 func(_ *corev1.Pod, ref *metav1.OwnerReference) { ref.Name = "other" },
		"of another kind":                 func(_ *corev1.Pod, ref *metav1.OwnerReference) { ref.Kind = "StatefulSet" },
		"of a kind that is not read": func(_ *corev1.Pod, ref *metav1.OwnerReference) {
			ref.APIVersion, ref.Kind = "example.com/v1", "Thing"
		},
		"that does not control": func(_ *corev1.Pod, ref *metav1.OwnerReference) { ref.Controller = nil },
	} {
		t.Run(name, func(t *testing.T) {
			d, rs := deployment("nginx", 5)
			s := newTwoSites(t, beijingHangzhou().Obj(), d, rs)
			for i := range 8 {
				pod := plugintest.MakePodOf(rs, 100+i).Node(fmt.Sprintf("beijing-%d", i%2)).Obj()
				forge(pod, &pod.OwnerReferences[0])
				s.Add(pod)
			}
			got := bySite(place(t, s, rs, 0, 5))
			if diff := gocmp.Diff(map[string]int{"beijing": 2, "hangzhou": 3}, got); diff != "" {
				t.Errorf("the pods of the ReplicaSet by site (-want +got):\n%s", diff)
			}
		})
	}
}
