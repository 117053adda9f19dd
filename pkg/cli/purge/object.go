// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package purge

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/cli/internal/everykind"
)

// object is what purging has to know of an object of Berth's.
type object struct {
	kind            *everykind.Access
	namespace, name string
	uid             types.UID
	// finalizers are all that it has; those of Berth begin with berth.dev/.
	finalizers []string
}

// objectsOf returns the objects of a list.
func objectsOf(k *everykind.Access, read runtime.Object) ([]object, error) {
	var found []object
	err := meta.EachListItem(read, func(item runtime.Object) error {
		m, err := meta.Accessor(item)
		if err != nil {
			return err
		}
		found = append(found, object{kind: k, namespace: m.GetNamespace(), name: m.GetName(), uid: m.GetUID(), finalizers: m.GetFinalizers()})
		return nil
	})
	return found, err
}

// foreign returns the finalizers that are not Berth's, which stay.
func (o *object) foreign() []string {
	kept := []string{}
	for _, finalizer := range o.finalizers {
		if !strings.HasPrefix(finalizer, berthv1alpha1.GroupName+"/") {
			kept = append(kept, finalizer)
		}
	}
	return kept
}

// held reports whether finalizers of others than Berth and Kubernetes hold the object. Nobody knows
// when they will let go of it.
func (o *object) held() bool {
	return slices.ContainsFunc(o.foreign(), func(finalizer string) bool {
		return finalizer != metav1.FinalizerOrphanDependents && finalizer != metav1.FinalizerDeleteDependents
	})
}

// String names the object.
func (o *object) String() string {
	if o.namespace == "" {
		return o.kind.Name + " " + o.name
	}
	return o.kind.Name + " " + o.namespace + "/" + o.name
}
