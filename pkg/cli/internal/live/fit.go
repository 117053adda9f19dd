// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package live

import (
	"context"
	"slices"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/cli/internal/client"
	"berth.dev/berth/pkg/model/workload"
)

// Fit are the objects of the whole cluster by which the scheduler's plugins decide where a pod
// fits. They are only read.
type Fit struct {
	// Kubernetes are the objects of Kubernetes, by kind.
	Kubernetes []runtime.Object
	Clusters   []*berthv1alpha1.Cluster
	Resources  []*berthv1alpha1.ClusterResource
}

// ReadFit lists them. The error says in one line what keeps it from reading.
func ReadFit(ctx context.Context, clients client.Clients) (*Fit, error) {
	f := &Fit{}
	berth := clients.Berth.BerthV1alpha1()
	// Berth's own kinds come first: if they are not installed, nothing else matters.
	err := eachItem(ctx, pageOf(berth.Clusters().List), func(c *berthv1alpha1.Cluster) { f.Clusters = append(f.Clusters, c) })
	if err != nil {
		return nil, client.DescribeBerthError("listing clusters", err)
	}
	err = eachItem(ctx, pageOf(berth.ClusterResources().List), func(r *berthv1alpha1.ClusterResource) {
		f.Resources = append(f.Resources, r)
	})
	if err != nil {
		return nil, client.DescribeBerthError("listing clusterresources", err)
	}
	f.Kubernetes, err = readKubernetes(ctx, clients)
	return f, err
}

func readKubernetes(ctx context.Context, clients client.Clients) ([]runtime.Object, error) {
	core, storage, devices := clients.Kubernetes.CoreV1(), clients.Kubernetes.StorageV1(), clients.Kubernetes.ResourceV1()
	const all = metav1.NamespaceAll
	kinds := []listed{
		{"nodes", pageOf(core.Nodes().List), false},
		{"pods", pageOf(core.Pods(all).List), false},
		{"namespaces", pageOf(core.Namespaces().List), false},
		{"persistentvolumeclaims", pageOf(core.PersistentVolumeClaims(all).List), false},
		{"persistentvolumes", pageOf(core.PersistentVolumes().List), false},
		{"storageclasses", pageOf(storage.StorageClasses().List), false},
		{"csinodes", pageOf(storage.CSINodes().List), false},
		{"csidrivers", pageOf(storage.CSIDrivers().List), false},
		{"csistoragecapacities", pageOf(storage.CSIStorageCapacities(all).List), false},
		{"volumeattachments", pageOf(storage.VolumeAttachments().List), false},
		{"deviceclasses", pageOf(devices.DeviceClasses().List), true},
		{"resourceslices", pageOf(devices.ResourceSlices().List), true},
		{"resourceclaims", pageOf(devices.ResourceClaims(all).List), true},
		{"resourceclaimtemplates", pageOf(devices.ResourceClaimTemplates(all).List), true},
	}
	group, ctx := errgroup.WithContext(ctx)
	found := make([][]runtime.Object, len(kinds))
	for i, kind := range kinds {
		group.Go(func() (err error) {
			found[i], err = kind.read(ctx)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return slices.Concat(found...), nil
}

// ReadWorkloads lists what controls pods in a namespace, and puts the namespace's pods, which have
// been read, beside it.
func (f *Fit) ReadWorkloads(ctx context.Context, clients client.Clients, namespace string) (*workload.Objects, error) {
	owners, err := readOwners(ctx, clients, namespace)
	if err != nil {
		return nil, err
	}
	objects := &workload.Objects{Owners: owners}
	if objects.Further, err = further(ctx, clients, namespace); err != nil {
		return nil, err
	}
	for _, object := range f.Kubernetes {
		if pod, ok := object.(*corev1.Pod); ok && pod.Namespace == namespace {
			objects.Pods = append(objects.Pods, *pod)
		}
	}
	return objects, nil
}

// ReadAdmission lists what the API server's own admission reads for pods of a namespace.
func ReadAdmission(ctx context.Context, clients client.Clients, namespace string) ([]runtime.Object, error) {
	kinds := []listed{
		{"limitranges" + in(namespace), pageOf(clients.Kubernetes.CoreV1().LimitRanges(namespace).List), false},
		{"runtimeclasses", pageOf(clients.Kubernetes.NodeV1().RuntimeClasses().List), false},
		{"priorityclasses", pageOf(clients.Kubernetes.SchedulingV1().PriorityClasses().List), false},
	}
	var found []runtime.Object
	for _, kind := range kinds {
		objects, err := kind.read(ctx)
		if err != nil {
			return nil, err
		}
		found = append(found, objects...)
	}
	return found, nil
}
