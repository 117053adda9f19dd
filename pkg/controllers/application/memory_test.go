// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package application_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/controllers/application"
)

// memory is as much of an API server, and of a cache that never lags behind, as the controller of
// Applications needs. It is a thousand times as fast as the fake client. What it does not implement
// panics.
type memory struct {
	client.Client
	objects map[string]map[client.ObjectKey]client.Object
	// pods are the names of the pods by the policy that they wait for or were placed by.
	pods map[client.ObjectKey]map[client.ObjectKey]*corev1.Pod
	// applications are the names of the Applications in the order in which they are listed.
	applications []client.ObjectKey
	version      int64
	writes       int
	// changes are the writes of anything but a status.
	changes int
	// fails makes a write fail, before or after it is done; nil for never. It is told what is written.
	fails func(what string) (before, after bool)
	// meanwhile is called before each write; nil for nobody.
	meanwhile func()
	// wrote is called after each write; nil for nobody.
	wrote func(object client.Object)
}

var errLost, errChanged = errors.New("the connection was lost"), errors.New("it has changed")

func newMemory() *memory {
	return &memory{objects: map[string]map[client.ObjectKey]client.Object{}, pods: map[client.ObjectKey]map[client.ObjectKey]*corev1.Pod{}}
}

// kindOf returns the kind of an object.
func kindOf(object client.Object) string {
	if partial, ok := object.(*metav1.PartialObjectMetadata); ok {
		return partial.Kind
	}
	return reflect.TypeOf(object).Elem().Name()
}

// put stores an object, and gives it another version.
func (m *memory) put(object client.Object) {
	kind, key := kindOf(object), client.ObjectKeyFromObject(object)
	if m.objects[kind] == nil {
		m.objects[kind] = map[client.ObjectKey]client.Object{}
	}
	m.version++
	object.SetResourceVersion(strconv.FormatInt(m.version, 10))
	if object.GetUID() == "" {
		object.SetUID(types.UID(kind + " " + key.String()))
	}
	if pod, ok := object.(*corev1.Pod); ok {
		m.unindex(key)
		of := client.ObjectKey{Namespace: pod.Namespace, Name: application.PolicyOf(pod)}
		if m.pods[of] == nil {
			m.pods[of] = map[client.ObjectKey]*corev1.Pod{}
		}
		m.pods[of][key] = pod
	}
	if i, found := slices.BinarySearchFunc(m.applications, key, compareKeys); kind == "Application" && !found {
		m.applications = slices.Insert(m.applications, i, key)
	}
	m.objects[kind][key] = object
}

func compareKeys(a, b client.ObjectKey) int {
	return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
}

func (m *memory) unindex(key client.ObjectKey) {
	if before, ok := m.objects["Pod"][key].(*corev1.Pod); ok {
		delete(m.pods[client.ObjectKey{Namespace: key.Namespace, Name: application.PolicyOf(before)}], key)
	}
}

func (m *memory) remove(object client.Object) {
	key := client.ObjectKeyFromObject(object)
	if kindOf(object) == "Pod" {
		m.unindex(key)
	}
	if i, found := slices.BinarySearchFunc(m.applications, key, compareKeys); kindOf(object) == "Application" && found {
		m.applications = slices.Delete(m.applications, i, i+1)
	}
	delete(m.objects[kindOf(object)], key)
}

// write does what a write does, unless it is to fail.
func (m *memory) write(verb string, object client.Object, do func() error) error {
	var before, after bool
	if m.fails != nil {
		before, after = m.fails(verb + " " + kindOf(object))
	}
	if m.meanwhile != nil {
		m.meanwhile()
	}
	if before {
		return errLost
	}
	m.writes++
	if verb != "status" {
		m.changes++
	}
	if err := do(); err != nil {
		return err
	}
	if m.wrote != nil {
		m.wrote(object)
	}
	if after {
		return errLost
	}
	return nil
}

func notFound(kind, name string) error {
	return apierrors.NewNotFound(schema.GroupResource{Resource: strings.ToLower(kind)}, name)
}

func (m *memory) Get(_ context.Context, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	kind := kindOf(into)
	known := m.objects[kind][key]
	if known == nil {
		return notFound(kind, key.Name)
	}
	if partial, ok := into.(*metav1.PartialObjectMetadata); ok {
		partial.SetName(key.Name)
		partial.SetNamespace(key.Namespace)
		partial.SetUID(known.GetUID())
		partial.SetResourceVersion(known.GetResourceVersion())
		partial.SetLabels(known.GetLabels())
		partial.SetOwnerReferences(known.GetOwnerReferences())
		return nil
	}
	reflect.ValueOf(into).Elem().Set(reflect.ValueOf(known.DeepCopyObject()).Elem())
	return nil
}

// everyCluster returns the Clusters as they are.
func (m *memory) everyCluster() (found []*berthv1alpha1.Cluster) {
	for _, object := range m.objects["Cluster"] {
		found = append(found, object.(*berthv1alpha1.Cluster))
	}
	return found
}

func (m *memory) List(_ context.Context, into client.ObjectList, options ...client.ListOption) error {
	asked := client.ListOptions{}
	asked.ApplyOptions(options)
	switch list := into.(type) {
	case *berthv1alpha1.ApplicationList:
		list.Items = make([]berthv1alpha1.Application, len(m.applications))
		for i, key := range m.applications {
			list.Items[i] = *m.objects["Application"][key].(*berthv1alpha1.Application)
		}
	case *corev1.PodList:
		name, _ := asked.FieldSelector.RequiresExactMatch("berth.dev/policy")
		for _, pod := range m.pods[client.ObjectKey{Namespace: asked.Namespace, Name: name}] {
			list.Items = append(list.Items, *pod)
		}
		slices.SortFunc(list.Items, func(a, b corev1.Pod) int { return strings.Compare(a.Name, b.Name) })
	default:
		return fmt.Errorf("there are no %T", into)
	}
	return nil
}

func (m *memory) Apply(_ context.Context, wanted runtime.ApplyConfiguration, _ ...client.ApplyOption) error {
	raw, err := json.Marshal(wanted)
	if err != nil {
		return err
	}
	var kind struct{ Kind string }
	if err := json.Unmarshal(raw, &kind); err != nil {
		return err
	}
	object := map[string]client.Object{
		"Deployment": &appsv1.Deployment{}, "ConfigMap": &corev1.ConfigMap{}, "PropagationPolicy": &berthv1alpha1.PropagationPolicy{},
	}[kind.Kind]
	if err := json.Unmarshal(raw, object); err != nil {
		return err
	}
	return m.write("apply", object, func() error {
		if err := m.bound(object); err != nil {
			return err
		}
		m.merge(object)
		return nil
	})
}

// bound returns a conflict if an object is to be written only as somebody has read it, and has
// changed since.
func (m *memory) bound(object client.Object) error {
	kind, version := kindOf(object), object.GetResourceVersion()
	if version == "" {
		return nil
	}
	if is := m.objects[kind][client.ObjectKeyFromObject(object)]; is == nil || is.GetResourceVersion() != version {
		return apierrors.NewConflict(schema.GroupResource{Resource: strings.ToLower(kind)}, object.GetName(), errChanged)
	}
	return nil
}

// merge stores an object as it was applied: its status, and what it does not say, stay.
func (m *memory) merge(object client.Object) {
	object.SetGeneration(1)
	if before := m.objects[kindOf(object)][client.ObjectKeyFromObject(object)]; before != nil {
		object.SetUID(before.GetUID())
		object.SetGeneration(before.GetGeneration())
		switch after := object.(type) {
		case *appsv1.Deployment:
			known := before.(*appsv1.Deployment)
			after.Status = known.Status
			if after.Spec.Replicas == nil {
				after.Spec.Replicas = known.Spec.Replicas
			}
		case *berthv1alpha1.PropagationPolicy:
			known := before.(*berthv1alpha1.PropagationPolicy)
			after.Status = known.Status
			if !apiequality.Semantic.DeepEqual(known.Spec, after.Spec) {
				after.Generation++
			}
		}
	} else if made, ok := object.(*appsv1.Deployment); ok && made.Spec.Replicas == nil {
		made.Spec.Replicas = new(int32(1))
	}
	m.put(object)
}

// Patch changes the number of replicas of a Deployment.
func (m *memory) Patch(_ context.Context, object client.Object, patch client.Patch, _ ...client.PatchOption) error {
	raw, err := patch.Data(object)
	if err != nil {
		return err
	}
	var scaled struct {
		Metadata struct{ ResourceVersion string }
		Spec     struct{ Replicas *int32 }
	}
	if err := json.Unmarshal(raw, &scaled); err != nil {
		return err
	}
	known, ok := m.objects[kindOf(object)][client.ObjectKeyFromObject(object)].(*appsv1.Deployment)
	if !ok {
		return notFound(kindOf(object), object.GetName())
	}
	after := known.DeepCopy()
	after.Spec.Replicas = scaled.Spec.Replicas
	after.ResourceVersion = scaled.Metadata.ResourceVersion
	return m.write("scale", after, func() error {
		if err := m.bound(after); err != nil {
			return err
		}
		m.put(after)
		return nil
	})
}

func (m *memory) Delete(_ context.Context, object client.Object, _ ...client.DeleteOption) error {
	return m.write("delete", object, func() error {
		m.remove(object)
		return nil
	})
}

// Status returns what writes the status of Applications.
func (m *memory) Status() client.SubResourceWriter { return status{m: m} }

type status struct {
	client.SubResourceWriter
	m *memory
}

func (s status) Patch(_ context.Context, object client.Object, _ client.Patch, _ ...client.SubResourcePatchOption) error {
	app, ok := object.(*berthv1alpha1.Application)
	if !ok {
		return fmt.Errorf("%T has no status", object)
	}
	return s.m.write("status", app, func() error {
		known, ok := s.m.objects["Application"][client.ObjectKeyFromObject(app)].(*berthv1alpha1.Application)
		if !ok {
			return notFound("Application", app.Name)
		}
		if err := s.m.bound(app); err != nil {
			return err
		}
		after := known.DeepCopy()
		after.Status = *app.Status.DeepCopy()
		s.m.put(after)
		app.ResourceVersion = after.ResourceVersion
		return nil
	})
}
