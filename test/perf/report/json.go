// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// WriteJSON writes the results to a file, and makes the folder if it is not there.
func WriteJSON(path string, results any) error {
	content, err := json.MarshalIndent(results, "", " ")
	if err != nil {
		return fmt.Errorf("encoding the results: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { //nolint:gosec // results are for everybody
		return fmt.Errorf("making the folder of the results: %w", err)
	}
	if err := os.WriteFile(path, append(content, '\n'), 0o644); err != nil { //nolint:gosec // results are for everybody
		return fmt.Errorf("writing the results: %w", err)
	}
	return nil
}

// ReadJSON reads what WriteJSON wrote: Results, or a Scale.
func ReadJSON[T any](path string) (*T, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading results: %w", err)
	}
	results := new(T)
	if err := json.Unmarshal(content, results); err != nil {
		return nil, fmt.Errorf("decoding results of %s: %w", path, err)
	}
	return results, nil
}
