// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	yamlv3 "go.yaml.in/yaml/v3"
	"sigs.k8s.io/yaml"
)

// decodeYAML reads one YAML document as kubectl understands it, after a check of its nodes:
// kubectl's YAML library would expand aliases, exponentially if somebody nests them. A document
// without content has no value.
func decodeYAML(raw []byte) ([]any, error) {
	decoder := yamlv3.NewDecoder(bytes.NewReader(raw))
	var document yamlv3.Node
	if err := decoder.Decode(&document); errors.Is(err, io.EOF) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	if err := decoder.Decode(&yamlv3.Node{}); err == nil {
		return nil, errors.New("there is a second YAML document: separate documents with a line of three dashes")
	} else if !errors.Is(err, io.EOF) {
		return nil, err
	}
	// The document is a node above the outermost value.
	if err := checkNode(&document, -1); err != nil {
		return nil, err
	}
	converted, err := yaml.YAMLToJSONStrict(raw)
	if err != nil {
		return nil, err
	}
	values, err := decodeJSON(converted)
	if len(values) == 1 && values[0] == nil {
		return nil, err
	}
	return values, err
}

func checkNode(node *yamlv3.Node, depth int) error {
	switch {
	case node.Kind == yamlv3.AliasNode || node.Anchor != "":
		return fmt.Errorf("line %d: anchors and aliases are not accepted: write the value out", node.Line)
	case node.Kind == yamlv3.ScalarNode:
		return nil
	case depth == MaxDepth:
		return fmt.Errorf("line %d: %w", node.Line, errTooDeep)
	case node.Kind == yamlv3.MappingNode:
		if err := checkKeys(node); err != nil {
			return err
		}
	}
	for _, child := range node.Content {
		if err := checkNode(child, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// checkKeys refuses keys that are the same once JSON has made texts of them, as 1 and "1".
func checkKeys(mapping *yamlv3.Node) error {
	seen := make(map[string]struct{}, len(mapping.Content)/2)
	for i := 0; i < len(mapping.Content); i += 2 {
		key := mapping.Content[i]
		if key.Kind != yamlv3.ScalarNode {
			return fmt.Errorf("line %d: a key must be a text", key.Line)
		}
		if _, twice := seen[key.Value]; twice {
			return fmt.Errorf("line %d: the key %.64q is there twice", key.Line, key.Value)
		}
		seen[key.Value] = struct{}{}
	}
	return nil
}
