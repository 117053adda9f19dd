// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/feeds/manifest"
	"berth.dev/berth/pkg/registration"
)

// conversion rewrites one object.
type conversion struct {
	warnings []string
	// namespace is that of the object.
	namespace string
}

// conversions are how objects of an API group are rewritten.
var conversions = map[string]func(*conversion, string, manifest.Object) (manifest.Object, error){
	"policy.kubeedge.io":          kubeEdge,
	"apps.kubeedge.io":            kubeEdge,
	"groupmanagement.kubeedge.io": kubeEdge,
	"apps.clusternet.io":          clusternet,
	"globalscheduler.com":         globalScheduler,
	"globalscheduler.k8s.io":      globalScheduler,
}

func (c *conversion) convert(object manifest.Object) (manifest.Object, error) {
	if api, ok := object["api"].(string); ok && object["apiVersion"] == nil {
		return c.krake(api, object)
	}
	id, err := object.Identity()
	if err != nil {
		return nil, err
	}
	if rewrite, known := conversions[id.GroupKind().Group]; known {
		return rewrite(c, id.Kind, object)
	}
	if id.GroupKind().Group == berthv1alpha1.GroupName {
		return object, c.rename(object, id.Kind)
	}
	return object, nil
}

// rename gives an object a name that the API server takes.
func (c *conversion) rename(object manifest.Object, kind string) error {
	metadata, _ := object["metadata"].(map[string]any)
	name, err := kubernetesName(metadata["name"], kind == "Cluster")
	if err != nil {
		return err
	}
	if metadata["name"] != name {
		c.warnings = append(c.warnings, fmt.Sprintf("%s %v is called %s", kind, metadata["name"], name))
		metadata["name"] = name
	}
	return nil
}

func (c *conversion) leftOut(what, why string) {
	c.warnings = append(c.warnings, what+" is left out: "+why)
}

// kubeEdge rewrites KubeEdge's policies, and its clusters under either of their names. Their fields
// are those of Berth.
func kubeEdge(c *conversion, kind string, object manifest.Object) (manifest.Object, error) {
	switch kind {
	case "PropagationPolicy":
		return c.result(kind, object, object["spec"], true), nil
	case "Cluster", "NodeGroup":
		return c.result("Cluster", object, object["spec"], false), nil
	}
	return nil, unknown("KubeEdge", kind)
}

// clusternet rewrites what Clusternet says about feeds, in the same words as Berth.
func clusternet(c *conversion, kind string, object manifest.Object) (manifest.Object, error) {
	switch kind {
	case "Subscription", "FeedInventory":
		return c.result(kind, object, object["spec"], true), nil
	}
	return nil, unknown("Clusternet", kind)
}

// globalScheduler rewrites the Cluster of Global Resource Scheduler, whose keys come in several
// spellings.
func globalScheduler(c *conversion, kind string, object manifest.Object) (manifest.Object, error) {
	if kind != "Cluster" {
		return nil, unknown("Global Resource Scheduler", kind)
	}
	id, err := object.Identity()
	if err != nil {
		return nil, err
	}
	request, err := json.Marshal(map[string]any{
		"cluster_profile": map[string]any{"cluster_name": id.Name, "cluster_spec": object["spec"]},
	})
	if err != nil {
		return nil, err
	}
	profile, err := registration.Decode(request)
	if err != nil {
		return nil, err
	}
	c.warnings = append(c.warnings, profile.Warnings()...)
	var spec map[string]any
	raw, err := json.Marshal(profile.Cluster().Spec)
	if err == nil {
		err = json.Unmarshal(raw, &spec)
	}
	return c.result(kind, object, spec, false), err
}

func unknown(system, kind string) error {
	return fmt.Errorf("there is nothing like %s's %.64q in Berth", system, kind)
}

// result makes an object of Berth with the name and the labels of another one.
func (c *conversion) result(kind string, from manifest.Object, spec any, namespaced bool) manifest.Object {
	old, _ := from["metadata"].(map[string]any)
	metadata := map[string]any{"name": old["name"]}
	for _, key := range []string{"labels", "annotations"} {
		if values, ok := old[key].(map[string]any); ok && len(values) > 0 {
			metadata[key] = values
		}
	}
	if namespace, ok := old["namespace"].(string); ok && namespace != "" && namespaced {
		metadata["namespace"] = namespace
	}
	object := manifest.Object{"apiVersion": version, "kind": kind, "metadata": metadata}
	if spec != nil {
		object["spec"] = spec
	}
	return object
}

// kubernetesName rewrites a name of Krake.
func kubernetesName(name any, label bool) (string, error) {
	text, ok := name.(string)
	if !ok || text == "" {
		return "", errors.New("metadata.name is missing")
	}
	text = strings.ToLower(strings.ReplaceAll(text, "_", "-"))
	check := validation.IsDNS1123Subdomain
	if label {
		text = strings.ReplaceAll(text, ".", "-")
		check = validation.IsDNS1123Label
	}
	if len(check(text)) > 0 {
		return "", fmt.Errorf("metadata.name: %.64q cannot be made a name of a Kubernetes object", name)
	}
	return text, nil
}

// fields are what is left of a spec. Taking all that is known leaves what is not.
type fields map[string]any

func (f fields) pop(key string) any {
	value := f[key]
	delete(f, key)
	return value
}

// section returns a map within the fields; absent ones are empty.
func (f fields) section(key string) fields {
	section, ok := f[key].(map[string]any)
	if !ok {
		return fields{}
	}
	return section
}

// rest returns the paths of what was not taken.
func (f fields) rest(path string) []string {
	var rest []string
	for _, key := range slices.Sorted(maps.Keys(f)) {
		below := path + "." + key
		switch value := f[key].(type) {
		case nil:
		case map[string]any:
			rest = append(rest, fields(value).rest(below)...)
		case []any:
			if len(value) > 0 {
				rest = append(rest, below)
			}
		default:
			rest = append(rest, below)
		}
	}
	return rest
}

// set adds a value under a name unless there is none.
func set(to map[string]any, key string, value any) {
	switch v := value.(type) {
	case nil:
		return
	case map[string]any:
		if len(v) == 0 {
			return
		}
	case []any:
		if len(v) == 0 {
			return
		}
	}
	to[key] = value
}
