// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package values

import (
	"errors"
	"fmt"
	"maps"
	"strings"
)

// Texts is a flag that holds texts by name, written "location=DE,tier=gold". The flag may be
// repeated; the lists then add up. What the texts mean is for its user to check. It is a
// pflag.Value.
type Texts struct {
	texts map[string]string
	order []string
}

const (
	maxTexts       = 1000
	maxTextsLength = 64 << 10
)

// Values returns the texts by name. The caller must not change it.
func (t *Texts) Values() map[string]string { return t.texts }

// Set reads a list and adds it to those before. An error shows the part that is wrong; then nothing
// is added. The empty list is a list.
func (t *Texts) Set(text string) error {
	if text == "" {
		return nil
	}
	if len(text) > maxTextsLength || len(t.texts)+strings.Count(text, ",")+1 > maxTexts {
		return fmt.Errorf("the list is longer than %d entries or %d characters", maxTexts, maxTextsLength)
	}
	texts := make(map[string]string, len(t.texts))
	maps.Copy(texts, t.texts)
	order := t.order
	for part := range strings.SplitSeq(text, ",") {
		name, value, found := strings.Cut(part, "=")
		switch _, twice := texts[name]; {
		case part == "":
			return errors.New("the list has an empty entry: remove the extra comma")
		case !found || name == "":
			return fmt.Errorf("%s is not of the form NAME=VALUE", quote(part))
		case twice:
			return fmt.Errorf("%s is listed twice", quote(name))
		}
		texts[name] = value
		order = append(order[:len(order):len(order)], part)
	}
	t.texts, t.order = texts, order
	return nil
}

// String returns the list in the form that Set reads.
func (t *Texts) String() string { return strings.Join(t.order, ",") }

// Type names the kind of the value in usage texts.
func (t *Texts) Type() string { return "name=value,..." }
