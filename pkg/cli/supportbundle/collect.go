// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package supportbundle

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/cli/internal/client"
	"berth.dev/berth/pkg/cli/internal/everykind"
	"berth.dev/berth/pkg/cli/version"
)

// logLines bounds what is taken of the log of a container.
const logLines = 5000

// partOf selects what an installation is made of.
var partOf = metav1.ListOptions{LabelSelector: "app.kubernetes.io/part-of=berth"}

// collect reads everything.
func collect(ctx context.Context, c client.Clients) []entry {
	entries := []entry{versions(c)}
	kinds := everykind.All(c.Berth.BerthV1alpha1())
	for i := range kinds {
		read, err := kinds[i].List(ctx)
		entries = append(entries, listed("objects/"+kinds[i].Name+".yaml", read, err))
	}
	pods, err := c.Kubernetes.CoreV1().Pods(berthv1alpha1.SystemNamespace).List(ctx, metav1.ListOptions{})
	entries = append(entries, listed("system/pods.yaml", pods, err))
	entries = append(entries, system(ctx, c)...)
	if err == nil {
		entries = append(entries, logs(ctx, c, pods.Items)...)
	}
	return entries
}

func versions(c client.Clients) entry {
	server, err := c.Kubernetes.Discovery().ServerVersion()
	content, marshalErr := yaml.Marshal(map[string]any{"berthctl": version.Get(), "server": server})
	if err == nil {
		err = marshalErr
	}
	return entry{name: "versions.yaml", content: content, err: err}
}

// listed makes a file of a list, without what nobody else should see.
func listed(name string, read runtime.Object, err error) entry {
	if err != nil {
		return entry{name: name, err: client.DescribeError("listing", err)}
	}
	text, err := json.Marshal(read)
	if err != nil {
		return entry{name: name, err: err}
	}
	var fields map[string]any
	if err := json.Unmarshal(text, &fields); err != nil {
		return entry{name: name, err: err}
	}
	redact(fields)
	content, err := yaml.Marshal(fields)
	return entry{name: name, content: content, err: err}
}

// system reads what runs Berth, and by which rules the API server treats it.
func system(ctx context.Context, c client.Clients) []entry {
	k, all := c.Kubernetes, metav1.ListOptions{}
	var entries []entry
	add := func(name string, read runtime.Object, err error) {
		entries = append(entries, listed("system/"+name+".yaml", read, err))
	}
	deployments, err := k.AppsV1().Deployments(berthv1alpha1.SystemNamespace).List(ctx, all)
	add("deployments", deployments, err)
	configs, err := k.CoreV1().ConfigMaps(berthv1alpha1.SystemNamespace).List(ctx, partOf)
	add("configmaps", configs, err)
	leases, err := k.CoordinationV1().Leases(berthv1alpha1.SystemNamespace).List(ctx, all)
	add("leases", leases, err)
	leases, err = k.CoordinationV1().Leases(berthv1alpha1.DefaultLeaseNamespace).List(ctx, all)
	add("leases-of-schedulers", leases, err)
	stock, err := k.CoordinationV1().Leases(metav1.NamespaceSystem).List(ctx, metav1.ListOptions{FieldSelector: "metadata.name=kube-scheduler"})
	add("lease-of-kube-scheduler", stock, err)
	events, err := k.CoreV1().Events(berthv1alpha1.SystemNamespace).List(ctx, all)
	add("events", events, err)
	nodes, err := k.CoreV1().Nodes().List(ctx, all)
	add("nodes", nodes, err)
	roles, err := k.RbacV1().ClusterRoles().List(ctx, partOf)
	add("clusterroles", roles, err)
	bindings, err := k.RbacV1().ClusterRoleBindings().List(ctx, partOf)
	add("clusterrolebindings", bindings, err)
	narrow, err := k.RbacV1().Roles(metav1.NamespaceAll).List(ctx, partOf)
	add("roles", narrow, err)
	narrowBindings, err := k.RbacV1().RoleBindings(metav1.NamespaceAll).List(ctx, partOf)
	add("rolebindings", narrowBindings, err)
	policies, err := k.AdmissionregistrationV1().ValidatingAdmissionPolicies().List(ctx, partOf)
	add("validatingadmissionpolicies", policies, err)
	denied, err := k.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings().List(ctx, partOf)
	add("validatingadmissionpolicybindings", denied, err)
	flows, err := k.FlowcontrolV1().FlowSchemas().List(ctx, partOf)
	add("flowschemas", flows, err)
	return entries
}

// logs reads the last lines of what those of the pods have written that are Berth's programs, and
// of what was written before a container was started again, which tells why it had ended.
func logs(ctx context.Context, c client.Clients, pods []corev1.Pod) []entry {
	var entries []entry
	for i := range pods {
		pod := &pods[i]
		if !strings.HasPrefix(pod.Labels["app.kubernetes.io/name"], "berth-") {
			continue
		}
		entries = append(entries, logOf(ctx, c, pod.Name, false))
		if slices.ContainsFunc(pod.Status.ContainerStatuses, func(s corev1.ContainerStatus) bool { return s.RestartCount > 0 }) {
			entries = append(entries, logOf(ctx, c, pod.Name, true))
		}
	}
	return entries
}

// logOf reads the log of a pod, or of its container that ended last.
func logOf(ctx context.Context, c client.Clients, pod string, previous bool) entry {
	name := "logs/" + pod + ".log"
	if previous {
		name = "logs/" + pod + ".previous.log"
	}
	options := &corev1.PodLogOptions{TailLines: ptr.To[int64](logLines), Previous: previous}
	content, err := c.Kubernetes.CoreV1().Pods(berthv1alpha1.SystemNamespace).GetLogs(pod, options).DoRaw(ctx)
	if err != nil {
		return entry{name: name, err: client.DescribeError("reading the log", err)}
	}
	return entry{name: name, content: []byte(scrub(string(content)))}
}
