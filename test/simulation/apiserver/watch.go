// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
)

// selector returns what reports whether the request is about an object.
func (r *Request) selector() (func(tree) bool, error) {
	byLabel, err := labels.Parse(r.query.Get("labelSelector"))
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	byField, err := fields.ParseSelector(r.query.Get("fieldSelector"))
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	return func(object tree) bool {
		meta := metaOf(object)
		if r.Namespace != "" && meta["namespace"] != r.Namespace || r.Name != "" && meta["name"] != r.Name {
			return false
		}
		return (byLabel.Empty() || byLabel.Matches(labelsOf(meta))) && (byField.Empty() || byField.Matches(fieldsOf(object)))
	}, nil
}

func labelsOf(meta tree) labels.Set {
	set := labels.Set{}
	given, _ := meta["labels"].(tree)
	for name, value := range given {
		set[name], _ = value.(string)
	}
	return set
}

// fieldsOf are the fields of an object by their paths, such as spec.nodeName.
type fieldsOf tree

var _ fields.Fields = fieldsOf{}

// Has implements fields.Fields.
func (f fieldsOf) Has(path string) bool { return f.Get(path) != "" }

// Get implements fields.Fields. A field that is not there is empty.
func (f fieldsOf) Get(path string) string {
	var at any = tree(f)
	for step := range strings.SplitSeq(path, ".") {
		object, _ := at.(tree)
		at = object[step]
	}
	if at == nil {
		return ""
	}
	return fmt.Sprint(at)
}

// Watch is a stream of changes on its way to a client.
type Watch struct {
	server  *Server
	kind    *kind
	request *Request
	selects func(tree) bool
	// initial are the objects that the client wants to be told of first.
	initial []*stored
	// streams is true until the end of the initial objects has been told.
	streams bool
	// next is how many changes of the kind have been delivered or passed over, revision that of the
	// last one.
	next     int
	revision int64
}

func (s *Server) watch(k *kind, r *Request) (*Watch, error) {
	selects, err := r.selector()
	if err != nil {
		return nil, err
	}
	w := &Watch{server: s, kind: k, request: r, selects: selects, next: k.forgotten + len(k.log), revision: s.revision}
	version := r.query.Get("resourceVersion")
	from, _ := strconv.ParseInt(version, 10, 64)
	switch {
	case r.query.Get("sendInitialEvents") == "true":
		w.streams = true
		fallthrough
	case version == "" || version == "0":
		for _, name := range slices.Sorted(maps.Keys(k.objects)) {
			if found := k.objects[name]; selects(found.object) {
				w.initial = append(w.initial, found)
			}
		}
	case from < s.compacted:
		return nil, apierrors.NewResourceExpired(fmt.Sprintf("too old resource version: %d (%d)", from, s.compacted))
	default:
		w.next = k.forgotten + k.until(from)
		w.revision = from
	}
	return w, nil
}

// Next returns what is to be delivered next, nil if there is nothing now.
func (w *Watch) Next() []byte {
	if len(w.initial) > 0 {
		first := w.initial[0]
		w.initial = w.initial[1:]
		return w.event("ADDED", first)
	}
	if w.streams {
		w.streams = false
		return w.mark(true)
	}
	for w.behind() > 0 {
		change := w.kind.log[w.next-w.kind.forgotten]
		w.next++
		w.revision = change.revision
		was, is := change.from != nil && w.selects(change.from), change.to != nil && w.selects(change.to)
		switch {
		case was && is:
			return w.event("MODIFIED", change.after)
		case is:
			return w.event("ADDED", change.after)
		case was && change.to == nil:
			return w.event("DELETED", change.before)
		case was:
			// The client sees it for the last time, with the version of the change.
			last := clone(change.from)
			metaOf(last)["resourceVersion"] = strconv.FormatInt(change.revision, 10)
			return w.event("DELETED", &stored{object: last, raw: encode(last)})
		}
	}
	return nil
}

// Behind reports whether Next may return something.
func (w *Watch) Behind() bool {
	return len(w.initial) > 0 || w.streams || w.behind() > 0
}

// behind returns how many changes have not been looked at.
func (w *Watch) behind() int { return w.kind.forgotten + len(w.kind.log) - w.next }

// Bookmark returns the news that there is none, nil unless the client wants to hear that.
func (w *Watch) Bookmark() []byte {
	if w.Behind() || w.request.query.Get("allowWatchBookmarks") != "true" || w.revision == w.server.revision {
		return nil
	}
	w.revision = w.server.revision
	return w.mark(false)
}

func (w *Watch) mark(end bool) []byte {
	meta := tree{"resourceVersion": strconv.FormatInt(w.revision, 10)}
	if end {
		meta["annotations"] = tree{metav1.InitialEventsAnnotationKey: "true"}
	}
	kind, version := w.kind.Kind, w.kind.GroupVersion().String()
	if w.request.metadata {
		kind, version = "PartialObjectMetadata", metav1.SchemeGroupVersion.String()
	}
	return encode(tree{"type": "BOOKMARK", "object": tree{"kind": kind, "apiVersion": version, "metadata": meta}})
}

func (w *Watch) event(what string, o *stored) []byte {
	return fmt.Appendf(nil, `{"type":%q,"object":%s}`, what, w.request.shape(o))
}

// Expired is the news that the client has to list anew.
func (w *Watch) Expired() []byte {
	return fmt.Appendf(nil, `{"type":"ERROR","object":%s}`,
		Failure(apierrors.NewResourceExpired("too old resource version")).Body)
}
