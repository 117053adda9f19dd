// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Manifests checks YAML files that people apply to clusters, as far as that is possible without a
// cluster: each parses, no key stands twice in one map, each document says what it is, no object
// stands twice in one directory, and a kustomization names files that exist and leaves none out.
// Whether the API server takes them is tested in test/integration.
//
// Usage: go run ./hack/manifests DIR...
package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

const kustomizationFile = "kustomization.yaml"

// kustomization is the part of a kustomization that names files.
type kustomization struct {
	Resources  []string `json:"resources"`
	Components []string `json:"components"`
}

// checker collects what is wrong with a tree of manifests.
type checker struct {
	files    int
	problems []error
	// objects holds the file of each object, by directory and identity.
	objects map[string]string
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(roots []string) error {
	c := &checker{objects: map[string]string{}}
	for _, root := range roots {
		if err := filepath.WalkDir(root, c.visit); err != nil {
			return fmt.Errorf("reading %s: %w", root, err)
		}
	}
	if len(c.problems) > 0 {
		return errors.Join(c.problems...)
	}
	if c.files == 0 {
		return fmt.Errorf("no YAML file in %v", roots)
	}
	fmt.Printf("all %d YAML files are well-formed\n", c.files)
	return nil
}

// visit checks one file. Templates are not YAML until Helm has rendered them.
func (c *checker) visit(path string, entry fs.DirEntry, err error) error {
	switch {
	case err != nil:
		return err
	case entry.IsDir() && (entry.Name() == "templates" || entry.Name() == "testdata"):
		return filepath.SkipDir
	case entry.IsDir() || !isYAML(path):
		return nil
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	c.files++
	if err := c.check(path, content); err != nil {
		c.problems = append(c.problems, fmt.Errorf("%s: %w", path, err))
	}
	return nil
}

func isYAML(path string) bool {
	return filepath.Ext(path) == ".yaml" || filepath.Ext(path) == ".yml"
}

func (c *checker) check(path string, content []byte) error {
	if filepath.Base(path) == kustomizationFile {
		return checkKustomization(filepath.Dir(path), content)
	}
	documents := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(content)))
	for {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := c.checkDocument(path, document); err != nil {
			return err
		}
	}
}

// withoutKind are the files that hold no objects: what belongs to a chart, and rules for
// Prometheus.
var withoutKind = []string{"values.yaml", "Chart.yaml", "rules.yaml"}

// checkDocument checks one object of a file. Files without a kind are only parsed.
func (c *checker) checkDocument(path string, document []byte) error {
	var fields map[string]any
	if err := yaml.UnmarshalStrict(document, &fields); err != nil {
		return err
	}
	var object metav1.PartialObjectMetadata
	if err := yaml.Unmarshal(document, &object); err != nil {
		return err
	}
	if len(fields) == 0 || slices.Contains(withoutKind, filepath.Base(path)) {
		return nil
	}
	if object.APIVersion == "" || object.Kind == "" {
		return errors.New("a document has no apiVersion or no kind")
	}
	if object.Name == "" {
		return nil
	}
	identity := fmt.Sprintf("%s %s %s/%s", object.APIVersion, object.Kind, object.Namespace, object.Name)
	key := filepath.Dir(path) + " " + identity
	if other, ok := c.objects[key]; ok {
		return fmt.Errorf("%s stands in %s too", identity, other)
	}
	c.objects[key] = path
	return nil
}

// checkKustomization compares what a kustomization lists with what lies in its directory.
func checkKustomization(dir string, content []byte) error {
	var fields map[string]any
	if err := yaml.UnmarshalStrict(content, &fields); err != nil {
		return err
	}
	var k kustomization
	if err := yaml.Unmarshal(content, &k); err != nil {
		return err
	}
	for _, name := range slices.Concat(k.Resources, k.Components) {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			return fmt.Errorf("lists %s: %w", name, err)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		name := entry.Name()
		if isYAML(name) && name != kustomizationFile && !bytes.Contains(content, []byte(name)) {
			return fmt.Errorf("leaves out %s", name)
		}
	}
	return nil
}
