// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package installation

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	fakediscovery "k8s.io/client-go/discovery/fake"
	fakedynamic "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes/scheme"
	clienttesting "k8s.io/client-go/testing"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

func TestSuiteThatFailsLeavesLogsAndState(t *testing.T) {
	base := t.TempDir()
	t.Setenv("BERTH_TEST_LOGS", base)
	logs := t.TempDir()
	if err := os.WriteFile(filepath.Join(logs, "etcd.log"), []byte("a line"), 0o600); err != nil {
		t.Fatal(err)
	}
	e := &evidence{title: "cluster resources"}
	e.saveLogs(logs)
	folder, err := e.open("a pod waits: why?")
	if err != nil {
		t.Fatal(err)
	}
	known := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{scheme.AddToScheme, berthv1alpha1.AddToScheme} {
		if err := add(known); err != nil {
			t.Fatal(err)
		}
	}
	resources := &metav1.APIResourceList{
		GroupVersion: berthv1alpha1.SchemeGroupVersion.String(),
		APIResources: []metav1.APIResource{{Name: "clusters"}, {Name: "clusters/status"}, {Name: "schedulers"}},
	}
	kinds := &fakediscovery.FakeDiscovery{Fake: &clienttesting.Fake{Resources: []*metav1.APIResourceList{resources}}}
	objects := fakedynamic.NewSimpleDynamicClientWithCustomListKinds(known,
		map[schema.GroupVersionResource]string{berthv1alpha1.SchemeGroupVersion.WithResource("schedulers"): "SchedulerList"},
		&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "waiting"}},
		&berthv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "beijing"}})
	if err := writeState(t.Context(), kinds, objects, folder); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"logs/etcd.log":                 "a line",
		"a-pod-waits-why/pods.yaml":     "name: waiting",
		"a-pod-waits-why/clusters.yaml": "name: beijing",
	}
	for name, text := range filesIn(t, e.folder) {
		if !strings.Contains(text, want[name]) || want[name] == "" {
			t.Errorf("%s has %q, want %q in it", name, text, want[name])
		}
		delete(want, name)
	}
	if len(want) > 0 || !strings.HasPrefix(e.folder, filepath.Join(base, "berth-cluster-resources-")) {
		t.Errorf("missing in %s: %v", e.folder, want)
	}
}

// filesIn returns the files in a folder by their paths, without what makes the names of folders
// unique.
func filesIn(t *testing.T, folder string) map[string]string {
	t.Helper()
	found := map[string]string{}
	paths, err := filepath.Glob(filepath.Join(folder, "*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		spec := filepath.Base(filepath.Dir(path))
		found[spec[:strings.LastIndex(spec, "-")]+"/"+filepath.Base(path)] = string(text)
	}
	return found
}

func TestFileName(t *testing.T) {
	got := map[string]string{}
	for _, title := range []string{"Cluster resources: 2/3", "", strings.Repeat("x", 100)} {
		got[title] = fileName(title)
	}
	want := map[string]string{"Cluster resources: 2/3": "cluster-resources-2-3", "": "", strings.Repeat("x", 100): strings.Repeat("x", 60)}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
}
