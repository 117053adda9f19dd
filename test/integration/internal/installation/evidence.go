// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package installation

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/onsi/ginkgo/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// evidence is what a suite that fails leaves behind.
type evidence struct {
	title string
	// folder is where it lies, empty as long as there is none.
	folder string
}

// saveLogs copies the logs of all programs. What goes wrong is written among the output of the
// suite, which fails anyway.
func (e *evidence) saveLogs(logDir string) {
	folder, err := e.open("logs")
	if err == nil {
		err = os.CopyFS(folder, os.DirFS(logDir))
	}
	report(err)
}

// saveState writes Berth's objects, and the pods that no scheduler has bound, as they are when a
// spec fails.
func (e *evidence) saveState(ctx context.Context, plane *Plane, spec string) {
	folder, err := e.open(spec)
	if err != nil {
		report(err)
		return
	}
	objects, err := dynamic.NewForConfig(plane.Config())
	if err == nil {
		err = writeState(ctx, plane.Client.Discovery(), objects, folder)
	}
	report(err)
}

// open makes a folder in the one of the suite. Names become those of files.
func (e *evidence) open(name string) (string, error) {
	if e.folder == "" {
		folder, err := os.MkdirTemp(os.Getenv("BERTH_TEST_LOGS"), "berth-"+fileName(e.title)+"-")
		if err != nil {
			return "", err
		}
		e.folder = folder
	}
	return os.MkdirTemp(e.folder, fileName(name)+"-")
}

// writeState writes a file for each kind of Berth's of which there are objects, and one for waiting
// pods.
func writeState(ctx context.Context, kinds discovery.DiscoveryInterface, objects dynamic.Interface, folder string) error {
	errs := []error{write(ctx, objects, corev1.SchemeGroupVersion.WithResource("pods"), "spec.nodeName=", folder)}
	found, err := kinds.ServerResourcesForGroupVersion(berthv1alpha1.SchemeGroupVersion.String())
	if err != nil {
		return errors.Join(append(errs, err)...)
	}
	for _, kind := range found.APIResources {
		if !strings.Contains(kind.Name, "/") {
			errs = append(errs, write(ctx, objects, berthv1alpha1.SchemeGroupVersion.WithResource(kind.Name), "", folder))
		}
	}
	return errors.Join(errs...)
}

// write writes the objects of a resource that a field selector selects, if there are any.
func write(ctx context.Context, objects dynamic.Interface, resource schema.GroupVersionResource, fields, folder string) error {
	list, err := objects.Resource(resource).List(ctx, metav1.ListOptions{FieldSelector: fields})
	if err != nil || len(list.Items) == 0 {
		return err
	}
	text, err := yaml.Marshal(list)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, resource.Resource+".yaml"), text, 0o600)
}

func report(err error) {
	if err != nil {
		ginkgo.GinkgoWriter.Printf("keeping what could explain the failure: %v\n", err)
	}
}

// longestName bounds the names of files.
const longestName = 60

var notInNames = regexp.MustCompile(`[^a-z0-9]+`)

// fileName returns a title as a part of a file's name.
func fileName(title string) string {
	name := strings.Trim(notInNames.ReplaceAllString(strings.ToLower(title), "-"), "-")
	return name[:min(len(name), longestName)]
}
