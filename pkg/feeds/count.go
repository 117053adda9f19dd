// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package feeds

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	"berth.dev/berth/pkg/feeds/manifest"
)

// countAt reads a whole number that is not negative, nil where only the last field of the path is
// missing or null.
func countAt(object manifest.Object, at manifest.Pointer) (*int32, error) {
	value, err := at.In(object)
	if err != nil || value == nil {
		return nil, err
	}
	count, err := asCount(value)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", at, err)
	}
	return &count, nil
}

// asCount reads a number as the API server reads an integer: in decimal digits, without fraction
// and exponent.
func asCount(value any) (int32, error) {
	shown := ""
	switch v := value.(type) {
	case json.Number:
		if count, err := strconv.ParseInt(v.String(), 10, 32); err == nil && count >= 0 {
			return int32(count), nil
		}
		shown = v.String()
	case string:
		shown = strconv.Quote(v)
	case bool:
		shown = strconv.FormatBool(v)
	case []any:
		shown = "a list"
	default:
		shown = "a map"
	}
	return 0, fmt.Errorf("must be a whole number from 0 to %d, not %.64s", math.MaxInt32, shown)
}
