// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Chart writes what the Helm chart has from elsewhere: templates of the definitions in
// manifests/crds, and of all objects of manifests/base that are the same in each installation; the
// configurations of the scheduler; and the table of its values in the documentation. What depends
// on values is written by hand in manifests/charts/berth/templates.
//
// Usage: go run ./hack/chart [-root DIR].
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"berth.dev/berth/pkg/localplane"
)

const (
	note = "{{- /* Written by make generate from %s. Do not edit. */}}\n"

	// keep is a template of the annotation with which Helm leaves an object behind.
	keep = "  annotations:\n    {{- if .Values.crds.keep }}\n    helm.sh/resource-policy: keep\n    {{- end }}\n"
)

// fileOf says in which template an object of the base goes. Kinds that map to nothing are written
// by hand, since values change them.
var fileOf = map[string]string{
	"ServiceAccount": "rbac", "ClusterRole": "rbac", "ClusterRoleBinding": "rbac", "Role": "rbac", "RoleBinding": "rbac",
	"ValidatingAdmissionPolicy": "admission", "ValidatingAdmissionPolicyBinding": "admission",
	"FlowSchema": "flow-schema", "Namespace": "namespaces",
	"Deployment": "", "Service": "", "PodDisruptionBudget": "", "NetworkPolicy": "", "ConfigMap": "",
}

// replacements are what values change in the objects of the base, as it stands in YAML.
var replacements = strings.NewReplacer(
	"'[''berth-scheduler'']'", `'[''{{ include "berth.schedulerName" . }}'']'`,
)

// conditions are the values on which objects of the base depend, by their names.
var conditions = map[string]string{"berth-operator-kinds": ".Values.operatorKinds.enabled"}

// copies are files that the templates read, by their path in the chart.
var copies = map[string]string{
	"files/scheduler-config.yaml": "base/scheduler-config.yaml",
	"files/adds-only.yaml":        "components/adds-only/scheduler-config.yaml",
	"files/rules.yaml":            "monitoring/rules.yaml",
	"files/dashboard.json":        "monitoring/dashboard.json",
}

func main() {
	root := flag.String("root", ".", "the repository to write into")
	flag.Parse()
	if err := run(*root); err != nil {
		fmt.Fprintln(os.Stderr, "chart:", err)
		os.Exit(1)
	}
}

// run writes everything below the root of a repository.
func run(root string) error {
	manifests := filepath.Join(root, "manifests")
	files, err := generate(manifests)
	if err != nil {
		return err
	}
	chart := filepath.Join(manifests, "charts", "berth")
	for _, dir := range []string{"templates/crds", "templates/base", "files"} {
		if err := os.RemoveAll(filepath.Join(chart, dir)); err != nil {
			return err
		}
	}
	for name, content := range files {
		if err := write(filepath.Join(chart, name), content); err != nil {
			return err
		}
	}
	values, err := os.ReadFile(filepath.Join(chart, "values.yaml"))
	if err != nil {
		return err
	}
	page, err := reference(values)
	if err != nil {
		return fmt.Errorf("values.yaml: %w", err)
	}
	return write(filepath.Join(root, "docs", "reference", "chart.md"), page)
}

func write(path, content string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(content), 0o600)
}

// generate returns the generated files of the chart by their paths in it.
func generate(manifests string) (map[string]string, error) {
	files := map[string]string{}
	for name, source := range copies {
		content, err := os.ReadFile(filepath.Join(manifests, source))
		if err != nil {
			return nil, err
		}
		files[name] = string(content)
	}
	if err := addDefinitions(files, manifests); err != nil {
		return nil, err
	}
	objects, err := localplane.BuildKustomization(filepath.Join(manifests, "base"))
	if err != nil {
		return nil, err
	}
	for _, object := range objects {
		if err := addObject(files, object); err != nil {
			return nil, fmt.Errorf("%s %s: %w", object.GetKind(), object.GetName(), err)
		}
	}
	return files, nil
}

func addDefinitions(files map[string]string, manifests string) error {
	paths, err := filepath.Glob(filepath.Join(manifests, "crds", "*.yaml"))
	if err != nil || len(paths) == 0 {
		return errors.Join(fmt.Errorf("no definitions in %s", manifests), err)
	}
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		before, after, found := strings.Cut(escape(string(content)), "  annotations:\n")
		if !found {
			return fmt.Errorf("%s has no annotations to add to", path)
		}
		name := filepath.Base(path)
		files["templates/crds/"+name] = fmt.Sprintf(note, "manifests/crds/"+name) +
			"{{- if .Values.crds.install }}\n" + before + keep + after + "{{- end }}\n"
	}
	return nil
}

// addObject appends an object of the base to the template that it belongs to.
func addObject(files map[string]string, object *unstructured.Unstructured) error {
	file, known := fileOf[object.GetKind()]
	switch {
	case !known:
		return errors.New("no template is known for this kind; add one to fileOf, or write it by hand")
	case file == "", object.GetKind() == "Namespace" && object.GetName() == localplane.BerthNamespace:
		// Helm keeps the release in this namespace, so it has to be there before.
		return nil
	}
	if object.GetKind() == "Namespace" {
		// What users keep in it would go with it, and a release that is installed again at once
		// would meet its end.
		object.SetAnnotations(map[string]string{"helm.sh/resource-policy": "keep"})
	}
	content, err := yaml.Marshal(object.Object)
	if err != nil {
		return err
	}
	name := "templates/base/" + file + ".yaml"
	if files[name] == "" {
		files[name] = fmt.Sprintf(note, "manifests/base")
	}
	text := "---\n" + replacements.Replace(escape(string(content)))
	if condition := conditions[object.GetName()]; condition != "" {
		text = "{{- if " + condition + " }}\n" + text + "{{- end }}\n"
	}
	files[name] += text
	return nil
}

// escape makes a text that Helm renders to what it was.
func escape(text string) string {
	return strings.ReplaceAll(text, "{{", `{{ "{{" }}`)
}
