// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package feeds

import (
	"k8s.io/utils/ptr"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/feeds/manifest"
)

var (
	scaledReplicas = manifest.MustPointer("/spec/replicas")
	scaledTemplate = manifest.MustPointer("/spec/template")
)

// scaled reads Deployments, ReplicaSets, StatefulSets and ReplicationControllers: a number of
// replicas beside the template of their pods. In all API versions that ever served them these
// fields lie in the same place.
type scaled struct{ kind string }

var _ PluginFactory = scaled{}

// Name returns the kind.
func (s scaled) Name() string { return s.kind }

// Kind returns the kind.
func (s scaled) Kind() string { return s.kind }

// Parser reads /spec/replicas, 1 if it is missing as in the API server, and /spec/template.
func (s scaled) Parser(rawData []byte) (*int32, berthv1alpha1.ReplicaRequirements, string, error) {
	object, err := manifest.Decode(rawData)
	if err != nil {
		return nothing(err)
	}
	replicas, err := countAt(object, scaledReplicas)
	if err != nil {
		return nothing(err)
	}
	requirements, err := templateAt(object, scaledTemplate)
	if err != nil {
		return nothing(err)
	}
	return ptr.To(ptr.Deref(replicas, 1)), requirements, scaledReplicas.String(), nil
}

// nothing is what a parser returns with an error.
func nothing(err error) (*int32, berthv1alpha1.ReplicaRequirements, string, error) {
	return nil, berthv1alpha1.ReplicaRequirements{}, "", err
}
