// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package processes

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"

	"berth.dev/berth/pkg/localplane"
	"berth.dev/berth/pkg/model/stamp"
	"berth.dev/berth/pkg/placement/apportion"
)

// namespaces is how many the workloads of the controllers lie in.
const namespaces = 10

// revisionAnnotation is what the Deployment controller numbers ReplicaSets by.
const revisionAnnotation = "deployment.kubernetes.io/revision"

// createBoundWorkloads makes policies, each with a Deployment whose pods all run where they should,
// as if the scheduler had bound them. The controllers of Kubernetes would take minutes for that;
// they are stopped for good, before they see the Deployments.
func (w *world) createBoundWorkloads(ctx context.Context) error {
	for n := range namespaces {
		if err := w.createNamespace(ctx, namespaceOf(n)); err != nil {
			return err
		}
	}
	controllers, err := w.controllerManager()
	if err != nil {
		return err
	}
	if err := controllers.Stop(stopGrace); err != nil {
		return err
	}
	scheduler, err := w.schedulerClient()
	if err != nil {
		return err
	}
	seats, err := w.seats()
	if err != nil {
		return err
	}
	sets := make([]*appsv1.ReplicaSet, w.Policies)
	err = parallel(ctx, w.Policies, func(i int) (err error) {
		sets[i], err = w.createOwners(ctx, i)
		return err
	})
	if err != nil {
		return err
	}
	return parallel(ctx, w.Policies*w.PodsEach, func(i int) error {
		return w.createBoundPod(ctx, scheduler, sets[i%w.Policies], i, seats[i/w.Policies])
	})
}

// controllerManager returns the process of the controllers of Kubernetes.
func (w *world) controllerManager() (*localplane.Process, error) {
	processes := w.plane.Processes()
	i := slices.IndexFunc(processes, func(p *localplane.Process) bool { return p.Name() == localplane.ControllerManager })
	if i < 0 {
		return nil, errors.New("no " + localplane.ControllerManager + " is running")
	}
	return processes[i], nil
}

func namespaceOf(i int) string { return "controllers-" + strconv.Itoa(i%namespaces) }

// schedulerClient returns a client that is berth-scheduler for the API server: nobody else may
// stamp pods.
func (w *world) schedulerClient() (kubernetes.Interface, error) {
	user, groups := localplane.ServiceAccountIdentity(localplane.BerthNamespace, localplane.BerthScheduler)
	config, err := w.plane.UserConfig(user, groups...)
	if err != nil {
		return nil, err
	}
	config.QPS = -1
	return kubernetes.NewForConfig(config)
}

// seats returns the site of each seat of a workload.
func (w *world) seats() ([]string, error) {
	clusters := make([]apportion.Cluster, chosenSites)
	for s := range clusters {
		clusters[s] = apportion.Cluster{Name: siteName(s), Weight: int64(weightOf(s))}
	}
	order, err := apportion.NewOrder(clusters)
	if err != nil {
		return nil, fmt.Errorf("sharing out the pods: %w", err)
	}
	seats := make([]string, 0, w.PodsEach)
	for _, cluster := range order.Seats(int64(w.PodsEach)) {
		seats = append(seats, order.Name(int(cluster)))
	}
	return seats, nil
}

// createOwners makes the i-th policy and its Deployment with a ReplicaSet.
func (w *world) createOwners(ctx context.Context, i int) (*appsv1.ReplicaSet, error) {
	namespace, name := namespaceOf(i), "web-"+strconv.Itoa(i)
	if err := w.createPolicy(ctx, namespace, name, nil); err != nil {
		return nil, err
	}
	spec := podSpec("berth-scheduler")
	return w.createSet(ctx, namespace, name, w.PodsEach, &spec)
}

// createSet makes a Deployment with a ReplicaSet, as their controllers leave them.
func (w *world) createSet(ctx context.Context, namespace, name string, pods int, spec *corev1.PodSpec) (*appsv1.ReplicaSet, error) {
	replicas := int32(pods)
	labels := map[string]string{"app": name, appsv1.DefaultDeploymentUniqueLabelKey: "1"}
	template := corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: *spec}
	meta := metav1.ObjectMeta{
		Namespace: namespace, Name: name, Labels: labels, Annotations: map[string]string{revisionAnnotation: "1"},
	}
	apps := w.client.AppsV1()
	deployment, err := apps.Deployments(namespace).Create(ctx, &appsv1.Deployment{
		ObjectMeta: meta,
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}}, Template: template,
		},
	}, metav1.CreateOptions{})
	if err != nil {
		return nil, fmt.Errorf("creating a Deployment: %w", err)
	}
	deployment.Status = appsv1.DeploymentStatus{ObservedGeneration: deployment.Generation, Replicas: replicas, UpdatedReplicas: replicas}
	if _, err := apps.Deployments(namespace).UpdateStatus(ctx, deployment, metav1.UpdateOptions{}); err != nil {
		return nil, fmt.Errorf("writing the status of a Deployment: %w", err)
	}
	meta.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(deployment, appsv1.SchemeGroupVersion.WithKind("Deployment"))}
	set, err := apps.ReplicaSets(namespace).Create(ctx, &appsv1.ReplicaSet{
		ObjectMeta: meta,
		Spec:       appsv1.ReplicaSetSpec{Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: template},
	}, metav1.CreateOptions{})
	if err != nil {
		return nil, fmt.Errorf("creating a ReplicaSet: %w", err)
	}
	set.Status = appsv1.ReplicaSetStatus{ObservedGeneration: set.Generation, Replicas: replicas}
	if _, err := apps.ReplicaSets(namespace).UpdateStatus(ctx, set, metav1.UpdateOptions{}); err != nil {
		return nil, fmt.Errorf("writing the status of a ReplicaSet: %w", err)
	}
	return set, nil
}

// createPodsOf makes pods of a ReplicaSet.
func (w *world) createPodsOf(ctx context.Context, set *appsv1.ReplicaSet, pods int, spec *corev1.PodSpec) error {
	err := parallel(ctx, pods, func(i int) error {
		_, err := w.client.CoreV1().Pods(set.Namespace).Create(ctx, podOf(set, i, spec), metav1.CreateOptions{})
		return err
	})
	if err != nil {
		return fmt.Errorf("creating pods: %w", err)
	}
	return nil
}

// podOf returns the i-th pod of a ReplicaSet.
func podOf(set *appsv1.ReplicaSet, i int, spec *corev1.PodSpec) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: set.Namespace, Name: "pod-" + strconv.Itoa(i), Labels: set.Labels,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(set, appsv1.SchemeGroupVersion.WithKind("ReplicaSet"))},
		},
		Spec: *spec,
	}
}

// createBoundPod makes a pod of a ReplicaSet, and binds it to a node of its site with the stamp
// that the scheduler would give it.
func (w *world) createBoundPod(ctx context.Context, scheduler kubernetes.Interface, set *appsv1.ReplicaSet, i int, site string) error {
	spec := podSpec("berth-scheduler")
	pod, err := w.client.CoreV1().Pods(set.Namespace).Create(ctx, podOf(set, i, &spec), metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("creating a pod: %w", err)
	}
	given := stamp.Stamp{Policy: set.Name, Cluster: site, Seat: int32(i / w.Policies)}
	number, err := strconv.Atoi(site[len("site-"):])
	if err != nil {
		return fmt.Errorf("naming a node: %w", err)
	}
	node := nodeName(number + chosenSites*(i%(places/chosenSites)))
	err = scheduler.CoreV1().Pods(set.Namespace).Bind(ctx, &corev1.Binding{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: set.Namespace, Name: pod.Name, UID: pod.UID, Annotations: given.Annotations(pod, node),
		},
		Target: corev1.ObjectReference{Kind: "Node", Name: node},
	}, metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("binding a pod: %w", err)
	}
	return nil
}

// What it takes to delete all objects of a kind.
var (
	forget     = metav1.DeleteOptions{GracePeriodSeconds: ptr.To[int64](0)}
	everything = metav1.ListOptions{}
)
