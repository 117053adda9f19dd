// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package supportbundle_test

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/utils/ptr"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/cli/internal/clitest"
)

const system = "berth-system"

// bundle runs the command and returns what it printed, and the files of the archive.
func bundle(t *testing.T, w *clitest.World) (clitest.Result, map[string]string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "bundle.tar.gz")
	result := clitest.Run(t.Context(), w.Options(), "support-bundle", "-f", path)
	if result.Code != 0 {
		t.Fatalf("exit status %d: %s", result.Code, result.Err)
	}
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	zipped, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	archive := tar.NewReader(zipped)
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return result, files
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(archive)
		if err != nil {
			t.Fatal(err)
		}
		files[strings.TrimPrefix(header.Name, "berth-support-bundle/")] = string(content)
	}
}

// world holds a secret in each place where one can stand. All of them say hunter2.
func world(t *testing.T) *clitest.World {
	t.Helper()
	w := clitest.NewWorld(t)
	w.Cluster("beijing", 1)
	app := &berthv1alpha1.Application{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", Annotations: map[string]string{
		"kubectl.kubernetes.io/last-applied-configuration": `{"stringData":{"key":"hunter2"}}`, "my.example.com/token": "hunter2",
		"my.example.com/note": "hunter2", "berth.dev/migration": "kept-of-berth",
	}}}
	for _, manifest := range []string{
		`{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s"},"stringData":{"x":"hunter2"},"data":{"y":"hunter2"}}`,
		`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d"},"spec":{"template":{"spec":{"containers":[
			{"env":[{"name":"X","value":"hunter2"}],"args":["https://me:hunter2@example.com/"]}]}}}}`,
		`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"flags"},"spec":{"template":{"spec":{"containers":[
			{"command":["serve","--db-password","hunter2","--token=hunter2","-api-key=hunter2"],
			"args":["sh","-c","curl -H 'Authorization: Bearer hunter2x' https://example.com/?api_key=hunter2&x=1"]}]}}}}`,
		`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"},"data":{"clientSecret":"hunter2","secret":"hunter2",
			"app.properties":"a=b\ndb.password=hunter2\nsecret_key: 'hunter2'\n",
			"key.pem":"-----BEGIN EC PRIVATE KEY-----\nhunter2\n-----END EC PRIVATE KEY-----\n",
			"kubeconfig":"users:\n- user:\n    client-key-data: hunter2\n    token: hunter2\n",
			"jwt":"eyJhbGciOiJub25lIn0.hunter2.hunter2","plain":"hunter2"},"binaryData":{"x":"hunter2"}}`,
		`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"noted","annotations":{"a":"hunter2"}},
			"spec":{"template":{"metadata":{"annotations":{"b":"hunter2","app.kubernetes.io/c":"kept-of-kubernetes"}}}}}`,
	} {
		app.Spec.Manifests = append(app.Spec.Manifests, berthv1alpha1.Manifest{RawExtension: runtime.RawExtension{Raw: []byte(manifest)}})
	}
	provider := &berthv1alpha1.GlobalMetricsProvider{ObjectMeta: metav1.ObjectMeta{Name: "prometheus"}}
	w.Berth = append(w.Berth, app, provider)
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: system, Name: "berth-scheduler"}}
	d.Spec.Template.Spec.Containers = []corev1.Container{{Env: []corev1.EnvVar{{Name: "GOGC", Value: "200"}, {Name: "PROXY", Value: "hunter2"}}}}
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: system, Name: "berth-scheduler-0", Labels: map[string]string{"app.kubernetes.io/name": "berth-scheduler"},
	}}
	part := map[string]string{"app.kubernetes.io/part-of": "berth"}
	leases := metav1.ObjectMeta{Namespace: "berth-schedulers", Name: "berth-scheduler-leases", Labels: part}
	stock := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "kube-scheduler"}}
	stock.Spec.HolderIdentity = ptr.To("control-plane-1")
	w.Kubernetes = append(w.Kubernetes, stock,
		&coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "berth-schedulers", Name: "berth-scheduler-a"}},
		&rbacv1.Role{ObjectMeta: leases}, &rbacv1.RoleBinding{ObjectMeta: leases},
		&admissionv1.ValidatingAdmissionPolicyBinding{ObjectMeta: metav1.ObjectMeta{Name: "berth-stamps", Labels: part}},
		d, p, &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: system, Name: "tls"}, Data: map[string][]byte{"tls.key": []byte("hunter2")},
		})
	return w
}

func TestNoSecretIsInIt(t *testing.T) {
	w := world(t)
	result, files := bundle(t, w)
	for name, content := range files {
		if strings.Contains(content, "hunter2") {
			t.Errorf("a secret is in %s:\n%s", name, content)
		}
		if !strings.Contains(result.Out, name+": ") {
			t.Errorf("%s is not listed", name)
		}
	}
	for _, action := range w.Clients.Kubernetes.Actions() {
		if action.GetResource().Resource == "secrets" {
			t.Error("Secrets are read")
		}
	}
}

func TestWhatIsInIt(t *testing.T) {
	_, files := bundle(t, world(t))
	for name, want := range map[string]string{
		"versions.yaml":                                 "goVersion",
		"objects/Cluster.yaml":                          "name: beijing",
		"objects/Application.yaml":                      "kept-of-berth",
		"system/deployments.yaml":                       `value: "200"`,
		"system/pods.yaml":                              "name: berth-scheduler-0",
		"system/nodes.yaml":                             "name: beijing-0",
		"logs/berth-scheduler-0.log":                    "fake logs",
		"system/leases-of-schedulers.yaml":              "name: berth-scheduler-a",
		"system/lease-of-kube-scheduler.yaml":           "holderIdentity: control-plane-1",
		"system/roles.yaml":                             "name: berth-scheduler-leases",
		"system/rolebindings.yaml":                      "name: berth-scheduler-leases",
		"system/validatingadmissionpolicybindings.yaml": "name: berth-stamps",
		"objects/PropagationPolicy.yaml":                "items:",
	} {
		if !strings.Contains(files[name], want) {
			t.Errorf("%s has no %q:\n%s", name, want, files[name])
		}
	}
}

// TestAProgramThatHasEndedIsHeard holds that what it wrote before is there, and only then.
func TestAProgramThatHasEndedIsHeard(t *testing.T) {
	const before = "logs/berth-scheduler-0.previous.log"
	if _, files := bundle(t, world(t)); files[before] != "" {
		t.Errorf("%s is there, and the program has not ended", before)
	}
	w := world(t)
	for _, object := range w.Kubernetes {
		if p, is := object.(*corev1.Pod); is && p.Name == "berth-scheduler-0" {
			p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "scheduler", RestartCount: 1}}
		}
	}
	if _, files := bundle(t, w); files[before] == "" {
		t.Errorf("no %s", before)
	}
}

// TestWhatIsTakenOutLeavesAMark holds that a reader sees where something was.
func TestWhatIsTakenOutLeavesAMark(t *testing.T) {
	_, files := bundle(t, world(t))
	for _, want := range []string{"--token=REDACTED", "a: REDACTED", "kept-of-kubernetes", "plain: REDACTED"} {
		if !strings.Contains(files["objects/Application.yaml"], want) {
			t.Errorf("no %q in\n%s", want, files["objects/Application.yaml"])
		}
	}
}

func TestWhatCannotBeReadIsToldAndLeftOut(t *testing.T) {
	w := world(t)
	w.Options()
	w.Clients.Kubernetes.PrependReactor("list", "nodes", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, errors.New("the API server is on fire")
	})
	result, files := bundle(t, w)
	if want := "system/nodes.yaml: left out: listing: the API server is on fire\n"; !strings.Contains(result.Out, want) {
		t.Errorf("output\n%s\nwant\n%s", result.Out, want)
	}
	if _, there := files["system/nodes.yaml"]; there || files["system/pods.yaml"] == "" {
		t.Error("the archive has what could not be read, or lacks what could")
	}
}

func TestAFileThatExistsIsKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mine")
	if err := os.WriteFile(path, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	clitest.Run(t.Context(), world(t).Options(), "support-bundle", "-f", path).CheckFailed(t, "file exists")
	if content, err := os.ReadFile(path); err != nil || string(content) != "mine" {
		t.Errorf("the file has %q now (%v)", content, err)
	}
}
