// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
)

// Document is an object of a file.
type Document struct {
	// Raw is the object as JSON.
	Raw []byte
	// Place says where in the file it stands: "document 2", or "document 2, item 3" within a list.
	Place string
}

// ReadAll reads all objects of a file: YAML documents, JSON values, and the items of lists of
// either. Documents without content are passed over. An error begins with the number of the
// document, counted from 1 among those with content.
func ReadAll(raw []byte) ([]Document, error) {
	if err := checkSize(raw, MaxInputSize); err != nil {
		return nil, err
	}
	var documents []Document
	reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(raw)))
	for number := 1; ; {
		chunk, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return documents, nil
		}
		var values []any
		if err == nil {
			values, err = decodeAll(chunk)
		}
		if err != nil {
			return nil, fmt.Errorf("document %d: %w", number, err)
		}
		if number > maxObjects {
			return nil, fmt.Errorf("there are more than %d documents", maxObjects)
		}
		for _, value := range values {
			place := fmt.Sprintf("document %d", number)
			if documents, err = appendObjects(documents, value, place); err != nil {
				return nil, err
			}
			number++
		}
	}
}

// decodeAll reads a YAML document or JSON values. What looks like JSON and is none may still be
// YAML in flow style.
func decodeAll(raw []byte) ([]any, error) {
	if !utf8.Valid(raw) {
		return nil, errNotUTF8
	}
	if bytes.HasPrefix(bytes.TrimSpace(raw), []byte("{")) {
		var syntax *json.SyntaxError
		values, err := decodeJSON(raw)
		if !errors.As(err, &syntax) {
			return values, err
		}
	}
	// YAML takes a hundred times its size in memory, so not even a list of objects may be larger
	// than one object.
	if err := checkSize(raw, MaxObjectSize); err != nil {
		return nil, err
	}
	return decodeYAML(raw)
}

// appendObjects appends an object, or the items of a list. An item of a list of one kind need not
// repeat that kind.
func appendObjects(documents []Document, value any, place string) ([]Document, error) {
	object, err := asObject(value)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", place, err)
	}
	items, isList := itemsOf(object)
	if !isList {
		if len(documents) == maxObjects {
			return nil, fmt.Errorf("%s: there are more than %d objects", place, maxObjects)
		}
		raw, err := json.Marshal(object)
		if err == nil {
			err = checkSize(raw, MaxObjectSize)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", place, err)
		}
		return append(documents, Document{Raw: raw, Place: place}), nil
	}
	for i, item := range items {
		inherit(object, item)
		if documents, err = appendObjects(documents, item, fmt.Sprintf("%s, item %d", place, i+1)); err != nil {
			return nil, err
		}
	}
	return documents, nil
}

func itemsOf(object Object) ([]any, bool) {
	kind, _ := object["kind"].(string)
	if !strings.HasSuffix(kind, "List") {
		return nil, false
	}
	items, isList := object["items"].([]any)
	return items, isList
}

func inherit(list Object, item any) {
	object, ok := item.(map[string]any)
	kind, _ := list["kind"].(string)
	itemKind := strings.TrimSuffix(kind, "List")
	if !ok || itemKind == "" {
		return
	}
	for key, value := range map[string]any{"apiVersion": list["apiVersion"], "kind": itemKind} {
		if object[key] == nil {
			object[key] = value
		}
	}
}

func checkSize(raw []byte, most int) error {
	if len(raw) > most {
		return fmt.Errorf("there are more than %d bytes", most)
	}
	return nil
}
