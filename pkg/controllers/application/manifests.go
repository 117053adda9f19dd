// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package application

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/policy"
	"berth.dev/berth/pkg/model/workload"
	"berth.dev/berth/pkg/placement/names"
)

// object is a manifest made ready to be applied.
type object struct {
	*unstructured.Unstructured
	// policy is the name of the PropagationPolicy of its pods, empty for objects without pods.
	policy string
	// template is where the metadata and the spec of its pods lie.
	template []string
	// scales reports whether it has a number of replicas, and startFirst whether these are
	// interchangeable, so that more of them can be started in another cluster before the old ones
	// go.
	scales, startFirst bool
	// replicas is the number in the manifest, nil if that leaves it to others.
	replicas *int64
	// minReady is for how long a pod must be ready to be available.
	minReady time.Duration
	// claimed reports whether the name is free or the object belongs to the Application, and
	// present is the object as it was then, nil if the name was free.
	claimed bool
	present *metav1.PartialObjectMetadata
}

func (o *object) key() berthv1alpha1.ApplicationObject {
	return berthv1alpha1.ApplicationObject{APIVersion: o.GetAPIVersion(), Kind: o.GetKind(), Name: o.GetName()}
}

// id tells the workload from others; nothing is known of its UID.
func (o *object) id() workload.ID {
	return workload.ID{
		GroupKind:      o.GroupVersionKind().GroupKind(),
		NamespacedName: types.NamespacedName{Namespace: o.GetNamespace(), Name: o.GetName()},
	}
}

// String names the object for messages.
func (o *object) String() string { return strings.ToLower(o.GetKind()) + " " + o.GetName() }

// parser reads the manifests of an Application.
type parser struct {
	app        *berthv1alpha1.Application
	mapper     apimeta.RESTMapper
	schedulers []string
}

var (
	interchangeable = []schema.GroupKind{
		{Group: "apps", Kind: "Deployment"}, {Group: "apps", Kind: "ReplicaSet"}, {Kind: "ReplicationController"},
	}
	statefulSet = schema.GroupKind{Group: "apps", Kind: "StatefulSet"}
	daemonSet   = schema.GroupKind{Group: "apps", Kind: "DaemonSet"}
)

// parse reads the manifests. The error is for the user and names the manifest.
func (p *parser) parse() ([]*object, error) {
	if len(p.app.Spec.Manifests) == 0 {
		return nil, errors.New("there are no manifests")
	}
	seen := map[string]int{}
	var objects []*object
	for i := range p.app.Spec.Manifests {
		o, err := p.parseOne(&p.app.Spec.Manifests[i])
		if err != nil {
			return nil, fmt.Errorf("manifests[%d]: %w", i, err)
		}
		id := o.GroupVersionKind().GroupKind().String() + "/" + o.GetName()
		if first, twice := seen[id]; twice {
			return nil, fmt.Errorf("manifests[%d]: %s is in manifests[%d] already", i, o, first)
		}
		seen[id] = i
		objects = append(objects, o)
	}
	return objects, nil
}

func (p *parser) parseOne(manifest *berthv1alpha1.Manifest) (*object, error) {
	u := &unstructured.Unstructured{}
	if err := u.UnmarshalJSON(manifest.Raw); err != nil {
		return nil, errors.New("it is not an object with apiVersion and kind")
	}
	o := &object{Unstructured: u}
	kind := u.GroupVersionKind().GroupKind()
	switch {
	case u.IsList():
		return nil, errors.New("it is a list: give each object a manifest of its own")
	case u.GetName() == "":
		return nil, errors.New("metadata.name is missing")
	case u.GetNamespace() != "" && u.GetNamespace() != p.app.Namespace:
		return nil, fmt.Errorf("%s is of namespace %q: an Application makes objects of its own namespace only", o, u.GetNamespace())
	case kind.Group == berthv1alpha1.GroupName:
		return nil, fmt.Errorf("%s is of Berth itself, and no Application can have such objects", o)
	case kind == daemonSet:
		return nil, fmt.Errorf("%s runs on all nodes, and an Application runs in one cluster", o)
	}
	mapping, err := p.mapper.RESTMapping(kind, u.GroupVersionKind().Version)
	switch {
	case apimeta.IsNoMatchError(err):
		return nil, fmt.Errorf("the API server knows no %s in %s", u.GetKind(), u.GetAPIVersion())
	case err != nil:
		return nil, fmt.Errorf("asking the API server for kind %s: %w", u.GetKind(), err)
	case mapping.Scope.Name() != apimeta.RESTScopeNameNamespace:
		return nil, fmt.Errorf("%s is in no namespace: an Application makes objects of its own namespace only", o)
	}
	p.adopt(o)
	return o, p.readPods(o, kind)
}

// adopt makes the object one of the Application.
func (p *parser) adopt(o *object) {
	for _, field := range []string{"uid", "resourceVersion", "generation", "creationTimestamp", "managedFields", "selfLink"} {
		unstructured.RemoveNestedField(o.Object, "metadata", field)
	}
	unstructured.RemoveNestedField(o.Object, "status")
	o.SetNamespace(p.app.Namespace)
	labels := o.GetLabels()
	if labels == nil {
		labels = map[string]string{}
	}
	labels[berthv1alpha1.ApplicationLabel] = labelOf(p.app.Name)
	o.SetLabels(labels)
	o.SetOwnerReferences([]metav1.OwnerReference{ownerReference(p.app)})
}

// ownerReference refers to the Application as the controller of an object.
func ownerReference(app *berthv1alpha1.Application) metav1.OwnerReference {
	controller := true
	return metav1.OwnerReference{
		APIVersion: berthv1alpha1.SchemeGroupVersion.String(), Kind: "Application", Name: app.Name, UID: app.UID,
		Controller: &controller,
	}
}

// labelName fits into the value of a label.
var labelName = names.Form{Max: 63, Keep: 52, Trim: "-.", Hash: names.SHA256}

// labelOf returns the value of the label for the name of an Application.
func labelOf(name string) string { return labelName.Shorten(name) }

// readPods finds the template of the pods of an object, and lets the scheduler place them by a
// policy of their own.
func (p *parser) readPods(o *object, kind schema.GroupKind) error {
	template, found := templateOf(o.Object, kind)
	if !found {
		return nil
	}
	o.template = template
	spec := append(slices.Clone(template), "spec")
	scheduler, _, err := unstructured.NestedString(o.Object, append(spec, "schedulerName")...)
	switch {
	case err != nil:
		return fmt.Errorf("%s: the template of its pods cannot be read", o)
	case scheduler == "":
		err = unstructured.SetNestedField(o.Object, p.schedulers[0], append(spec, "schedulerName")...)
	case !slices.Contains(p.schedulers, scheduler):
		return fmt.Errorf("%s: its pods ask for scheduler %.63q, which is not Berth's", o, scheduler)
	}
	if err != nil {
		return fmt.Errorf("%s: the template of its pods cannot be read", o)
	}
	annotations := append(slices.Clone(template), "metadata", "annotations")
	if request, _, _ := unstructured.NestedString(o.Object, append(annotations, berthv1alpha1.PolicyAnnotation)...); request != "" {
		return fmt.Errorf("%s: its pods ask for policy %.63q, and the Application places them", o, request)
	}
	o.policy = policy.NameForApplication(p.app.Name, o.GetKind(), o.GetName())
	if err := unstructured.SetNestedField(o.Object, o.policy, append(annotations, berthv1alpha1.PolicyAnnotation)...); err != nil {
		return fmt.Errorf("%s: the annotations of its pods cannot be read", o)
	}
	if err := o.checkPod(); err != nil {
		return err
	}
	return o.readReplicas(kind)
}

// checkPod returns what is wrong with the template of an object.
func (o *object) checkPod() error {
	switch pod, err := o.pod(); {
	case err != nil:
		return fmt.Errorf("%s: the template of its pods cannot be read: %w", o, err)
	case pod.Spec.NodeName != "":
		return fmt.Errorf("%s: its pods ask for node %.63q, and the Application places them", o, pod.Spec.NodeName)
	}
	return nil
}

// pod returns a pod with what the template of an object says.
func (o *object) pod() (*corev1.Pod, error) {
	content := o.Object
	if len(o.template) > 0 {
		content, _, _ = unstructured.NestedMap(o.Object, o.template...)
	}
	pod := &corev1.Pod{}
	return pod, runtime.DefaultUnstructuredConverter.FromUnstructured(content, pod)
}

// templateOf returns where the metadata and the spec of the pods lie.
func templateOf(content map[string]any, kind schema.GroupKind) ([]string, bool) {
	if kind == (schema.GroupKind{Kind: "Pod"}) {
		return nil, true
	}
	for _, path := range [][]string{{"spec", "template"}, {"spec", "jobTemplate", "spec", "template"}} {
		if _, found, err := unstructured.NestedSlice(content, append(slices.Clone(path), "spec", "containers")...); found && err == nil {
			return path, true
		}
	}
	return nil, false
}

func (o *object) readReplicas(kind schema.GroupKind) error {
	o.startFirst = slices.Contains(interchangeable, kind)
	o.scales = o.startFirst || kind == statefulSet
	if !o.scales {
		return nil
	}
	if seconds, found, err := unstructured.NestedInt64(o.Object, "spec", "minReadySeconds"); found && err == nil {
		o.minReady = time.Duration(min(max(seconds, 0), math.MaxInt32)) * time.Second
	}
	replicas, found, err := unstructured.NestedInt64(o.Object, "spec", "replicas")
	if err != nil || replicas < 0 {
		return fmt.Errorf("%s: spec.replicas is not a number of replicas", o)
	}
	if found {
		o.replicas = &replicas
	}
	return nil
}
