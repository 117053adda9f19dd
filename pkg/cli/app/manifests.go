// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/feeds/manifest"
)

// maxManifests is how many objects an Application can have.
const maxManifests = 100

// parseManifests reads the objects of an Application of this namespace. It refuses what the
// controller would refuse later, as far as that can be seen without asking the API server.
func parseManifests(raw []byte, namespace string) ([]berthv1alpha1.Manifest, error) {
	documents, err := manifest.ReadAll(raw)
	switch {
	case err != nil:
		return nil, err
	case len(documents) == 0:
		return nil, errors.New("there is no object in it")
	case len(documents) > maxManifests:
		return nil, fmt.Errorf("there are %d objects in it, and an Application can have %d", len(documents), maxManifests)
	}
	manifests := make([]berthv1alpha1.Manifest, 0, len(documents))
	seen := map[string]string{}
	for _, document := range documents {
		id, err := identify(document.Raw, namespace)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", document.Place, err)
		}
		key := id.GroupKind().String() + "/" + id.Name
		if first, twice := seen[key]; twice {
			return nil, fmt.Errorf("%s: %s %q is in %s already", document.Place, id.Kind, id.Name, first)
		}
		seen[key] = document.Place
		manifests = append(manifests, berthv1alpha1.Manifest{RawExtension: runtime.RawExtension{Raw: document.Raw}})
	}
	return manifests, nil
}

// identify returns what names an object, if it can be one of an Application.
func identify(raw []byte, namespace string) (manifest.Identity, error) {
	object, err := manifest.Decode(raw)
	if err != nil {
		return manifest.Identity{}, err
	}
	id, err := object.Identity()
	switch {
	case err != nil:
		return id, err
	case id.GroupKind().Group == berthv1alpha1.GroupName:
		return id, fmt.Errorf("%s %q is of Berth itself, and no Application can have such objects", id.Kind, id.Name)
	case id.Namespace != "" && id.Namespace != namespace:
		return id, fmt.Errorf("%s %q is of namespace %q, and the Application of %q", id.Kind, id.Name, id.Namespace, namespace)
	}
	return id, nil
}
