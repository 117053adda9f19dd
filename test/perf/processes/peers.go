// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package processes

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// peer is one way to get a backlog of pods placed.
type peer struct {
	name, title string
	program     program
	// pods is how many the backlog has, a multiple of 25, and skip how many of them are placed
	// before the measuring begins, rest how many are not waited for.
	pods, skip, rest int
	// create makes the pods in a namespace, and before them what they need.
	create func(ctx context.Context, w *world, namespace string, p *peer) error
	// limited reports whether sites get so many pods as are their share.
	limited bool
	// judged says that there is a goal for the peer, so that it has its turn in every round; once that
	// one round does: the peer is slow, or as fast as its limits let it be.
	judged, once bool
}

// backlogPeers are the ways to drain a backlog; the others are compared with the first one.
func (w *world) backlogPeers() []peer {
	stock, berth := program{}, w.shipped()
	return []peer{
		{name: "stock", title: "kube-scheduler, plain pods", program: stock, create: plainPods, judged: true},
		{
			name: "stock-limits", title: "kube-scheduler, plain pods, 50 requests a second, as Kubernetes has it",
			program: program{stockLimits: true}, pods: 250, skip: 150, create: plainPods, once: true,
		},
		{
			name: "adds-only", title: "Berth, plugins added to the stock settings, plain pods",
			program: program{configuration: w.AddsOnly}, create: plainPods, judged: true,
		},
		{name: "berth", title: "Berth, shipped profile, plain pods", program: berth, create: plainPods, judged: true},
		{name: "ports-stock", title: "kube-scheduler, plain pods of which a node takes one (host port)", program: stock, create: portPods},
		{name: "ports", title: "Berth, shipped profile, plain pods of which a node takes one (host port)", program: berth, create: portPods},
		{
			name: "policy", title: "Berth, shipped profile, a Deployment with a policy over ten sites",
			program: berth, create: policyPods, limited: true, judged: true,
		},
		{
			name: "affinity", title: "kube-scheduler, node affinity to one site for each tenth of the pods",
			program: stock, create: affinityPods, limited: true,
		},
		{
			name: "pinned", title: "Berth, shipped profile, plain pods that are pinned to a node each (the least that a pod costs)",
			program: berth, create: pinnedPods,
		},
		{
			name: "resource", title: "Berth, shipped profile, ClusterResource with a pool for each site",
			program: berth, create: resourcePods, limited: true, judged: true,
		},
		{
			name: "extended", title: "kube-scheduler, extended resource split over the nodes beforehand",
			program: stock, create: extendedPods, limited: true,
		},
		{
			name: "dra", title: "kube-scheduler, DRA consumable capacity, one claim per pod",
			program: program{args: []string{"--feature-gates=DRAConsumableCapacity=true"}}, pods: 100,
			create: claimingPods, limited: true, once: true,
		},
	}
}

// same returns pods that are all alike.
func same(spec *corev1.PodSpec) func(int) corev1.PodSpec {
	return func(int) corev1.PodSpec { return *spec }
}

func plainPods(ctx context.Context, w *world, namespace string, p *peer) error {
	spec := podSpec(p.program.schedulerName())
	return w.createPods(ctx, namespace, p.pods, same(&spec))
}

// portPods makes pods that the framework may place in batches.
func portPods(ctx context.Context, w *world, namespace string, p *peer) error {
	spec := podSpec(p.program.schedulerName())
	spec.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 80, HostPort: 80}}
	return w.createPods(ctx, namespace, p.pods, same(&spec))
}

func policyPods(ctx context.Context, w *world, namespace string, p *peer) error {
	if err := w.createPolicy(ctx, namespace, "web", nil); err != nil {
		return err
	}
	spec := podSpec(p.program.schedulerName())
	return w.createDeployment(ctx, namespace, p.pods, &spec)
}

// createPolicy shares a Deployment out over the chosen sites, each of which gets at most as many
// pods as most says.
func (w *world) createPolicy(ctx context.Context, namespace, name string, most map[string]int) error {
	policy := &berthv1alpha1.PropagationPolicy{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: berthv1alpha1.PropagationPolicySpec{
			ResourceSelectors: []berthv1alpha1.ResourceSelector{{APIVersion: "apps/v1", Kind: "Deployment", Name: name}},
		},
	}
	for s := range chosenSites {
		entry := berthv1alpha1.StaticClusterWeight{ClusterNames: []string{siteName(s)}, Weight: int64(weightOf(s))}
		if limit, ok := most[siteName(s)]; ok {
			entry.Max = ptr.To(int32(limit))
		}
		policy.Spec.Placement.StaticWeightList = append(policy.Spec.Placement.StaticWeightList, entry)
	}
	_, err := w.berth.BerthV1alpha1().PropagationPolicies(namespace).Create(ctx, policy, metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("creating the policy: %w", err)
	}
	return nil
}

// affinityPods is what users do without a policy: a workload for each site.
func affinityPods(ctx context.Context, w *world, namespace string, p *peer) error {
	var sites []string
	for s := range chosenSites {
		for range sharesOf(p.pods)[siteName(s)] {
			sites = append(sites, siteName(s))
		}
	}
	return w.createPods(ctx, namespace, p.pods, func(i int) corev1.PodSpec {
		spec := podSpec(p.program.schedulerName())
		spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: siteSelector(sites[i]),
		}}
		return spec
	})
}

// pinnedPods makes pods that leave nothing to decide.
func pinnedPods(ctx context.Context, w *world, namespace string, p *peer) error {
	return w.createPods(ctx, namespace, p.pods, func(i int) corev1.PodSpec {
		spec := podSpec(p.program.schedulerName())
		spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
				MatchFields: []corev1.NodeSelectorRequirement{
					{Key: metav1.ObjectNameField, Operator: corev1.NodeSelectorOpIn, Values: []string{nodeName(i % w.Nodes)}},
				},
			}}},
		}}
		return spec
	})
}

func siteSelector(site string) *corev1.NodeSelector {
	return &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{
		{Key: siteLabel, Operator: corev1.NodeSelectorOpIn, Values: []string{site}},
	}}}}
}

func resourcePods(ctx context.Context, w *world, namespace string, p *peer) error {
	if err := w.createResource(ctx, sharesOf(p.pods)); err != nil {
		return err
	}
	spec := podSpec(p.program.schedulerName())
	request(&spec, berthv1alpha1.ClusterResourceDomain+"/unit", "1")
	return w.createPods(ctx, namespace, p.pods, same(&spec))
}

// createResource makes the ClusterResource with a pool for each site, unless it is there already.
// What its controller, which does not run, says of a new one is that all of it can be given out.
func (w *world) createResource(ctx context.Context, units map[string]int) error {
	pools := &berthv1alpha1.ClusterResource{ObjectMeta: metav1.ObjectMeta{Name: "unit"}}
	for s := range chosenSites {
		pools.Spec.Capacity = append(pools.Spec.Capacity, berthv1alpha1.ClusterResourceQuantity{
			Name: siteName(s), Quantity: *resource.NewQuantity(int64(units[siteName(s)]), resource.DecimalSI),
			NodeSelector: map[string]string{siteLabel: siteName(s)},
		})
	}
	api := w.berth.BerthV1alpha1().ClusterResources()
	created, err := api.Create(ctx, pools, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("creating the ClusterResource: %w", err)
	}
	created.Status.ObservedGeneration = created.Generation
	created.Status.Capacity, created.Status.Allocatable = created.Spec.Capacity, created.Spec.Capacity
	if _, err := api.UpdateStatus(ctx, created, metav1.UpdateOptions{}); err != nil {
		return fmt.Errorf("writing the status of the ClusterResource: %w", err)
	}
	return nil
}

func extendedPods(ctx context.Context, w *world, namespace string, p *peer) error {
	spec := podSpec(p.program.schedulerName())
	request(&spec, unit, "1")
	return w.createPods(ctx, namespace, p.pods, same(&spec))
}

// driver is also the name of the device class.
const driver = "units.example.com"

// claimingPods makes the units of a site the capacity of a device that all its nodes can reach.
// Each pod gets its claim from a template, as the pods of a workload do.
func claimingPods(ctx context.Context, w *world, namespace string, p *peer) error {
	api := w.client.ResourceV1()
	class := &resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: driver}}
	if _, err := api.DeviceClasses().Create(ctx, class, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("creating the device class: %w", err)
	}
	for site, units := range sharesOf(p.pods) {
		_, err := api.ResourceSlices().Create(ctx, slice(site, units), metav1.CreateOptions{})
		if err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("creating the resource slices: %w", err)
		}
	}
	template := &resourcev1.ResourceClaimTemplate{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "unit"},
		Spec: resourcev1.ResourceClaimTemplateSpec{Spec: resourcev1.ResourceClaimSpec{Devices: resourcev1.DeviceClaim{
			Requests: []resourcev1.DeviceRequest{{Name: "unit", Exactly: &resourcev1.ExactDeviceRequest{
				DeviceClassName: driver, AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: 1,
				Capacity: &resourcev1.CapacityRequirements{
					Requests: map[resourcev1.QualifiedName]resource.Quantity{"units": resource.MustParse("1")},
				},
			}}},
		}}},
	}
	if _, err := api.ResourceClaimTemplates(namespace).Create(ctx, template, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("creating the template of the claims: %w", err)
	}
	spec := podSpec(p.program.schedulerName())
	spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "unit", ResourceClaimTemplateName: ptr.To("unit")}}
	spec.Containers[0].Resources.Claims = []corev1.ResourceClaim{{Name: "unit"}}
	if err := w.createPods(ctx, namespace, p.pods, same(&spec)); err != nil {
		return err
	}
	return w.await(ctx, func(ctx context.Context) error {
		pods, err := w.client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		for i := range pods.Items {
			if len(pods.Items[i].Status.ResourceClaimStatuses) == 0 {
				return fmt.Errorf("pod %s has no claim yet", pods.Items[i].Name)
			}
		}
		return nil
	})
}

func slice(site string, units int) *resourcev1.ResourceSlice {
	one := resource.NewQuantity(1, resource.DecimalSI)
	return &resourcev1.ResourceSlice{
		ObjectMeta: metav1.ObjectMeta{Name: site},
		Spec: resourcev1.ResourceSliceSpec{
			Driver:       driver,
			Pool:         resourcev1.ResourcePool{Name: site, Generation: 1, ResourceSliceCount: 1},
			NodeSelector: siteSelector(site),
			Devices: []resourcev1.Device{{
				Name: "pool", AllowMultipleAllocations: ptr.To(true),
				Capacity: map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{"units": {
					Value: *resource.NewQuantity(int64(units), resource.DecimalSI),
					RequestPolicy: &resourcev1.CapacityRequestPolicy{
						Default: one, ValidRange: &resourcev1.CapacityRequestPolicyRange{Min: one},
					},
				}},
			}},
		},
	}
}
