// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	schedulerconfig "k8s.io/kubernetes/pkg/scheduler/apis/config"
)

// SchemeGroupVersion is the group and internal version of the types in this package.
var SchemeGroupVersion = schema.GroupVersion{Group: schedulerconfig.GroupName, Version: runtime.APIVersionInternal}

var (
	// SchemeBuilder collects what registers the types of this package.
	SchemeBuilder      = runtime.NewSchemeBuilder(addKnownTypes)
	localSchemeBuilder = &SchemeBuilder

	// AddToScheme registers the types of this package with a scheme.
	AddToScheme = localSchemeBuilder.AddToScheme
)

func addKnownTypes(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(SchemeGroupVersion, &NodeGroupPolicyArgs{}, &ClusterResourceArgs{})
	return nil
}
