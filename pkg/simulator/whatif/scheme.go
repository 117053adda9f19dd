// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package whatif

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
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

// errUnknownKind is part of what Decode says of a kind that is not in the scheme.
var errUnknownKind = errors.New("not known here")

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
		return nil, fmt.Errorf("kind %s of %s is %w: leave it out", kind.Kind, kind.GroupVersion(), errUnknownKind)
	case err != nil:
		return nil, err
	}
	if stable, former := stableOf(*kind); former {
		return nil, fmt.Errorf("kind %s of %s is not known here: write it as %s", kind.Kind, kind.GroupVersion(), stable)
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

// stableOf returns the stable version of a kind in a version before that, which API servers have
// ceased to serve or are about to, and whether it is one. Nothing here reads what is written in it.
func stableOf(kind schema.GroupVersionKind) (schema.GroupVersion, bool) {
	if isStable(kind.Version) {
		return schema.GroupVersion{}, false
	}
	group := cmp.Or(movedFrom[kind.GroupKind()], kind.Group)
	for _, known := range scheme.PrioritizedVersionsForGroup(group) {
		if isStable(known.Version) && scheme.Recognizes(known.WithKind(kind.Kind)) {
			return known, true
		}
	}
	return schema.GroupVersion{}, false
}

func isStable(version string) bool {
	return !strings.Contains(version, "alpha") && !strings.Contains(version, "beta")
}

// movedFrom is where the kinds of a group are that has no stable version.
var movedFrom = map[schema.GroupKind]string{
	{Group: "extensions", Kind: "Deployment"}:    "apps",
	{Group: "extensions", Kind: "DaemonSet"}:     "apps",
	{Group: "extensions", Kind: "ReplicaSet"}:    "apps",
	{Group: "extensions", Kind: "Ingress"}:       "networking.k8s.io",
	{Group: "extensions", Kind: "NetworkPolicy"}: "networking.k8s.io",
}

// Identity returns what no two objects have in common, for people to read.
func Identity(o runtime.Object) string {
	_, identity, err := identify(o)
	if err != nil {
		return err.Error()
	}
	return identity.String()
}
