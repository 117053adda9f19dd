// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package localplane_test

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"

	"berth.dev/berth/pkg/localplane"
)

func writeFiles(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestBuildKustomization(t *testing.T) {
	dir := writeFiles(t, map[string]string{
		"kustomization.yaml": "namespace: berth-system\nresources: [account.yaml]\n",
		"account.yaml":       "apiVersion: v1\nkind: ServiceAccount\nmetadata:\n  name: berth\n",
	})
	objects, err := localplane.BuildKustomization(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(objects) != 1 {
		t.Fatalf("got %d objects, want 1", len(objects))
	}
	if got, want := objects[0].GetNamespace()+"/"+objects[0].GetName(), "berth-system/berth"; got != want {
		t.Errorf("built %s, want %s", got, want)
	}
}

func TestWithoutWorkloads(t *testing.T) {
	var objects []*unstructured.Unstructured
	for _, kind := range []string{"Namespace", "Deployment", "ClusterRole", "CronJob", "PodDisruptionBudget", "Pod"} {
		objects = append(objects, &unstructured.Unstructured{Object: map[string]any{"kind": kind}})
	}
	var got []string
	for _, object := range localplane.WithoutWorkloads(objects) {
		got = append(got, object.GetKind())
	}
	if diff := cmp.Diff([]string{"Namespace", "ClusterRole", "PodDisruptionBudget"}, got); diff != "" {
		t.Errorf("kept kinds (-want +got):\n%s", diff)
	}
}

// The address is one that nothing listens on: what is refused here is refused
// before anything is sent.
func TestBadManifestsAreRefusedByName(t *testing.T) {
	tests := map[string]struct {
		content string
		want    string
	}{
		"not YAML": {content: "kind: [", want: "document 1"},
		"no kind":  {content: "apiVersion: v1\nmetadata: {name: a}\n", want: "document 1 has no apiVersion, kind or name"},
		"second has no name": {
			content: "apiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n---\napiVersion: v1\nkind: Namespace\n",
			want:    "document 2 has no apiVersion, kind or name",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			dir := writeFiles(t, map[string]string{"bad.yaml": tc.content})
			path := filepath.Join(dir, "bad.yaml")
			err := localplane.ApplyManifests(t.Context(), &rest.Config{Host: "https://127.0.0.1:1"}, path)
			if err == nil || !strings.Contains(err.Error(), tc.want) || !strings.Contains(err.Error(), path) {
				t.Errorf("ApplyManifests() = %v, want an error with the path and %q", err, tc.want)
			}
		})
	}
	if err := localplane.ApplyCRDs(t.Context(), &rest.Config{}, t.TempDir()); err == nil {
		t.Error("ApplyCRDs() of an empty directory succeeded")
	}
}

func TestCreateNodes(t *testing.T) {
	client := fake.NewClientset()
	labels := map[string]string{"topology.kubernetes.io/region": "beijing"}
	capacity := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2")}
	if err := localplane.CreateNodes(t.Context(), client, "beijing", 3, labels, capacity); err != nil {
		t.Fatal(err)
	}
	list, err := client.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, node := range list.Items {
		got[node.Name] = node.Labels["topology.kubernetes.io/region"]
		if !node.Status.Allocatable.Cpu().Equal(resource.MustParse("2")) {
			t.Errorf("allocatable of %s = %v", node.Name, node.Status.Allocatable)
		}
		if node.Annotations[localplane.NodeAnnotation] != "fake" {
			t.Errorf("%s is not marked as fake: %v", node.Name, node.Annotations)
		}
		if node.Status.Conditions[0].Status != corev1.ConditionTrue {
			t.Errorf("%s is not Ready", node.Name)
		}
	}
	want := map[string]string{"beijing-0": "beijing", "beijing-1": "beijing", "beijing-2": "beijing"}
	if !maps.Equal(got, want) {
		t.Errorf("nodes (-want +got):\n%s", cmp.Diff(want, got))
	}
	if err := localplane.CreateNodes(t.Context(), client, "beijing", 1, labels, nil); err == nil ||
		!strings.Contains(err.Error(), "creating node beijing-0") {
		t.Errorf("a second beijing-0: error = %v, want one that names it", err)
	}
}

func TestFreePort(t *testing.T) {
	port, err := localplane.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	if port < 20000 || port > 32767 {
		t.Errorf("port %d lies in the range of outgoing connections", port)
	}
}
