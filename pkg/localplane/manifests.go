// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package localplane

import (
	"errors"
	"fmt"
	"io"
	"os"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

const yamlBufferSize = 64 << 10

// BuildKustomization returns the objects that kubectl apply -k would apply.
func BuildKustomization(dir string) ([]*unstructured.Unstructured, error) {
	resources, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), dir)
	if err != nil {
		return nil, fmt.Errorf("building the kustomization %s: %w", dir, err)
	}
	objects := make([]*unstructured.Unstructured, 0, resources.Size())
	for _, resource := range resources.Resources() {
		// By way of JSON, whose numbers unstructured objects have.
		content, err := resource.MarshalJSON()
		if err != nil {
			return nil, fmt.Errorf("building the kustomization %s: %w", dir, err)
		}
		object := &unstructured.Unstructured{}
		if err := object.UnmarshalJSON(content); err != nil {
			return nil, fmt.Errorf("building the kustomization %s: %w", dir, err)
		}
		objects = append(objects, object)
	}
	return objects, nil
}

// WithoutWorkloads drops what would run pods, and keeps the rest, for example to
// give a component that runs as a child process the permissions it has inside a
// cluster.
func WithoutWorkloads(objects []*unstructured.Unstructured) []*unstructured.Unstructured {
	kept := make([]*unstructured.Unstructured, 0, len(objects))
	for _, object := range objects {
		switch object.GetKind() {
		case "Deployment", "DaemonSet", "StatefulSet", "ReplicaSet", "Job", "CronJob", "Pod":
		default:
			kept = append(kept, object)
		}
	}
	return kept
}

// readManifests decodes all documents of a YAML file, except for empty ones.
func readManifests(path string) ([]*unstructured.Unstructured, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("reading manifests: %w", err)
	}
	defer file.Close()
	var objects []*unstructured.Unstructured
	decoder := yaml.NewYAMLOrJSONDecoder(file, yamlBufferSize)
	for {
		object := &unstructured.Unstructured{}
		err := decoder.Decode(&object.Object)
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		if err != nil {
			return nil, fmt.Errorf("reading manifests: %s: document %d: %w", path, len(objects)+1, err)
		}
		if len(object.Object) == 0 {
			continue
		}
		if object.GetKind() == "" || object.GetAPIVersion() == "" || object.GetName() == "" {
			return nil, fmt.Errorf("reading manifests: %s: document %d has no apiVersion, kind or name", path, len(objects)+1)
		}
		objects = append(objects, object)
	}
}
