// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package rank

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/placement/constraint"
)

const (
	// maxAnnotation bounds an annotation in characters before it is read, maxListed how many
	// constraints it can hold.
	maxAnnotation = 20 << 10
	maxListed     = 20
)

// Annotations are the keys by which a pod says what the cluster where it runs must meet, and
// whether the best one is preferred. It must not be changed.
var Annotations = [...]string{
	berthv1alpha1.ClusterLabelConstraintAnnotation, berthv1alpha1.ClusterMetricConstraintAnnotation,
	berthv1alpha1.ClusterResourceConstraintAnnotation, berthv1alpha1.ClusterRankingAnnotation,
}

// Wish is what a pod wants of the cluster where it runs.
type Wish struct {
	// Constraints must be met.
	Constraints Constraints
	// Ranked says that of the clusters that meet them the one with the best metrics is preferred.
	Ranked bool
}

// HasWish reports whether some annotation holds a wish.
func HasWish(annotations map[string]string) bool {
	if len(annotations) == 0 {
		return false
	}
	for _, key := range Annotations {
		if _, found := annotations[key]; found {
			return true
		}
	}
	return false
}

// ParseAnnotations returns the wish of a pod with these annotations. The error names the annotation
// that is wrong and the column of the mistake.
func ParseAnnotations(annotations map[string]string) (*Wish, error) {
	w := &Wish{}
	for _, key := range Annotations {
		text, found := annotations[key]
		if !found {
			continue
		}
		if err := w.read(key, text); err != nil {
			return nil, fmt.Errorf("annotation %s: %w", key, err)
		}
	}
	return w, nil
}

func (w *Wish) read(key, text string) error {
	if key == berthv1alpha1.ClusterRankingAnnotation {
		if text != berthv1alpha1.ClusterRankingMetrics {
			return fmt.Errorf("expected %q, found %.20q", berthv1alpha1.ClusterRankingMetrics, text)
		}
		w.Ranked = true
		return nil
	}
	parts, err := splitList(text)
	if err != nil {
		return err
	}
	switch key {
	case berthv1alpha1.ClusterLabelConstraintAnnotation:
		w.Constraints.Labels, err = parseParts(constraint.Label, parts)
	case berthv1alpha1.ClusterMetricConstraintAnnotation:
		w.Constraints.Metrics, err = parseParts(constraint.Metric, parts)
	default:
		w.Constraints.CustomResources, err = resourcesOf(parts)
	}
	return err
}

// And returns constraints that hold where both hold.
func (c Constraints) And(other Constraints) Constraints {
	return Constraints{
		Labels: slices.Concat(c.Labels, other.Labels), Metrics: slices.Concat(c.Metrics, other.Metrics),
		CustomResources: slices.Concat(c.CustomResources, other.CustomResources),
	}
}

// Admits reports whether a candidate can be chosen by something that meets it for the first time.
func (c Constraints) Admits(candidate *Candidate) bool {
	return len(rejections(&Query{Constraints: c}, candidate, false)) == 0
}

// piece is a part of a text that begins after so many characters of it.
type piece struct {
	text   string
	offset int
}

// splitList cuts a text at semicolons and line breaks and leaves out what is blank.
func splitList(text string) ([]piece, error) {
	if utf8.RuneCountInString(text) > maxAnnotation {
		return nil, fmt.Errorf("it has more than %d characters", maxAnnotation)
	}
	var parts []piece
	offset := 0
	for line := range strings.SplitAfterSeq(text, "\n") {
		for p := range strings.SplitAfterSeq(line, ";") {
			if trimmed := strings.TrimRight(p, ";\r\n"); strings.Trim(trimmed, " \t\r") != "" {
				parts = append(parts, piece{trimmed, offset})
			}
			offset += utf8.RuneCountInString(p)
		}
	}
	switch {
	case len(parts) == 0:
		return nil, errors.New("column 1: expected a constraint, found the end")
	case len(parts) > maxListed:
		return nil, fmt.Errorf("column %d: there are more than %d constraints", parts[maxListed].offset+1, maxListed)
	}
	return parts, nil
}

// resourcesOf reads the parts of an annotation that names custom resources.
func resourcesOf(parts []piece) ([]string, error) {
	names := make([]string, 0, len(parts))
	for _, p := range parts {
		text := strings.TrimLeft(p.text, " \t")
		name := strings.TrimRight(text, " \t")
		if err := constraint.CheckCustomResource(name); err != nil {
			return nil, inAnnotation(err, p.offset+len(p.text)-len(text))
		}
		names = append(names, name)
	}
	return names, nil
}

// inAnnotation moves the column of a mistake by the characters before the text that has it.
func inAnnotation(err error, offset int) error {
	var mistake *constraint.SyntaxError
	if errors.As(err, &mistake) {
		return &constraint.SyntaxError{Column: mistake.Column + offset, Message: mistake.Message}
	}
	return err
}

// parseParts reads the parts of an annotation. A mistake has its column in the whole annotation.
func parseParts(kind constraint.Kind, parts []piece) ([]*constraint.Constraint, error) {
	parsed := make([]*constraint.Constraint, 0, len(parts))
	for _, p := range parts {
		c, err := constraint.Parse(kind, p.text)
		if err != nil {
			return nil, inAnnotation(err, p.offset)
		}
		parsed = append(parsed, c)
	}
	return parsed, nil
}
