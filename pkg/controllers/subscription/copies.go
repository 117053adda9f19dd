// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package subscription

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"

	"berth.dev/berth/pkg/model/workload"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/controllers/state"
	"berth.dev/berth/pkg/placement/divide"
)

// FieldOwner is the field manager under which copies of feeds are applied.
const FieldOwner = "berth-subscription"

// copier writes the copies of one Subscription.
type copier struct {
	*Reconciler
	m *member
	// sources are the listed objects as they have been read.
	sources map[string]*unstructured.Unstructured
}

// agreed remembers of a copy how it and its source looked when they agreed, so that neither has to be read again while they look
// the same.
type agreed struct{ source, replica string }

// copyKey names a copy.
type copyKey struct {
	namespace string
	object
}

// writeCopies makes the copies what they should be, and removes those that serve no Cluster any more.
func (r *Reconciler) writeCopies(ctx context.Context, m *member) error {
	if m.strategy == divide.Replication && m.problem != nil {
		return nil
	}
	w := &copier{Reconciler: r, m: m, sources: map[string]*unstructured.Unstructured{}}
	wanted := map[object]bool{}
	var failures []error
	for i := range m.copies {
		c := &m.copies[i]
		key := objectOf(&c.ref)
		present := m.existing[key]
		if present == nil && m.known[key] != nil || present != nil && clusterOf(present) != c.cluster {
			c.source.missing = fmt.Sprintf("there is a %s %s already that is no copy of it", c.ref.Kind, c.ref.Name)
			continue
		}
		wanted[key] = true
		if err := w.bring(ctx, c, present); err != nil {
			c.source.missing = err.Error()
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
		if wanted[key] || o.GetDeletionTimestamp() != nil || !metav1.IsControlledBy(o, m.object) {
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

// forgetCopies forgets the copies that have gone.
func (p *pass) forgetCopies() {
	present := map[copyKey]bool{}
	for _, m := range p.members {
		for key := range m.existing {
			present[copyKey{m.object.Namespace, key}] = true
		}
	}
	maps.DeleteFunc(p.copies, func(key copyKey, _ agreed) bool { return !present[key] })
}

// bring makes a copy agree with its source. The present one may be nil; it is as the cache has it, without most of its content.
func (w *copier) bring(ctx context.Context, c *copied, present client.Object) error {
	if present != nil && present.GetDeletionTimestamp() != nil {
		return nil // It is made anew when it is gone.
	}
	var look agreed
	key := copyKey{w.m.object.Namespace, objectOf(&c.ref)}
	if present != nil {
		look = agreed{source: c.source.look, replica: lookOf(present)}
		if w.copies[key] == look {
			return nil
		}
	}
	source, err := w.source(ctx, c)
	if source == nil || err != nil {
		return err
	}
	live, after, err := w.update(ctx, source, c, present)
	if after == nil || err != nil {
		return err
	}
	// After a change the next event brings the next look.
	if live != nil && live.GetResourceVersion() == present.GetResourceVersion() && same(live, after) {
		w.copies[key] = look
	}
	return nil
}

// update writes a copy, and returns what it was before, nil if there was none, and what it is now. It returns nothing for a copy that
// has gone: that is made anew when the cache knows.
func (w *copier) update(
	ctx context.Context, source *unstructured.Unstructured, c *copied, present client.Object,
) (live, after *unstructured.Unstructured, err error) {
	err = retry.RetryOnConflict(retry.DefaultRetry, func() error {
		wanted := desired(source, c, w.m.object)
		if live, err = w.adjust(ctx, wanted, present); err != nil {
			return client.IgnoreNotFound(err)
		}
		after, err = w.write(ctx, wanted)
		return err
	})
	return live, after, err
}

// adjust takes from what is wanted of a copy what its present state decides, and returns that, nil if there is no copy yet.
func (w *copier) adjust(ctx context.Context, wanted *unstructured.Unstructured, present client.Object) (*unstructured.Unstructured, error) {
	if present == nil {
		return nil, nil
	}
	live := &unstructured.Unstructured{}
	live.SetGroupVersionKind(wanted.GroupVersionKind())
	if err := w.Live.Get(ctx, client.ObjectKeyFromObject(present), live); err != nil {
		return nil, err
	}
	wanted.SetUID(live.GetUID())
	// What an autoscaler writes at this moment must not be overwritten.
	wanted.SetResourceVersion(live.GetResourceVersion())
	if autoscaled(live) {
		unstructured.RemoveNestedField(wanted.Object, "spec", "replicas")
	}
	return live, nil
}

// same says whether an object was not changed by what was written.
func same(before, after *unstructured.Unstructured) bool {
	before, after = before.DeepCopy(), after.DeepCopy()
	for _, o := range []*unstructured.Unstructured{before, after} {
		o.SetManagedFields(nil)
		o.SetResourceVersion("")
	}
	return apiequality.Semantic.DeepEqual(before.Object, after.Object)
}

// write applies a copy. What others have added to its spec is taken away: then it would be no copy. Labels and annotations of
// others stay.
func (w *copier) write(ctx context.Context, wanted *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	what := fmt.Sprintf("%s %s/%s", wanted.GetKind(), wanted.GetNamespace(), wanted.GetName())
	after := wanted.DeepCopy()
	err := w.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(after), client.FieldOwner(FieldOwner), client.ForceOwnership)
	if err != nil {
		return nil, fmt.Errorf("applying %s: %w", what, err)
	}
	spec, _, _ := unstructured.NestedMap(wanted.Object, "spec")
	present, _, _ := unstructured.NestedMap(after.Object, "spec")
	if _, ours := spec["replicas"]; !ours {
		spec["replicas"] = present["replicas"]
	}
	if apiequality.Semantic.DeepEqual(present, spec) {
		return after, nil
	}
	patch, err := json.Marshal([]map[string]any{
		{"op": "test", "path": "/metadata/resourceVersion", "value": after.GetResourceVersion()},
		{"op": "replace", "path": "/spec", "value": spec},
	})
	if err != nil {
		return nil, fmt.Errorf("encoding %s: %w", what, err)
	}
	if err := w.Client.Patch(ctx, after, client.RawPatch(types.JSONPatchType, patch), client.FieldOwner(FieldOwner)); err != nil {
		return nil, fmt.Errorf("patching %s: %w", what, err)
	}
	return after, nil
}

// source returns the listed object as it is, nil if it has gone. The cache leaves out most of it.
func (w *copier) source(ctx context.Context, c *copied) (*unstructured.Unstructured, error) {
	key := c.ref.Kind + "/" + c.source.ref.Name
	if known, read := w.sources[key]; read {
		return known, nil
	}
	source := emptyCopy(c)
	err := w.Live.Get(ctx, client.ObjectKey{Namespace: w.m.object.Namespace, Name: c.source.ref.Name}, source)
	switch {
	case apierrors.IsNotFound(err):
		source = nil
	case err != nil:
		return nil, fmt.Errorf("reading %s %s/%s: %w", c.ref.Kind, w.m.object.Namespace, c.source.ref.Name, err)
	}
	w.sources[key] = source
	return source, nil
}

func emptyCopy(c *copied) *unstructured.Unstructured {
	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(appsv1.SchemeGroupVersion.WithKind(c.ref.Kind))
	return o
}

// notCopied are the annotations and labels that tell of the source and of nothing else.
var notCopied = []string{workload.RevisionAnnotation, corev1.LastAppliedConfigAnnotation, berthv1alpha1.ApplicationLabel}

// desired returns the copy of a source. Its pods have a label more, by which the copies are told apart.
func desired(source *unstructured.Unstructured, c *copied, owner *berthv1alpha1.Subscription) *unstructured.Unstructured {
	o := emptyCopy(c)
	o.SetNamespace(owner.Namespace)
	o.SetName(c.ref.Name)
	o.SetOwnerReferences([]metav1.OwnerReference{ownerOf(owner)})
	labels, annotations := source.GetLabels(), source.GetAnnotations()
	if labels == nil {
		labels = map[string]string{}
	}
	for _, key := range notCopied {
		delete(labels, key)
		delete(annotations, key)
	}
	labels[berthv1alpha1.CopyOfLabel], labels[berthv1alpha1.CopyClusterLabel] = sourceLabel(source.GetName()), c.cluster
	o.SetLabels(labels)
	if len(annotations) > 0 {
		o.SetAnnotations(annotations)
	}
	spec, _, _ := unstructured.NestedMap(source.Object, "spec")
	o.Object["spec"] = spec
	for _, path := range [][]string{{"spec", "selector", "matchLabels"}, {"spec", "template", "metadata", "labels"}} {
		// It fails only for what the API server refuses to have.
		_ = unstructured.SetNestedField(o.Object, c.cluster, append(path, berthv1alpha1.CopyClusterLabel)...)
	}
	return o
}

// scaleSubresource is where autoscalers write.
const scaleSubresource = "scale"

// autoscaled says whether somebody else looks after the number of replicas of a copy: whoever wrote it last through the scale
// subresource, as a HorizontalPodAutoscaler does. People scale by hand with kubectl; what they write is put right.
func autoscaled(o *unstructured.Unstructured) bool {
	for _, entry := range o.GetManagedFields() {
		if entry.Subresource != scaleSubresource || strings.HasPrefix(entry.Manager, "kubectl") || entry.FieldsV1 == nil {
			continue
		}
		var fields struct {
			Spec map[string]any `json:"f:spec"`
		}
		if err := json.Unmarshal(entry.FieldsV1.Raw, &fields); err != nil {
			continue
		}
		if _, owns := fields.Spec["f:replicas"]; owns {
			return true
		}
	}
	return false
}

// lookOf tells what can be seen of an object in the cache. It changes with everything that matters to copies.
func lookOf(o metav1.Object) string {
	labels := maps.Clone(o.GetLabels())
	delete(labels, berthv1alpha1.ApplicationLabel)
	var controller types.UID
	if owner := metav1.GetControllerOfNoCopy(o); owner != nil {
		controller = owner.UID
	}
	return fmt.Sprint(o.GetUID(), " ", o.GetGeneration(), " ", labels, " ", o.GetAnnotations()[state.AnnotationsDigest], " ", controller)
}
