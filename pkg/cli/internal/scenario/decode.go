// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kjson "sigs.k8s.io/json"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/feeds/manifest"
)

// document is an object of the file.
type document struct {
	kind   string
	meta   metav1.ObjectMeta
	object manifest.Object
}

// namespaced tells of the kinds that a scenario may hold whether they have namespaces.
var namespaced = map[string]bool{
	"Cluster": false, "GlobalMetric": false, "GlobalMetricsProvider": false,
	"Metric": true, "MetricsProvider": true, "Application": true,
}

func decode(raw []byte) (*document, error) {
	object, err := manifest.Decode(raw)
	if err != nil {
		return nil, err
	}
	if _, krake := object["api"]; krake {
		return nil, errors.New(`it is written for Krake ("api:"): rewrite the file with berthctl convert`)
	}
	id, err := object.Identity()
	if err != nil {
		return nil, err
	}
	hasNamespace, known := namespaced[id.Kind]
	if !known || id.APIVersion != berthv1alpha1.SchemeGroupVersion.String() {
		return nil, fmt.Errorf("%.64s %.64q does not belong into a scenario, which has only %s of %s", id.APIVersion, id.Kind,
			strings.Join(slices.Sorted(maps.Keys(namespaced)), ", "), berthv1alpha1.SchemeGroupVersion)
	}
	for _, field := range slices.Sorted(maps.Keys(object)) {
		if !slices.Contains([]string{"apiVersion", "kind", "metadata", "spec", "status"}, field) {
			return nil, fmt.Errorf("unknown field %.64q", field)
		}
	}
	d := &document{kind: id.Kind, object: object}
	if err := manifest.Into(object["metadata"], &d.meta); err != nil {
		return nil, fmt.Errorf("metadata.%w", err)
	}
	switch {
	case !hasNamespace:
		d.meta.Namespace = ""
	case d.meta.Namespace == "":
		d.meta.Namespace = defaultNamespace
	}
	return d, nil
}

// into reads the spec, in which a field that does not exist is an error, and the status, in which
// it is none: only Berth writes it.
func (d *document) into(spec, status any) error {
	if d.object["spec"] != nil {
		raw, err := json.Marshal(d.object["spec"])
		if err != nil {
			return err
		}
		strict, err := kjson.UnmarshalStrict(raw, spec)
		var wrongType *json.UnmarshalTypeError
		switch {
		case errors.As(err, &wrongType):
			return fmt.Errorf("spec.%s: must not be of type %.64s", wrongType.Field, wrongType.Value)
		case err != nil:
			return fmt.Errorf("spec: %w", err)
		case len(strict) > 0:
			return fmt.Errorf("spec: %w", strict[0])
		}
	}
	if d.object["status"] != nil && status != nil {
		if err := manifest.Into(d.object["status"], status); err != nil {
			return fmt.Errorf("status.%w", err)
		}
	}
	return nil
}
