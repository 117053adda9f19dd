// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Onefile writes all that an installation of Berth consists of as one file: the definitions of its
// kinds, then what manifests/base makes. It says the same as applying the two, and is made of them.
//
// Usage: go run ./hack/onefile [-manifests DIR] [-registry PREFIX] [-tag TAG] [-digests FILE]
// [-kubernetes MINOR].
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"berth.dev/berth/pkg/localplane"
)

const header = `# Berth %s, beside the default scheduler, in one file:
#
#   kubectl apply --server-side -f %s.yaml
#
# docs/tasks/install.md tells what it installs, and how to take it away again.
`

// compiledWith stands in the tag of an image before the minor of Kubernetes that it is compiled
// with.
const compiledWith = "-kubernetes-"

// gateway is the image that holds no scheduler, so that there is one of it for all minors.
const gateway = "berth-gateway"

// options are what a user can choose.
type options struct {
	// manifests is the directory with crds/ and base/.
	manifests string
	// registry is put before the names of the images, with a slash between. Empty leaves them.
	registry string
	// tag takes the place of the one in the base. Empty leaves it.
	tag string
	// digests is a file with a line "NAME DIGEST" for each image that is named by its digest too.
	// Of two lines for one image the latter counts.
	digests string
	// kubernetes is the minor that the programs with a scheduler in them are compiled with, such as
	// 1.37. Empty is the one of go.mod, whose images do not say so.
	kubernetes string

	// digest has what digests says, by name.
	digest map[string]string
}

func main() {
	var o options
	flag.StringVar(&o.manifests, "manifests", "manifests", "directory with crds/ and base/")
	flag.StringVar(&o.registry, "registry", "", "put before the names of the images, such as registry.example.com/berth")
	flag.StringVar(&o.tag, "tag", "", "tag of the images (default: that of the base)")
	flag.StringVar(&o.digests, "digests", "", "file with a line \"NAME DIGEST\" for each image (default: none)")
	flag.StringVar(&o.kubernetes, "kubernetes", "", "minor of Kubernetes that images with a scheduler in them are compiled with (default: that of go.mod)")
	flag.Parse()
	if err := run(o, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "onefile:", err)
		os.Exit(1)
	}
}

func run(o options, out io.Writer) error {
	if err := o.readDigests(); err != nil {
		return err
	}
	base, err := localplane.BuildKustomization(filepath.Join(o.manifests, "base"))
	if err != nil {
		return err
	}
	for _, object := range base {
		if err := o.nameImages(object); err != nil {
			return fmt.Errorf("%s %s: %w", object.GetKind(), object.GetName(), err)
		}
	}
	documents, err := o.definitions()
	if err != nil {
		return err
	}
	// kubectl applies from top to bottom.
	slices.SortStableFunc(base, func(a, b *unstructured.Unstructured) int { return rank(a) - rank(b) })
	for _, object := range base {
		content, err := yaml.Marshal(object.Object)
		if err != nil {
			return fmt.Errorf("%s %s: %w", object.GetKind(), object.GetName(), err)
		}
		documents = append(documents, content)
	}
	version, name := o.tag, "berth"
	if version == "" {
		version = "from source"
	}
	if o.kubernetes != "" {
		version += ", compiled with Kubernetes " + o.kubernetes
		name += compiledWith + o.kubernetes
	}
	_, err = fmt.Fprintf(out, header+"---\n%s", version, name, bytes.Join(documents, []byte("---\n")))
	return err
}

// definitions returns the files with the definitions of Berth's kinds.
func (o options) definitions() ([][]byte, error) {
	paths, err := filepath.Glob(filepath.Join(o.manifests, "crds", "*.yaml"))
	if err != nil || len(paths) == 0 {
		return nil, errors.Join(fmt.Errorf("no definitions in %s", filepath.Join(o.manifests, "crds")), err)
	}
	definitions := make([][]byte, len(paths))
	for i, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		definitions[i] = withoutMargin(content)
	}
	return definitions, nil
}

// withoutMargin drops comments before the first document, and the line that begins it.
func withoutMargin(content []byte) []byte {
	if _, after, found := bytes.Cut(content, []byte("---\n")); found {
		return after
	}
	return content
}

// rank puts namespaces before what is in them.
func rank(object *unstructured.Unstructured) int {
	if object.GetKind() == "Namespace" {
		return 0
	}
	return 1
}

// nameImages writes where the images of a Deployment are.
func (o options) nameImages(object *unstructured.Unstructured) error {
	if object.GetKind() != "Deployment" {
		return nil
	}
	path := []string{"spec", "template", "spec", "containers"}
	containers, _, err := unstructured.NestedSlice(object.Object, path...)
	if err != nil {
		return err
	}
	for _, c := range containers {
		container, ok := c.(map[string]any)
		if !ok {
			return errors.New("a container is no map")
		}
		image, _ := container["image"].(string)
		container["image"] = o.image(image)
	}
	return unstructured.SetNestedSlice(object.Object, containers, path...)
}

// readDigests reads the digests of images.
func (o *options) readDigests() error {
	if o.digests == "" {
		return nil
	}
	content, err := os.ReadFile(o.digests)
	if err != nil {
		return err
	}
	o.digest = map[string]string{}
	for line := range strings.Lines(string(content)) {
		name, digest, found := strings.Cut(strings.TrimSpace(line), " ")
		if !found {
			return fmt.Errorf("%s: %q is no name and digest", o.digests, line)
		}
		o.digest[name] = digest
	}
	return nil
}

func (o options) image(image string) string {
	name, tag, _ := strings.Cut(image, ":")
	digest := o.digest[name]
	if o.tag != "" {
		tag = o.tag
	}
	if o.kubernetes != "" && name != gateway {
		tag += compiledWith + o.kubernetes
	}
	if o.registry != "" {
		name = strings.TrimSuffix(o.registry, "/") + "/" + name
	}
	if digest != "" {
		return name + ":" + tag + "@" + digest
	}
	return name + ":" + tag
}
