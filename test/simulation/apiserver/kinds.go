// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"fmt"
	"slices"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// kind is a kind of objects that is served.
type kind struct {
	schema.GroupVersionKind

	resource   string
	namespaced bool
	// hasStatus is true if the kind has the subresource status, generation if writes of the spec are
	// counted, scale if it has that subresource.
	hasStatus, generation, scale bool
	// schema has the defaults of a custom resource, nil for other kinds.
	schema *structuralschema.Structural
	rules  rules

	objects map[string]*stored
	// log has all changes, the oldest first, except for so many that are forgotten.
	log       []*Change
	forgotten int
}

// until returns how many changes of the log are of a revision or of those before.
func (k *kind) until(revision int64) int {
	at, _ := slices.BinarySearchFunc(k.log, revision+1, func(c *Change, revision int64) int { return int(c.revision - revision) })
	return at
}

func (k *kind) groupResource() schema.GroupResource {
	return schema.GroupResource{Group: k.Group, Resource: k.resource}
}

// builtin are the kinds of Kubernetes that Berth's programs read or write. The letters say:
// n namespaced, s status, g generation, r scale.
var builtin = []struct{ group, version, kind, resource, traits string }{
	{"", "v1", "Pod", "pods", "nsg"},
	{"", "v1", "Node", "nodes", "s"},
	{"", "v1", "Namespace", "namespaces", "s"},
	{"", "v1", "ConfigMap", "configmaps", "n"},
	{"", "v1", "Secret", "secrets", "n"},
	{"", "v1", "Service", "services", "ns"},
	{"", "v1", "ServiceAccount", "serviceaccounts", "n"},
	{"", "v1", "Event", "events", "n"},
	{"", "v1", "LimitRange", "limitranges", "n"},
	{"", "v1", "ResourceQuota", "resourcequotas", "ns"},
	{"", "v1", "PersistentVolume", "persistentvolumes", "s"},
	{"", "v1", "PersistentVolumeClaim", "persistentvolumeclaims", "ns"},
	{"", "v1", "ReplicationController", "replicationcontrollers", "nsgr"},
	{"apps", "v1", "Deployment", "deployments", "nsgr"},
	{"apps", "v1", "ReplicaSet", "replicasets", "nsgr"},
	{"apps", "v1", "StatefulSet", "statefulsets", "nsgr"},
	{"apps", "v1", "DaemonSet", "daemonsets", "nsg"},
	{"apps", "v1", "ControllerRevision", "controllerrevisions", "n"},
	{"batch", "v1", "Job", "jobs", "nsg"},
	{"batch", "v1", "CronJob", "cronjobs", "nsg"},
	{"policy", "v1", "PodDisruptionBudget", "poddisruptionbudgets", "nsg"},
	{"coordination.k8s.io", "v1", "Lease", "leases", "n"},
	{"events.k8s.io", "v1", "Event", "events", "n"},
	{"storage.k8s.io", "v1", "StorageClass", "storageclasses", ""},
	{"storage.k8s.io", "v1", "CSINode", "csinodes", ""},
	{"storage.k8s.io", "v1", "CSIDriver", "csidrivers", ""},
	{"storage.k8s.io", "v1", "CSIStorageCapacity", "csistoragecapacities", "n"},
	{"storage.k8s.io", "v1", "VolumeAttachment", "volumeattachments", "s"},
	{"resource.k8s.io", "v1", "ResourceClaim", "resourceclaims", "ns"},
	{"resource.k8s.io", "v1", "ResourceClaimTemplate", "resourceclaimtemplates", "ns"},
	{"resource.k8s.io", "v1", "ResourceSlice", "resourceslices", ""},
	{"resource.k8s.io", "v1", "DeviceClass", "deviceclasses", ""},
	{"scheduling.k8s.io", "v1", "PriorityClass", "priorityclasses", ""},
	{"node.k8s.io", "v1", "RuntimeClass", "runtimeclasses", ""},
	{"rbac.authorization.k8s.io", "v1", "Role", "roles", "n"},
	{"rbac.authorization.k8s.io", "v1", "RoleBinding", "rolebindings", "n"},
	{"apiextensions.k8s.io", "v1", "CustomResourceDefinition", "customresourcedefinitions", "sg"},
}

func builtinKinds() []*kind {
	kinds := make([]*kind, 0, len(builtin))
	for _, b := range builtin {
		k := &kind{
			GroupVersionKind: schema.GroupVersionKind{Group: b.group, Version: b.version, Kind: b.kind},
			resource:         b.resource, objects: map[string]*stored{},
		}
		for _, trait := range b.traits {
			switch trait {
			case 'n':
				k.namespaced = true
			case 's':
				k.hasStatus = true
			case 'g':
				k.generation = true
			case 'r':
				k.scale = true
			}
		}
		kinds = append(kinds, k)
	}
	return kinds
}

// customKind returns the kind of a definition that has one version.
func customKind(definition *apiextensionsv1.CustomResourceDefinition) (*kind, error) {
	version := definition.Spec.Versions[0]
	k := &kind{
		GroupVersionKind: schema.GroupVersionKind{
			Group: definition.Spec.Group, Version: version.Name, Kind: definition.Spec.Names.Kind,
		},
		resource: definition.Spec.Names.Plural, namespaced: definition.Spec.Scope == apiextensionsv1.NamespaceScoped,
		generation: true, objects: map[string]*stored{},
	}
	k.hasStatus = version.Subresources != nil && version.Subresources.Status != nil
	internal := &apiextensions.JSONSchemaProps{}
	err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(
		version.Schema.OpenAPIV3Schema, internal, nil)
	if err != nil {
		return nil, fmt.Errorf("reading the schema of %s: %w", definition.Name, err)
	}
	k.rules.definition = internal
	if k.schema, err = structuralschema.NewStructural(internal); err != nil {
		return nil, fmt.Errorf("reading the schema of %s: %w", definition.Name, err)
	}
	return k, nil
}
