// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package whatif

import (
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/sets"
	kubernetesscheme "k8s.io/client-go/kubernetes/scheme"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// scheme has the kinds that a Simulation knows: those of Kubernetes and Berth's own. Most are taken
// up and never asked for.
var scheme = newScheme()

var decoder = serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer()

func newScheme() *runtime.Scheme {
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		kubernetesscheme.AddToScheme, apiextensionsv1.AddToScheme, berthv1alpha1.AddToScheme,
	} {
		if err := add(s); err != nil {
			panic(err) // two kinds of one name
		}
	}
	return s
}

// unscoped are the kinds without a namespace.
var unscoped = sets.New(
	"Namespace", "Node", "PersistentVolume", "StorageClass", "CSINode", "CSIDriver", "VolumeAttachment",
	"VolumeAttributesClass", "PriorityClass", "RuntimeClass", "IngressClass", "ClusterRole", "ClusterRoleBinding",
	"CustomResourceDefinition", "APIService", "CertificateSigningRequest", "ValidatingAdmissionPolicy",
	"ValidatingAdmissionPolicyBinding", "MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding",
	"ValidatingWebhookConfiguration", "MutatingWebhookConfiguration", "FlowSchema", "PriorityLevelConfiguration",
	"DeviceClass", "ResourceSlice",
	"Cluster", "ClusterPropagationPolicy", "ClusterResource", "FeedParser", "GlobalCloud", "GlobalMetric", "GlobalMetricsProvider", "Scheduler",
)

// Decode reads an object of a file, as JSON. One of a namespaced kind that names no namespace gets
// the given one. Unknown kinds and unknown fields are errors, and so is what the definitions of
// Berth's kinds forbid.
func Decode(raw []byte, namespace string) (runtime.Object, error) {
	raw, err := complete(raw)
	if err != nil {
		return nil, err
	}
	decoded, kind, err := decoder.Decode(raw, nil, nil)
	switch {
	case runtime.IsNotRegisteredError(err):
		return nil, fmt.Errorf("kind %s of %s is not known here: leave it out", kind.Kind, kind.GroupVersion())
	case err != nil:
		return nil, err
	}
	typed, ok := decoded.(object)
	if !ok {
		return nil, fmt.Errorf("a %s is no object that can be simulated", kind.Kind)
	}
	if typed.GetName() == "" {
		return nil, fmt.Errorf("a %s has no metadata.name", kind.Kind)
	}
	switch {
	case unscoped.Has(kind.Kind):
		typed.SetNamespace("")
	case typed.GetNamespace() == "":
		typed.SetNamespace(namespace)
	}
	return typed, nil
}

// Identity returns what no two objects have in common, for people to read.
func Identity(o runtime.Object) string {
	_, identity, err := identify(o)
	if err != nil {
		return err.Error()
	}
	return identity.String()
}
