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
)

// Decode reads a request that carries a cluster profile. The error is ErrTooLarge or an
// *InputError.
func Decode(data []byte) (*Profile, error) {
	if len(data) > MaxSize {
		return nil, ErrTooLarge
	}
	if err := checkJSON(data); err != nil {
		return nil, err
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	r := &reader{data: data, decoder: decoder}
	token, err := r.next()
	if err != nil {
		return nil, err
	}
	var document Document
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

// reader fills Go values from JSON by the tags of their fields.
type reader struct {
	data    []byte
	decoder *json.Decoder
	// start is where the last token begins.
	start int
}

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
	default:
		return r.number(token, into, field)
	}
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
	texts := map[string]string{}
	for r.decoder.More() {
		key, err := r.key()
		if err != nil {
			return err
		}
		var text string
		if err := r.read(reflect.ValueOf(&text).Elem(), join(field, key)); err != nil {
			return err
		}
		if before, twice := texts[key]; twice && before != text {
			return r.fail(join(field, key), "is there twice, with different values")
		}
		texts[key] = text
	}
	into.Set(reflect.ValueOf(texts))
	_, err := r.next()
	return err
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
