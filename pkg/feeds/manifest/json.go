// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// decodeJSON reads JSON values that follow each other. It reads token by token because
// encoding/json itself lets the last of several equal keys win, and nests without a bound of ours.
func decodeJSON(raw []byte) ([]any, error) {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var values []any
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return values, nil
		}
		if err != nil {
			return nil, err
		}
		value, err := decodeValue(decoder, token, 0)
		if err != nil {
			return nil, err
		}
		values = append(values, value)
	}
}

// decodeValue reads what begins with a token.
func decodeValue(decoder *json.Decoder, token json.Token, depth int) (any, error) {
	switch t := token.(type) {
	case json.Delim:
		if depth == MaxDepth {
			return nil, errTooDeep
		}
		if t == '{' {
			return decodeMap(decoder, depth+1)
		}
		return decodeList(decoder, depth+1)
	case json.Number:
		return t, checkNumber(t.String())
	}
	return token, nil
}

func decodeMap(decoder *json.Decoder, depth int) (any, error) {
	values := map[string]any{}
	for {
		token, err := nextToken(decoder)
		if err != nil {
			return nil, err
		}
		key, ok := token.(string)
		if !ok {
			return values, nil
		}
		if _, twice := values[key]; twice {
			return nil, fmt.Errorf("the key %.64q is there twice", key)
		}
		if token, err = nextToken(decoder); err != nil {
			return nil, err
		}
		if values[key], err = decodeValue(decoder, token, depth); err != nil {
			return nil, err
		}
	}
}

func decodeList(decoder *json.Decoder, depth int) (any, error) {
	values := []any{}
	for {
		token, err := nextToken(decoder)
		if err != nil {
			return nil, err
		}
		if token == json.Delim(']') {
			return values, nil
		}
		value, err := decodeValue(decoder, token, depth)
		if err != nil {
			return nil, err
		}
		values = append(values, value)
	}
}

func nextToken(decoder *json.Decoder) (json.Token, error) {
	token, err := decoder.Token()
	if errors.Is(err, io.EOF) {
		return nil, io.ErrUnexpectedEOF
	}
	return token, err
}

func checkNumber(text string) error {
	if len(text) > maxNumberLength {
		return fmt.Errorf("the number %.20s... has more than %d characters", text, maxNumberLength)
	}
	if _, err := strconv.ParseFloat(text, 64); err != nil {
		return fmt.Errorf("the number %s is too large", text)
	}
	return nil
}
