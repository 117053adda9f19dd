// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package subscription

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"

	appsv1 "k8s.io/api/apps/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"berth.dev/berth/pkg/controllers/accounts"
	"berth.dev/berth/pkg/placement/divide"
)

// fieldOwner is the field manager under which copies of feeds are applied.
const fieldOwner = "berth-subscription"

// copier writes the copies of one Subscription, as an account of its namespace.
type copier struct {
	*Reconciler
	*outcome
	account *accounts.Account
	// sources are the listed objects as they have been read.
	sources map[string]*unstructured.Unstructured
}

// agreed remembers of a copy how it and its source looked when they agreed, so that neither has to
// be read again while they look the same.
type agreed struct{ source, replica string }

// copyKey names a copy.
type copyKey struct {
	namespace string
	object
}

// writeCopies makes the copies what they should be, and removes those that serve no Cluster any
// more. It returns of which feeds, by index, copies are missing, and why.
func (r *Reconciler) writeCopies(ctx context.Context, o *outcome) (missing map[int]string, err error) {
	if o.input.Strategy == divide.Replication && o.decision.Problem != nil {
		return nil, nil
	}
	missing = map[int]string{}
	w := &copier{Reconciler: r, outcome: o, sources: map[string]*unstructured.Unstructured{}}
	wanted := map[object]bool{}
	var due []copied
	for _, c := range o.wantedCopies() {
		if conflict := o.copyConflict(&c); conflict != "" {
			missing[c.feed] = conflict
			continue
		}
		wanted[objectOf(&c.ref)] = true
		if !w.agrees(&c) {
			due = append(due, c)
		}
	}
	gone := w.unwanted(wanted)
	if len(due) == 0 && len(gone) == 0 {
		return missing, nil
	}
	// To ask for the account may be a request, too.
	r.requests++
	if w.account, err = r.Account(ctx, o.object.Namespace, o.object.Spec.ServiceAccountName); err != nil {
		return missing, o.note(err)
	}
	return missing, w.carryOut(ctx, due, gone, missing)
}

// carryOut brings the copies that are due, and notes which are missing and why, and removes those
// that are not wanted.
func (w *copier) carryOut(ctx context.Context, due []copied, gone map[object]client.Object, missing map[int]string) error {
	var failures []error
	for _, c := range due {
		if err := w.account.Explain(w.bring(ctx, &c)); err != nil {
			missing[c.feed] = err.Error()
			failures = append(failures, w.note(err))
		}
	}
	failures = append(failures, w.note(w.account.Explain(w.prune(ctx, gone))))
	return errors.Join(failures...)
}

// note notes that a right is missing, which is told and no failure. Other errors stay what they
// are.
func (o *outcome) note(err error) error {
	var denied *accounts.Refusal
	if !errors.As(err, &denied) {
		return err
	}
	o.denied = denied.Error()
	return nil
}

// unwanted returns the copies of the Subscription that are not wanted, but for those that go
// anyway.
func (w *copier) unwanted(wanted map[object]bool) map[object]client.Object {
	found := map[object]client.Object{}
	for key, present := range w.copies {
		if !wanted[key] && present.GetDeletionTimestamp() == nil && metav1.IsControlledBy(present, w.object) {
			found[key] = present
		}
	}
	return found
}

// prune removes copies.
func (w *copier) prune(ctx context.Context, gone map[object]client.Object) error {
	var failures []error
	for key, present := range gone {
		err := w.account.Delete(ctx, present, preconditions(present), client.PropagationPolicy(metav1.DeletePropagationBackground))
		if client.IgnoreNotFound(err) != nil {
			failures = append(failures, fmt.Errorf("deleting %s %s/%s: %w", key.kind, w.object.Namespace, key.name, err))
		}
	}
	return errors.Join(failures...)
}

// forgetCopies forgets the copies that have gone.
func (r *Reconciler) forgetCopies(outcomes []outcome) {
	present := map[copyKey]bool{}
	for i := range outcomes {
		for key := range outcomes[i].copies {
			present[copyKey{outcomes[i].object.Namespace, key}] = true
		}
	}
	maps.DeleteFunc(r.agreed, func(key copyKey, _ agreed) bool { return !present[key] })
}

// look returns how a copy and its source look in the cache, which has most of their content left
// out. There is none for a copy that does not exist.
func (w *copier) look(c *copied) (look agreed, exists bool) {
	present := w.copyAt(objectOf(&c.ref))
	if present == nil {
		return agreed{}, false
	}
	return agreed{source: w.around.lookOf(objectOf(w.feeds[c.feed].ref)), replica: summaryOf(present)}, true
}

// agrees reports whether there is nothing to do for a copy: it looks as it did when it agreed with
// its source. One that is being deleted is made anew when it is gone.
func (w *copier) agrees(c *copied) bool {
	key := objectOf(&c.ref)
	if present := w.copyAt(key); present != nil && present.GetDeletionTimestamp() != nil {
		return true
	}
	look, exists := w.look(c)
	return exists && w.agreed[copyKey{w.object.Namespace, key}] == look
}

// bring makes a copy agree with its source.
func (w *copier) bring(ctx context.Context, c *copied) error {
	key := objectOf(&c.ref)
	present := w.copyAt(key)
	source, err := w.source(ctx, c)
	if source == nil || err != nil {
		return err
	}
	live, after, err := w.update(ctx, source, c, present)
	if after == nil || err != nil {
		return err
	}
	// After a change the next event brings the next look.
	if live != nil && present != nil && live.GetResourceVersion() == present.GetResourceVersion() && same(live, after) {
		w.agreed[copyKey{w.object.Namespace, key}], _ = w.look(c)
	}
	return nil
}

// update writes a copy, and returns what it was before, nil if there was none, and what it is now.
// It returns nothing for a copy that has gone: that is made anew when the cache knows.
func (w *copier) update(
	ctx context.Context, source *unstructured.Unstructured, c *copied, present client.Object,
) (live, after *unstructured.Unstructured, err error) {
	err = retry.RetryOnConflict(retry.DefaultRetry, func() error {
		wanted := desired(source, c, w.object)
		if live, err = w.adjust(ctx, wanted, c); err != nil {
			return err
		}
		if live == nil && present != nil {
			return nil
		}
		after, err = w.write(ctx, wanted)
		return err
	})
	return live, after, err
}

// adjust takes from what is wanted of a copy what its present state decides, and returns that, nil
// if there is no copy yet. It fails if something else has the name.
func (w *copier) adjust(ctx context.Context, wanted *unstructured.Unstructured, c *copied) (*unstructured.Unstructured, error) {
	live := emptyCopy(c)
	err := w.account.Get(ctx, client.ObjectKeyFromObject(wanted), live)
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("reading %s %s/%s: %w", c.ref.Kind, w.object.Namespace, c.ref.Name, err)
	}
	if err := w.checkCopy(live, c); err != nil {
		return nil, err
	}
	wanted.SetUID(live.GetUID())
	// What an autoscaler writes at this moment must not be overwritten, nor what changes its owner.
	wanted.SetResourceVersion(live.GetResourceVersion())
	if autoscaled(live) {
		unstructured.RemoveNestedField(wanted.Object, "spec", "replicas")
	}
	return live, nil
}

// same reports whether an object was not changed by what was written.
func same(before, after *unstructured.Unstructured) bool {
	before, after = before.DeepCopy(), after.DeepCopy()
	for _, o := range []*unstructured.Unstructured{before, after} {
		o.SetManagedFields(nil)
		o.SetResourceVersion("")
	}
	return apiequality.Semantic.DeepEqual(before.Object, after.Object)
}

// write applies a copy, a new one without force: at this moment somebody else may make something of
// the name. What others have added to its spec is taken away: then it would be no copy. Labels and
// annotations of others stay.
func (w *copier) write(ctx context.Context, wanted *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	what := fmt.Sprintf("%s %s/%s", wanted.GetKind(), wanted.GetNamespace(), wanted.GetName())
	after := wanted.DeepCopy()
	options := []client.ApplyOption{client.FieldOwner(fieldOwner)}
	if wanted.GetResourceVersion() != "" {
		options = append(options, client.ForceOwnership)
	}
	if err := w.account.Apply(ctx, client.ApplyConfigurationFromUnstructured(after), options...); err != nil {
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
	if err := w.account.Patch(ctx, after, client.RawPatch(types.JSONPatchType, patch), client.FieldOwner(fieldOwner)); err != nil {
		return nil, fmt.Errorf("patching %s: %w", what, err)
	}
	return after, nil
}

// source returns the listed object as it is, nil if it has gone. The cache leaves out most of it.
func (w *copier) source(ctx context.Context, c *copied) (*unstructured.Unstructured, error) {
	key := c.ref.Kind + "/" + w.feeds[c.feed].ref.Name
	if known, read := w.sources[key]; read {
		return known, nil
	}
	source := emptyCopy(c)
	err := w.account.Get(ctx, client.ObjectKey{Namespace: w.object.Namespace, Name: w.feeds[c.feed].ref.Name}, source)
	switch {
	case apierrors.IsNotFound(err):
		source = nil
	case err != nil:
		return nil, fmt.Errorf("reading %s %s/%s: %w", c.ref.Kind, w.object.Namespace, w.feeds[c.feed].ref.Name, err)
	}
	w.sources[key] = source
	return source, nil
}

func emptyCopy(c *copied) *unstructured.Unstructured {
	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(appsv1.SchemeGroupVersion.WithKind(c.ref.Kind))
	return o
}
