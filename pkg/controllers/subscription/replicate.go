// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package subscription

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/controllers/trim"
	"berth.dev/berth/pkg/controllers/workloads"
	"berth.dev/berth/pkg/placement/divide"
	"berth.dev/berth/pkg/placement/subscribed"
)

// copied is a copy of a feed that serves a Cluster.
type copied struct {
	ref     berthv1alpha1.Feed
	source  *feed
	cluster string
}

// copyable says whether copies of the kind can run beside the object that is listed: only if Berth can tell their pods apart.
func copyable(ref *berthv1alpha1.Feed) bool {
	return groupOf(ref.APIVersion) == "apps" && (ref.Kind == "Deployment" || ref.Kind == "StatefulSet")
}

// replicate gives the listed object to one Cluster and copies of it to the others.
func (m *member) replicate(f *feed) {
	if m.problem != nil || f.wanted == nil {
		f.shares = f.before
		return
	}
	home := m.home(f)
	f.shares = map[string]int64{home: *f.wanted}
	for _, c := range m.clusters {
		if c.name == home {
			continue
		}
		if !copyable(f.ref) {
			f.remark = fmt.Sprintf("objects of kind %s are not copied: it runs in one Cluster", f.ref.Kind)
			continue
		}
		ref := *f.ref
		ref.Name = copyName(f.ref.Name, c.name)
		m.copies = append(m.copies, copied{ref: ref, source: f, cluster: c.name})
		f.shares[c.name] = *f.wanted
		f.copies++
		f.running += ready(m.known[objectOf(&ref)])
	}
}

// ready returns the number of ready pods of a workload, which may be nil.
func ready(o *workloads.Observed) (n int64) {
	if o == nil {
		return 0
	}
	for _, pod := range o.Pods {
		if workloads.Ready(pod) {
			n++
		}
	}
	return n
}

// home returns the Cluster of the listed object: the one that it has, else the first.
func (m *member) home(f *feed) string {
	if policy := m.policies[subscribed.PolicyName(m.object.Name, f.ref)]; policy != nil {
		for _, w := range policy.Spec.Placement.StaticWeightList {
			if len(policy.Spec.Placement.StaticWeightList) == 1 && len(w.ClusterNames) == 1 && m.candidate(w.ClusterNames[0]) != nil {
				return w.ClusterNames[0]
			}
		}
	}
	return m.clusters[0].name
}

// maxCopyName leaves room for what controllers add to the names of pods.
const maxCopyName = 200

// copyName returns the name of the copy of an object for a Cluster.
func copyName(name, cluster string) string {
	full := name + "-" + cluster
	if len(full) <= maxCopyName {
		return full
	}
	hash := fnv.New64a()
	hash.Write([]byte(full))
	return fmt.Sprintf("%s-%016x", full[:maxCopyName], hash.Sum64())
}

// sourceLabel returns a label value that tells of what object a copy is.
func sourceLabel(name string) string {
	if len(name) <= validation.LabelValueMaxLength {
		return name
	}
	hash := fnv.New64a()
	hash.Write([]byte(name))
	return fmt.Sprintf("%016x", hash.Sum64())
}

// existing returns the copies of a Subscription that are known to exist.
func existing(objects *workloads.Objects, s *berthv1alpha1.Subscription) map[object]client.Object {
	found := map[object]client.Object{}
	for i := range objects.Deployments {
		if o := &objects.Deployments[i]; metav1.IsControlledBy(o, s) {
			found[object{"apps", "Deployment", o.Name}] = o
		}
	}
	for i := range objects.StatefulSets {
		if o := &objects.StatefulSets[i]; metav1.IsControlledBy(o, s) {
			found[object{"apps", "StatefulSet", o.Name}] = o
		}
	}
	return found
}

// writeCopies makes the copies what they should be, and removes those that serve no Cluster any more.
func (r *Reconciler) writeCopies(ctx context.Context, m *member) error {
	if m.strategy == divide.Replication && m.problem != nil {
		return nil
	}
	wanted := map[object]bool{}
	var failures []error
	for i := range m.copies {
		c := &m.copies[i]
		key := objectOf(&c.ref)
		present := m.existing[key]
		if present == nil && m.known[key] != nil ||
			present != nil && present.GetLabels()[berthv1alpha1.CopyOfLabel] != sourceLabel(c.source.ref.Name) {
			c.source.remark = fmt.Sprintf("there is a %s %s already that is no copy of it", c.ref.Kind, c.ref.Name)
			continue
		}
		wanted[key] = true
		if err := r.writeCopy(ctx, m, c, present); err != nil {
			c.source.remark = err.Error()
			failures = append(failures, err)
		}
	}
	failures = append(failures, r.prune(ctx, m, wanted))
	return errors.Join(failures...)
}

// prune removes the copies that are not wanted.
func (r *Reconciler) prune(ctx context.Context, m *member, wanted map[object]bool) error {
	var failures []error
	for key, o := range m.existing {
		if wanted[key] || o.GetDeletionTimestamp() != nil {
			continue
		}
		uid := o.GetUID()
		err := r.Client.Delete(ctx, o, client.Preconditions{UID: &uid}, client.PropagationPolicy(metav1.DeletePropagationBackground))
		if client.IgnoreNotFound(err) != nil {
			failures = append(failures, fmt.Errorf("deleting %s %s/%s: %w", key.kind, m.object.Namespace, key.name, err))
		}
	}
	return errors.Join(failures...)
}

// writeCopy creates a copy or brings it up to date after its source has changed.
func (r *Reconciler) writeCopy(ctx context.Context, m *member, c *copied, present client.Object) error {
	generation := strconv.FormatInt(c.source.observed.Generation, 10)
	if present != nil && present.GetLabels()[berthv1alpha1.CopiedGenerationLabel] == generation {
		return nil
	}
	source := emptyOf(c.ref.Kind)
	// The cache leaves out most of an object.
	if err := r.Live.Get(ctx, client.ObjectKey{Namespace: m.object.Namespace, Name: c.source.ref.Name}, source); err != nil {
		return client.IgnoreNotFound(err)
	}
	generation = strconv.FormatInt(source.GetGeneration(), 10)
	target := emptyOf(c.ref.Kind)
	if present == nil {
		target.SetNamespace(m.object.Namespace)
		target.SetName(c.ref.Name)
		target.SetOwnerReferences([]metav1.OwnerReference{ownerOf(m.object)})
		fill(target, source, c, generation)
		if err := r.Client.Create(ctx, target); err != nil {
			return fmt.Errorf("creating %s %s/%s: %w", c.ref.Kind, m.object.Namespace, c.ref.Name, err)
		}
		return nil
	}
	if err := r.Live.Get(ctx, client.ObjectKeyFromObject(present), target); err != nil {
		return client.IgnoreNotFound(err)
	}
	before, ok := target.DeepCopyObject().(client.Object)
	if !ok {
		return nil
	}
	fill(target, source, c, generation)
	if err := r.Client.Patch(ctx, target, client.MergeFrom(before)); err != nil {
		return fmt.Errorf("patching %s %s/%s: %w", c.ref.Kind, m.object.Namespace, c.ref.Name, err)
	}
	return nil
}

func emptyOf(kind string) client.Object {
	if kind == "StatefulSet" {
		return &appsv1.StatefulSet{}
	}
	return &appsv1.Deployment{}
}

// fill makes an object a copy of its source. Its pods have a label more, by which the copies are told apart.
func fill(target, source client.Object, c *copied, generation string) {
	labels := maps.Clone(source.GetLabels())
	if labels == nil {
		labels = map[string]string{}
	}
	labels[berthv1alpha1.CopyOfLabel], labels[berthv1alpha1.CopyClusterLabel] = sourceLabel(source.GetName()), c.cluster
	labels[berthv1alpha1.CopiedGenerationLabel] = generation
	target.SetLabels(labels)
	annotations := maps.Clone(source.GetAnnotations())
	maps.DeleteFunc(annotations, func(key, _ string) bool {
		return slices.Contains([]string{trim.RevisionAnnotation, corev1.LastAppliedConfigAnnotation}, key)
	})
	target.SetAnnotations(annotations)
	switch of := source.(type) {
	case *appsv1.Deployment:
		if d, ok := target.(*appsv1.Deployment); ok {
			d.Spec = *of.Spec.DeepCopy()
			mark(d.Spec.Selector, &d.Spec.Template, c.cluster)
		}
	case *appsv1.StatefulSet:
		if set, ok := target.(*appsv1.StatefulSet); ok {
			set.Spec = *of.Spec.DeepCopy()
			mark(set.Spec.Selector, &set.Spec.Template, c.cluster)
		}
	}
}

func mark(selector *metav1.LabelSelector, template *corev1.PodTemplateSpec, cluster string) {
	for _, labels := range []*map[string]string{&selector.MatchLabels, &template.Labels} {
		if *labels == nil {
			*labels = map[string]string{}
		}
		(*labels)[berthv1alpha1.CopyClusterLabel] = cluster
	}
}
