// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"

	"berth.dev/berth/pkg/localplane"
)

var manifests = filepath.Join("..", "..", "manifests")

// decode returns the objects of a YAML text in their order.
func decode(t *testing.T, content []byte) []*unstructured.Unstructured {
	t.Helper()
	var found []*unstructured.Unstructured
	documents := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(content)))
	for {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return found
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := utilyaml.ToJSON(document)
		if err != nil {
			t.Fatal(err)
		}
		if string(text) == "null" {
			continue
		}
		object := &unstructured.Unstructured{}
		if err := object.UnmarshalJSON(text); err != nil {
			t.Fatal(err)
		}
		found = append(found, object)
	}
}

func render(t *testing.T, o options) []*unstructured.Unstructured {
	t.Helper()
	var out bytes.Buffer
	o.manifests = manifests
	if err := run(o, &out); err != nil {
		t.Fatal(err)
	}
	return decode(t, out.Bytes())
}

func byName(objects []*unstructured.Unstructured) map[string]any {
	named := make(map[string]any, len(objects))
	for _, o := range objects {
		named[strings.Join([]string{o.GetAPIVersion(), o.GetKind(), o.GetNamespace(), o.GetName()}, " ")] = o.Object
	}
	return named
}

func TestTheFileHoldsTheDefinitionsAndTheBase(t *testing.T) {
	want, err := localplane.BuildKustomization(filepath.Join(manifests, "base"))
	if err != nil {
		t.Fatal(err)
	}
	paths, err := filepath.Glob(filepath.Join(manifests, "crds", "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, decode(t, content)...)
	}
	got := render(t, options{})
	if len(got) != len(want) {
		t.Errorf("%d objects, want %d", len(got), len(want))
	}
	if diff := cmp.Diff(byName(want), byName(got)); diff != "" {
		t.Errorf("the objects differ (-want +got):\n%s", diff)
	}
}

func TestWhatOthersNeedComesFirst(t *testing.T) {
	var kinds []string
	for _, object := range render(t, options{}) {
		kinds = append(kinds, object.GetKind())
	}
	kinds = slices.Compact(kinds)
	if want := []string{"CustomResourceDefinition", "Namespace"}; !cmp.Equal(want, kinds[:2]) {
		t.Errorf("the file begins with %v, want %v", kinds[:2], want)
	}
	if slices.Contains(kinds[2:], "Namespace") || slices.Contains(kinds[2:], "CustomResourceDefinition") {
		t.Errorf("not all of them come first: %v", kinds)
	}
}

func TestImages(t *testing.T) {
	for name, tc := range map[string]struct {
		options options
		want    string
	}{
		"as in the base": {want: "berth-gateway:latest"},
		"of a registry":  {options: options{registry: "registry.example.com:5000/berth/"}, want: "registry.example.com:5000/berth/berth-gateway:latest"},
		"of a release":   {options: options{tag: "v0.1.0"}, want: "berth-gateway:v0.1.0"},
		"by digest": {
			options: options{tag: "v0.1.0", digests: filepath.Join("testdata", "digests.txt")},
			want:    "berth-gateway:v0.1.0@sha256:" + strings.Repeat("0", 64),
		},
		"of a release too": {options: options{registry: "r.example.com", tag: "v0.1.0"}, want: "r.example.com/berth-gateway:v0.1.0"},
	} {
		t.Run(name, func(t *testing.T) {
			deployments := 0
			for _, object := range render(t, tc.options) {
				if object.GetKind() != "Deployment" {
					continue
				}
				deployments++
				containers, _, err := unstructured.NestedSlice(object.Object, "spec", "template", "spec", "containers")
				if err != nil {
					t.Fatal(err)
				}
				want := strings.Replace(tc.want, "berth-gateway", object.GetName(), 1)
				if got := containers[0].(map[string]any)["image"]; got != want {
					t.Errorf("image %v, want %s", got, want)
				}
			}
			if deployments != 3 {
				t.Errorf("%d Deployments, want 3", deployments)
			}
		})
	}
}

func TestImagesOfAnotherMinor(t *testing.T) {
	var images []string
	for _, object := range render(t, options{tag: "v0.1.0", kubernetes: "1.37"}) {
		containers, found, _ := unstructured.NestedSlice(object.Object, "spec", "template", "spec", "containers")
		if found {
			images = append(images, containers[0].(map[string]any)["image"].(string))
		}
	}
	slices.Sort(images)
	want := []string{"berth-controller-manager:v0.1.0-kubernetes-1.37", "berth-gateway:v0.1.0", "berth-scheduler:v0.1.0-kubernetes-1.37"}
	if diff := cmp.Diff(want, images); diff != "" {
		t.Errorf("the images differ (-want +got):\n%s", diff)
	}
}

func TestWithoutDefinitionsThereIsNoFile(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "base"), os.DirFS(filepath.Join(manifests, "base"))); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := run(options{manifests: dir}, &out); err == nil || out.Len() > 0 {
		t.Errorf("error %v after %d bytes, want an error and nothing written", err, out.Len())
	}
}

func TestDigestsMustBeWhole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "digests")
	if err := os.WriteFile(path, []byte("berth-gateway\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	err := run(options{manifests: manifests, digests: path}, io.Discard)
	if want := path + ": \"berth-gateway\\n\" is no name and digest"; err == nil || err.Error() != want {
		t.Errorf("error is %v, want %s", err, want)
	}
}
