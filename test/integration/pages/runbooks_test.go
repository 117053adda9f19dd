// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package pages_test

import (
	"context"
	"regexp"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth.dev/berth/test/integration/internal/runbook"
)

// elsewhere are commands of runbooks that need nodes with a kubelet, an end that never comes, or an
// installation as pods.
var elsewhere = regexp.MustCompile(`^kubectl .*\b(logs|top)\b|--watch|^berthctl check`)

// filledIn puts what the scene has in place of what a runbook leaves open.
func filledIn(line, pod string) string {
	line = strings.NewReplacer("NAMESPACE", scene, "RESOURCE", "render-licence", "POLICY", "front", "deployment/NAME", "deployment/front").Replace(line)
	for kind, name := range map[string]string{"pod": pod, "application": "api", "clusters.berth.dev": "beijing", "subscriptions.berth.dev": "bundle"} {
		line = strings.Replace(line, kind+" NAME", kind+" "+name, 1)
	}
	return line
}

// causes are what the commands of runbooks must bring to light in the scene.
var causes = map[string]string{
	"BerthPoolFull":          "render-licence",
	"BerthPodStarves":        "Insufficient cpu",
	"BerthPodsWaitLong":      "Insufficient cpu",
	"BerthUnschedulablePods": "Insufficient cpu",
	"BerthClusterNotReady":   "beijing",
	"BerthReplicasMisplaced": "front",
}

// followRunbooks runs the commands of all runbooks. They must work as they stand there, and find
// the cause of what is wrong in the scene.
func followRunbooks(ctx context.Context) {
	GinkgoHelper()
	pods, err := client.CoreV1().Pods(scene).List(ctx, metav1.ListOptions{LabelSelector: "app=huge"})
	Expect(err).NotTo(HaveOccurred())
	Expect(pods.Items).NotTo(BeEmpty())
	Expect(pods.Items[0].Status.Phase).To(Equal(corev1.PodPending))
	for alert, lines := range runbook.All() {
		var said strings.Builder
		for _, line := range lines {
			if elsewhere.MatchString(line) {
				continue
			}
			line = filledIn(line, pods.Items[0].Name)
			out, err := runbook.Shell(ctx, plane.AdminKubeconfig(), line)
			Expect(err).NotTo(HaveOccurred(), "%s: %s\n%s", alert, line, out)
			said.WriteString(out)
		}
		Expect(said.String()).To(ContainSubstring(causes[alert]), alert)
	}
}
