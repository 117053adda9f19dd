// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package admission_test

import (
	"context"
	"encoding/json"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
)

const (
	requestPrefix = "pod.alpha.kubernetes.io/cluster-resource-"
	domain        = "cluster-resource.berth.dev/"
)

// stamps are the annotations that only Berth writes.
var stamps = []string{
	"berth.dev/placed-by", "berth.dev/policy", "berth.dev/cluster", "berth.dev/seat", "berth.dev/charged",
	"berth.dev/grantee", "berth.dev/settled",
}

// change makes a pod another one.
type change func(*corev1.Pod)

// pod returns a pod of the default scheduler that asks for nothing, with changes.
func pod(changes ...change) *corev1.Pod {
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "pod-"},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "nginx:1.27"}}},
	}
	for _, change := range changes {
		change(p)
	}
	return p
}

func annotated(key, value string) change {
	return func(p *corev1.Pod) { metav1.SetMetaDataAnnotation(&p.ObjectMeta, key, value) }
}

func scheduledBy(name string) change {
	return func(p *corev1.Pod) { p.Spec.SchedulerName = name }
}

// fitting is the mark of a pod on the node of these tests.
func fitting(p *corev1.Pod) string { return string(p.UID) + "/" + nodeName }

func onNode(p *corev1.Pod) { p.Spec.NodeName = nodeName }

// requesting adds a limit, which is the request too, to the container.
func requesting(name, quantity string) change {
	return func(p *corev1.Pod) {
		limits := &p.Spec.Containers[0].Resources.Limits
		if *limits == nil {
			*limits = corev1.ResourceList{}
		}
		(*limits)[corev1.ResourceName(name)] = resource.MustParse(quantity)
	}
}

// requestingAtFirst adds a limit to an init container.
func requestingAtFirst(name, quantity string) change {
	return func(p *corev1.Pod) {
		p.Spec.InitContainers = append(p.Spec.InitContainers, corev1.Container{
			Name: "first", Image: "nginx:1.27", Resources: corev1.ResourceRequirements{
				Limits: corev1.ResourceList{corev1.ResourceName(name): resource.MustParse(quantity)},
			},
		})
	}
}

// binding returns a Binding of a pod to the node, with annotations given as keys and values in
// turn.
func binding(p *corev1.Pod, annotations ...string) *corev1.Binding {
	b := &corev1.Binding{
		ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: p.Name, UID: p.UID},
		Target:     corev1.ObjectReference{Kind: "Node", Name: nodeName},
	}
	for i := 0; i < len(annotations); i += 2 {
		metav1.SetMetaDataAnnotation(&b.ObjectMeta, annotations[i], annotations[i+1])
	}
	return b
}

// bindPod binds by pods/binding, as schedulers do.
func bindPod(ctx context.Context, client kubernetes.Interface, b *corev1.Binding) error {
	return client.CoreV1().Pods(b.Namespace).Bind(ctx, b, metav1.CreateOptions{})
}

// bindOld binds by bindings, the older way.
func bindOld(ctx context.Context, client kubernetes.Interface, b *corev1.Binding) error {
	return client.CoreV1().RESTClient().Post().Namespace(b.Namespace).Resource("bindings").Body(b).Do(ctx).Error()
}

// annotate changes an annotation of a pod, by the pod itself or by a subresource; nil removes it.
func annotate(ctx context.Context, client kubernetes.Interface, p *corev1.Pod, subresource, key string, value any) error {
	GinkgoHelper()
	return patch(ctx, client, p, subresource, map[string]any{"annotations": map[string]any{key: value}})
}

// relabel is annotate for a label.
func relabel(ctx context.Context, client kubernetes.Interface, p *corev1.Pod, subresource, key string, value any) error {
	GinkgoHelper()
	return patch(ctx, client, p, subresource, map[string]any{"labels": map[string]any{key: value}})
}

func patch(ctx context.Context, client kubernetes.Interface, p *corev1.Pod, subresource string, metadata map[string]any) error {
	GinkgoHelper()
	change, err := json.Marshal(map[string]any{"metadata": metadata})
	Expect(err).NotTo(HaveOccurred())
	var subresources []string
	if subresource != "" {
		subresources = append(subresources, subresource)
	}
	_, err = client.CoreV1().Pods(p.Namespace).Patch(ctx, p.Name, types.MergePatchType, change, metav1.PatchOptions{}, subresources...)
	return err
}

// placed returns a pod that Berth has bound, with a stamp of each kind.
func placed(ctx context.Context, changes ...change) *corev1.Pod {
	GinkgoHelper()
	p := mustCreate(ctx, pod(append([]change{scheduledBy(berthScheduler)}, changes...)...))
	var annotations []string
	for _, key := range stamps {
		annotations = append(annotations, key, "before")
	}
	Expect(bindPod(ctx, scheduler, binding(p, annotations...))).To(Succeed())
	bound, err := tenant.CoreV1().Pods(p.Namespace).Get(ctx, p.Name, metav1.GetOptions{})
	Expect(err).NotTo(HaveOccurred())
	for _, key := range stamps {
		Expect(bound.Annotations).To(HaveKeyWithValue(key, "before"))
	}
	return bound
}
