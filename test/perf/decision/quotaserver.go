// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build !kubernetes_1_36 && !kubernetes_1_37

package decision

import (
	"context"
	"fmt"
	"net"
	"net/http"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	quotav1alpha1 "sigs.k8s.io/scheduler-plugins/apis/scheduling/v1alpha1"
)

// serveQuotas starts as much of an API server as the informer of ElasticQuotas needs, on a port of
// the loopback interface. It stops when the context ends.
func serveQuotas(ctx context.Context) (*rest.Config, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("starting the server of quotas: %w", err)
	}
	group := quotav1alpha1.SchemeGroupVersion
	version := metav1.GroupVersionForDiscovery{GroupVersion: group.String(), Version: group.Version}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, &metav1.APIVersions{TypeMeta: metav1.TypeMeta{Kind: "APIVersions"}})
	})
	mux.HandleFunc("GET /apis", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, &metav1.APIGroupList{
			TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"},
			Groups: []metav1.APIGroup{{
				Name: group.Group, Versions: []metav1.GroupVersionForDiscovery{version}, PreferredVersion: version,
			}},
		})
	})
	mux.HandleFunc("GET /apis/"+group.String(), func(w http.ResponseWriter, _ *http.Request) {
		reply(w, &metav1.APIResourceList{
			TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: group.String(),
			APIResources: []metav1.APIResource{{
				Name: "elasticquotas", SingularName: "elasticquota", Namespaced: true, Kind: "ElasticQuota",
				Verbs: metav1.Verbs{"list", "watch"},
			}},
		})
	})
	mux.HandleFunc("GET /apis/"+group.String()+"/elasticquotas", listOrWatch)
	server := &http.Server{Handler: mux, ReadHeaderTimeout: startTimeout, BaseContext: func(net.Listener) context.Context { return ctx }}
	go server.Serve(listener) //nolint:errcheck // it ends with the context
	context.AfterFunc(ctx, func() { server.Close() })
	return &rest.Config{Host: "http://" + listener.Addr().String()}, nil
}

func listOrWatch(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	switch {
	case query.Get("sendInitialEvents") != "":
		// The informer lists if it cannot have the first state as a stream.
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusUnprocessableEntity)
		reply(w, &metav1.Status{
			TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusFailure,
			Reason: metav1.StatusReasonInvalid, Code: http.StatusUnprocessableEntity,
		})
	case query.Get("watch") != "":
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusOK)
		if flusher, ok := w.(http.Flusher); ok {
			flusher.Flush()
		}
		<-r.Context().Done() // nothing ever changes
	default:
		reply(w, allQuotas())
	}
}

// allQuotas returns a quota for the workload, which is never used up, and for other namespaces.
func allQuotas() *quotav1alpha1.ElasticQuotaList {
	limit := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("29"), corev1.ResourceMemory: resource.MustParse("100Gi")}
	list := &quotav1alpha1.ElasticQuotaList{
		TypeMeta: metav1.TypeMeta{Kind: "ElasticQuotaList", APIVersion: quotav1alpha1.SchemeGroupVersion.String()},
		ListMeta: metav1.ListMeta{ResourceVersion: "1"},
	}
	for i := range quotas {
		home := namespace
		if i > 0 {
			home = fmt.Sprintf("%s-%d", elsewhere, i)
		}
		list.Items = append(list.Items, quotav1alpha1.ElasticQuota{
			TypeMeta:   metav1.TypeMeta{Kind: "ElasticQuota", APIVersion: quotav1alpha1.SchemeGroupVersion.String()},
			ObjectMeta: metav1.ObjectMeta{Namespace: home, Name: "quota", ResourceVersion: "1"},
			Spec:       quotav1alpha1.ElasticQuotaSpec{Min: limit, Max: limit},
		})
	}
	return list
}
