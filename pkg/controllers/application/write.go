// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package application

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/controllers/accounts"
	"berth.dev/berth/pkg/model/workload"
)

// refusal says that an object cannot be written, in words for the user. It is tried again.
type refusal struct {
	what string
	err  error
	// foreign reports whether the reason is that the object belongs to somebody else.
	foreign bool
}

func (r *refusal) Error() string { return fmt.Sprintf("%s: %v", r.what, r.err) }

func (r *refusal) Unwrap() error { return r.err }

// writer writes the objects of an Application: the policies as Berth, everything else as the
// account of the namespace.
type writer struct {
	client  client.Client
	live    client.Reader
	account *accounts.Account
	app     *berthv1alpha1.Application
	// applied is what was applied of each object, and when.
	applied map[berthv1alpha1.ApplicationObject]application
	now     time.Time
	// keeper knows which objects somebody else has changed, and again asks for another pass.
	keeper *keeper
	again  func(time.Duration)
	// watches are the kinds that are watched.
	watches *watches
	// contested are the objects that somebody else changes again and again, in words.
	contested []string
	// scaled are the workloads whose number of replicas is set while they move, by policy; nil if none
	// moves.
	scaled map[string]*scaled
}

// apply applies an object if it must be, or if it has changed, or if that has not been done for
// long.
func (w *writer) apply(ctx context.Context, o *object, must bool) error {
	raw, err := json.Marshal(o.Object)
	if err != nil {
		return fmt.Errorf("encoding %s: %w", o, err)
	}
	digest := sha256.Sum256(raw)
	restores, after := w.keeper.due(objectID{w.app.Namespace, o.key()}, w.now)
	if after > 0 {
		w.again(after)
	}
	if why, left := w.keeper.contested(objectID{w.app.Namespace, o.key()}, w.now); why != "" {
		w.contested = append(w.contested, o.String()+": "+why)
		w.again(left)
	}
	must = must || restores
	last, known := w.applied[o.key()]
	if !must && known && last.digest == digest && w.now.Sub(last.at) < w.watches.resync(o.GroupVersionKind()) {
		return nil
	}
	if err := w.send(ctx, o); err != nil {
		delete(w.applied, o.key())
		return err
	}
	w.applied[o.key()] = application{digest, w.now}
	return nil
}

// scale changes the number of replicas of an object whose manifest leaves that to others.
func (w *writer) scale(ctx context.Context, o *object, live client.Object, replicas int64) error {
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": live.GetUID(), "resourceVersion": live.GetResourceVersion()},
		"spec":     map[string]any{"replicas": replicas},
	})
	if err != nil {
		return fmt.Errorf("encoding the replicas of %s: %w", o, err)
	}
	was, read := workload.ReplicasOf(live)
	err = w.account.Patch(ctx, live, client.RawPatch(types.MergePatchType, patch), client.FieldOwner(fieldOwner))
	if err == nil && read && w.scaled != nil {
		if w.scaled[o.policy] == nil {
			w.scaled[o.policy] = &scaled{}
		}
		w.scaled[o.policy].set(int64(was), replicas)
	}
	return w.refused(o, err)
}

// send applies an object, unless there is one of this name that belongs to somebody else. What
// others make or hand over to somebody else at this moment is left alone too: a new object is
// applied without force, and one that is there only as it was when it was claimed.
func (w *writer) send(ctx context.Context, o *object) error {
	if err := w.claim(ctx, o); err != nil {
		return err
	}
	options := []client.ApplyOption{client.FieldOwner(fieldOwner)}
	if o.present != nil {
		options = append(options, client.ForceOwnership)
	}
	bound := o.bound().Unstructured
	if err := w.refused(o, w.as(o.key()).Apply(ctx, client.ApplyConfigurationFromUnstructured(bound), options...)); err != nil {
		return err
	}
	w.keeper.note(objectID{w.app.Namespace, o.key()}, client.ObjectKeyFromObject(w.app), bound)
	return nil
}

// as returns who writes an object.
func (w *writer) as(key berthv1alpha1.ApplicationObject) client.Client {
	if isOwn(key) {
		return w.client
	}
	return w.account
}

// isOwn reports whether an object is one of Berth, which a manifest cannot be.
func isOwn(key berthv1alpha1.ApplicationObject) bool {
	return schema.FromAPIVersionAndKind(key.APIVersion, key.Kind).Group == berthv1alpha1.GroupName
}

// refused turns an answer that the user can do something about into a refusal.
func (w *writer) refused(o *object, err error) error {
	err = w.account.Explain(err)
	var denied *accounts.Refusal
	switch {
	case errors.As(err, &denied):
		return &refusal{what: o.String(), err: denied}
	case err == nil, apierrors.IsConflict(err):
		return err
	case apierrors.IsInvalid(err), apierrors.IsBadRequest(err), apierrors.IsForbidden(err), apierrors.IsNotFound(err),
		apierrors.IsRequestEntityTooLargeError(err), apierrors.IsMethodNotSupported(err), unfit(err):
		return &refusal{what: o.String(), err: err}
	}
	return fmt.Errorf("writing %s: %w", o, err)
}

// unfit reports whether an object is refused because its fields are not those of its kind, or
// because a webhook that has to be asked does not answer. The API server calls both errors of its
// own.
func unfit(err error) bool {
	status := apierrors.APIStatus(nil)
	return errors.As(err, &status) && status.Status().Code == http.StatusInternalServerError &&
		(strings.Contains(err.Error(), "failed to create typed patch object") || strings.Contains(err.Error(), "failed calling webhook"))
}

// prune deletes the objects and policies that are not in the spec any more.
func (w *writer) prune(ctx context.Context, objects []*object, policies map[string]*berthv1alpha1.PropagationPolicy) error {
	wanted := map[string]bool{}
	for _, o := range objects {
		wanted[identity(o.key())] = true
		wanted[identity(policyKey(o.policy))] = true
	}
	keys := slices.Clone(w.app.Status.Objects)
	for name := range policies {
		keys = append(keys, policyKey(name))
	}
	for _, key := range keys {
		if wanted[identity(key)] {
			continue
		}
		if err := w.remove(ctx, key); err != nil {
			return err
		}
		delete(w.applied, key)
	}
	return nil
}

// identity is the same for all versions of an API.
func identity(key berthv1alpha1.ApplicationObject) string {
	u := unstructured.Unstructured{}
	u.SetAPIVersion(key.APIVersion)
	u.SetKind(key.Kind)
	return u.GroupVersionKind().GroupKind().String() + "/" + key.Name
}

// remove deletes an object if it belongs to the Application.
func (w *writer) remove(ctx context.Context, key berthv1alpha1.ApplicationObject) error {
	u := &unstructured.Unstructured{}
	u.SetAPIVersion(key.APIVersion)
	u.SetKind(key.Kind)
	u.SetNamespace(w.app.Namespace)
	u.SetName(key.Name)
	o := &object{Unstructured: u}
	present, err := w.metadata(ctx, key)
	if err != nil {
		return w.refused(o, err)
	}
	if present == nil || present.DeletionTimestamp != nil || !metav1.IsControlledBy(present, w.app) {
		return nil
	}
	err = w.as(key).Delete(ctx, u, preconditions(present), client.PropagationPolicy(metav1.DeletePropagationBackground))
	return w.refused(o, client.IgnoreNotFound(err))
}
