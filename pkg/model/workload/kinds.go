// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Object is an object of a kind of the table, with a typed pointer in it such as
// *appsv1.Deployment.
type Object interface {
	metav1.Object
	runtime.Object
}

// List is a list of objects of one kind, for instance *appsv1.DeploymentList.
type List interface {
	metav1.ListInterface
	runtime.Object
}

// Kind is a kind of objects that control pods and that Berth reads. A Kind is immutable, and there
// is one of each.
type Kind struct {
	// GroupVersionKind is the kind and the version in which it is read.
	schema.GroupVersionKind
	// Resource is the name in URLs, "deployments".
	Resource string

	// apiVersion is that of GroupVersionKind.
	apiVersion string
	// object and list are empty ones, to be copied, and goType is the type of the object.
	object Object
	list   List
	goType reflect.Type
	// facts returns what an object says of its pods, and selector which pods those are.
	facts    func(metav1.Object) facts
	selector func(metav1.Object) labels.Selector

	// numbered kinds have other objects as revisions, of which the one with the highest
	// RevisionAnnotation counts.
	numbered bool
	// revision kinds are those others: an object that has a controller is a revision of it.
	revision bool
	// above kinds own objects that own pods, and want no pods themselves.
	above bool
	// single kinds never change the template of their pods, so all pods of an object are of one
	// revision.
	single bool
	// ordered kinds may make a pod only once the one before is ready.
	ordered bool
	// ends is true for kinds whose objects are over once they want no pods.
	ends bool
	// ordinal returns the text of the number that an object of the kind gave to a pod, and the
	// number of the first pod if first is what the object says; nil for kinds that do not number
	// their pods.
	ordinal func(pod *corev1.Pod, first int32) (text string, start int32)
}

// facts are what an object says of its pods.
type facts struct {
	// replicas is the number of pods wanted, see ReplicasOf.
	replicas int32
	// template of the pods, nil if the object has none.
	template *corev1.PodTemplateSpec
	// hash of the newest revision, if the kind is neither numbered nor single.
	hash string
	// settled is true if the controller has seen the latest change and rolls nothing out.
	settled bool
	// firstOrdinal is the number of the first pod.
	firstOrdinal int32
	// claims are templates of claims of volumes that each pod gets for itself.
	claims []corev1.PersistentVolumeClaim
}

// Kinds returns all kinds that Berth reads.
func Kinds() []*Kind { return slices.Clone(kinds) }

// shortNames are the abbreviations of kinds that kubectl knows.
var shortNames = map[string]string{
	"cj": "cronjob", "deploy": "deployment", "po": "pod", "rc": "replicationcontroller", "rs": "replicaset", "sts": "statefulset",
}

// LongName returns what a user calls a kind, "Deployment" or "sts", in lower case and without
// abbreviation: "deployment", "statefulset". A plural stays one.
func LongName(kind string) string {
	kind = strings.ToLower(kind)
	if long, short := shortNames[kind]; short {
		return long
	}
	return kind
}

// KindFor returns the kind of that name in the group of the API version, nil if Berth does not read
// it. The version does not count: a user may name any in which an object is served. For references
// to owners there is ControllerKind.
func KindFor(apiVersion, kind string) *Kind {
	for _, k := range kinds {
		if k.Kind == kind && (k.apiVersion == apiVersion || k.Group == schema.FromAPIVersionAndKind(apiVersion, kind).Group) {
			return k
		}
	}
	return nil
}

// ControllerKind returns the kind that a reference to a controller names, nil if Berth does not
// read it. It exists unless the reference is to another version of a kind of the table. The
// controllers of Kubernetes name the version of the table, and only that is sure to be served: the
// garbage collector lets pods live for good whose owner is of a version such as apps/v9, so such a
// reference confirms nothing. It is quick and does not allocate, because it is asked for every pod.
func ControllerKind(ref *metav1.OwnerReference) (kind *Kind, exists bool) {
	for _, k := range kinds {
		if k.Kind == ref.Kind && k.apiVersion == ref.APIVersion {
			return k, true
		}
	}
	return nil, KindFor(ref.APIVersion, ref.Kind) == nil
}

// KindOf returns the kind of a typed object, nil if Berth does not read it.
func KindOf(object metav1.Object) *Kind {
	of := reflect.TypeOf(object)
	for _, k := range kinds {
		if k.goType == of {
			return k
		}
	}
	return nil
}

// NewObject returns an empty object of the kind.
func (k *Kind) NewObject() Object { return copyOf(k.object) }

// NewList returns an empty list of objects of the kind.
func (k *Kind) NewList() List { return copyOf(k.list) }

// copyOf copies an object, and relies on copies being of the same type.
func copyOf[T runtime.Object](object T) T {
	return object.DeepCopyObject().(T) //nolint:errcheck // see above
}

// GroupVersionResource returns by which name lists and watches ask for objects of the kind.
func (k *Kind) GroupVersionResource() schema.GroupVersionResource {
	return k.GroupVersion().WithResource(k.Resource)
}

// IsRevision reports whether an object of the kind that has a controller is a revision of it, as a
// ReplicaSet is one of its Deployment.
func (k *Kind) IsRevision() bool { return k.revision }

// WantsPods reports whether objects of the kind say how many pods they want. Those of other kinds,
// such as a CronJob, own objects that do.
func (k *Kind) WantsPods() bool { return !k.above }

// ReplicasOf returns how many pods an object wants at present; known is false for kinds that Berth
// does not read and for those that want no pods themselves. A number that is absent is 1, one below
// 0 is 0. A Job wants as many as its parallelism, or as the completions that are left if those are
// fewer, and none while it is suspended and once it has finished.
func ReplicasOf(object metav1.Object) (replicas int32, known bool) {
	kind := KindOf(object)
	if kind == nil || kind.above {
		return 0, false
	}
	return kind.facts(object).replicas, true
}

// FirstOrdinal returns the number of the first pod of an object: that of spec.ordinals for a
// StatefulSet, less than 0 for a Job of a JobSet whose indexes go on where those of other Jobs end,
// 0 for all others.
func FirstOrdinal(object metav1.Object) int32 {
	if kind := KindOf(object); kind != nil {
		return kind.facts(object).firstOrdinal
	}
	return 0
}

// TemplateOf returns the template of the pods of an object, which must not be changed; nil if it
// has none or is of a kind that Berth does not read.
func TemplateOf(object metav1.Object) *corev1.PodTemplateSpec {
	if kind := KindOf(object); kind != nil {
		return kind.facts(object).template
	}
	return nil
}
