// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Rights compares what manifests/base allows Berth's programs with what they have used in a run of
// all integration tests. A right that none has used has to go, or to be listed in kept.yaml with
// the reason. That the programs lack none is checked by each suite.
//
// Usage: go run ./hack/rights FOLDER, where the suites have run with BERTH_RIGHTS=FOLDER. It prints
// nothing if all is well, so that the last lines of a run are those of go test.
package main

import (
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"berth.dev/berth/pkg/localplane"
)

//go:embed kept.yaml
var keptFile []byte

// reason says why rights stay that no suite uses.
type reason struct {
	Why    string   `json:"why"`
	Rights []string `json:"rights"`
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: go run ./hack/rights FOLDER")
		os.Exit(2)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "rights:", err)
		os.Exit(1)
	}
}

func run(folder string) error {
	objects, err := localplane.BuildKustomization(filepath.Join("manifests", "base"))
	if err != nil {
		return err
	}
	granted, err := grantsIn(objects)
	if err != nil {
		return err
	}
	used, err := readUsed(folder)
	if err != nil {
		return err
	}
	var kept []reason
	if err := yaml.UnmarshalStrict(keptFile, &kept); err != nil {
		return fmt.Errorf("reading kept.yaml: %w", err)
	}
	return compare(granted, used, kept)
}

// readUsed returns what the suites wrote, a line for each right.
func readUsed(folder string) ([]string, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil || len(files) == 0 {
		return nil, errors.Join(fmt.Errorf("no suite has written into %s", folder), err)
	}
	var used []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("reading what a suite has used: %w", err)
		}
		used = append(used, strings.FieldsFunc(string(text), func(r rune) bool { return r == '\n' })...)
	}
	return used, nil
}

// mark notes that a right was used. What a Role in one namespace gives was not needed of what a
// ClusterRole gives everywhere.
func mark(missing map[string]bool, right string) {
	everywhere, _, _ := strings.Cut(right, " in ")
	for _, given := range []string{right, everywhere} {
		if _, there := missing[given]; there {
			missing[given] = false
			return
		}
	}
}

// unused returns for each right that is granted whether it was not used.
func unused(granted, used []string) map[string]bool {
	missing := map[string]bool{}
	for _, right := range granted {
		missing[right] = true
	}
	for _, right := range used {
		mark(missing, right)
		// An informer watches, and lists where the API server sends no first state in a watch.
		if program, of, watches := strings.Cut(right, " watch "); watches {
			mark(missing, program+" list "+of)
		}
	}
	return missing
}

// compare returns an error that names each right that is granted, not used and has no reason, and
// each reason for one that is not granted. A reason may be for one that only some runs use.
func compare(granted, used []string, kept []reason) error {
	missing := unused(granted, used)
	var errs []error
	for _, reason := range kept {
		for _, right := range reason.Rights {
			if _, there := missing[right]; !there {
				errs = append(errs, fmt.Errorf("kept.yaml has a reason for %q, which manifests/base does not give", right))
			}
			missing[right] = false
		}
	}
	for _, right := range slices.Sorted(slices.Values(granted)) {
		if missing[right] {
			errs = append(errs, fmt.Errorf("manifests/base gives %q, which no suite uses", right))
		}
	}
	return errors.Join(errs...)
}
