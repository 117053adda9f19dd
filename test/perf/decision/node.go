// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
)

// images are those that every node has. A kubelet reports up to fifty, each by its digest and by
// its tag.
var images = nodeImages(5)

// started is when all nodes became ready.
var started = metav1.NewTime(time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC))

// newNode returns a node of a site with what a kubelet and its cloud tell of one, as schedulers
// keep it and send it to extenders that take whole nodes; but for managed fields, which are as much
// again.
func newNode(number int, name, site string) *corev1.Node {
	node := st.MakeNode().Name(name).Label(siteLabel, site).Label(corev1.LabelHostname, name).
		Label(corev1.LabelTopologyZone, fmt.Sprintf("zone-%d", number%3)).Label(corev1.LabelTopologyRegion, "region-1").
		Label(corev1.LabelInstanceTypeStable, "standard-32").Label(corev1.LabelArchStable, "amd64").Label(corev1.LabelOSStable, "linux").
		Capacity(map[corev1.ResourceName]string{
			corev1.ResourceCPU: "32", corev1.ResourceMemory: "128Gi", corev1.ResourceEphemeralStorage: "500Gi", corev1.ResourcePods: "110",
		}).Obj()
	node.Spec.ProviderID = "example://region-1/" + name
	node.Status.Addresses = []corev1.NodeAddress{
		{Type: corev1.NodeInternalIP, Address: fmt.Sprintf("10.%d.%d.%d", number>>16, number>>8&0xff, number&0xff)},
		{Type: corev1.NodeHostName, Address: name},
	}
	node.Status.Conditions = []corev1.NodeCondition{
		condition(corev1.NodeMemoryPressure, corev1.ConditionFalse, "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
		condition(corev1.NodeDiskPressure, corev1.ConditionFalse, "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
		condition(corev1.NodePIDPressure, corev1.ConditionFalse, "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
		condition(corev1.NodeReady, corev1.ConditionTrue, "KubeletReady", "kubelet is posting ready status"),
	}
	node.Status.NodeInfo = corev1.NodeSystemInfo{
		MachineID: fmt.Sprintf("%032x", number), SystemUUID: fmt.Sprintf("%08x-0000-4000-8000-000000000000", number),
		BootID: fmt.Sprintf("%08x-0000-4000-9000-000000000000", number), KernelVersion: "6.8.0-45-generic", OSImage: "Ubuntu 24.04 LTS",
		ContainerRuntimeVersion: "containerd://2.1.4", KubeletVersion: "v1.35.8", OperatingSystem: "linux", Architecture: "amd64",
	}
	node.Status.Images = images
	return node
}

func condition(kind corev1.NodeConditionType, status corev1.ConditionStatus, reason, message string) corev1.NodeCondition {
	return corev1.NodeCondition{
		Type: kind, Status: status, Reason: reason, Message: message, LastHeartbeatTime: started, LastTransitionTime: started,
	}
}

func nodeImages(n int) []corev1.ContainerImage {
	made := make([]corev1.ContainerImage, n)
	for i := range made {
		repository := fmt.Sprintf("registry.example.com/team/app-%d", i)
		made[i] = corev1.ContainerImage{
			Names: []string{fmt.Sprintf("%s@sha256:%064x", repository, i), repository + ":v1.0.0"}, SizeBytes: int64(i+1) << 25,
		}
	}
	return made
}
