// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package values

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// CustomResources is a flag that holds the name of a custom resource definition, "PLURAL.GROUP".
// The flag may be repeated. It is a pflag.Value.
type CustomResources struct {
	most  int
	names []string
}

// NewCustomResources returns an empty list of at most so many names.
func NewCustomResources(most int) *CustomResources { return &CustomResources{most: most} }

// Values returns the names in the order given. The caller must not change it.
func (c *CustomResources) Values() []string { return c.names }

// Set checks a name and adds it, unless it is there already. An error shows what is wrong.
func (c *CustomResources) Set(text string) error {
	plural, group, _ := strings.Cut(text, ".")
	if len(validation.IsDNS1035Label(plural)) > 0 || len(validation.IsDNS1123Subdomain(text)) > 0 || group == "" {
		return fmt.Errorf("%s is no custom resource: write PLURAL.GROUP, for instance crontabs.stable.example.com", quote(text))
	}
	if slices.Contains(c.names, text) {
		return nil
	}
	if len(c.names) == c.most {
		return fmt.Errorf("there are more than %d custom resources", c.most)
	}
	c.names = append(c.names, text)
	return nil
}

// String returns the list of names.
func (c *CustomResources) String() string { return strings.Join(c.names, ",") }

// Type names the kind of the value in usage texts.
func (c *CustomResources) Type() string { return "plural.group" }
