// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"errors"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/json"
)

// done is the answer of endpoints that return no object.
var done = encode(metav1.Status{
	TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusSuccess, Code: 201,
})

// act carries out a POST to a subresource.
func (s *Server) act(k *kind, r *Request) ([]byte, error) {
	if k.resource != "pods" {
		return nil, apierrors.NewMethodNotSupported(k.groupResource(), r.Verb)
	}
	switch r.Subresource {
	case "binding":
		return done, s.bind(k, r)
	case "eviction":
		eviction := policyv1.Eviction{}
		if err := json.Unmarshal(r.body, &eviction); err != nil {
			return nil, apierrors.NewBadRequest(err.Error())
		}
		options := eviction.DeleteOptions
		if options == nil {
			options = &metav1.DeleteOptions{}
		}
		_, err := s.remove(k, r.Namespace, r.Name, options)
		return done, err
	}
	return nil, apierrors.NewMethodNotSupported(k.groupResource(), r.Subresource)
}

// bind gives a pod its node, and the annotations of the Binding in the same write.
func (s *Server) bind(k *kind, r *Request) error {
	binding := corev1.Binding{}
	if err := json.Unmarshal(r.body, &binding); err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	before := k.objects[key(r.Namespace, r.Name)]
	if before == nil {
		return apierrors.NewNotFound(k.groupResource(), r.Name)
	}
	if problem := unbindable(before.object, &binding); problem != nil {
		return apierrors.NewConflict(k.groupResource(), r.Name, problem)
	}
	after := clone(before.object)
	bound, _ := after["spec"].(tree)
	bound["nodeName"] = binding.Target.Name
	copyOnto(after, "annotations", binding.Annotations)
	copyOnto(after, "labels", binding.Labels)
	setCondition(after, tree{"type": "PodScheduled", "status": "True", "lastTransitionTime": now()})
	s.commit(k, r.Namespace, r.Name, before, after)
	return nil
}

// copyOnto writes the annotations, or the labels, of a Binding on a pod.
func copyOnto(pod tree, field string, values map[string]string) {
	written, _ := metaOf(pod)[field].(tree)
	if written == nil {
		written = tree{}
	}
	for name, value := range values {
		written[name] = value
	}
	metaOf(pod)[field] = written
}

// unbindable returns why a pod cannot be bound, nil if it can.
func unbindable(pod tree, binding *corev1.Binding) error {
	spec, _ := pod["spec"].(tree)
	switch meta := metaOf(pod); {
	case binding.UID != "" && string(binding.UID) != meta["uid"]:
		return errOtherUID
	case binding.ResourceVersion != "" && binding.ResourceVersion != meta["resourceVersion"]:
		return errModified
	case text(meta, "deletionTimestamp") != "":
		return errors.New("the pod is being deleted, cannot be assigned to a host")
	case spec == nil || text(spec, "nodeName") != "":
		return errors.New("the pod is already assigned to a node")
	}
	return nil
}

// setCondition replaces the condition of its type.
func setCondition(object, condition tree) {
	status, _ := object["status"].(tree)
	if status == nil {
		status = tree{}
		object["status"] = status
	}
	var rest []any
	conditions, _ := status["conditions"].([]any)
	for _, other := range conditions {
		if o, _ := other.(tree); o["type"] != condition["type"] {
			rest = append(rest, other)
		}
	}
	rest = append(rest, condition)
	status["conditions"] = rest
}

// scaleOf returns the Scale of an object.
func scaleOf(object tree) *stored {
	spec, _ := object["spec"].(tree)
	status, _ := object["status"].(tree)
	scale := tree{
		"kind": "Scale", "apiVersion": "autoscaling/v1", "metadata": object["metadata"],
		"spec": tree{"replicas": spec["replicas"]}, "status": tree{"replicas": status["replicas"]},
	}
	return &stored{object: scale, raw: encode(scale)}
}

// rescale carries out a PUT of a Scale.
func (s *Server) rescale(k *kind, r *Request, before *stored, scale tree) (*stored, error) {
	wanted := clone(before.object)
	copyFields(metaOf(wanted), metaOf(scale), "resourceVersion")
	spec, _ := scale["spec"].(tree)
	own, _ := wanted["spec"].(tree)
	if own == nil {
		return nil, apierrors.NewBadRequest("the object has no spec")
	}
	own["replicas"] = spec["replicas"]
	after, err := s.replace(k, &Request{Namespace: r.Namespace, Name: r.Name}, before, wanted)
	if err != nil {
		return nil, err
	}
	return scaleOf(after.object), nil
}
