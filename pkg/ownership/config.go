// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package ownership

import (
	"fmt"
	"net/http"

	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
)

// NewForConfig returns a Directory that reads from the API server of a configuration by an HTTP
// client, which may be shared. Of the options it sets Objects, Metadata and Discovery.
func NewForConfig(config *rest.Config, http *http.Client, options Options) (*Directory, error) {
	var err error
	if options.Objects, err = dynamic.NewForConfigAndClient(config, http); err != nil {
		return nil, fmt.Errorf("making a client for objects of any kind: %w", err)
	}
	if options.Metadata, err = metadata.NewForConfigAndClient(config, http); err != nil {
		return nil, fmt.Errorf("making a client for metadata: %w", err)
	}
	if options.Discovery, err = discovery.NewDiscoveryClientForConfigAndClient(config, http); err != nil {
		return nil, fmt.Errorf("making a client for discovery: %w", err)
	}
	return newDirectory(options), nil
}
