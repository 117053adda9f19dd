// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package scheme adds the arguments of Berth's plugins to the scheme with which the scheduler reads
// its configuration. Importing it is enough; decoding is strict, so an unknown or misspelt field is
// an error.
package scheme

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	kubeschedulerscheme "k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
	kubeschedulerv1 "k8s.io/kubernetes/pkg/scheduler/apis/config/v1"

	"berth.dev/berth/apis/config"
	configv1 "berth.dev/berth/apis/config/v1"
)

var (
	// Scheme is the scheduler's own scheme, with Berth's types added.
	Scheme = kubeschedulerscheme.Scheme

	// Codecs decodes strictly.
	Codecs = serializer.NewCodecFactory(Scheme, serializer.EnableStrict)
)

// The arguments of plugins are defaulted and converted with a scheme of their own, apart from the
// one that decodes them.
func init() {
	AddToScheme(Scheme)
	AddToScheme(kubeschedulerv1.GetPluginArgConversionScheme())
}

// AddToScheme adds the types to a scheme.
func AddToScheme(scheme *runtime.Scheme) {
	utilruntime.Must(config.AddToScheme(scheme))
	utilruntime.Must(configv1.AddToScheme(scheme))
}
