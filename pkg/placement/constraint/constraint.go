// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package constraint is the language in which users say which places an application may go to:
// "location is DE", "location not in (DE, SK)", "load < 5". A constraint is one comparison; several
// are listed, and all of them must hold. The language is that of the Krake scheduler, with every
// spelling its documentation has.
//
// One rule holds for all operators: a label or metric that is missing never matches, not even "is
// not" or "not in".
package constraint

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strings"
)

// Kind tells what a constraint speaks of.
type Kind string

const (
	// Label constraints compare labels, as text.
	Label Kind = "label"
	// Metric constraints compare metrics and numeric fields, as numbers.
	Metric Kind = "metric"
)

// Operator is how a constraint compares, in its shortest spelling.
type Operator string

const (
	// Is means equal.
	Is Operator = "is"
	// IsNot means present and not equal.
	IsNot Operator = "is not"
	// In means equal to one of a list.
	In Operator = "in"
	// NotIn means present and equal to none of a list.
	NotIn Operator = "not in"
	// Greater means more than.
	Greater Operator = ">"
	// GreaterOrEqual means at least.
	GreaterOrEqual Operator = ">="
	// Less means less than.
	Less Operator = "<"
	// LessOrEqual means at most.
	LessOrEqual Operator = "<="
)

// MaxLength is the largest length of a constraint in characters.
const MaxLength = 1024

// Constraint is one comparison. It is immutable and safe for concurrent use.
type Constraint struct {
	kind     Kind
	key      string
	operator Operator
	values   []string
	number   Number // of a metric constraint
	// near is the float nearest to the number.
	near float64
}

// Kind tells what the constraint speaks of.
func (c *Constraint) Kind() Kind { return c.kind }

// Key is the label or metric that is compared.
func (c *Constraint) Key() string { return c.key }

// Operator is how it is compared.
func (c *Constraint) Operator() Operator { return c.operator }

// Values returns what it is compared with, as written: one value, or the list of In and NotIn.
func (c *Constraint) Values() []string { return slices.Clone(c.values) }

// canonical is how an operator is written out.
var canonical = map[Operator]string{
	Is: "is", IsNot: "is not", In: "in", NotIn: "not in",
	Greater: "greater than", GreaterOrEqual: "greater than or equal",
	Less: "lesser than", LessOrEqual: "lesser than or equal",
}

// String returns the constraint in its one canonical spelling, which Parse reads back to the same
// constraint.
func (c *Constraint) String() string {
	value := strings.Join(c.values, ", ")
	if c.operator == In || c.operator == NotIn {
		value = "(" + value + ")"
	}
	return c.key + " " + canonical[c.operator] + " " + value
}

// MatchLabels reports whether labels meet a label constraint, and whether the label is there at
// all. It is false for a metric constraint.
func (c *Constraint) MatchLabels(labels map[string]string) (matches, found bool) {
	actual, found := labels[c.key]
	if !found || c.kind != Label {
		return false, found
	}
	listed := slices.Contains(c.values, actual)
	switch c.operator {
	case Is, In:
		return listed, true
	default:
		return !listed, true
	}
}

// MatchNumber reports whether a value meets a metric constraint. Numbers are compared exactly as
// written, never rounded. It is false for a label constraint, and for a value that is not a number.
func (c *Constraint) MatchNumber(actual Number) bool {
	order, ordered := actual.compare(c.number)
	return ordered && c.kind == Metric && c.meets(order)
}

// MatchFloat is MatchNumber for the number that a float stands for, see NumberOf. It is fast unless
// the two are about the same: whatever lies between them, the nearest floats are in the same order.
func (c *Constraint) MatchFloat(actual float64) bool {
	if c.kind != Metric || math.IsNaN(actual) || actual == c.near {
		return c.MatchNumber(NumberOf(actual))
	}
	return c.meets(cmp.Compare(actual, c.near))
}

// meets reports whether a number meets the constraint that is less than, equal to or more than that
// of the constraint: -1, 0 or 1.
func (c *Constraint) meets(order int) bool {
	switch c.operator {
	case Is:
		return order == 0
	case IsNot:
		return order != 0
	case Greater:
		return order > 0
	case GreaterOrEqual:
		return order >= 0
	case Less:
		return order < 0
	default:
		return order <= 0
	}
}

// MatchMetrics reports whether metrics meet a metric constraint, and whether the metric is there at
// all.
func (c *Constraint) MatchMetrics(metrics map[string]Number) (matches, found bool) {
	actual, found := metrics[c.key]
	return found && c.MatchNumber(actual), found
}

// CustomResource is the regular expression, in the syntax of RE2, that matches the name of a custom
// resource, "plural.group", and nothing else.
const CustomResource = `^[a-z]([a-z0-9-]*[a-z0-9])?([.][a-z0-9]([a-z0-9-]*[a-z0-9])?)+$`

var customResource = regexp.MustCompile(CustomResource)

// CheckCustomResource returns an error, a *SyntaxError, if a text is not the name of a custom
// resource.
func CheckCustomResource(text string) error {
	if customResource.MatchString(text) {
		return nil
	}
	p := &parser{text: text}
	return p.errorAt(0, "expected a custom resource such as crontabs.stable.example.com")
}
