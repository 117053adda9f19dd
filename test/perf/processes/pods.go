// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package processes

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"
)

// podSpec returns what all pods of the benchmark have in common.
func podSpec(schedulerName string) corev1.PodSpec {
	return corev1.PodSpec{
		SchedulerName:                 schedulerName,
		AutomountServiceAccountToken:  ptr.To(false),
		TerminationGracePeriodSeconds: ptr.To[int64](0),
		Containers: []corev1.Container{{Name: "main", Image: "pause", Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{
				corev1.ResourceCPU: resource.MustParse("100m"), corev1.ResourceMemory: resource.MustParse("128Mi"),
			},
		}}},
	}
}

// request makes a container ask for an amount of an extended resource, or of cpu.
func request(spec *corev1.PodSpec, name corev1.ResourceName, amount string) {
	resources := &spec.Containers[0].Resources
	resources.Requests[name] = resource.MustParse(amount)
	if name != corev1.ResourceCPU {
		resources.Limits = corev1.ResourceList{name: resource.MustParse(amount)}
	}
}

// createPods makes pods that nobody owns. The i-th pod is what spec returns.
func (w *world) createPods(ctx context.Context, namespace string, count int, spec func(i int) corev1.PodSpec) error {
	err := parallel(ctx, count, func(i int) error {
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: fmt.Sprintf("pod-%d", i), Labels: map[string]string{"app": "web"}},
			Spec:       spec(i),
		}
		_, err := w.client.CoreV1().Pods(namespace).Create(ctx, pod, metav1.CreateOptions{})
		return err
	})
	if err != nil {
		return fmt.Errorf("creating pods: %w", err)
	}
	return nil
}

// createDeployment makes a Deployment, and waits until its controllers have made the pods.
func (w *world) createDeployment(ctx context.Context, namespace string, replicas int, spec *corev1.PodSpec) error {
	labels := map[string]string{"app": "web"}
	deployment := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "web"},
		Spec: appsv1.DeploymentSpec{
			Replicas: ptr.To(int32(replicas)), Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: *spec},
		},
	}
	if _, err := w.client.AppsV1().Deployments(namespace).Create(ctx, deployment, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("creating the Deployment: %w", err)
	}
	return w.await(ctx, func(ctx context.Context) error {
		sets, err := w.client.AppsV1().ReplicaSets(namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		made := 0
		for i := range sets.Items {
			made += int(sets.Items[i].Status.Replicas)
		}
		if made < replicas {
			return fmt.Errorf("the Deployment has %d of %d pods", made, replicas)
		}
		return nil
	})
}

// binding is a pod that was bound.
type binding struct {
	pod, node string
	at        time.Time
}

// bindings are the pods of a namespace that have been bound, in this order.
type bindings struct {
	cancel context.CancelFunc
	news   chan struct{}

	mu    sync.Mutex
	known map[string]bool
	list  []binding
}

// watchBindings follows which pods of a namespace are bound, until stop.
func (w *world) watchBindings(ctx context.Context, namespace string) (*bindings, error) {
	// The API server tells of a pod as soon as it has a node, and of no other pods.
	pods := cache.NewFilteredListWatchFromClient(w.client.CoreV1().RESTClient(), "pods", namespace,
		func(options *metav1.ListOptions) { options.FieldSelector = "spec.nodeName!=" })
	b := &bindings{news: make(chan struct{}, 1), known: map[string]bool{}}
	_, informer := cache.NewInformerWithOptions(cache.InformerOptions{
		ListerWatcher: pods, ObjectType: &corev1.Pod{},
		Handler: cache.ResourceEventHandlerFuncs{AddFunc: func(object any) {
			if pod, ok := object.(*corev1.Pod); ok {
				b.add(binding{pod: pod.Name, node: pod.Spec.NodeName, at: time.Now()})
			}
		}},
	})
	ctx, b.cancel = context.WithCancel(ctx)
	go informer.RunWithContext(ctx)
	return b, w.await(ctx, func(context.Context) error {
		if !informer.HasSynced() {
			return errors.New("the pods of namespace " + namespace + " have not been listed yet")
		}
		return nil
	})
}

func (b *bindings) add(one binding) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.known[one.pod] {
		return
	}
	b.known[one.pod] = true
	b.list = append(b.list, one)
	select {
	case b.news <- struct{}{}:
	default:
	}
}

func (b *bindings) stop() { b.cancel() }

// get returns the n-th binding, from 0, once there is one.
func (b *bindings) get(ctx context.Context, n int) (binding, error) {
	timeout := time.NewTimer(patience)
	defer timeout.Stop()
	for {
		one, count := b.look(n)
		if n < count {
			return one, nil
		}
		select {
		case <-b.news:
		case <-ctx.Done():
			return binding{}, ctx.Err()
		case <-timeout.C:
			return binding{}, fmt.Errorf("after %s only %d pods are bound", patience, count)
		}
	}
}

// look returns the n-th binding, if there is one, and how many there are.
func (b *bindings) look(n int) (one binding, count int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if n < len(b.list) {
		one = b.list[n]
	}
	return one, len(b.list)
}

// perSite counts the bindings by site.
func (b *bindings) perSite(siteOf func(node string) string) map[string]int {
	b.mu.Lock()
	defer b.mu.Unlock()
	sites := map[string]int{}
	for _, one := range b.list {
		sites[siteOf(one.node)]++
	}
	return sites
}
