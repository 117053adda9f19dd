// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package world

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// licence is the ClusterResource that some workloads ask for.
const licence = "licence"

// siteLabel names the cluster of a node.
const siteLabel = "site"

// between returns a number from low to high, as the seed wants it.
func (w *World) between(low, high int) int { return low + w.rng.IntN(high-low+1) }

func siteName(n int) string { return fmt.Sprintf("site-%d", n) }

// populate makes the nodes, Clusters, ClusterResources, policies and workloads that the seed wants.
func (w *World) populate() {
	w.sites = w.between(2, 4)
	for site := range w.sites {
		name := siteName(site)
		for n := range w.between(1, 3) {
			w.addNode(fmt.Sprintf("%s-node-%d", name, n), name)
		}
		w.create(clusters, &berthv1alpha1.Cluster{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{siteLabel: name}},
			Spec:       berthv1alpha1.ClusterSpec{MatchLabels: map[string]string{siteLabel: name}},
		})
	}
	w.create(resources, w.licences())
	for n := range w.between(2, 5) {
		l := &workload{name: fmt.Sprintf("app-%d", n), replicas: int32(w.between(1, 8)), policy: w.rng.IntN(3) > 0}
		if w.rng.IntN(2) == 0 {
			l.licences = w.between(1, 2)
		}
		var policy *berthv1alpha1.PropagationPolicy
		if l.policy {
			policy = w.policyOf(l)
		}
		if w.drawn = append(w.drawn, l); w.exists("workload " + l.name) {
			w.addWorkload(l)
			if policy != nil {
				w.create(policies, policy)
			}
		}
	}
	w.control()
	w.bookmark()
}

func (w *World) addNode(name, site string) {
	w.create(nodes, &corev1.Node{ObjectMeta: metav1.ObjectMeta{
		Name: name, Labels: map[string]string{siteLabel: site, corev1.LabelHostname: name},
	}})
	has := object{"cpu": "64", "memory": "64Gi", "pods": "110"}
	if w.fleet != nil {
		has["pods"] = strconv.Itoa(podsEach)
	}
	w.act("patch", nodes, name, "status", object{"status": object{
		"capacity": has, "allocatable": has,
		"conditions": []object{{"type": "Ready", "status": "True"}},
	}})
}

// licences returns the ClusterResource: one pool for all, or one for each site.
func (w *World) licences() *berthv1alpha1.ClusterResource {
	r := &berthv1alpha1.ClusterResource{ObjectMeta: metav1.ObjectMeta{Name: licence}}
	add := func(name string, most int, selector map[string]string) {
		r.Spec.Capacity = append(r.Spec.Capacity, berthv1alpha1.ClusterResourceQuantity{
			Name: name, Quantity: *resource.NewQuantity(int64(w.between(1, most)), resource.DecimalSI), NodeSelector: selector,
		})
	}
	if w.rng.IntN(2) == 0 {
		add("all", 12, nil)
		return r
	}
	for site := range w.sites {
		add(siteName(site), 6, map[string]string{siteLabel: siteName(site)})
	}
	return r
}

func (w *World) addWorkload(l *workload) {
	template := corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": l.name}}, Spec: l.podSpec()}
	w.create(deployments, &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: l.name, Labels: map[string]string{"app": l.name}},
		Spec: appsv1.DeploymentSpec{
			Replicas: &l.replicas, Template: template, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": l.name}},
		},
	})
	template.Labels = l.labels()
	w.create(replicaSets, &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{
			Name: l.name + "-1", Labels: l.labels(), OwnerReferences: []metav1.OwnerReference{w.ownerOf("Deployment", l.name)},
		},
		Spec: appsv1.ReplicaSetSpec{Replicas: &l.replicas, Template: template, Selector: &metav1.LabelSelector{MatchLabels: l.labels()}},
	})
	w.generations[l.name], w.generations[l.name+"-1"] = 1, 1
	l.uid, l.changed = w.ownerOf("ReplicaSet", l.name+"-1"), true
	w.workloads = append(w.workloads, l)
}

// exists reports whether an object is to be there, and notes that it is.
func (w *World) exists(name string) bool {
	if w.skip[name] {
		return false
	}
	w.injected = append(w.injected, name)
	return true
}

// ownerOf returns a controller reference to what was made last of a name.
func (w *World) ownerOf(kind, name string) metav1.OwnerReference {
	resource := deployments
	if kind == "ReplicaSet" {
		resource = replicaSets
	}
	found := metav1.PartialObjectMetadata{}
	w.server.Read(resource, namespace, name, &found)
	return metav1.OwnerReference{
		APIVersion: appsv1.SchemeGroupVersion.String(), Kind: kind, Name: name, UID: found.UID, Controller: ptr.To(true),
	}
}

func (w *World) policyOf(l *workload) *berthv1alpha1.PropagationPolicy {
	return &berthv1alpha1.PropagationPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: l.name},
		Spec: berthv1alpha1.PropagationPolicySpec{
			ResourceSelectors: []berthv1alpha1.ResourceSelector{{APIVersion: "apps/v1", Kind: "Deployment", Name: l.name}},
			Placement:         berthv1alpha1.Placement{StaticWeightList: w.weights()},
			Rebalance: berthv1alpha1.Rebalance{
				MaxUnavailable: ptr.To(intstr.FromString("100%")), Cooldown: &metav1.Duration{Duration: time.Second},
				MinPodAge: &metav1.Duration{},
			},
		},
	}
}

// weights returns those of some sites.
func (w *World) weights() []berthv1alpha1.StaticClusterWeight {
	first := w.rng.IntN(w.sites)
	list := make([]berthv1alpha1.StaticClusterWeight, w.between(1, w.sites))
	for n := range list {
		list[n] = berthv1alpha1.StaticClusterWeight{
			ClusterNames: []string{siteName((first + n) % w.sites)}, Weight: int64(w.between(1, 5)),
		}
	}
	return list
}

func (l *workload) podSpec() corev1.PodSpec {
	return corev1.PodSpec{
		SchedulerName: "berth-scheduler", RestartPolicy: corev1.RestartPolicyAlways, DNSPolicy: corev1.DNSClusterFirst,
		TerminationGracePeriodSeconds: ptr.To(int64(30)),
		Containers: []corev1.Container{{
			Name: "c", Image: "registry.example.com/app",
			Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m")}},
		}},
	}
}

// run lists the programs: a scheduler with a standby, or several that share the clusters, and the
// controllers.
func (w *World) run() {
	add := func(name string, run runner) {
		w.programs = append(w.programs, &program{
			Name: name, run: run, scheduler: strings.HasPrefix(name, schedulerPrefix), sent: map[string]int{}, lags: map[string]lag{},
		})
	}
	if w.sharing {
		for _, name := range []string{"east", "west"} {
			add(schedulerPrefix+name, runScheduler(name))
		}
	} else {
		add(schedulerPrefix+"a", runScheduler(""))
		add(schedulerPrefix+"b", runScheduler(""))
	}
	add(controllersName, runControllers)
	for _, program := range w.programs {
		w.after(w.pause("start of "+program.Name, 200*time.Millisecond), func() { w.start(program) })
	}
}
