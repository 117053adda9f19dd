// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package simulate_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gexec"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrlclient "sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/localplane"
	"berth.dev/berth/pkg/model/workload"
)

// result is the JSON of simulate.
type result struct {
	Workloads []struct {
		Namespace, Kind, Name string
		Clusters              []struct {
			Name          string
			Before, After int
		}
		Waiting []struct {
			Pods    int
			Reason  string
			Created bool
		}
	}
	Evictions, Kept []struct{ Pod, Reason string }
}

// simulate runs berthctl simulate.
func simulate(ctx context.Context, args ...string) *result {
	GinkgoHelper()
	bin, err := localplane.FindBinDir()
	Expect(err).NotTo(HaveOccurred())
	command := exec.CommandContext(ctx, filepath.Join(bin, "berthctl"), append([]string{"simulate", "-o", "json"}, args...)...)
	command.Env = append(os.Environ(), "KUBECONFIG="+plane.AdminKubeconfig())
	session, err := gexec.Start(command, GinkgoWriter, GinkgoWriter)
	Expect(err).NotTo(HaveOccurred())
	Eventually(session).WithContext(ctx).WithTimeout(timeout).Should(Or(gexec.Exit(0), gexec.Exit(2)))
	r := &result{}
	Expect(json.Unmarshal(session.Out.Contents(), r)).To(Succeed())
	return r
}

// fates is where the pods of each workload are: "web in beijing" and "web waits: REASON" with
// numbers.
type fates map[string]int

// fates are those of a namespace. Pods that are not made are nobody's.
func (r *result) fates(namespace string) fates {
	found := fates{}
	for _, w := range r.Workloads {
		if w.Namespace != namespace {
			continue
		}
		for _, c := range w.Clusters {
			if c.After > 0 {
				found[w.Name+" in "+c.Name] = c.After
			}
		}
		for _, group := range w.Waiting {
			switch {
			case strings.HasPrefix(group.Reason, "the bundle of the pod waits"):
				found[w.Name+" waits with its bundle"] = group.Pods
			case group.Created:
				found[w.Name+" waits: "+group.Reason] = group.Pods
			}
		}
	}
	return found
}

// without returns the fates without the reasons of other workloads: pods that waited before are not
// tried again while nothing happens that could help them, so what is said of them gets old.
func (f fates) without(name string) fates {
	found := fates{}
	for key, n := range f {
		of, _, waits := strings.Cut(key, " waits: ")
		if waits && name != "" && of != name {
			key = of + " waits"
		}
		found[key] += n
	}
	return found
}

// expectRest checks that simulate expects nothing to happen.
func (r *result) expectRest(namespace string) {
	GinkgoHelper()
	Expect(r.Evictions).To(BeEmpty())
	for _, w := range r.Workloads {
		for _, c := range w.Clusters {
			if w.Namespace == namespace {
				Expect(c.Before).To(Equal(c.After), fmt.Sprintf("%s in %s", w.Name, c.Name))
			}
		}
	}
}

// live returns the fates of the pods that there are. Of a pod that waits with its bundle the
// scheduler says nothing: the Subscription does, which has the name of its feed.
func live(ctx context.Context, namespace string) (fates, error) {
	pods, err := client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	subscriptions, err := berth.BerthV1alpha1().Subscriptions(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	gated := map[string]bool{}
	for i := range subscriptions.Items {
		s := &subscriptions.Items[i]
		c := apimeta.FindStatusCondition(s.Status.Conditions, berthv1alpha1.SubscriptionScheduled)
		gated[s.Name] = c != nil && c.Reason == berthv1alpha1.ReasonBundleWaits
	}
	found := fates{}
	for i := range pods.Items {
		pod := &pods.Items[i]
		if pod.DeletionTimestamp != nil || workload.Finished(pod) {
			continue
		}
		name := pod.Labels["app"]
		site, _, _ := strings.Cut(pod.Spec.NodeName, "-")
		switch {
		case site != "":
			found[name+" in "+site]++
		case workload.Unschedulable(pod):
			found[name+" waits: "+reasonOf(pod)]++
		case gated[name]:
			found[name+" waits with its bundle"]++
		default:
			found[name+" is new"]++
		}
	}
	return found, nil
}

// reasonOf returns why a pod has no node. What the scheduler says about preemption is cut off: of a
// pod that waits in the end it did not help.
func reasonOf(pod *corev1.Pod) string {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled {
			said, _, _ := strings.Cut(c.Message, ". ")
			return strings.TrimSuffix(said, ".") + "."
		}
	}
	return ""
}

// expectFates waits until the pods of a namespace are where a simulation has said. The reasons are
// those of the workload that has changed; an empty name is for all. A rollout can look like its own
// end on the way.
func expectFates(ctx context.Context, namespace, changed string, said fates) {
	GinkgoHelper()
	Eventually(func(ctx context.Context) (fates, error) {
		if err := rolledOut(ctx, namespace); err != nil {
			return nil, err
		}
		found, err := live(ctx, namespace)
		return found.without(changed), err
	}).WithContext(ctx).WithTimeout(timeout).WithPolling(poll).Should(Equal(said.without(changed)))
}

// rolledOut returns an error while a Deployment has pods of an old revision, or a change that its
// controller has not seen.
func rolledOut(ctx context.Context, namespace string) error {
	list, err := client.AppsV1().Deployments(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for i := range list.Items {
		d := &list.Items[i]
		if d.Status.ObservedGeneration < d.Generation || d.Status.Replicas != d.Status.UpdatedReplicas {
			return fmt.Errorf("deployment %s is being rolled out", d.Name)
		}
	}
	return nil
}

// writeNodes writes the nodes of the cluster into a file.
func writeNodes(ctx context.Context) string {
	GinkgoHelper()
	var nodes *corev1.NodeList
	Eventually(func(ctx context.Context) (taints []corev1.Taint, err error) {
		if nodes, err = client.CoreV1().Nodes().List(ctx, metav1.ListOptions{}); err != nil {
			return nil, err
		}
		for i := range nodes.Items {
			taints = append(taints, nodes.Items[i].Spec.Taints...)
		}
		return taints, nil
	}).WithContext(ctx).WithTimeout(timeout).WithPolling(poll).ShouldNot(ContainElement(HaveField("Key", HavePrefix("node.kubernetes.io/"))),
		"no node is new any more")
	for i := range nodes.Items {
		nodes.Items[i].APIVersion, nodes.Items[i].Kind = "v1", "Node"
	}
	content, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "List", "items": nodes.Items})
	Expect(err).NotTo(HaveOccurred())
	return write("nodes.json", string(content))
}

// write writes a file that lives as long as the spec.
func write(name, content string) string {
	GinkgoHelper()
	file := filepath.Join(GinkgoT().TempDir(), name)
	Expect(os.WriteFile(file, []byte(content), 0o600)).To(Succeed())
	return file
}

// apply creates the objects of a file, policies before what they are about: as everywhere, pods
// that come before a policy is known stay where they are.
func apply(ctx context.Context, file string) {
	GinkgoHelper()
	Expect(localplane.ApplyManifests(ctx, plane.Config(), file)).To(Succeed())
	scheduler.UntilKnows(ctx, berth)
}

// removeWorld removes the pods, nodes and Clusters that there are.
func removeWorld(ctx context.Context, namespace string) {
	GinkgoHelper()
	Expect(ctrlclient.IgnoreNotFound(client.CoreV1().Namespaces().Delete(ctx, namespace, metav1.DeleteOptions{}))).To(Succeed())
	Eventually(func(ctx context.Context) (int, error) {
		now := simulate(ctx, "--live")
		return len(now.Workloads), ctx.Err()
	}).WithContext(ctx).WithTimeout(timeout).WithPolling(poll).Should(BeZero())
	all := metav1.ListOptions{}
	Expect(client.CoreV1().Nodes().DeleteCollection(ctx, metav1.DeleteOptions{}, all)).To(Succeed())
	Expect(berth.BerthV1alpha1().ClusterResources().DeleteCollection(ctx, metav1.DeleteOptions{}, all)).To(Succeed())
	Expect(berth.BerthV1alpha1().Clusters().DeleteCollection(ctx, metav1.DeleteOptions{}, all)).To(Succeed())
}
