// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package localplane

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
)

const (
	// fieldOwner owns the fields that this package applies.
	fieldOwner = "berth-playground"

	// establishTimeout bounds the wait until the API server serves the kinds
	// of a CRD, which takes it a fraction of a second.
	establishTimeout = 90 * time.Second
)

// ApplyCRDs applies the YAML files of the directory and waits until the API
// server serves every CustomResourceDefinition among them. A directory without
// any is an error.
func ApplyCRDs(ctx context.Context, config *rest.Config, dir string) error {
	paths, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil {
		return fmt.Errorf("listing the CRDs in %s: %w", dir, err)
	}
	if len(paths) == 0 {
		return fmt.Errorf("no CRDs in %s", dir)
	}
	return ApplyManifests(ctx, config, paths...)
}

// ApplyManifests applies, server-side and by force, every object of the YAML
// files. Definitions and namespaces go first; among equals the order is that of
// the files. It returns when CustomResourceDefinitions among them are served.
func ApplyManifests(ctx context.Context, config *rest.Config, paths ...string) error {
	var objects []*unstructured.Unstructured
	for _, path := range paths {
		read, err := readManifests(path)
		if err != nil {
			return err
		}
		objects = append(objects, read...)
	}
	return ApplyObjects(ctx, config, objects)
}

// ApplyObjects is ApplyManifests for objects that are in memory already. The
// list is sorted in place.
func ApplyObjects(ctx context.Context, config *rest.Config, objects []*unstructured.Unstructured) error {
	a, err := newApplier(config)
	if err != nil {
		return err
	}
	slices.SortStableFunc(objects, func(x, y *unstructured.Unstructured) int {
		return applyRank(x.GetKind()) - applyRank(y.GetKind())
	})
	for _, object := range objects {
		if err := a.apply(ctx, object); err != nil {
			return err
		}
	}
	for _, object := range objects {
		if err := a.waitEstablished(ctx, object); err != nil {
			return err
		}
	}
	return nil
}

// applyRank puts what others need before what needs it.
func applyRank(kind string) int {
	switch kind {
	case kindCRD:
		return 0
	case "Namespace":
		return 1
	default:
		return 2
	}
}

const kindCRD = "CustomResourceDefinition"

type applier struct {
	client dynamic.Interface
	mapper *restmapper.DeferredDiscoveryRESTMapper
}

func newApplier(config *rest.Config) (*applier, error) {
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	discoveryClient, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(discoveryClient))
	return &applier{client: client, mapper: mapper}, nil
}

func (a *applier) apply(ctx context.Context, object *unstructured.Unstructured) error {
	resource, err := a.resourceFor(ctx, object)
	if err != nil {
		return err
	}
	_, err = resource.Apply(ctx, object.GetName(), object, metav1.ApplyOptions{FieldManager: fieldOwner, Force: true})
	if err != nil {
		return fmt.Errorf("applying %s: %w", describe(object), err)
	}
	return nil
}

// resourceFor waits for a kind that the API server does not serve yet: its
// definition may have been applied a moment ago.
func (a *applier) resourceFor(ctx context.Context, object *unstructured.Unstructured) (dynamic.ResourceInterface, error) {
	gvk := object.GroupVersionKind()
	var mapping *meta.RESTMapping
	var last error
	err := wait.PollUntilContextTimeout(ctx, readyPoll, establishTimeout, true, func(context.Context) (bool, error) {
		mapping, last = a.mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
		if meta.IsNoMatchError(last) {
			a.mapper.Reset()
			return false, nil
		}
		return true, last
	})
	if err != nil {
		return nil, fmt.Errorf("finding the resource of %s: %w", describe(object), errors.Join(err, last))
	}
	resource := a.client.Resource(mapping.Resource)
	if mapping.Scope.Name() == meta.RESTScopeNameRoot {
		return resource, nil
	}
	namespace := object.GetNamespace()
	if namespace == "" {
		namespace = metav1.NamespaceDefault
	}
	return resource.Namespace(namespace), nil
}

func (a *applier) waitEstablished(ctx context.Context, object *unstructured.Unstructured) error {
	if object.GetKind() != kindCRD {
		return nil
	}
	resource, err := a.resourceFor(ctx, object)
	if err != nil {
		return err
	}
	err = wait.PollUntilContextTimeout(ctx, readyPoll, establishTimeout, true, func(ctx context.Context) (bool, error) {
		live, err := resource.Get(ctx, object.GetName(), metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		return established(live), nil
	})
	if err != nil {
		return fmt.Errorf("waiting until %s is served: %w", describe(object), err)
	}
	return nil
}

func established(crd *unstructured.Unstructured) bool {
	conditions, _, err := unstructured.NestedSlice(crd.Object, "status", "conditions")
	if err != nil {
		return false
	}
	return slices.ContainsFunc(conditions, func(c any) bool {
		condition, ok := c.(map[string]any)
		return ok && condition["type"] == "Established" && condition["status"] == "True"
	})
}

// describe names an object in an error.
func describe(object *unstructured.Unstructured) string {
	if object.GetNamespace() == "" {
		return object.GetKind() + " " + object.GetName()
	}
	return object.GetKind() + " " + object.GetNamespace() + "/" + object.GetName()
}
