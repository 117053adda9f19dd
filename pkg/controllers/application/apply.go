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

// list notes in the status what there is going to be, before it is made: what is made and not noted could not be deleted.
func (p *pass) list(objects []*object) {
	for _, o := range objects {
		if !slices.Contains(p.app.Status.Objects, o.key()) {
			p.app.Status.Objects = append(p.app.Status.Objects, o.key())
		}
	}
}

// carryOut brings all objects up to date, and deletes those that are not in the spec any more.
func (p *pass) carryOut(ctx context.Context, objects []*object) error {
	errs := make([]error, 0, len(objects))
	for _, o := range objects {
		errs = append(errs, p.bring(ctx, o))
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	return p.prune(ctx, objects)
}

// bring brings one object up to date.
func (p *pass) bring(ctx context.Context, o *object) error {
	live, missing, err := p.live(ctx, o)
	if err != nil {
		return err
	}
	differs := false
	if o.policy != "" {
		if differs, err = p.placePods(ctx, o, live); err != nil {
			return err
		}
	}
	return p.apply(ctx, o, missing || differs)
}

// placePods makes the next step of an object with pods: its policy, and how many replicas it has. It says whether that number
// is another one than it should be.
func (p *pass) placePods(ctx context.Context, o *object, live client.Object) (differs bool, err error) {
	to, moved := p.place(o, live), p.moved(o)
	if to.moving {
		p.again(stepPause)
	}
	if err := p.writePolicy(ctx, o, to); err != nil || !o.scales {
		return false, err
	}
	differs = live != nil && replicasOf(live, to.replicas) != to.replicas
	if o.given {
		if err := unstructured.SetNestedField(o.Object, to.replicas, "spec", "replicas"); err != nil {
			return false, fmt.Errorf("setting the replicas of %s: %w", o, err)
		}
		return differs, nil
	}
	if differs && (to.moving || moved) {
		return false, p.scale(ctx, o, live, to.replicas)
	}
	return false, nil // Whoever scales it may.
}

// apply applies an object if it must be, or if it has changed, or if that has not been done for long.
func (p *pass) apply(ctx context.Context, o *object, must bool) error {
	digest, err := digestOf(o)
	if err != nil {
		return err
	}
	last, known := p.applied[o.key()]
	if !must && known && last.digest == digest && p.now.Sub(last.at) < resync {
		return nil
	}
	if err := p.send(ctx, o); err != nil {
		delete(p.applied, o.key())
		return err
	}
	p.applied[o.key()] = application{digest, p.now}
	return nil
}

// moved says whether the policy of an object still is that of a migration, which ends with this pass.
func (p *pass) moved(o *object) bool {
	policy := p.policies[o.policy]
	return policy != nil && len(clustersOf(policy)) > 1
}

// scale changes the number of replicas of an object whose manifest leaves that to others.
func (p *pass) scale(ctx context.Context, o *object, live client.Object, replicas int64) error {
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": live.GetUID(), "resourceVersion": live.GetResourceVersion()},
		"spec":     map[string]any{"replicas": replicas},
	})
	if err != nil {
		return fmt.Errorf("encoding the replicas of %s: %w", o, err)
	}
	return refused(o, p.Client.Patch(ctx, live, client.RawPatch(types.MergePatchType, patch), client.FieldOwner(FieldOwner)))
}

func digestOf(o *object) ([32]byte, error) {
	raw, err := json.Marshal(o.Object)
	if err != nil {
		return [32]byte{}, fmt.Errorf("encoding %s: %w", o, err)
	}
	return sha256.Sum256(raw), nil
}

// send applies an object, unless there is one of this name that belongs to somebody else.
func (p *pass) send(ctx context.Context, o *object) error {
	present, err := p.metadata(ctx, o.key())
	switch {
	case err != nil:
		return refused(o, err)
	case present == nil:
	case present.DeletionTimestamp != nil:
		return &refusal{o.String(), errors.New("one of this name is being deleted")}
	case !metav1.IsControlledBy(present, p.app) && present.Labels[berthv1alpha1.ApplicationLabel] != labelOf(p.app.Name):
		return &refusal{o.String(), fmt.Errorf("one of this name is there already and not part of this Application; the label %s=%s hands it over",
			berthv1alpha1.ApplicationLabel, labelOf(p.app.Name))}
	}
	config := client.ApplyConfigurationFromUnstructured(o.Unstructured)
	return refused(o, p.Client.Apply(ctx, config, client.FieldOwner(FieldOwner), client.ForceOwnership))
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
func (p *pass) metadata(ctx context.Context, key berthv1alpha1.ApplicationObject) (*metav1.PartialObjectMetadata, error) {
	found := &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: key.APIVersion, Kind: key.Kind}}
	err := p.Live.Get(ctx, client.ObjectKey{Namespace: p.app.Namespace, Name: key.Name}, found)
	if apierrors.IsNotFound(err) {
		return nil, nil //nolint:nilnil // no object is no error
	}
	if err != nil {
		return nil, err
	}
	return found, nil
}

// prune deletes what is not in the spec any more.
func (p *pass) prune(ctx context.Context, objects []*object) error {
	wanted, policies := map[string]bool{}, map[string]bool{}
	for _, o := range objects {
		wanted[identity(o.key())] = true
		policies[o.policy] = true
	}
	var kept []berthv1alpha1.ApplicationObject
	for _, key := range p.app.Status.Objects {
		if wanted[identity(key)] {
			continue
		}
		if err := p.remove(ctx, key); err != nil {
			return err
		}
		delete(p.applied, key)
	}
	for _, o := range objects {
		kept = append(kept, o.key())
	}
	for name := range p.policies {
		if policies[name] {
			continue
		}
		key := berthv1alpha1.ApplicationObject{
			APIVersion: berthv1alpha1.SchemeGroupVersion.String(), Kind: "PropagationPolicy", Name: name,
		}
		if err := p.remove(ctx, key); err != nil {
			return err
		}
	}
	p.app.Status.Objects = kept
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
func (p *pass) remove(ctx context.Context, key berthv1alpha1.ApplicationObject) error {
	u := &unstructured.Unstructured{}
	u.SetAPIVersion(key.APIVersion)
	u.SetKind(key.Kind)
	u.SetNamespace(p.app.Namespace)
	u.SetName(key.Name)
	o := &object{Unstructured: u}
	present, err := p.metadata(ctx, key)
	if err != nil {
		return refused(o, err)
	}
	if present == nil || present.DeletionTimestamp != nil || !metav1.IsControlledBy(present, p.app) {
		return nil
	}
	uid := present.UID
	err = p.Client.Delete(ctx, u, client.Preconditions{UID: &uid}, client.PropagationPolicy(metav1.DeletePropagationBackground))
	return refused(o, client.IgnoreNotFound(err))
}
