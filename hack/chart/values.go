// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

const pageHead = `<!-- Written by make generate from manifests/charts/berth/values.yaml. Do not edit. -->

# The Helm chart

The chart in ` + "`manifests/charts/berth`" + ` installs the same objects as the kustomize base and the one file, plus what its values ask for.
[Install Berth](../tasks/install.md) tells how it is used. It is installed in the namespace berth-system, once per cluster; a key that
is not listed here is refused.

| value | default | meaning |
|---|---|---|
`

// value is one setting of the chart.
type value struct {
	// path of its keys, joined by dots.
	path string
	// content is what it is by default, as JSON.
	content string
	// comment is what values.yaml says of it.
	comment string
}

// reference returns the page that lists the values.
func reference(content []byte) (string, error) {
	var document yaml.Node
	if err := yaml.Unmarshal(content, &document); err != nil {
		return "", err
	}
	if len(document.Content) != 1 {
		return "", errors.New("no document")
	}
	values, err := collect("", document.Content[0])
	if err != nil {
		return "", err
	}
	var page strings.Builder
	page.WriteString(pageHead)
	for _, v := range values {
		fmt.Fprintf(&page, "| `%s` | `%s` | %s |\n", v.path, v.content, strings.ReplaceAll(v.comment, "|", `\|`))
	}
	return page.String(), nil
}

// collect lists the values below a mapping. A mapping in block style is a group of values, one in
// flow style is a value.
func collect(prefix string, mapping *yaml.Node) ([]value, error) {
	var found []value
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		key, content := mapping.Content[i], mapping.Content[i+1]
		path := strings.TrimPrefix(prefix+"."+key.Value, ".")
		if content.Kind == yaml.MappingNode && content.Style&yaml.FlowStyle == 0 && key.HeadComment == "" {
			below, err := collect(path, content)
			if err != nil {
				return nil, err
			}
			found = append(found, below...)
			continue
		}
		if key.HeadComment == "" {
			return nil, fmt.Errorf("%s has no comment", path)
		}
		text, err := asJSON(content)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		comment := strings.Join(strings.Fields(strings.ReplaceAll(key.HeadComment, "#", "")), " ")
		found = append(found, value{path: path, content: text, comment: comment})
	}
	return found, nil
}

func asJSON(node *yaml.Node) (string, error) {
	var decoded any
	if err := node.Decode(&decoded); err != nil {
		return "", err
	}
	text, err := json.Marshal(decoded)
	return string(text), err
}
