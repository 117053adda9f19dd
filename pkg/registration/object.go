// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package registration

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"sync"
)

// field is a field of a Go type as JSON knows it.
type field struct {
	index    int
	key      string
	required bool
}

// shape is the fields of a type, in their order.
type shape struct {
	all []field
	// byKey finds a field by its key, or by an alias, in lower case.
	byKey map[string]int
}

// known holds the fields of all types that were read before. There are about ten types.
var known sync.Map

func shapeOf(t reflect.Type) shape {
	if found, ok := known.Load(t); ok {
		return found.(shape) //nolint:errcheck // nothing else is stored
	}
	described := shape{byKey: map[string]int{}}
	for i := range t.NumField() {
		tags := t.Field(i).Tag
		key, _, _ := strings.Cut(tags.Get("json"), ",")
		described.byKey[strings.ToLower(key)] = i
		if alias := tags.Get("alias"); alias != "" {
			described.byKey[strings.ToLower(alias)] = i
		}
		described.all = append(described.all, field{index: i, key: key, required: tags.Get("required") == "true"})
	}
	known.Store(t, described)
	return described
}

// object reads an object with known keys. A key may be there twice if it says the same twice.
func (r *reader) object(token json.Token, into reflect.Value, path string) error {
	if token != json.Delim('{') {
		return r.fail(path, "must be an object in braces")
	}
	opened := r.start
	described := shapeOf(into.Type())
	seen := make([]bool, len(described.all))
	for r.decoder.More() {
		if err := r.member(described, seen, into, path); err != nil {
			return err
		}
	}
	if _, err := r.next(); err != nil {
		return err
	}
	for _, f := range described.all {
		if f.required && isMissing(into.Field(f.index), seen[f.index]) {
			return inputError(r.data, opened, join(path, f.key), "is required")
		}
	}
	return nil
}

// isMissing reports whether a required value is not there. An empty text is no more than none at
// all.
func isMissing(value reflect.Value, seen bool) bool {
	return !seen || value.Kind() == reflect.String && value.Len() == 0
}

func (r *reader) member(described shape, seen []bool, into reflect.Value, path string) error {
	key, err := r.key()
	if err != nil {
		return err
	}
	keyStart := r.start
	i, ok := described.byKey[strings.ToLower(strings.TrimSpace(key))]
	if !ok {
		return r.fail(join(path, key), "unknown field")
	}
	if isNull(r.data[r.decoder.InputOffset():]) {
		_, err := r.next()
		return err
	}
	value := reflect.New(into.Field(i).Type()).Elem()
	if err := r.read(value, join(path, described.all[i].key)); err != nil {
		return err
	}
	if seen[i] && !reflect.DeepEqual(value.Interface(), into.Field(i).Interface()) {
		return inputError(r.data, keyStart, join(path, key), "is there twice, with different values")
	}
	seen[i] = true
	into.Field(i).Set(value)
	return nil
}

// isNull reports whether the value of a key is null. The text begins behind the key.
func isNull(text []byte) bool {
	return bytes.HasPrefix(bytes.TrimLeft(text, " \t\r\n:"), []byte("null"))
}
