// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package processes

import (
	"context"
	"fmt"
	"maps"
	"strconv"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/ptr"

	"berth.dev/berth/pkg/localplane"
	"berth.dev/berth/pkg/model/stamp"
)

// seeder writes objects into etcd as the API server stores them. To make a hundred thousand pods
// through the API server takes ten times as long, and makes nothing that a client could tell apart.
type seeder struct {
	etcd    *clientv3.Client
	encoder runtime.Serializer
	pending []clientv3.Op
}

// seedBatch is how many objects are written at once; etcd takes up to 128.
const seedBatch = 100

// newSeeder connects to etcd.
func (w *world) newSeeder() (*seeder, error) {
	config, err := w.plane.EtcdTLS()
	if err != nil {
		return nil, err
	}
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{w.plane.EtcdURL()}, TLS: config, DialTimeout: stopGrace})
	if err != nil {
		return nil, fmt.Errorf("connecting to etcd: %w", err)
	}
	return &seeder{etcd: client, encoder: protobuf.NewSerializer(scheme.Scheme, scheme.Scheme)}, nil
}

// storable is an object of Kubernetes.
type storable interface {
	runtime.Object
	metav1.Object
}

// put stores an object below the folder of its kind.
func (s *seeder) put(ctx context.Context, folder string, version schema.GroupVersion, object storable) error {
	content, err := runtime.Encode(scheme.Codecs.EncoderForVersion(s.encoder, version), object)
	if err != nil {
		return fmt.Errorf("encoding %s %s: %w", folder, object.GetName(), err)
	}
	key := "/registry/" + folder + "/"
	if namespace := object.GetNamespace(); namespace != "" {
		key += namespace + "/"
	}
	s.pending = append(s.pending, clientv3.OpPut(key+object.GetName(), string(content)))
	if len(s.pending) < seedBatch {
		return nil
	}
	return s.flush(ctx)
}

// flush writes what put has collected.
func (s *seeder) flush(ctx context.Context) error {
	if len(s.pending) == 0 {
		return nil
	}
	if _, err := s.etcd.Txn(ctx).Then(s.pending...).Commit(); err != nil {
		return fmt.Errorf("writing to etcd: %w", err)
	}
	s.pending = s.pending[:0]
	return nil
}

// close writes what is left, and disconnects.
func (s *seeder) close(ctx context.Context) error {
	if err := s.flush(ctx); err != nil {
		return err
	}
	return s.etcd.Close()
}

// seedNodes stores nodes in sites.
func (s *seeder) seedNodes(ctx context.Context, nodes, sites int) error {
	for i := range nodes {
		node := localplane.FakeNode(nodeName(i), map[string]string{siteLabel: siteName(i % sites)}, nil)
		node.Annotations = nil // no kwok
		node.UID, node.CreationTimestamp = uuid.NewUUID(), metav1.Now()
		if err := s.put(ctx, "minions", corev1.SchemeGroupVersion, node); err != nil {
			return err
		}
	}
	return s.flush(ctx)
}

// workload is a Deployment that was rolled out over some sites in equal shares, and whose pods all
// run where they should.
type workload struct {
	namespace, name string
	replicas        int
	sites           []string
}

// seedWorkload stores the Deployment, its ReplicaSet and its pods. Node returns the node of the
// next pod in a site.
func (s *seeder) seedWorkload(ctx context.Context, x *workload, node func(site string) string) error {
	labels := map[string]string{"app": x.name, appsv1.DefaultDeploymentUniqueLabelKey: "1"}
	template := corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: smallPod()}
	replicas := int32(x.replicas)
	deployment := &appsv1.Deployment{
		ObjectMeta: x.meta(x.name, labels, nil),
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": x.name}}, Template: template,
		},
		Status: appsv1.DeploymentStatus{
			ObservedGeneration: 1, Replicas: replicas, UpdatedReplicas: replicas, ReadyReplicas: replicas, AvailableReplicas: replicas,
		},
	}
	if err := s.put(ctx, "deployments", appsv1.SchemeGroupVersion, deployment); err != nil {
		return err
	}
	set := &appsv1.ReplicaSet{
		ObjectMeta: x.meta(x.name+"-1", labels, metav1.NewControllerRef(deployment, appsv1.SchemeGroupVersion.WithKind("Deployment"))),
		Spec:       appsv1.ReplicaSetSpec{Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: template},
		Status: appsv1.ReplicaSetStatus{
			ObservedGeneration: 1, Replicas: replicas, FullyLabeledReplicas: replicas, ReadyReplicas: replicas, AvailableReplicas: replicas,
		},
	}
	if err := s.put(ctx, "replicasets", appsv1.SchemeGroupVersion, set); err != nil {
		return err
	}
	owner := metav1.NewControllerRef(set, appsv1.SchemeGroupVersion.WithKind("ReplicaSet"))
	for seat := range x.replicas {
		// In equal shares the seats go round.
		site := x.sites[seat%len(x.sites)]
		if err := s.put(ctx, "pods", corev1.SchemeGroupVersion, x.pod(seat, site, node(site), labels, owner)); err != nil {
			return err
		}
	}
	return nil
}

func (x *workload) meta(name string, labels map[string]string, owner *metav1.OwnerReference) metav1.ObjectMeta {
	meta := metav1.ObjectMeta{
		Namespace: x.namespace, Name: name, UID: uuid.NewUUID(), Labels: labels, Generation: 1, CreationTimestamp: metav1.Now(),
		Annotations: map[string]string{revisionAnnotation: "1"},
	}
	if owner != nil {
		meta.OwnerReferences = []metav1.OwnerReference{*owner}
	}
	return meta
}

// pod returns a pod as the scheduler and a kubelet leave it.
func (x *workload) pod(seat int, site, node string, labels map[string]string, owner *metav1.OwnerReference) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: x.meta(x.name+"-1-"+strconv.Itoa(seat), nil, owner), Spec: smallPod()}
	pod.GenerateName, pod.Spec.NodeName = x.name+"-1-", node
	given := stamp.Stamp{Policy: x.name, Cluster: site, Seat: int32(seat)}
	pod.Annotations = given.Annotations(pod, node)
	pod.Labels = stamp.Labels(pod.Annotations)
	maps.Copy(pod.Labels, labels)
	since := metav1.NewTime(time.Now().Add(-time.Hour).Truncate(time.Second))
	pod.Status = corev1.PodStatus{
		Phase: corev1.PodRunning, QOSClass: corev1.PodQOSBurstable, StartTime: &since,
		PodIP: "10.0.0.1", PodIPs: []corev1.PodIP{{IP: "10.0.0.1"}},
	}
	for _, kind := range []corev1.PodConditionType{corev1.PodScheduled, corev1.PodInitialized, corev1.ContainersReady, corev1.PodReady} {
		pod.Status.Conditions = append(pod.Status.Conditions,
			corev1.PodCondition{Type: kind, Status: corev1.ConditionTrue, LastTransitionTime: since})
	}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
		Name: "main", Ready: true, Started: ptr.To(true), Image: "pause", ImageID: "pause",
		State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: since}},
	}}
	return pod
}

// smallPod is a pod of which a node takes more than it has.
func smallPod() corev1.PodSpec {
	spec := podSpec("berth-scheduler")
	request(&spec, corev1.ResourceCPU, "10m")
	request(&spec, corev1.ResourceMemory, "16Mi")
	spec.Containers[0].Resources.Limits = nil
	spec.RestartPolicy, spec.DNSPolicy = corev1.RestartPolicyAlways, corev1.DNSClusterFirst
	spec.SecurityContext, spec.ServiceAccountName = &corev1.PodSecurityContext{}, "default"
	return spec
}

func nodeName(i int) string { return "node-" + strconv.Itoa(i) }
