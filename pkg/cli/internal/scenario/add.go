// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"errors"
	"fmt"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/placement/rank"
	"berth.dev/berth/pkg/registration"
)

// maxWeight is the largest weight that the API server takes.
const maxWeight = 1_000_000

// add takes an object of the file. What the API server would refuse is an error.
func (s *Scenario) add(d *document) error {
	switch d.kind {
	case "Cluster":
		cluster := &berthv1alpha1.Cluster{ObjectMeta: d.meta}
		if spec, ok := d.object["spec"].(map[string]any); ok {
			if err := registration.CorrectSpelling(spec); err != nil {
				return err
			}
		}
		if err := d.into(&cluster.Spec, &cluster.Status); err != nil {
			return err
		}
		s.clusters = append(s.clusters, cluster)
		return checkReferences(cluster.Spec.Metrics)
	case "Application":
		a := &berthv1alpha1.Application{ObjectMeta: d.meta}
		if err := d.into(&a.Spec, &a.Status); err != nil {
			return err
		}
		constraints, err := rank.ParseConstraints(&a.Spec.Constraints)
		if err != nil {
			return fmt.Errorf("spec.constraints.%w", err)
		}
		s.applications = append(s.applications, application{a, constraints})
		return checkApplication(&a.Spec)
	case "Metric", "GlobalMetric":
		spec := &berthv1alpha1.MetricSpec{}
		if err := d.into(spec, nil); err != nil {
			return err
		}
		if spec.Provider.Metric == "" {
			spec.Provider.Metric = d.meta.Name
		}
		s.metrics[keyOf(d.meta.Namespace, d.meta.Name)] = spec
		return checkMetric(d, spec)
	default:
		return s.addProvider(d)
	}
}

// addProvider takes a MetricsProvider or a GlobalMetricsProvider of the file.
func (s *Scenario) addProvider(d *document) error {
	global := &berthv1alpha1.GlobalMetricsProviderSpec{}
	var spec any = global
	if d.kind == "MetricsProvider" {
		spec = &global.MetricsProviderSpec
	}
	if err := d.into(spec, nil); err != nil {
		return err
	}
	s.providers[keyOf(d.meta.Namespace, d.meta.Name)] = &global.MetricsProviderSpec
	return checkProvider(&global.MetricsProviderSpec)
}

func checkReferences(references []berthv1alpha1.MetricReference) error {
	for i, reference := range references {
		switch {
		case reference.Name == "":
			return fmt.Errorf("spec.metrics[%d].name is missing", i)
		case !(reference.Weight > 0 && reference.Weight <= maxWeight):
			return fmt.Errorf("spec.metrics[%d].weight: must be more than 0 and at most %d, not %v", i, maxWeight, reference.Weight)
		}
	}
	return nil
}

func checkMetric(d *document, spec *berthv1alpha1.MetricSpec) error {
	fields, _ := d.object["spec"].(map[string]any)
	for _, field := range []string{"min", "max"} {
		if fields[field] == nil {
			return fmt.Errorf("spec.%s is missing", field)
		}
	}
	if spec.Provider.Name == "" {
		return errors.New("spec.provider.name is missing")
	}
	if !(spec.Min < spec.Max) {
		return fmt.Errorf("spec: min must be less than max, but %v is not less than %v", spec.Min, spec.Max)
	}
	return nil
}

func checkProvider(spec *berthv1alpha1.MetricsProviderSpec) error {
	sections := map[berthv1alpha1.MetricsProviderType]bool{
		berthv1alpha1.PrometheusMetrics: spec.Prometheus != nil,
		berthv1alpha1.KafkaMetrics:      spec.Kafka != nil,
		berthv1alpha1.StaticMetrics:     spec.Static != nil,
	}
	if _, known := sections[spec.Type]; !known {
		return fmt.Errorf("spec.type: must be prometheus, kafka or static, not %.64q", spec.Type)
	}
	for kind, present := range sections {
		if present != (kind == spec.Type) {
			return fmt.Errorf("spec: the section %s must be there, and no other one", spec.Type)
		}
	}
	return nil
}

func checkApplication(spec *berthv1alpha1.ApplicationSpec) error {
	switch spec.Migration {
	case "", berthv1alpha1.MigrationStartFirst, berthv1alpha1.MigrationNever:
	default:
		return fmt.Errorf("spec.migration: must be StartFirst or Never, not %.64q", spec.Migration)
	}
	if spec.Stickiness == nil {
		return nil
	}
	for field, value := range map[string]*float64{"value": spec.Stickiness.Value, "weight": spec.Stickiness.Weight} {
		if value != nil && !(*value >= 0 && *value <= maxWeight) {
			return fmt.Errorf("spec.stickiness.%s: must be from 0 to %d, not %v", field, maxWeight, *value)
		}
	}
	return nil
}
