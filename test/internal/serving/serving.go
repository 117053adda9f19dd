// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package serving asks programs of a control plane for what they tell of themselves: their metrics
// and profiles.
package serving

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"k8s.io/client-go/rest"
)

// Get returns what a program on loopback answers on a path over HTTPS, asked as the user of the
// configuration. Its certificate may be one that it signed itself at its start.
func Get(ctx context.Context, user *rest.Config, address, path string) (body []byte, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("reading %s from %s: %w", path, address, err)
		}
	}()
	config := rest.CopyConfig(user)
	config.CAData, config.Insecure = nil, true
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+address+path, http.NoBody)
	if err != nil {
		return nil, err
	}
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, response.Body.Close()) }()
	if response.StatusCode != http.StatusOK {
		return nil, errors.New(response.Status)
	}
	return io.ReadAll(response.Body)
}
