// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Objects are the objects of one namespace, or of several. They are only read.
type Objects struct {
	// Owners are objects of the kinds of the table, in any order.
	Owners []Object
	// Pods are the pods.
	Pods []corev1.Pod
	// Further looks up owners of kinds that are not in the table; nil for none.
	Further FurtherSource
}

// Add adds the objects of a list to the owners, without copying them. It fails for what is no list
// of objects of a kind of the table.
func (o *Objects) Add(list runtime.Object) error {
	return meta.EachListItem(list, func(item runtime.Object) error {
		owner, ok := item.(Object)
		if !ok || KindOf(owner) == nil {
			return fmt.Errorf("a %T owns no pods that Berth places", item)
		}
		o.Owners = append(o.Owners, owner)
		return nil
	})
}

// Source returns a Source of the objects as they are now.
func (o *Objects) Source() Source {
	known := &index{FurtherSource: o.Further, objects: make(map[key]metav1.Object, len(o.Owners))}
	if o.Further == nil {
		known.FurtherSource = NotRead{}
	}
	for _, owner := range o.Owners {
		known.objects[key{KindOf(owner), owner.GetNamespace(), owner.GetName()}] = owner
	}
	return known
}

// index finds objects by their names.
type index struct {
	FurtherSource
	objects map[key]metav1.Object
}

type key struct {
	kind            *Kind
	namespace, name string
}

// Owner returns an object by its name, an error that says NotFound if there is none.
func (x *index) Owner(kind *Kind, namespace, name string) (metav1.Object, error) {
	if object, found := x.objects[key{kind, namespace, name}]; found {
		return object, nil
	}
	return nil, apierrors.NewNotFound(kind.GroupVersionResource().GroupResource(), name)
}
