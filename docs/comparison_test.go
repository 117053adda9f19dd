// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package docs_test

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// foreign are the kinds of other projects that the comparison shows.
var foreign = map[schema.GroupVersionKind]bool{
	{Group: "apps.kruise.io", Version: "v1alpha1", Kind: "WorkloadSpread"}:       true,
	{Group: "apps.kruise.io", Version: "v1alpha1", Kind: "UnitedDeployment"}:     true,
	{Group: "policy.karmada.io", Version: "v1alpha1", Kind: "PropagationPolicy"}: true,
	{Group: "topology.volcano.sh", Version: "v1alpha1", Kind: "HyperNode"}:       true,
	{Group: "batch.volcano.sh", Version: "v1alpha1", Kind: "Job"}:                true,
	{Group: "scheduling.sigs.k8s.io", Version: "v1alpha1", Kind: "PodGroup"}:     true,
}

// examplesIn returns the YAML documents of the code blocks of a page.
func examplesIn(t *testing.T, page string) []string {
	t.Helper()
	var found []string
	for _, block := range regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(content(t, page), -1) {
		found = append(found, strings.Split(block[1], "---\n")...)
	}
	return found
}

func TestExamplesOfTheComparisonCanBeApplied(t *testing.T) {
	scheme := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	utilruntime.Must(berthv1alpha1.AddToScheme(scheme))
	decoder := serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer()
	for _, page := range []string{filepath.Join("concepts", "comparison.md"), filepath.Join(root, "README.md")} {
		documents := examplesIn(t, page)
		if len(documents) == 0 {
			t.Errorf("%s has no examples", page)
		}
		for _, document := range documents {
			var object metav1.PartialObjectMetadata
			if err := yaml.Unmarshal([]byte(document), &object); err != nil {
				t.Errorf("%s: %v in\n%s", page, err, document)
				continue
			}
			kind := object.GroupVersionKind()
			if foreign[kind] {
				continue
			}
			if _, _, err := decoder.Decode([]byte(document), nil, nil); err != nil {
				t.Errorf("%s: %s %s: %v", page, kind, object.Name, err)
			}
		}
	}
}
