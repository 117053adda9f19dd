// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package ownership

import (
	"context"
	"fmt"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/generated/clientset/versioned"
)

// NewForConfig returns a Directory that reads from the API server of a configuration by an HTTP
// client, which may be shared; nil stands for one of its own. Of the options it sets Objects,
// Metadata and Discovery.
func NewForConfig(config *rest.Config, shared *http.Client, options Options) (*Directory, error) {
	// A scheduler's configuration asks for protobuf, which no kind of an operator has.
	config = rest.CopyConfig(config)
	config.ContentType, config.AcceptContentTypes = runtime.ContentTypeJSON, runtime.ContentTypeJSON
	var err error
	if shared == nil {
		if shared, err = rest.HTTPClientFor(config); err != nil {
			return nil, fmt.Errorf("making a client for owners of pods: %w", err)
		}
	}
	if options.Objects, err = dynamic.NewForConfigAndClient(config, shared); err != nil {
		return nil, fmt.Errorf("making a client for objects of any kind: %w", err)
	}
	if options.Metadata, err = metadata.NewForConfigAndClient(config, shared); err != nil {
		return nil, fmt.Errorf("making a client for metadata: %w", err)
	}
	if options.Discovery, err = discovery.NewDiscoveryClientForConfigAndClient(config, shared); err != nil {
		return nil, fmt.Errorf("making a client for discovery: %w", err)
	}
	return newDirectory(options), nil
}

// RulesOf returns what lists the FeedParsers with the rights of a user. For one who may not, and
// where there is no such kind, there are none: the scale subresource then tells how many pods an
// object wants.
func RulesOf(client versioned.Interface) func(context.Context) ([]berthv1alpha1.FeedParser, error) {
	return func(ctx context.Context) ([]berthv1alpha1.FeedParser, error) {
		parsers, err := client.BerthV1alpha1().FeedParsers().List(ctx, metav1.ListOptions{})
		switch {
		case apierrors.IsForbidden(err), apierrors.IsNotFound(err):
			return nil, nil
		case err != nil:
			return nil, fmt.Errorf("listing FeedParsers: %w", err)
		default:
			return parsers.Items, nil
		}
	}
}
