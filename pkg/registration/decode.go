// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package registration

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"

	"k8s.io/utils/ptr"
)

// Decode reads a request that registers a cluster. The error is ErrTooLarge or an *InputError.
func Decode(data []byte) (*Profile, error) {
	return decode(data, &reader{}, Document{})
}

// DecodeReplacement reads a request that makes a registered cluster what it says. A required text
// may be empty there, because the Cluster kind takes more than a registration does: what
// FromCluster gave is always read back. The error is ErrTooLarge, an *IdentityError or an
// *InputError.
func DecodeReplacement(data []byte, current *Profile) (*Profile, error) {
	return decode(data, &reader{mode: replacing, current: current}, Document{})
}

// Merge reads a request that changes some values of a registered cluster, a merge patch of RFC
// 7396, and returns the profile with them. The error is ErrTooLarge, an *IdentityError or an
// *InputError.
func Merge(data []byte, current *Profile) (*Profile, error) {
	return decode(data, &reader{mode: merging, current: current}, Document{Profile: *current})
}

func decode(data []byte, r *reader, document Document) (*Profile, error) {
	if len(data) > MaxSize {
		return nil, ErrTooLarge
	}
	if err := checkJSON(data); err != nil {
		return nil, err
	}
	r.data, r.decoder = data, json.NewDecoder(bytes.NewReader(data))
	r.decoder.UseNumber()
	token, err := r.next()
	if err != nil {
		return nil, err
	}
	if err := r.object(token, reflect.ValueOf(&document).Elem(), ""); err != nil {
		return nil, err
	}
	return &document.Profile, nil
}

// checkJSON makes sure that the text is one JSON value, so that reading its tokens cannot fail
// afterwards.
func checkJSON(data []byte) error {
	for at := 0; at < len(data); {
		_, size := utf8.DecodeRune(data[at:])
		if size == 1 && data[at] >= utf8.RuneSelf {
			return inputError(data, at, "", "this is no UTF-8 text")
		}
		at += size
	}
	var raw json.RawMessage
	err := json.Unmarshal(data, &raw)
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return syntaxError(data, int(syntax.Offset), syntax.Error())
	}
	if err != nil {
		return syntaxError(data, 0, err.Error())
	}
	return nil
}

// mode is what a request does to a cluster.
type mode int

const (
	registering mode = iota
	replacing
	merging
)

// reader fills Go values from JSON by the tags of their fields.
type reader struct {
	data    []byte
	decoder *json.Decoder
	mode    mode
	// current is the cluster that is changed, nil for one that is registered.
	current *Profile
	// start is where the last token begins.
	start int
	// lists is in how many lists the reader is. A list is replaced as a whole, also by a merge.
	lists int
}

// merges reports whether what is read is put into what is there.
func (r *reader) merges() bool { return r.mode == merging && r.lists == 0 }

// next returns the next token and notes where it begins. A decoder stands at the end of the token
// before.
func (r *reader) next() (json.Token, error) {
	r.start = int(r.decoder.InputOffset())
	for r.start < len(r.data) && strings.IndexByte(" \t\r\n,:", r.data[r.start]) >= 0 {
		r.start++
	}
	token, err := r.decoder.Token()
	if err != nil {
		return nil, inputError(r.data, r.start, "", err.Error())
	}
	return token, nil
}

// fail returns an error about the last token.
func (r *reader) fail(field, reason string) error {
	return inputError(r.data, r.start, field, reason)
}

// read reads the next value. null leaves the value as it is.
func (r *reader) read(into reflect.Value, field string) error {
	token, err := r.next()
	if err != nil || token == nil {
		return err
	}
	switch into.Kind() {
	case reflect.Struct:
		return r.object(token, into, field)
	case reflect.Pointer:
		return r.pointer(token, into, field)
	case reflect.Slice:
		return r.list(token, into, field)
	case reflect.Map:
		return r.texts(token, into, field)
	case reflect.String:
		text, ok := token.(string)
		if !ok {
			return r.fail(field, "must be a text in quotes")
		}
		into.SetString(text)
		return nil
	case reflect.Int64:
		return r.integer(token, into, field)
	case reflect.Bool:
		return r.truth(token, into, field)
	default:
		return r.number(token, into, field)
	}
}

// pointer reads what a pointer points to, into a value of its own.
func (r *reader) pointer(token json.Token, into reflect.Value, field string) error {
	value := reflect.New(into.Type().Elem())
	if r.merges() && !into.IsNil() {
		value.Elem().Set(into.Elem())
	}
	into.Set(value)
	if value.Elem().Kind() == reflect.Bool {
		return r.truth(token, value.Elem(), field)
	}
	return r.object(token, value.Elem(), field)
}

func (r *reader) truth(token json.Token, into reflect.Value, field string) error {
	value, ok := token.(bool)
	if !ok {
		return r.fail(field, "must be true or false")
	}
	into.SetBool(value)
	return nil
}

func (r *reader) integer(token json.Token, into reflect.Value, field string) error {
	number, ok := token.(json.Number)
	if !ok {
		return r.fail(field, "must be a whole number without quotes")
	}
	value, err := strconv.ParseInt(number.String(), 10, 64)
	if errors.Is(err, strconv.ErrRange) {
		return r.fail(field, "must be at most 9223372036854775807 and at least 0")
	}
	if err != nil {
		return r.fail(field, "must be a whole number, without a point or an exponent")
	}
	into.SetInt(value)
	return nil
}

func (r *reader) number(token json.Token, into reflect.Value, field string) error {
	number, ok := token.(json.Number)
	if !ok {
		return r.fail(field, "must be a number without quotes")
	}
	value, err := number.Float64()
	if err != nil {
		return r.fail(field, "is too large a number")
	}
	into.SetFloat(value)
	return nil
}

func (r *reader) list(token json.Token, into reflect.Value, field string) error {
	if token != json.Delim('[') {
		return r.fail(field, "must be a list in square brackets")
	}
	r.lists++
	defer func() { r.lists-- }()
	into.Set(reflect.MakeSlice(into.Type(), 0, 0))
	for i := 0; r.decoder.More(); i++ {
		item := reflect.New(into.Type().Elem()).Elem()
		if err := r.read(item, field+"["+strconv.Itoa(i)+"]"); err != nil {
			return err
		}
		into.Set(reflect.Append(into, item))
	}
	_, err := r.next()
	return err
}

// texts reads an object whose keys are the caller's own, such as labels.
func (r *reader) texts(token json.Token, into reflect.Value, field string) error {
	if token != json.Delim('{') {
		return r.fail(field, "must be an object in braces")
	}
	read, texts := map[string]*string{}, map[string]string{}
	if r.merges() {
		for _, key := range into.MapKeys() {
			texts[key.String()] = into.MapIndex(key).String()
		}
	}
	for r.decoder.More() {
		key, err := r.key()
		if err != nil {
			return err
		}
		text, err := r.text(join(field, key))
		if err != nil {
			return err
		}
		if before, twice := read[key]; twice && !ptr.Equal(before, text) {
			return r.fail(join(field, key), "is there twice, with different values")
		}
		read[key] = text
		if texts[key] = ptr.Deref(text, ""); text == nil && r.merges() {
			delete(texts, key)
		}
	}
	into.Set(reflect.ValueOf(texts))
	_, err := r.next()
	return err
}

// text reads a text, or null.
func (r *reader) text(field string) (*string, error) {
	token, err := r.next()
	if err != nil || token == nil {
		return nil, err
	}
	text, ok := token.(string)
	if !ok {
		return nil, r.fail(field, "must be a text in quotes")
	}
	return &text, nil
}

func (r *reader) key() (string, error) {
	token, err := r.next()
	if err != nil {
		return "", err
	}
	key, ok := token.(string)
	if !ok {
		return "", r.fail("", "a key must be a text")
	}
	return key, nil
}

// join appends a key to the path of a field. A key may be of any length.
func join(field, key string) string {
	const most = 64
	if len(key) > most {
		key = strings.ToValidUTF8(key[:most], "") + "..."
	}
	if field == "" {
		return key
	}
	return field + "." + key
}
