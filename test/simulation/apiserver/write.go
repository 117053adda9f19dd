// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"reflect"
	"strconv"

	structuraldefaulting "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/json"
)

func decode(body []byte) (tree, error) {
	object := tree{}
	if err := json.Unmarshal(body, &object); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	return object, nil
}

func clone(object tree) tree { return runtime.DeepCopyJSON(object) }

// metaOf returns the metadata of an object, which is made if there is none.
func metaOf(object tree) tree {
	if found, ok := object["metadata"].(tree); ok {
		return found
	}
	made := tree{}
	object["metadata"] = made
	return made
}

func text(object tree, field string) string {
	value, _ := object[field].(string)
	return value
}

// same reports whether two objects differ in nothing but the version.
func same(before, after tree) bool {
	changed := clone(after)
	if version := metaOf(before)["resourceVersion"]; version != nil {
		metaOf(changed)["resourceVersion"] = version
	}
	return reflect.DeepEqual(before, changed)
}

func (s *Server) create(k *kind, r *Request) (*stored, error) {
	object, err := decode(r.body)
	if err != nil {
		return nil, err
	}
	meta := metaOf(object)
	if prefix := text(meta, "generateName"); text(meta, "name") == "" && prefix != "" {
		s.serial++
		meta["name"] = prefix + strconv.FormatInt(s.serial, 36)
	}
	name := text(meta, "name")
	if name == "" {
		return nil, apierrors.NewBadRequest("the object has no name")
	}
	if k.objects[key(r.Namespace, name)] != nil {
		return nil, apierrors.NewAlreadyExists(k.groupResource(), name)
	}
	meta["uid"], meta["creationTimestamp"] = s.newUID(), now()
	k.begin(object, r.Namespace)
	k.complete(object)
	if s.Validates && k.schema != nil {
		if err := k.check(object, nil); err != nil {
			return nil, err
		}
	}
	return s.commit(k, r.Namespace, name, nil, object), nil
}

// begin makes an object one that is new in a namespace, whatever its author says of its past.
func (k *kind) begin(object tree, namespace string) {
	meta := metaOf(object)
	if k.namespaced {
		meta["namespace"] = namespace
	}
	delete(meta, "deletionTimestamp")
	delete(meta, "resourceVersion")
	if k.generation {
		meta["generation"] = int64(1)
	}
	if k.hasStatus {
		delete(object, "status")
	}
	if k.resource == "pods" {
		object["status"] = tree{"phase": "Pending"}
	}
}

// complete writes what every object of the kind has.
func (k *kind) complete(object tree) {
	object["kind"], object["apiVersion"] = k.Kind, k.GroupVersion().String()
	if k.schema != nil {
		structuraldefaulting.Default(object, k.schema)
	}
}

func (s *Server) update(k *kind, r *Request) (*stored, error) {
	before, err := s.get(k, &Request{Namespace: r.Namespace, Name: r.Name})
	if err != nil {
		return nil, err
	}
	object, err := decode(r.body)
	if err != nil {
		return nil, err
	}
	if r.Subresource == "scale" && k.scale {
		return s.rescale(k, r, before, object)
	}
	return s.replace(k, r, before, object)
}

// replace makes of an object what a client wants it to be, as far as it may change that.
func (s *Server) replace(k *kind, r *Request, before *stored, wanted tree) (*stored, error) {
	old, meta := metaOf(before.object), metaOf(wanted)
	if version := text(meta, "resourceVersion"); version != "" && version != old["resourceVersion"] {
		return nil, apierrors.NewConflict(k.groupResource(), r.Name, errModified)
	}
	if uid := text(meta, "uid"); uid != "" && uid != old["uid"] {
		return nil, apierrors.NewConflict(k.groupResource(), r.Name, errOtherUID)
	}
	after := k.merge(r.Subresource, before.object, wanted)
	if s.Validates && k.schema != nil {
		if err := k.check(after, before.object); err != nil {
			return nil, err
		}
	}
	if ends(after) {
		s.commit(k, r.Namespace, r.Name, before, nil)
		return &stored{object: after, raw: encode(after)}, nil
	}
	return s.commit(k, r.Namespace, r.Name, before, after), nil
}

// merge takes from what a client wants the part that the endpoint lets it change.
func (k *kind) merge(subresource string, before, wanted tree) tree {
	var after tree
	if subresource == "status" {
		after = clone(before)
		if status, given := wanted["status"]; given {
			after["status"] = status
		} else {
			delete(after, "status")
		}
		if k.schema == nil {
			copyFields(metaOf(after), metaOf(wanted), "labels", "annotations", "finalizers")
		}
	} else {
		after = clone(wanted)
		if k.hasStatus {
			copyFields(after, before, "status")
		}
	}
	copyFields(metaOf(after), metaOf(before), "uid", "creationTimestamp", "deletionTimestamp",
		"deletionGracePeriodSeconds", "generation", "name", "namespace", "resourceVersion", "generateName")
	k.complete(after)
	if k.generation && subresource != "status" && !sameSpec(before, after) {
		generation, _ := metaOf(before)["generation"].(int64)
		metaOf(after)["generation"] = generation + 1
	}
	return after
}

func copyFields(to, from tree, fields ...string) {
	for _, field := range fields {
		if value, has := from[field]; has {
			to[field] = runtime.DeepCopyJSONValue(value)
		} else {
			delete(to, field)
		}
	}
}

// sameSpec reports whether two states of an object differ in nothing but metadata and status.
func sameSpec(before, after tree) bool {
	bare := func(object tree) tree {
		rest := tree{}
		for field, value := range object {
			if field != "metadata" && field != "status" {
				rest[field] = value
			}
		}
		return rest
	}
	return reflect.DeepEqual(bare(before), bare(after))
}

// ends reports whether an object that is being deleted has nothing left that keeps it.
func ends(object tree) bool {
	meta := metaOf(object)
	finalizers, _ := meta["finalizers"].([]any)
	if text(meta, "deletionTimestamp") == "" || len(finalizers) > 0 {
		return false
	}
	grace, _ := meta["deletionGracePeriodSeconds"].(int64)
	return grace == 0
}

// podGrace is how long a pod that runs may take to end, in seconds.
const podGrace = int64(30)

func (s *Server) delete(k *kind, r *Request) (*stored, error) {
	options := metav1.DeleteOptions{}
	if len(r.body) > 0 {
		if err := json.Unmarshal(r.body, &options); err != nil {
			return nil, apierrors.NewBadRequest(err.Error())
		}
	}
	return s.remove(k, r.Namespace, r.Name, &options)
}

// unmet returns which precondition an object does not meet, nil if it meets all.
func unmet(p *metav1.Preconditions, meta tree) error {
	switch {
	case p == nil:
	case p.UID != nil && string(*p.UID) != meta["uid"]:
		return errOtherUID
	case p.ResourceVersion != nil && *p.ResourceVersion != meta["resourceVersion"]:
		return errModified
	}
	return nil
}

// remove deletes an object, at once or by and by.
func (s *Server) remove(k *kind, namespace, name string, options *metav1.DeleteOptions) (*stored, error) {
	before := k.objects[key(namespace, name)]
	if before == nil {
		return nil, apierrors.NewNotFound(k.groupResource(), name)
	}
	meta := metaOf(before.object)
	if problem := unmet(options.Preconditions, meta); problem != nil {
		return nil, apierrors.NewConflict(k.groupResource(), name, problem)
	}
	grace := int64(0)
	if spec, _ := before.object["spec"].(tree); k.resource == "pods" && text(spec, "nodeName") != "" {
		if grace = podGrace; options.GracePeriodSeconds != nil {
			grace = *options.GracePeriodSeconds
		}
	}
	finalizers, _ := meta["finalizers"].([]any)
	if grace == 0 && len(finalizers) == 0 {
		return s.commit(k, namespace, name, before, nil), nil
	}
	if text(meta, "deletionTimestamp") != "" {
		return before, nil
	}
	after := clone(before.object)
	metaOf(after)["deletionTimestamp"], metaOf(after)["deletionGracePeriodSeconds"] = now(), grace
	return s.commit(k, namespace, name, before, after), nil
}
