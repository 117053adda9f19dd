// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package world

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"

	"k8s.io/client-go/rest"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/localplane"
	"berth.dev/berth/pkg/registration"
)

const (
	// registrar is the ServiceAccount that registers clusters.
	registrar = "registrar"
	// clustersPath is where clusters are registered.
	clustersPath = "/globalscheduler/v1/clusters"
	// maxAnswer bounds what is read of an answer.
	maxAnswer = 1 << 20
)

// startGateway starts berth-gateway, and makes a ServiceAccount that may register clusters there.
func (w *World) startGateway(ctx context.Context) error {
	_, address, err := w.plane.StartGateway(ctx, localplane.Component{})
	if err != nil {
		return fmt.Errorf("%w: run make build first", err)
	}
	w.gateway = "https://" + address
	token, err := localplane.NewToken(ctx, w.Client, registrar, "berth-cluster-editor")
	if err != nil {
		return err
	}
	if err := os.WriteFile(w.TokenFile(), []byte(token), 0o600); err != nil {
		return fmt.Errorf("keeping the token of the registrar: %w", err)
	}
	// The gateway signs its certificate itself.
	w.rest, err = rest.HTTPClientFor(&rest.Config{BearerToken: token, TLSClientConfig: rest.TLSClientConfig{Insecure: true}})
	if err != nil {
		return fmt.Errorf("making a client of the gateway: %w", err)
	}
	err = localplane.Await(ctx, startTimeout, w.Exited(), func(ctx context.Context) error {
		return w.call(ctx, http.MethodGet, "/readyz", nil)
	})
	if err != nil {
		return fmt.Errorf("waiting for %s: %w", localplane.BerthGateway, err)
	}
	return nil
}

// ClustersURL is where the gateway registers and lists clusters.
func (w *World) ClustersURL() string { return w.gateway + clustersPath }

// TokenFile is the file with the token of a ServiceAccount that may register clusters.
func (w *World) TokenFile() string { return filepath.Join(w.StateDir(), registrar+".token") }

// Register registers a Cluster through the gateway.
func (w *World) Register(ctx context.Context, cluster *berthv1alpha1.Cluster) error {
	body, err := json.Marshal(registration.Document{Profile: registration.FromCluster(cluster)})
	if err != nil {
		return fmt.Errorf("registering Cluster %s: %w", cluster.Name, err)
	}
	if err := w.call(ctx, http.MethodPost, clustersPath, body); err != nil {
		return fmt.Errorf("registering Cluster %s: %w", cluster.Name, err)
	}
	return nil
}

// call sends a request to the gateway. What it answers is told if it refuses.
func (w *World) call(ctx context.Context, method, path string, body []byte) error {
	request, err := http.NewRequestWithContext(ctx, method, w.gateway+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := w.rest.Do(request)
	if err != nil {
		return err
	}
	answer, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	err = errors.Join(err, response.Body.Close())
	if err == nil && response.StatusCode >= http.StatusMultipleChoices {
		err = fmt.Errorf("%s: %s", response.Status, answer)
	}
	return err
}
