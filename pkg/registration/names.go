// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package registration

import (
	"fmt"
	"regexp"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation"
)

// uuidLength is the length of a UUID in characters.
const uuidLength = 36

var (
	uuidPattern = regexp.MustCompile(`^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$`)

	// reserved are the words that stand in the place of a name in the paths of the API.
	reserved = []string{"id", "name"}
)

// IsID reports whether a text has the form of a cluster_id, a UUID.
func IsID(text string) bool { return len(text) == uuidLength && uuidPattern.MatchString(text) }

// CheckID returns an error unless the text has the form of a cluster_id.
func CheckID(text string) error {
	if !IsID(text) {
		return fmt.Errorf("%.64q is no cluster_id: it must be a UUID", text)
	}
	return nil
}

// CheckName returns an error unless a cluster can have this name.
func CheckName(name string) error {
	if len(validation.IsDNS1123Label(name)) > 0 {
		return fmt.Errorf("%.64q is no name of a cluster: it must be a DNS label, at most 63 lower case letters, digits "+
			"and '-', starting and ending with a letter or digit", name)
	}
	return nil
}

// CheckNewName returns an error if a cluster must not be registered under this name: because no
// cluster can have it, or because paths of the API could not name it.
func CheckNewName(name string) error {
	if err := CheckName(name); err != nil {
		return err
	}
	if slices.Contains(reserved, name) {
		return fmt.Errorf("the name %q is reserved: it is a word in the paths of the API", name)
	}
	if IsID(name) {
		return fmt.Errorf("the name %q looks like a cluster_id", name)
	}
	return nil
}

// misspelled are keys of published examples, with the field of the Cluster kind that each means.
var misspelled = map[string]string{"ipAdrress": "ipAddress", "matchLables": "matchLabels"}

// CorrectSpelling gives the keys of a Cluster's spec that published examples misspell their right
// names. It returns an error if the field is there under both.
func CorrectSpelling[V any](spec map[string]V) error {
	for wrong, right := range misspelled {
		value, found := spec[wrong]
		if !found {
			continue
		}
		if _, both := spec[right]; both {
			return fmt.Errorf("spec.%s and spec.%s are one field: keep one of them", wrong, right)
		}
		delete(spec, wrong)
		spec[right] = value
	}
	return nil
}
