// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// tree is the JSON of an object. One that is stored must not be changed.
type tree = map[string]any

// stored is an object at one revision.
type stored struct {
	object tree
	raw    []byte
}

// Change is one write.
type Change struct {
	// Resource and Name are those of the object.
	Resource, Name string

	revision      int64
	from, to      tree
	before, after *stored
}

// Server has the objects. It is not safe for concurrent use.
type Server struct {
	// Changed is called after each write, unless it is nil.
	Changed func(*Change)

	// Validates has custom resources refused that their definitions forbid.
	Validates bool

	revision  int64
	compacted int64
	serial    int64
	kinds     map[schema.GroupVersionResource]*kind
}

// New returns a server of the stock kinds and of those that are defined.
func New(definitions []*apiextensionsv1.CustomResourceDefinition) (*Server, error) {
	s := &Server{revision: 1, kinds: map[schema.GroupVersionResource]*kind{}}
	kinds := builtinKinds()
	for _, definition := range definitions {
		custom, err := customKind(definition)
		if err != nil {
			return nil, err
		}
		kinds = append(kinds, custom)
	}
	for _, k := range kinds {
		s.kinds[k.GroupVersion().WithResource(k.resource)] = k
	}
	return s, nil
}

// Answer is what the server answers.
type Answer struct {
	Code int
	Body []byte
	// Watch is set if the answer is a stream.
	Watch *Watch
}

// Revision is that of the last write.
func (s *Server) Revision() int64 { return s.revision }

// Compact forgets what has happened until now: watches cannot begin before.
func (s *Server) Compact() { s.compacted = s.revision }

// Trim forgets what has happened up to a revision, as far as none of the watches that are open has
// yet to deliver it: new ones cannot begin before it.
func (s *Server) Trim(revision int64, open []*Watch) {
	s.compacted = max(s.compacted, revision)
	for _, k := range s.kinds {
		known := k.until(revision)
		for _, w := range open {
			if w.kind == k {
				known = min(known, w.next-k.forgotten)
			}
		}
		k.log = slices.Delete(k.log, 0, known)
		k.forgotten += known
	}
}

// Serve carries out a request.
func (s *Server) Serve(r *Request) Answer {
	if r.Resource.Resource == "" {
		return s.discover(r)
	}
	if r.Resource.Resource == "selfsubjectaccessreviews" && r.Verb == "create" {
		return allow(r)
	}
	k := s.kinds[r.Resource]
	if k == nil {
		return Failure(apierrors.NewGenericServerResponse(
			http.StatusNotFound, r.Verb, r.Resource.GroupResource(), r.Name, "", 0, true))
	}
	if r.Verb == "watch" {
		watch, err := s.watch(k, r)
		if err != nil {
			return Failure(err)
		}
		return Answer{Code: http.StatusOK, Watch: watch}
	}
	body, code, err := s.serve(k, r)
	if err != nil {
		return Failure(err)
	}
	return Answer{Code: code, Body: body}
}

// allow answers that a client may do what it asks about: whoever is in the world may do everything.
func allow(r *Request) Answer {
	review, err := decode(r.body)
	if err != nil {
		return Failure(err)
	}
	review["status"] = tree{"allowed": true}
	return Answer{Code: http.StatusCreated, Body: encode(review)}
}

func (s *Server) serve(k *kind, r *Request) (body []byte, code int, err error) {
	var result *stored
	switch r.Verb {
	case "list":
		body, err = s.list(k, r)
		return body, http.StatusOK, err
	case "get":
		result, err = s.get(k, r)
	case "create":
		if r.Subresource != "" {
			body, err = s.act(k, r)
			return body, http.StatusCreated, err
		}
		result, err = s.create(k, r)
		code = http.StatusCreated
	case "update":
		result, err = s.update(k, r)
	case "patch":
		if k.objects[key(r.Namespace, r.Name)] == nil {
			code = http.StatusCreated // if it is applied
		}
		result, err = s.patch(k, r)
	case "delete":
		if r.Name == "" {
			return nil, 0, apierrors.NewMethodNotSupported(k.groupResource(), "deletecollection")
		}
		result, err = s.delete(k, r)
	default:
		err = apierrors.NewMethodNotSupported(k.groupResource(), r.Verb)
	}
	if err != nil {
		return nil, 0, err
	}
	return r.shape(result), max(code, http.StatusOK), nil
}

// Failure is the answer that an error makes.
func Failure(err error) Answer {
	status := metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusInternalServerError, Reason: metav1.StatusReasonInternalError,
		Message: err.Error(),
	}
	var known apierrors.APIStatus
	if errors.As(err, &known) {
		status = known.Status()
	}
	status.Kind, status.APIVersion = "Status", "v1"
	return Answer{Code: int(status.Code), Body: encode(status)}
}

func encode(value any) []byte {
	body, err := json.Marshal(value)
	if err != nil {
		panic(fmt.Sprintf("encoding a %T: %v", value, err))
	}
	return body
}

func key(namespace, name string) string { return namespace + "/" + name }

func (s *Server) get(k *kind, r *Request) (*stored, error) {
	found := k.objects[key(r.Namespace, r.Name)]
	if found == nil {
		return nil, apierrors.NewNotFound(k.groupResource(), r.Name)
	}
	if r.Subresource == "scale" && k.scale {
		return scaleOf(found.object), nil
	}
	return found, nil
}

func (s *Server) list(k *kind, r *Request) ([]byte, error) {
	selects, err := r.selector()
	if err != nil {
		return nil, err
	}
	var body bytes.Buffer
	kindOfList, version := k.Kind+"List", k.GroupVersion().String()
	if r.metadata {
		kindOfList, version = "PartialObjectMetadataList", metav1.SchemeGroupVersion.String()
	}
	fmt.Fprintf(&body, `{"kind":%q,"apiVersion":%q,"metadata":{"resourceVersion":"%d"},"items":[`, kindOfList, version, s.revision)
	first := true
	for _, name := range slices.Sorted(maps.Keys(k.objects)) {
		found := k.objects[name]
		if !selects(found.object) {
			continue
		}
		if !first {
			body.WriteByte(',')
		}
		first = false
		body.Write(r.shape(found))
	}
	body.WriteString("]}")
	return body.Bytes(), nil
}

// shape encodes an object as the client wants it.
func (r *Request) shape(o *stored) []byte {
	if !r.metadata {
		return o.raw
	}
	return encode(tree{
		"kind": "PartialObjectMetadata", "apiVersion": metav1.SchemeGroupVersion.String(), "metadata": o.object["metadata"],
	})
}

// commit stores what an object has become, nil for nothing, and returns it. An object that has not
// changed gets no new revision.
func (s *Server) commit(k *kind, namespace, name string, before *stored, after tree) *stored {
	change := &Change{Resource: k.resource, Name: name, before: before}
	if before != nil {
		change.from = before.object
	}
	if after != nil && before != nil && same(before.object, after) {
		return before
	}
	s.revision++
	change.revision = s.revision
	var result *stored
	if after != nil {
		metaOf(after)["resourceVersion"] = strconv.FormatInt(s.revision, 10)
		result = &stored{object: after, raw: encode(after)}
		k.objects[key(namespace, name)] = result
		change.to, change.after = after, result
	} else {
		delete(k.objects, key(namespace, name))
		// The last state is delivered with the revision of the deletion.
		last := clone(before.object)
		metaOf(last)["resourceVersion"] = strconv.FormatInt(s.revision, 10)
		change.before = &stored{object: last, raw: encode(last)}
		result = change.before
	}
	k.log = append(k.log, change)
	if s.Changed != nil {
		s.Changed(change)
	}
	return result
}

func now() string { return time.Now().UTC().Format(time.RFC3339) }

func (s *Server) newUID() string {
	s.serial++
	return fmt.Sprintf("00000000-0000-4000-8000-%012d", s.serial)
}

// Decode reads what an object has become by a change into an object of its type. It is false if it
// was deleted.
func (c *Change) Decode(into any) bool {
	if c.after == nil {
		return false
	}
	if err := json.Unmarshal(c.after.raw, into); err != nil {
		panic(fmt.Sprintf("decoding %s %s: %v", c.Resource, c.Name, err))
	}
	return true
}

// Read reads an object into one of its type. It is false if there is none.
func (s *Server) Read(resource schema.GroupVersionResource, namespace, name string, into any) bool {
	k := s.kinds[resource]
	if k == nil || k.objects[key(namespace, name)] == nil {
		return false
	}
	return (&Change{after: k.objects[key(namespace, name)]}).Decode(into)
}
