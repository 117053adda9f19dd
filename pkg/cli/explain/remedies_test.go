// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package explain_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"berth.dev/berth/pkg/cli/internal/clitest"
)

// roomy gives the nodes of a world room for pods.
func roomy(w *clitest.World) {
	for _, o := range w.Kubernetes {
		if node, ok := o.(*corev1.Node); ok {
			node.Status.Allocatable = corev1.ResourceList{
				corev1.ResourcePods: resource.MustParse("110"), corev1.ResourceCPU: resource.MustParse("8"), corev1.ResourceMemory: resource.MustParse("32Gi"),
			}
		}
	}
}

func TestWhatWouldLetAPodRun(t *testing.T) {
	for name, test := range map[string]struct {
		change func(waiting *corev1.Pod)
		args   []string
		want   []string
	}{
		"the least of each cluster": {want: []string{
			"It would run now if (one row, with all of its changes, is enough):",
			"hangzhou   hangzhou-3   the node selector and affinity of the pod match node hangzhou-3",
		}},
		"nothing": {change: func(p *corev1.Pod) { p.Spec.NodeSelector, p.Spec.Tolerations = nil, nil },
			want: []string{"As things are now, node hangzhou-1 in cluster hangzhou would take it"}},
		"for a program": {args: []string{"-o", "json"}, want: []string{`"remedies":{"remedies":[{"cluster":"hangzhou","node":"hangzhou-3","changes":[`}},
	} {
		t.Run(name, func(t *testing.T) {
			w, _, waiting := nginx(t)
			roomy(w)
			if test.change != nil {
				test.change(waiting)
			}
			got := clitest.Run(t.Context(), w.Options(), append([]string{"explain", "pod", "nginx-e"}, test.args...)...)
			for _, want := range test.want {
				if !strings.Contains(got.Out, want) {
					t.Errorf("printed %s%s, want %q", got.Out, got.Err, want)
				}
			}
		})
	}
}
