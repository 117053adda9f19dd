// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package expression

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
)

// maxValues bounds the value of an expression: lists that hold the same list many times are small
// until they are written out.
const maxValues = 100_000

var (
	errTooMuch  = errors.New("the value of the expression is too large")
	errNotPlain = errors.New("the value of the expression must consist of maps, lists, texts, numbers, true, false and null")
)

// native returns a value of an object with numbers that CEL can compute with.
func native(value any) any {
	switch v := value.(type) {
	case map[string]any:
		values := make(map[string]any, len(v))
		for key, element := range v {
			values[key] = native(element)
		}
		return values
	case []any:
		values := make([]any, len(v))
		for i, element := range v {
			values[i] = native(element)
		}
		return values
	case json.Number:
		if whole, err := v.Int64(); err == nil {
			return whole
		}
		// Decoding has checked that this fits.
		number, _ := v.Float64()
		return number
	}
	return value
}

// plain is the reverse of native, for as many values as the budget allows.
func plain(value ref.Val, budget *int) (any, error) {
	if *budget--; *budget < 0 {
		return nil, errTooMuch
	}
	switch v := value.(type) {
	case types.Null:
		return nil, nil
	case types.Bool:
		return bool(v), nil
	case types.String:
		return string(v), nil
	case types.Int:
		return json.Number(strconv.FormatInt(int64(v), 10)), nil
	case types.Uint:
		return json.Number(strconv.FormatUint(uint64(v), 10)), nil
	case types.Double:
		return plainDouble(float64(v))
	case traits.Mapper:
		return plainMap(v, budget)
	case traits.Lister:
		return plainList(v, budget)
	}
	return nil, errNotPlain
}

func plainDouble(number float64) (any, error) {
	if math.IsNaN(number) || math.IsInf(number, 0) {
		return nil, fmt.Errorf("the value of the expression is %v", number)
	}
	return json.Number(strconv.FormatFloat(number, 'g', -1, 64)), nil
}

func plainMap(values traits.Mapper, budget *int) (any, error) {
	plainValues := map[string]any{}
	for keys := values.Iterator(); keys.HasNext() == types.True; {
		key := keys.Next()
		name, ok := key.(types.String)
		if !ok {
			return nil, errNotPlain
		}
		var err error
		if plainValues[string(name)], err = plain(values.Get(key), budget); err != nil {
			return nil, err
		}
	}
	return plainValues, nil
}

func plainList(values traits.Lister, budget *int) (any, error) {
	plainValues := []any{}
	for elements := values.Iterator(); elements.HasNext() == types.True; {
		element, err := plain(elements.Next(), budget)
		if err != nil {
			return nil, err
		}
		plainValues = append(plainValues, element)
	}
	return plainValues, nil
}
