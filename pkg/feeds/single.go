// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package feeds

import (
	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/feeds/manifest"
)

var (
	// perNodeTemplate is where a DaemonSet keeps the template of its pods.
	perNodeTemplate = manifest.MustPointer("/spec/template")

	// podItself makes a Pod its own template.
	podItself manifest.Pointer
)

// single reads what has no number of replicas to divide: a Pod, and a DaemonSet, which has one
// replica for each node. They are copied whole, and what one replica needs is known.
type single struct {
	kind     string
	template manifest.Pointer
}

var _ PluginFactory = single{}

// Name returns the kind.
func (s single) Name() string { return s.kind }

// Kind returns the kind.
func (s single) Kind() string { return s.kind }

// Parser reads the template.
func (s single) Parser(rawData []byte) (*int32, berthv1alpha1.ReplicaRequirements, string, error) {
	object, err := manifest.Decode(rawData)
	if err != nil {
		return nothing(err)
	}
	requirements, err := templateAt(object, s.template)
	return nil, requirements, "", err
}
