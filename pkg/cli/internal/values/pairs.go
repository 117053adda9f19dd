// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package values

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

const (
	// MaxPairs is the largest number of clusters in one list: what a PropagationPolicy can list.
	MaxPairs = 1000

	// maxPairsLength bounds one list in bytes before it is taken apart: MaxPairs of the longest
	// names and numbers fit.
	maxPairsLength = MaxPairs * (validation.DNS1123LabelMaxLength + len("=2147483647,"))
)

// Pairs is a flag that holds numbers by cluster, written "beijing=2,hangzhou=3". The flag may be
// repeated; the lists then add up. It is a pflag.Value.
type Pairs struct {
	within Range
	values map[string]int64
}

// NewPairs returns an empty list of numbers in a range.
func NewPairs(within Range) *Pairs { return &Pairs{within: within} }

// Values returns the numbers by cluster, nil if the flag was not given. The caller must not change
// it.
func (p *Pairs) Values() map[string]int64 { return p.values }

// Set reads a list and adds it to those before. An error names the cluster, or shows the part, that
// is wrong; then nothing is added.
func (p *Pairs) Set(text string) error {
	if text == "" {
		return errors.New(`the list is empty: write for instance "beijing=2,hangzhou=3"`)
	}
	if len(text) > maxPairsLength {
		return fmt.Errorf("the list is longer than %d characters", maxPairsLength)
	}
	if len(p.values)+strings.Count(text, ",")+1 > MaxPairs {
		return fmt.Errorf("the list has more than %d clusters", MaxPairs)
	}
	values := maps.Clone(p.values)
	if values == nil {
		values = map[string]int64{}
	}
	for part := range strings.SplitSeq(text, ",") {
		name, value, err := p.parse(part)
		if err != nil {
			return err
		}
		if _, twice := values[name]; twice {
			return fmt.Errorf("cluster %q is listed twice", name)
		}
		values[name] = value
	}
	p.values = values
	return nil
}

func (p *Pairs) parse(part string) (name string, value int64, err error) {
	name, text, found := strings.Cut(part, "=")
	switch {
	case part == "":
		return "", 0, errors.New("the list has an empty entry: remove the extra comma")
	case !found:
		return "", 0, fmt.Errorf("%s is not of the form CLUSTER=NUMBER", quote(part))
	case len(validation.IsDNS1123Label(name)) > 0:
		return "", 0, fmt.Errorf("%s is no name of a cluster: use at most %d lower case letters, digits and '-', starting "+
			"and ending with a letter or digit", quote(name), validation.DNS1123LabelMaxLength)
	}
	value, err = p.within.parse(text)
	if err != nil {
		return "", 0, fmt.Errorf("cluster %q: the value %w", name, err)
	}
	return name, value, nil
}

// String returns the list sorted by cluster, in the form that Set reads.
func (p *Pairs) String() string {
	parts := make([]string, 0, len(p.values))
	for _, name := range slices.Sorted(maps.Keys(p.values)) {
		parts = append(parts, fmt.Sprintf("%s=%d", name, p.values[name]))
	}
	return strings.Join(parts, ",")
}

// Type names the kind of the value in usage texts.
func (p *Pairs) Type() string { return "cluster=number,..." }
