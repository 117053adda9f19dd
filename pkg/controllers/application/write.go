// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package application

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// refusal says that an object cannot be written, in words for the user. It is tried again.
type refusal struct {
	what string
	err  error
}

func (r *refusal) Error() string { return fmt.Sprintf("%s: %v", r.what, r.err) }

func (r *refusal) Unwrap() error { return r.err }

// writer writes the objects of an Application.
type writer struct {
	client client.Client
	live   client.Reader
	app    *berthv1alpha1.Application
	// applied is what was applied of each object, and when.
	applied map[berthv1alpha1.ApplicationObject]application
	now     time.Time
}

// apply applies an object if it must be, or if it has changed, or if that has not been done for
// long.
func (w *writer) apply(ctx context.Context, o *object, must bool) error {
	raw, err := json.Marshal(o.Object)
	if err != nil {
		return fmt.Errorf("encoding %s: %w", o, err)
	}
	digest := sha256.Sum256(raw)
	last, known := w.applied[o.key()]
	if !must && known && last.digest == digest && w.now.Sub(last.at) < resync {
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
	return refused(o, w.client.Patch(ctx, live, client.RawPatch(types.MergePatchType, patch), client.FieldOwner(FieldOwner)))
}

// send applies an object, unless there is one of this name that belongs to somebody else.
func (w *writer) send(ctx context.Context, o *object) error {
	present, err := w.metadata(ctx, o.key())
	switch {
	case err != nil:
		return refused(o, err)
	case present == nil:
	case present.DeletionTimestamp != nil:
		return &refusal{o.String(), errors.New("one of this name is being deleted")}
	case !metav1.IsControlledBy(present, w.app) && present.Labels[berthv1alpha1.ApplicationLabel] != labelOf(w.app.Name):
		return &refusal{o.String(), fmt.Errorf(
			"one of this name is there already and not part of this Application; the label %s=%s hands it over",
			berthv1alpha1.ApplicationLabel, labelOf(w.app.Name))}
	}
	config := client.ApplyConfigurationFromUnstructured(o.Unstructured)
	return refused(o, w.client.Apply(ctx, config, client.FieldOwner(FieldOwner), client.ForceOwnership))
}

// refused turns an answer that the user can do something about into a refusal.
func refused(o *object, err error) error {
	switch {
	case err == nil, apierrors.IsConflict(err):
		return err
	case apierrors.IsInvalid(err), apierrors.IsBadRequest(err), apierrors.IsForbidden(err), apierrors.IsNotFound(err),
		apierrors.IsRequestEntityTooLargeError(err), apierrors.IsMethodNotSupported(err):
		return &refusal{o.String(), err}
	}
	return fmt.Errorf("writing %s: %w", o, err)
}

// metadata returns the metadata of an object as the API server has it, nil if there is none.
func (w *writer) metadata(ctx context.Context, key berthv1alpha1.ApplicationObject) (*metav1.PartialObjectMetadata, error) {
	found := &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: key.APIVersion, Kind: key.Kind}}
	err := w.live.Get(ctx, client.ObjectKey{Namespace: w.app.Namespace, Name: key.Name}, found)
	if apierrors.IsNotFound(err) {
		return nil, nil //nolint:nilnil // no object is no error
	}
	if err != nil {
		return nil, err
	}
	return found, nil
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
		return refused(o, err)
	}
	if present == nil || present.DeletionTimestamp != nil || !metav1.IsControlledBy(present, w.app) {
		return nil
	}
	uid := present.UID
	err = w.client.Delete(ctx, u, client.Preconditions{UID: &uid}, client.PropagationPolicy(metav1.DeletePropagationBackground))
	return refused(o, client.IgnoreNotFound(err))
}
