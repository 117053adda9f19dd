// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package values

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// Names is a flag that holds names, written "beijing,hangzhou", each once. The flag may be
// repeated; the lists then add up. It is a pflag.Value.
type Names struct {
	what  string
	most  int
	names []string
}

// NewNames returns an empty list of at most so many names of something, for instance "cluster".
func NewNames(what string, most int) *Names { return &Names{what: what, most: most} }

// Values returns the names in the order given. The caller must not change it.
func (n *Names) Values() []string { return n.names }

// Set reads a list and adds it to those before. An error shows the name that is wrong; then nothing
// is added.
func (n *Names) Set(text string) error {
	if text == "" {
		return errors.New(`the list is empty: write names with commas between them`)
	}
	if limit := n.most * (validation.DNS1123LabelMaxLength + 1); len(text) > limit {
		return fmt.Errorf("the list is longer than %d characters", limit)
	}
	if len(n.names)+strings.Count(text, ",")+1 > n.most {
		return fmt.Errorf("the list has more than %d names", n.most)
	}
	seen := make(map[string]struct{}, len(n.names))
	for _, name := range n.names {
		seen[name] = struct{}{}
	}
	names := slices.Clone(n.names)
	for name := range strings.SplitSeq(text, ",") {
		if err := CheckName(n.what, name); err != nil {
			return err
		}
		if _, twice := seen[name]; twice {
			return fmt.Errorf("%s %q is listed twice", n.what, name)
		}
		seen[name] = struct{}{}
		names = append(names, name)
	}
	n.names = names
	return nil
}

// String returns the list in the form that Set reads.
func (n *Names) String() string { return strings.Join(n.names, ",") }

// Type names the kind of the value in usage texts.
func (n *Names) Type() string { return n.what + ",..." }

// CheckName returns an error that shows the name unless it is a DNS label, as names of clusters and
// schedulers are.
func CheckName(what, name string) error {
	if name == "" {
		return errors.New("the list has an empty entry: remove the extra comma")
	}
	if len(validation.IsDNS1123Label(name)) > 0 {
		return fmt.Errorf("%s is no name of a %s: use at most %d lower case letters, digits and '-', starting "+
			"and ending with a letter or digit", quote(name), what, validation.DNS1123LabelMaxLength)
	}
	return nil
}
