// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package registration

import (
	"bytes"
	"encoding/json"
	"fmt"
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
	m := members{shape: shapeOf(into.Type()), before: reflect.New(into.Type()).Elem()}
	m.before.Set(into)
	m.seen = make([]bool, len(m.all))
	for r.decoder.More() {
		if err := r.member(m, into, path); err != nil {
			return err
		}
	}
	if _, err := r.next(); err != nil {
		return err
	}
	for _, f := range m.all {
		if f.required && r.isMissing(into.Field(f.index), m.seen[f.index]) {
			return inputError(r.data, opened, join(path, f.key), "is required")
		}
	}
	return nil
}

// members is what is known of an object while it is read.
type members struct {
	shape
	// seen tells of each field whether it was there.
	seen []bool
	// before is the object as it was.
	before reflect.Value
}

// isMissing reports whether a required value is not there. An empty text is no more than none at
// all, but for a cluster that has none already.
func (r *reader) isMissing(value reflect.Value, seen bool) bool {
	if r.merges() {
		return false
	}
	return !seen || r.mode == registering && value.Kind() == reflect.String && value.Len() == 0
}

func (r *reader) member(m members, into reflect.Value, path string) error {
	key, err := r.key()
	if err != nil {
		return err
	}
	keyStart := r.start
	i, ok := m.byKey[strings.ToLower(strings.TrimSpace(key))]
	if !ok {
		return r.fail(join(path, key), unknown(into.Type(), path, key))
	}
	field := m.all[i]
	value := reflect.New(into.Field(i).Type()).Elem()
	switch null := isNull(r.data[r.decoder.InputOffset():]); {
	case null && !r.merges():
		_, err := r.next()
		return err
	case null:
		err = r.remove(field, value, join(path, field.key))
	default:
		if r.merges() {
			value.Set(m.before.Field(i))
		}
		err = r.read(value, join(path, field.key))
	}
	if err != nil {
		return err
	}
	if m.seen[i] && !reflect.DeepEqual(value.Interface(), into.Field(i).Interface()) {
		return inputError(r.data, keyStart, join(path, key), "is there twice, with different values")
	}
	m.seen[i] = true
	into.Field(i).Set(value)
	return r.checkIdentity(join(path, field.key), value)
}

// unknown says that an object has no such key, and where the key belongs if that is further inside:
// each cluster of a list stands there without the cluster_profile that a request has around it.
func unknown(object reflect.Type, path, key string) string {
	if place := placeOf(object, path, strings.ToLower(strings.TrimSpace(key))); place != "" {
		return "unknown field, belongs in " + place
	}
	return "unknown field"
}

// placeOf returns the path of the object inside this one that has a key, empty if none has.
func placeOf(object reflect.Type, path, key string) string {
	for _, f := range shapeOf(object).all {
		inner := object.Field(f.index).Type
		if inner.Kind() != reflect.Struct {
			continue
		}
		place := join(path, f.key)
		if _, has := shapeOf(inner).byKey[key]; has {
			return place
		}
		if deeper := placeOf(inner, place, key); deeper != "" {
			return deeper
		}
	}
	return ""
}

// remove reads the null by which a merge takes a value away. Lists and texts by key are then empty,
// which is more than absent.
func (r *reader) remove(f field, value reflect.Value, path string) error {
	if _, err := r.next(); err != nil {
		return err
	}
	if f.required {
		return r.fail(path, "is required, null cannot remove it")
	}
	switch value.Kind() {
	case reflect.Slice:
		value.Set(reflect.MakeSlice(value.Type(), 0, 0))
	case reflect.Map:
		value.Set(reflect.MakeMap(value.Type()))
	case reflect.Pointer:
		if value.Type().Elem().Kind() == reflect.Bool {
			value.Set(reflect.ValueOf(new(bool)))
			return nil
		}
		// Absent means unchanged.
		return r.fail(path, "cannot be removed over this API")
	}
	return nil
}

// checkIdentity refuses to make a cluster another one. The last token is the value.
func (r *reader) checkIdentity(path string, value reflect.Value) error {
	if r.current == nil || value.Kind() != reflect.String {
		return nil
	}
	switch text := value.String(); {
	case path == "cluster_profile.cluster_name" && text != r.current.Name:
		reason := fmt.Sprintf("cluster_name must be %q: the name of a cluster does not change", r.current.Name)
		return &IdentityError{InputError: inputError(r.data, r.start, "", reason)}
	case path == "cluster_profile.cluster_id" && text != "" && !strings.EqualFold(text, r.current.ID):
		reason := fmt.Sprintf("cluster_id must be %q or left out", r.current.ID)
		return &IdentityError{InputError: inputError(r.data, r.start, "", reason), ID: true}
	}
	return nil
}

// isNull reports whether the value of a key is null. The text begins behind the key.
func isNull(text []byte) bool {
	return bytes.HasPrefix(bytes.TrimLeft(text, " \t\r\n:"), []byte("null"))
}
