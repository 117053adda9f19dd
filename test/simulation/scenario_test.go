// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package simulation_test

import (
	"fmt"
	"os"
	"strings"

	"sigs.k8s.io/yaml"
)

// scenario is the world of a seed without some of what is or happens in it, as a file says.
type scenario struct {
	// Seed is that of the world.
	Seed *uint64 `json:"seed"`
	// LeaveOut are the faults, disturbances and objects that are not there, by their names.
	LeaveOut []string `json:"leaveOut,omitempty"`
}

// maxScenario bounds the file of a scenario, in bytes.
const maxScenario = 4 << 20

// readScenario reads a file. The error is one line.
func readScenario(path string) (*scenario, error) {
	about, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("SCENARIO=%s cannot be read: %w", path, err)
	}
	if about.Size() > maxScenario {
		return nil, fmt.Errorf("SCENARIO=%s is no scenario: it has %d bytes", path, about.Size())
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("SCENARIO=%s cannot be read: %w", path, err)
	}
	s := &scenario{}
	if err := yaml.UnmarshalStrict(text, s); err != nil {
		return nil, fmt.Errorf("SCENARIO=%s does not parse: %s", path, strings.Join(strings.Fields(err.Error()), " "))
	}
	if s.Seed == nil {
		return nil, fmt.Errorf("SCENARIO=%s does not parse: it has no seed", path)
	}
	return s, nil
}

func (s *scenario) encode() ([]byte, error) {
	text, err := yaml.Marshal(s)
	if err != nil {
		return nil, fmt.Errorf("encoding a scenario: %w", err)
	}
	return text, nil
}

// write writes a scenario into a new file, and returns its name.
func (s *scenario) write() (path string, err error) {
	text, err := s.encode()
	if err != nil {
		return "", err
	}
	file, err := os.CreateTemp("", fmt.Sprintf("berth-scenario-%d-*.yaml", *s.Seed))
	if err != nil {
		return "", fmt.Errorf("making a file for a scenario: %w", err)
	}
	_, err = file.Write(text)
	if ended := file.Close(); err == nil {
		err = ended
	}
	if err != nil {
		_ = os.Remove(file.Name()) // the error before counts
		return "", fmt.Errorf("writing a scenario: %w", err)
	}
	return file.Name(), nil
}
