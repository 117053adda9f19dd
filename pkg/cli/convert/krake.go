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
		set(spec, key, from.take(key))
	}
	set(spec, "allowedValues", from.take("allowed_values"))
	return spec, nil
}

func krakeProvider(_ *conversion, from fields) (map[string]any, error) {
	kind := from.take("type")
	spec := map[string]any{"type": kind}
	switch kind {
	case "prometheus":
		section := from.section("prometheus")
		spec["prometheus"] = map[string]any{"url": section.take("url")}
	case "kafka":
		section := from.section("kafka")
		spec["kafka"] = map[string]any{
			"url": section.take("url"), "table": section.take("table"),
			"comparisonColumn": section.take("comparison_column"), "valueColumn": section.take("value_column"),
		}
	case "static":
		section := from.section("static")
		spec["static"] = map[string]any{"metrics": section.take("metrics")}
	default:
		return nil, fmt.Errorf("spec.type: Berth reads prometheus, kafka and static, not %.64q", kind)
	}
	return spec, nil
}

func krakeApplication(_ *conversion, from fields) (map[string]any, error) {
	manifests, _ := from.take("manifest").([]any)
	if len(manifests) == 0 {
		return nil, errors.New("spec.manifest: there are no manifests; Berth does not read TOSCA and CSAR")
	}
	spec := map[string]any{"manifests": manifests}
	constraints := from.section("constraints")
	if migration, ok := constraints.take("migration").(bool); ok && !migration {
		spec["migration"] = "Never"
	}
	cluster := constraints.section("cluster")
	wanted := map[string]any{}
	set(wanted, "clusterLabels", cluster.take("labels"))
	set(wanted, "clusterMetrics", cluster.take("metrics"))
	set(wanted, "customResources", cluster.take("custom_resources"))
	set(spec, "constraints", wanted)
	return spec, nil
}

func krakeCluster(c *conversion, from fields) (map[string]any, error) {
	spec := map[string]any{}
	if from.take("kubeconfig") != nil {
		c.leftOut("spec.kubeconfig", "a Cluster of Berth is a group of nodes; name them in spec.nodes or spec.matchLabels")
	}
	set(spec, "customResources", from.take("custom_resources"))
	references, err := c.references(from.take("metrics"))
	if err != nil {
		return nil, err
	}
	set(spec, "metrics", references)
	cloud := from.section("constraints").section("cloud")
	provision := map[string]any{}
	set(provision, "cloudLabels", cloud.take("labels"))
	set(provision, "cloudMetrics", cloud.take("metrics"))
	tosca := from.take("tosca") != nil
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
	set(spec, "type", from.take("type"))
	openstack := from.section("openstack")
	set(spec, "url", openstack.take("url"))
	references, err := c.references(openstack.take("metrics"))
	if err != nil {
		return nil, err
	}
	set(spec, "metrics", references)
	return spec, nil
}

func krakeProject(c *conversion, from fields) (map[string]any, error) {
	spec := map[string]any{}
	set(spec, "url", from.take("url"))
	set(spec, "template", from.take("template"))
	set(spec, "userID", from.section("auth").section("password").section("user").take("id"))
	references, err := c.references(from.take("metrics"))
	if err != nil {
		return nil, err
	}
	set(spec, "metrics", references)
	return spec, nil
}

func krakeMagnum(c *conversion, from fields) (map[string]any, error) {
	spec := map[string]any{}
	set(spec, "masterCount", from.take("master_count"))
	set(spec, "nodeCount", from.take("node_count"))
	wanted := map[string]any{}
	set(wanted, "projectLabels", from.section("constraints").section("project").take("labels"))
	set(spec, "constraints", wanted)
	references, err := c.references(from.take("metrics"))
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
