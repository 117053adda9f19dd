// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package manifests_test checks what users apply, against a real API server: the CRDs and every
// rule in them, the kustomizations, the permissions they give, and the examples.
package manifests_test

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/yaml"

	"berth.dev/berth/pkg/localplane"
	"berth.dev/berth/test/integration/internal/installation"
)

const (
	// timeout is for what takes well under a second on an idle machine.
	timeout = 150 * time.Second
	poll    = 50 * time.Millisecond
)

var (
	plane   *localplane.ControlPlane
	client  kubernetes.Interface
	objects dynamic.Interface
)

func TestManifests(t *testing.T) {
	installation.Suite{Title: "Manifests and examples", Options: aggregateRoles, Begin: begin}.Run(t)
}

func aggregateRoles(options *localplane.Options) {
	// A repeated flag adds to the list. This controller gathers the roles that view, edit and admin
	// are made of.
	options.ControllerManagerArgs = []string{"--controllers=clusterrole-aggregation-controller"}
}

// begin applies everything as the documentation says: first the CRDs, then the base.
func begin(ctx SpecContext, started installation.Plane) {
	plane, client = started.ControlPlane, started.Client
	var err error
	objects, err = dynamic.NewForConfig(plane.Config())
	Expect(err).NotTo(HaveOccurred())
	installation.ApplyCRDs(ctx, plane)
	base, err := localplane.BuildKustomization(installation.Path("manifests", "base"))
	Expect(err).NotTo(HaveOccurred())
	Expect(localplane.ApplyObjects(ctx, plane.Config(), base)).To(Succeed())
}

// filesIn returns the YAML files of a directory and those below it.
func filesIn(dir string) []string {
	GinkgoHelper()
	var paths []string
	Expect(filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if filepath.Ext(path) == ".yaml" {
			paths = append(paths, path)
		}
		return err
	})).To(Succeed())
	return paths
}

// read decodes all documents of a YAML file, and fails on keys that stand twice in a map.
func read(path string) []*unstructured.Unstructured {
	GinkgoHelper()
	content, err := os.ReadFile(path)
	Expect(err).NotTo(HaveOccurred())
	var found []*unstructured.Unstructured
	documents := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(content)))
	for {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return found
		}
		Expect(err).NotTo(HaveOccurred(), path)
		object := parse(string(document))
		if len(object.Object) > 0 {
			found = append(found, object)
		}
	}
}

// parse decodes one YAML document.
func parse(document string) *unstructured.Unstructured {
	GinkgoHelper()
	object := &unstructured.Unstructured{}
	Expect(yaml.UnmarshalStrict([]byte(document), &object.Object)).To(Succeed(), document)
	return object
}

// into converts an object to its Go type, and fails on fields that the type does not have.
func into[T any](object *unstructured.Unstructured) *T {
	GinkgoHelper()
	typed := new(T)
	Expect(runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(object.Object, typed, true)).To(Succeed())
	return typed
}
