// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package whatif

import (
	"context"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/workload"
)

// Scale sets the number of replicas of a workload. The kind is written as kubectl takes it:
// deployment, deployments, Deployment or deploy.
func (s *Simulation) Scale(ctx context.Context, kind, namespace, name string, replicas int32) error {
	found, err := s.find(kind, namespace, name)
	if err != nil {
		return err
	}
	scaled := found.DeepCopyObject()
	switch o := scaled.(type) {
	case *appsv1.Deployment:
		o.Spec.Replicas = &replicas
	case *appsv1.ReplicaSet:
		o.Spec.Replicas = &replicas
	case *appsv1.StatefulSet:
		o.Spec.Replicas = &replicas
	case *corev1.ReplicationController:
		o.Spec.Replicas = &replicas
	case *batchv1.Job:
		o.Spec.Parallelism = &replicas
	default:
		return fmt.Errorf("%s has no number of replicas", title(found))
	}
	return s.Apply(ctx, scaled)
}

// find returns a workload.
func (s *Simulation) find(kind, namespace, name string) (object, error) {
	long := workload.LongName(kind)
	for _, k := range workload.Kinds() {
		if strings.EqualFold(long, k.Kind) || long == k.Resource {
			if found := s.objects[id{k.GroupKind(), typesName(namespace, name)}]; found != nil {
				return found, nil
			}
			return nil, fmt.Errorf("%s %s/%s is not there", k.Kind, namespace, name)
		}
	}
	return nil, fmt.Errorf("%s is no kind that has replicas", kind)
}

// Drain cordons a node, or all nodes of a Cluster, and evicts what runs there as `kubectl drain
// --ignore-daemonsets` does. What a PodDisruptionBudget holds back goes when the budget lets it.
func (s *Simulation) Drain(ctx context.Context, kind, name string) error {
	var on func(*corev1.Node) bool
	switch strings.ToLower(kind) {
	case "node", "nodes":
		on = func(n *corev1.Node) bool { return n.Name == name }
	case "cluster", "clusters":
		on = func(n *corev1.Node) bool { return s.snapshot.ClusterOf(n) == name }
		if s.objects[id{berthv1alpha1.SchemeGroupVersion.WithKind("Cluster").GroupKind(), typesName("", name)}] == nil {
			return fmt.Errorf("cluster %s is not there", name)
		}
	default:
		return fmt.Errorf("%s cannot be drained, only a cluster or a node", kind)
	}
	drained := map[string]bool{}
	for _, node := range kept[*corev1.Node](s) {
		if on(node) {
			cordoned := node.DeepCopy()
			cordoned.Spec.Unschedulable = true
			drained[node.Name] = true
			if err := s.replace(cordoned); err != nil {
				return err
			}
		}
	}
	if len(drained) == 0 && strings.HasPrefix(strings.ToLower(kind), "node") {
		return fmt.Errorf("node %s is not there", name)
	}
	for _, pod := range s.pods {
		if drained[pod.Spec.NodeName] && !staysOnDrained(pod) {
			s.draining[pod.UID] = true
		}
	}
	return s.drain(ctx)
}

// staysOnDrained reports whether nobody evicts a pod to empty its node.
func staysOnDrained(pod *corev1.Pod) bool {
	_, static := pod.Annotations[corev1.MirrorPodAnnotationKey]
	ref := metav1.GetControllerOfNoCopy(pod)
	return static || ref != nil && ref.Kind == "DaemonSet"
}

// drain evicts the pods of nodes that are emptied, as far as PodDisruptionBudgets let them go now.
func (s *Simulation) drain(context.Context) error {
	if len(s.draining) == 0 {
		return nil
	}
	for _, pod := range s.sortedPods() {
		if !s.draining[pod.UID] || s.keptBy(pod) != "" {
			continue
		}
		if err := s.evict(pod, "", "draining"); err != nil {
			return err
		}
	}
	return nil
}

// Run makes the next Job of a CronJob, whatever its schedule says.
func (s *Simulation) Run(ctx context.Context, kind, namespace, name string) error {
	found, err := s.find(kind, namespace, name)
	if err != nil {
		return err
	}
	of, ok := found.(*batchv1.CronJob)
	if !ok {
		return fmt.Errorf("%s makes no Jobs, only a CronJob does", title(found))
	}
	job := &batchv1.Job{Spec: *of.Spec.JobTemplate.Spec.DeepCopy()}
	job.Namespace, job.Labels, job.Annotations = namespace, of.Spec.JobTemplate.Labels, of.Spec.JobTemplate.Annotations
	job.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(of, batchv1.SchemeGroupVersion.WithKind("CronJob"))}
	for number := 1; job.Name == "" || s.known(job); number++ {
		job.Name = fmt.Sprintf("%s-%d", name, number)
	}
	for _, other := range kept[*batchv1.Job](s) {
		if pods, _ := workload.ReplicasOf(other); !metav1.IsControlledBy(other, of) || pods == 0 {
			continue
		}
		switch of.Spec.ConcurrencyPolicy {
		case batchv1.ForbidConcurrent:
			return fmt.Errorf("%s forbids a second Job while %s has not finished", title(found), other.Name)
		case batchv1.ReplaceConcurrent:
			if err := s.removeJob(other); err != nil {
				return err
			}
		case batchv1.AllowConcurrent:
		}
	}
	return s.Apply(ctx, job)
}

// removeJob deletes a Job and its pods.
func (s *Simulation) removeJob(job *batchv1.Job) error {
	for _, pod := range s.podsOf(job.UID) {
		if err := s.dropPod(pod); err != nil {
			return err
		}
	}
	return s.remove(job)
}

// Adopt makes workloads Berth's that Options.Adopt names; their policies take over what runs of
// them already. It returns how many there are.
func (s *Simulation) Adopt() (int, error) {
	if s.options.Adopt == nil {
		return 0, nil
	}
	adopted := 0
	for _, o := range s.observe() {
		if !s.options.Adopt(o.Namespace, o.Name) {
			continue
		}
		adopted++
		for _, pod := range o.Pods {
			if slices.Contains(s.options.Schedulers, pod.Spec.SchedulerName) {
				continue
			}
			changed := pod.DeepCopy()
			changed.Spec.SchedulerName = s.options.Schedulers[0]
			if err := s.putPod(changed); err != nil {
				return 0, err
			}
		}
	}
	return adopted, s.adoptTemplates()
}

// adoptTemplates has the controllers make pods for Berth's scheduler.
func (s *Simulation) adoptTemplates() error {
	for _, i := range s.ids() {
		o := s.objects[i]
		if workload.TemplateOf(o) == nil || !s.options.Adopt(i.Namespace, s.rootName(o)) {
			continue
		}
		changed, ok := o.DeepCopyObject().(object)
		if !ok {
			continue
		}
		template := workload.TemplateOf(changed)
		if slices.Contains(s.options.Schedulers, template.Spec.SchedulerName) {
			continue
		}
		template.Spec.SchedulerName = s.options.Schedulers[0]
		if err := s.store(i, changed); err != nil {
			return err
		}
	}
	return nil
}

// rootName is the name of the workload that an object belongs to: of a ReplicaSet, that of its
// Deployment.
func (s *Simulation) rootName(o object) string {
	if ref := metav1.GetControllerOfNoCopy(o); ref != nil {
		return ref.Name
	}
	return o.GetName()
}
