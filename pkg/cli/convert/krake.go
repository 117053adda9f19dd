// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"errors"
	"fmt"

	"berth.dev/berth/pkg/feeds/manifest"
)

// krakeKind is how a kind of Krake is rewritten.
type krakeKind struct {
	// kind is what it is called in Berth.
	kind string
	// namespaced reports whether it has a namespace there.
	namespaced bool
	// spec rewrites the spec. It takes what it knows.
	spec func(*conversion, fields) (map[string]any, error)
}

// krakeKinds are the kinds of Krake by API and name.
var krakeKinds = map[string]krakeKind{
	"core/GlobalMetric":          {"GlobalMetric", false, krakeMetric},
	"core/Metric":                {"Metric", true, krakeMetric},
	"core/GlobalMetricsProvider": {"GlobalMetricsProvider", false, krakeProvider},
	"core/MetricsProvider":       {"MetricsProvider", true, krakeProvider},
	"kubernetes/Application":     {"Application", true, krakeApplication},
	"kubernetes/Cluster":         {"Cluster", false, krakeCluster},
	"infrastructure/Cloud":       {"Cloud", true, krakeCloud},
	"infrastructure/GlobalCloud": {"GlobalCloud", false, krakeCloud},
	"openstack/Project":          {"OpenStackProject", true, krakeProject},
	"openstack/MagnumCluster":    {"MagnumCluster", true, krakeMagnum},
}

// krake rewrites an object of Krake.
func (c *conversion) krake(api string, object manifest.Object) (manifest.Object, error) {
	kind, _ := object["kind"].(string)
	known, ok := krakeKinds[api+"/"+kind]
	if !ok {
		return nil, unknown("Krake", api+"/"+kind)
	}
	metadata, _ := object["metadata"].(map[string]any)
	c.namespace, _ = metadata["namespace"].(string)
	left, _ := object["spec"].(map[string]any)
	spec, err := known.spec(c, left)
	if err != nil {
		return nil, err
	}
	for _, path := range fields(left).rest("spec") {
		c.leftOut(path, "Berth has no use for it")
	}
	result := c.result(known.kind, object, spec, known.namespaced)
	return result, c.rename(result, known.kind)
}

func krakeMetric(_ *conversion, from fields) (map[string]any, error) {
	spec := map[string]any{}
	for _, key := range []string{"min", "max", "provider"} {
		set(spec, key, from.pop(key))
	}
	set(spec, "allowedValues", from.pop("allowed_values"))
	return spec, nil
}

func krakeProvider(_ *conversion, from fields) (map[string]any, error) {
	kind := from.pop("type")
	spec := map[string]any{"type": kind}
	switch kind {
	case "prometheus":
		section := from.section("prometheus")
		spec["prometheus"] = map[string]any{"url": section.pop("url")}
	case "kafka":
		section := from.section("kafka")
		spec["kafka"] = map[string]any{
			"url": section.pop("url"), "table": section.pop("table"),
			"comparisonColumn": section.pop("comparison_column"), "valueColumn": section.pop("value_column"),
		}
	case "static":
		section := from.section("static")
		spec["static"] = map[string]any{"metrics": section.pop("metrics")}
	default:
		return nil, fmt.Errorf("spec.type: Berth reads prometheus, kafka and static, not %.64q", kind)
	}
	return spec, nil
}

func krakeApplication(_ *conversion, from fields) (map[string]any, error) {
	manifests, _ := from.pop("manifest").([]any)
	if len(manifests) == 0 {
		return nil, errors.New("spec.manifest: there are no manifests; Berth does not read TOSCA and CSAR")
	}
	spec := map[string]any{"manifests": manifests}
	constraints := from.section("constraints")
	if migration, ok := constraints.pop("migration").(bool); ok && !migration {
		spec["migration"] = "Never"
	}
	cluster := constraints.section("cluster")
	wanted := map[string]any{}
	set(wanted, "clusterLabels", cluster.pop("labels"))
	set(wanted, "clusterMetrics", cluster.pop("metrics"))
	set(wanted, "customResources", cluster.pop("custom_resources"))
	set(spec, "constraints", wanted)
	return spec, nil
}

func krakeCluster(c *conversion, from fields) (map[string]any, error) {
	spec := map[string]any{}
	if from.pop("kubeconfig") != nil {
		c.leftOut("spec.kubeconfig", "a Cluster of Berth is a group of nodes; name them in spec.nodes or spec.matchLabels")
	}
	set(spec, "customResources", from.pop("custom_resources"))
	references, err := c.references(from.pop("metrics"))
	if err != nil {
		return nil, err
	}
	set(spec, "metrics", references)
	cloud := from.section("constraints").section("cloud")
	provision := map[string]any{}
	set(provision, "cloudLabels", cloud.pop("labels"))
	set(provision, "cloudMetrics", cloud.pop("metrics"))
	tosca := from.pop("tosca") != nil
	if tosca {
		c.leftOut("spec.tosca", "Berth chooses the cloud and does not make the cluster")
	}
	if tosca || len(provision) > 0 {
		// Clusters of Krake have a namespace, and so have the clouds that they can be in.
		if c.namespace != "" {
			provision["cloudNamespace"] = c.namespace
		}
		spec["provision"] = provision
	}
	return spec, nil
}

func krakeCloud(c *conversion, from fields) (map[string]any, error) {
	spec := map[string]any{}
	set(spec, "type", from.pop("type"))
	openstack := from.section("openstack")
	set(spec, "url", openstack.pop("url"))
	references, err := c.references(openstack.pop("metrics"))
	if err != nil {
		return nil, err
	}
	set(spec, "metrics", references)
	return spec, nil
}

func krakeProject(c *conversion, from fields) (map[string]any, error) {
	spec := map[string]any{}
	set(spec, "url", from.pop("url"))
	set(spec, "template", from.pop("template"))
	set(spec, "userID", from.section("auth").section("password").section("user").pop("id"))
	references, err := c.references(from.pop("metrics"))
	if err != nil {
		return nil, err
	}
	set(spec, "metrics", references)
	return spec, nil
}

func krakeMagnum(c *conversion, from fields) (map[string]any, error) {
	spec := map[string]any{}
	set(spec, "masterCount", from.pop("master_count"))
	set(spec, "nodeCount", from.pop("node_count"))
	wanted := map[string]any{}
	set(wanted, "projectLabels", from.section("constraints").section("project").pop("labels"))
	set(spec, "constraints", wanted)
	references, err := c.references(from.pop("metrics"))
	if err != nil {
		return nil, err
	}
	set(spec, "metrics", references)
	return spec, nil
}

// references rewrites references to metrics. Krake looks for namespaced ones in the namespace of
// the object.
func (c *conversion) references(value any) ([]any, error) {
	list, _ := value.([]any)
	references := make([]any, 0, len(list))
	for i, entry := range list {
		from, ok := entry.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("spec.metrics[%d]: must have a name and a weight", i)
		}
		reference := map[string]any{"name": from["name"], "weight": from["weight"]}
		if namespaced, ok := from["namespaced"].(bool); ok && namespaced {
			if c.namespace == "" {
				return nil, fmt.Errorf("spec.metrics[%d]: the metric is namespaced, but the object has no namespace", i)
			}
			reference["namespace"] = c.namespace
		}
		references = append(references, reference)
	}
	return references, nil
}
