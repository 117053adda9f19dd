// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package values

import (
	"fmt"
	"strings"

	"berth.dev/berth/pkg/placement/constraint"
)

// maxConstraints is how many constraints of a kind an object can have.
const maxConstraints = 20

// Constraints is a flag that holds a constraint, such as "location is DE". The flag may be
// repeated; all of them must then hold. It is a pflag.Value.
type Constraints struct {
	kind  constraint.Kind
	texts []string
}

// NewConstraints returns an empty list of constraints of a kind.
func NewConstraints(kind constraint.Kind) *Constraints { return &Constraints{kind: kind} }

// Values returns the constraints as they were written. The caller must not change it.
func (c *Constraints) Values() []string { return c.texts }

// Set checks a constraint and adds it. An error tells the column of a mistake, and what was
// expected there.
func (c *Constraints) Set(text string) error {
	if _, err := constraint.Parse(c.kind, text); err != nil {
		return err
	}
	if len(c.texts) == maxConstraints {
		return fmt.Errorf("there are more than %d constraints", maxConstraints)
	}
	c.texts = append(c.texts, text)
	return nil
}

// String returns the constraints as they were written.
func (c *Constraints) String() string { return strings.Join(c.texts, "; ") }

// Type names the kind of the value in usage texts.
func (c *Constraints) Type() string { return "constraint" }
