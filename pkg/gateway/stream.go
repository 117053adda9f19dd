// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/registration"
)

// stream answers with all clusters from this page on, and holds no more than a page of them. All
// pages are of one version, that of the first. An error means that the answer is not complete.
func (g *Gateway) stream(w *observer, r *request, wanted selection, page *berthv1alpha1.ClusterList) error {
	w.Header().Set("Content-Type", mediaJSON)
	w.WriteHeader(http.StatusOK)
	if r.Method == http.MethodHead {
		return nil
	}
	out := bufio.NewWriter(w)
	// An error of a write means that the client is gone; Flush has it.
	_, _ = out.WriteString(`{"clusters":[`)
	for separator := ""; ; {
		for i := range page.Items {
			encoded, err := json.Marshal(registration.FromCluster(&page.Items[i]))
			if err != nil {
				return fmt.Errorf("cluster %q: %w", page.Items[i].Name, err)
			}
			_, _ = out.WriteString(separator)
			_, _ = out.Write(encoded)
			separator = ","
		}
		if out.Flush() != nil {
			return nil //nolint:nilerr // nobody is there to tell
		}
		if wanted.options.Continue = page.Continue; wanted.options.Continue == "" {
			break
		}
		var err error
		if page, err = g.page(r.Context(), wanted); err != nil {
			return fmt.Errorf("listing further clusters: %w", err)
		}
	}
	return endStream(out, page.ResourceVersion)
}

// endStream writes what follows the clusters.
func endStream(out *bufio.Writer, version string) error {
	_, _ = out.WriteString("]")
	if version != "" {
		encoded, err := json.Marshal(version)
		if err != nil {
			return err
		}
		_, _ = fmt.Fprintf(out, `,"resourceVersion":%s`, encoded)
	}
	_, _ = out.WriteString("}\n")
	_ = out.Flush()
	return nil
}
