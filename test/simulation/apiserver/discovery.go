// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"
)

// discover answers what clients ask to find out which kinds are served.
func (s *Server) discover(r *Request) Answer {
	parts := strings.Split(strings.Trim(r.Path, "/"), "/")
	var found any
	switch {
	case r.Path == "/version":
		found = version.Info{Major: "1", Minor: "35", GitVersion: "v1.35.8"}
	case r.Path == "/api":
		found = metav1.APIVersions{TypeMeta: metav1.TypeMeta{Kind: "APIVersions", APIVersion: "v1"}, Versions: []string{"v1"}}
	case r.Path == "/apis":
		found = s.groups()
	case len(parts) == 2 && parts[0] == "api":
		found = s.resources(schema.GroupVersion{Version: parts[1]})
	case len(parts) == 2 && parts[0] == "apis":
		found = s.group(parts[1])
	case len(parts) == 3 && parts[0] == "apis":
		found = s.resources(schema.GroupVersion{Group: parts[1], Version: parts[2]})
	}
	if found == nil {
		return Failure(apierrors.NewGenericServerResponse(http.StatusNotFound, r.Verb, schema.GroupResource{}, r.Path, "", 0, true))
	}
	return Answer{Code: http.StatusOK, Body: encode(found)}
}

// sorted returns the kinds in the order of their names.
func (s *Server) sorted() []*kind {
	kinds := make([]*kind, 0, len(s.kinds))
	for _, k := range s.kinds {
		kinds = append(kinds, k)
	}
	slices.SortFunc(kinds, func(a, b *kind) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.resource, b.resource))
	})
	return kinds
}

func (s *Server) groups() metav1.APIGroupList {
	list := metav1.APIGroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}}
	for _, k := range s.sorted() {
		known := slices.ContainsFunc(list.Groups, func(g metav1.APIGroup) bool { return g.Name == k.Group })
		if k.Group != "" && !known {
			list.Groups = append(list.Groups, groupOf(k))
		}
	}
	return list
}

func groupOf(k *kind) metav1.APIGroup {
	version := metav1.GroupVersionForDiscovery{GroupVersion: k.GroupVersion().String(), Version: k.Version}
	return metav1.APIGroup{
		TypeMeta: metav1.TypeMeta{Kind: "APIGroup", APIVersion: "v1"}, Name: k.Group,
		Versions: []metav1.GroupVersionForDiscovery{version}, PreferredVersion: version,
	}
}

// group returns what is served of a group, nil if nothing is.
func (s *Server) group(name string) any {
	for _, k := range s.sorted() {
		if k.Group == name {
			return groupOf(k)
		}
	}
	return nil
}

// resources returns the resources of a group, nil if there are none.
func (s *Server) resources(group schema.GroupVersion) any {
	list := metav1.APIResourceList{
		TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: group.String(),
	}
	for _, k := range s.sorted() {
		if k.GroupVersion() != group {
			continue
		}
		list.APIResources = append(list.APIResources, metav1.APIResource{
			Name: k.resource, SingularName: strings.ToLower(k.Kind), Namespaced: k.namespaced, Kind: k.Kind,
			Verbs: []string{"create", "delete", "get", "list", "patch", "update", "watch"},
		})
		if k.scale {
			list.APIResources = append(list.APIResources, metav1.APIResource{
				Name: k.resource + "/scale", Namespaced: k.namespaced, Group: "autoscaling", Version: "v1", Kind: "Scale",
				Verbs: []string{"get", "update"},
			})
		}
	}
	if len(list.APIResources) == 0 {
		return nil
	}
	return list
}
