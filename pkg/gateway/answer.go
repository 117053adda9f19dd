// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	_ "embed" // the description of the API
	"encoding/json"
	"net/http"

	utilnet "k8s.io/apimachinery/pkg/util/net"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/registration"
)

// openAPI describes the API as OpenAPI 3.0.
//
//go:embed openapi.json
var openAPI []byte

func writeJSON(w http.ResponseWriter, status int, body any) error {
	encoded, err := json.Marshal(body)
	if err != nil {
		return internal(err)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	// An error means that the client is gone.
	_, _ = w.Write(append(encoded, '\n'))
	return nil
}

func writeText(w http.ResponseWriter, text string) error {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = w.Write([]byte(text))
	return nil
}

func writeOpenAPI(w http.ResponseWriter) error {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(openAPI)
	return nil
}

// writeCluster answers with a cluster.
func writeCluster(w http.ResponseWriter, status int, cluster *berthv1alpha1.Cluster) error {
	w.Header().Set("ETag", etag(cluster))
	return writeJSON(w, status, registration.Document{Profile: registration.FromCluster(cluster)})
}

// warn tells what in a request has no effect, without failing it.
func warn(w http.ResponseWriter, texts []string) {
	for _, text := range texts {
		header, err := utilnet.NewWarningHeader(299, "berth-gateway", text)
		if err != nil {
			// Headers carry no control characters, and the text quotes them away.
			continue
		}
		w.Header().Add("Warning", header)
	}
}
