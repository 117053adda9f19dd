// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package objects

import (
	"errors"
	"fmt"
	"maps"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/cli/internal/values"
)

// OneName takes exactly one argument: the name of an object of a kind.
func OneName(kind string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) != 1 {
			return fmt.Errorf("name one %s, not %d", kind, len(args))
		}
		if len(validation.IsDNS1123Subdomain(args[0])) > 0 {
			return fmt.Errorf("%.64q cannot be the name of the %s: use at most %d lower case letters, digits, '-' and '.', "+
				"starting and ending with a letter or digit", args[0], kind, validation.DNS1123SubdomainMaxLength)
		}
		return nil
	}
}

// AtMostOneName takes no argument or one.
func AtMostOneName(cmd *cobra.Command, args []string) error {
	if len(args) > 1 {
		return fmt.Errorf("%s takes at most one name, and there are %d", cmd.CommandPath(), len(args))
	}
	return nil
}

// Labels is the flag --label.
type Labels struct {
	texts values.Texts
}

// AddTo adds the flag.
func (l *Labels) AddTo(flags *pflag.FlagSet) {
	flags.VarP(&l.texts, "label", "l", "label of the object; can be repeated")
}

// Read returns the labels, which the caller may change, nil if there are none. An error tells what
// is wrong with one.
func (l *Labels) Read() (map[string]string, error) {
	if len(l.texts.Values()) == 0 {
		return nil, nil
	}
	labels := maps.Clone(l.texts.Values())
	if problems := metav1validation.ValidateLabels(labels, field.NewPath("label")); len(problems) > 0 {
		return nil, fmt.Errorf("--label: %.64q: %.300s", problems[0].BadValue, problems[0].Detail)
	}
	return labels, nil
}

// Metrics are the flags --metric and --global-metric.
type Metrics struct {
	namespaced, global values.Weights
}

// AddTo adds the flags.
func (m *Metrics) AddTo(flags *pflag.FlagSet) {
	flags.VarP(&m.namespaced, "metric", "m", "Metric of the namespace, and its weight; can be repeated")
	m.AddGlobalTo(flags)
}

// AddGlobalTo adds --global-metric only.
func (m *Metrics) AddGlobalTo(flags *pflag.FlagSet) {
	flags.Var(&m.global, "global-metric", "GlobalMetric, and its weight; can be repeated")
}

// References returns the metrics, nil if there are none. The namespace is that of the Metrics.
func (m *Metrics) References(namespace string) []berthv1alpha1.MetricReference {
	count := len(m.namespaced.Values()) + len(m.global.Values())
	if count == 0 {
		return nil
	}
	references := make([]berthv1alpha1.MetricReference, 0, count)
	for _, weight := range m.namespaced.Values() {
		references = append(references, berthv1alpha1.MetricReference{
			Name: weight.Metric, Namespace: namespace, Weight: weight.Weight,
		})
	}
	for _, weight := range m.global.Values() {
		references = append(references, berthv1alpha1.MetricReference{Name: weight.Metric, Weight: weight.Weight})
	}
	return references
}

// ErrMissing says that a flag is missing.
func ErrMissing(flag string) error { return errors.New("--" + flag + " is missing") }
