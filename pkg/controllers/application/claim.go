// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package application

import (
	"context"
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// claim returns a refusal unless there is no object of this name, or one that belongs to the
// Application. It remembers the object as it was found: what is written then is bound to that.
func (w *writer) claim(ctx context.Context, o *object) error {
	if o.claimed {
		return nil
	}
	present, err := w.metadata(ctx, o.key())
	if err != nil {
		return w.refused(o, err)
	}
	if present != nil {
		if present.DeletionTimestamp != nil {
			return &refusal{what: o.String(), err: errors.New("one of this name is being deleted")}
		}
		conflict, err := w.conflict(ctx, present)
		if err != nil {
			return err
		}
		if conflict != "" {
			return &refusal{what: o.String(), err: errors.New("one of this name is there already" + conflict), foreign: true}
		}
	}
	o.present, o.claimed = present, true
	return nil
}

// claimPods does the same for an object with pods before its policy is written, since a policy
// rules the pods of whatever has the name. It asks the API server only if the cache leaves a doubt.
// If the object has got another owner, the policy goes.
func (w *writer) claimPods(ctx context.Context, o *object, live client.Object, missing bool, policy *berthv1alpha1.PropagationPolicy) error {
	if live != nil && w.owns(live) || live == nil && !missing && policy != nil {
		return nil
	}
	err := w.claim(ctx, o)
	var conflict *refusal
	if policy != nil && errors.As(err, &conflict) && conflict.foreign {
		return errors.Join(err, w.remove(ctx, policyKey(policy.Name)))
	}
	return err
}

// owns reports whether an object belongs to the Application: as its controller, as that of an
// Application of this name that was there before, or by the label if it has no controller.
func (w *writer) owns(o metav1.Object) bool {
	if controller := metav1.GetControllerOfNoCopy(o); controller != nil {
		return controller.UID == w.app.UID || isApplication(controller) && controller.Name == w.app.Name
	}
	return o.GetLabels()[berthv1alpha1.ApplicationLabel] == labelOf(w.app.Name)
}

func isApplication(owner *metav1.OwnerReference) bool {
	return owner.Kind == "Application" && schema.FromAPIVersionAndKind(owner.APIVersion, "").Group == berthv1alpha1.GroupName
}

// conflict names the other owner of an object and says how to hand it over. It is empty if the
// Application may write the object: its own, and that of a younger Application.
func (w *writer) conflict(ctx context.Context, present *metav1.PartialObjectMetadata) (string, error) {
	if w.owns(present) {
		return "", nil
	}
	label := berthv1alpha1.ApplicationLabel + "=" + labelOf(w.app.Name)
	controller := metav1.GetControllerOfNoCopy(present)
	if controller == nil {
		return fmt.Sprintf("%s; the label %s on it hands it over to this Application", writtenBy(present), label), nil
	}
	owner := " and belongs to " + controller.Kind + " " + controller.Name
	if isApplication(controller) {
		other := &berthv1alpha1.Application{}
		err := w.client.Get(ctx, client.ObjectKey{Namespace: w.app.Namespace, Name: controller.Name}, other)
		switch err = client.IgnoreNotFound(err); {
		case err != nil:
			return "", fmt.Errorf("reading application %s/%s: %w", w.app.Namespace, controller.Name, err)
		case other.UID != controller.UID:
			// It is gone, or is another one of its name.
		case !w.app.CreationTimestamp.Before(&other.CreationTimestamp):
			// Times of creation have whole seconds: of two of the same second, the one that has the object
			// counts as older, so that an object never changes hands between two that run.
			return owner + ", which is older; take it out of the manifests of that one", nil
		default:
			return "", nil
		}
	}
	return fmt.Sprintf("%s; remove that owner reference and set the label %s to hand it over to this Application", owner, label), nil
}

// writtenBy names those who wrote an object, as far as the API server has recorded that.
func writtenBy(o metav1.Object) string {
	var managers []string
	for _, entry := range o.GetManagedFields() {
		if entry.Subresource == "" && entry.Manager != "" {
			managers = append(managers, entry.Manager)
		}
	}
	if len(managers) == 0 {
		return " and not part of this Application"
	}
	return ", written by " + strings.Join(managers, ", ")
}

// bound returns the object such that the API server takes it only for what was found when it was
// claimed.
func (o *object) bound() *object {
	if o.present == nil {
		return o
	}
	bound := *o
	bound.Unstructured = o.DeepCopy()
	bound.SetUID(o.present.UID)
	bound.SetResourceVersion(o.present.ResourceVersion)
	return &bound
}

// preconditions let a deletion succeed only for an object as it was read.
func preconditions(present *metav1.PartialObjectMetadata) client.Preconditions {
	return client.Preconditions{UID: &present.UID, ResourceVersion: &present.ResourceVersion}
}

// metadata returns the metadata of an object as the API server has it, nil if there is none.
func (w *writer) metadata(ctx context.Context, key berthv1alpha1.ApplicationObject) (*metav1.PartialObjectMetadata, error) {
	found := &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: key.APIVersion, Kind: key.Kind}}
	reader := w.live
	if !isOwn(key) {
		reader = w.account
	}
	err := reader.Get(ctx, client.ObjectKey{Namespace: w.app.Namespace, Name: key.Name}, found)
	switch {
	case apierrors.IsNotFound(err), apimeta.IsNoMatchError(err): // With a kind go all of its objects.
		return nil, nil //nolint:nilnil // no object is no error
	case err != nil:
		return nil, err
	}
	return found, nil
}
