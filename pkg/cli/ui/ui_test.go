// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package ui_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"

	"berth.dev/berth/pkg/cli/internal/clitest"
)

var printed = regexp.MustCompile(`http://127\.0\.0\.1:\d+/ui/`)

// start runs berthctl ui, and returns the address that it prints.
func start(t *testing.T, w *clitest.World) (*clitest.Running, string) {
	t.Helper()
	running := clitest.Start(t, w.Options(), "ui")
	address := printed.FindString(running.WaitForOutput(t, "\n"))
	if address == "" {
		t.Fatal("no address was printed")
	}
	return running, address
}

func get(t *testing.T, address, host string, cookies ...*http.Cookie) (int, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	request.Host = host
	for _, cookie := range cookies {
		request.AddCookie(cookie)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(body)
}

func TestUI(t *testing.T) {
	w := clitest.NewWorld(t)
	w.Cluster("beijing", 2)
	running, address := start(t, w)
	if status, body := get(t, address, ""); status != http.StatusOK || !strings.Contains(body, "beijing") {
		t.Errorf("status %d: %s", status, body)
	}
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	if status, body := get(t, "http://"+u.Host+"/", ""); status != http.StatusOK || !strings.Contains(body, "beijing") {
		t.Errorf("the root: status %d", status)
	}
	for host, want := range map[string]int{
		"localhost:" + u.Port(): http.StatusOK, "LocalHost": http.StatusOK, "[::1]:" + u.Port(): http.StatusOK,
		"[::1]": http.StatusOK, "evil.example": http.StatusForbidden,
		"evil.example:" + u.Port(): http.StatusForbidden, "127.0.0.1.evil.example": http.StatusForbidden, "10.0.0.1": http.StatusForbidden,
	} {
		status, body := get(t, address, host)
		if status != want || want != http.StatusOK && strings.Contains(body, "beijing") {
			t.Errorf("host %s: status %d, want %d", host, status, want)
		}
	}
	if got := running.Interrupt(t); got.Code != 0 || got.Err != "" {
		t.Errorf("exit status %d, %q", got.Code, got.Err)
	}
}

func TestAPrometheusThatIsNone(t *testing.T) {
	clitest.Run(t.Context(), clitest.NewWorld(t).Options(), "ui", "--prometheus", "nowhere").CheckFailed(t, `--prometheus: "nowhere" is neither`)
}

func TestOneNamespace(t *testing.T) {
	w := clitest.NewWorld(t)
	w.Cluster("beijing", 1)
	w.Pod("mine", nil)
	w.Pod("other", nil).Namespace = "elsewhere"
	options := w.Options()
	w.Clients.Kubernetes.PrependReactor("list", "pods", func(action clienttesting.Action) (bool, runtime.Object, error) {
		if action.GetNamespace() != "" {
			return false, nil, nil
		}
		return true, nil, apierrors.NewForbidden(corev1.Resource("pods"), "", errors.New("no"))
	})
	running := clitest.Start(t, options, "ui")
	running.WaitForError(t, `namespace "default" are shown`)
	address := printed.FindString(running.WaitForOutput(t, "\n")) + "waiting"
	if _, body := get(t, address, ""); !strings.Contains(body, "mine") || strings.Contains(body, "other") {
		t.Errorf("what is shown of the namespace: %s", body)
	}
	chosen := choose(t, address, "elsewhere")
	if _, body := get(t, address, "", chosen); strings.Contains(body, "mine") || !strings.Contains(body, "other") {
		t.Errorf("what is shown of another namespace: %s", body)
	}
	// Browsers send all cookies of a host to all of its ports.
	_, another := start(t, w)
	if _, body := get(t, another+"waiting", "", chosen); !strings.Contains(body, "mine") || strings.Contains(body, "other") {
		t.Errorf("the choice of another run counts: %s", body)
	}
}

// choose chooses a namespace on a page, and returns the cookie that keeps it.
func choose(t *testing.T, address, namespace string) *http.Cookie {
	t.Helper()
	path := strings.TrimSuffix(address, "waiting") + "namespace?name=" + namespace
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if cookies := response.Cookies(); len(cookies) == 1 {
		return cookies[0]
	}
	t.Fatalf("status %d, cookies %v", response.StatusCode, response.Cookies())
	return nil
}

func TestManyNamespaces(t *testing.T) {
	w := clitest.NewWorld(t)
	_, address := start(t, w)
	address += "waiting"
	for i := range 20 {
		name := fmt.Sprintf("n%d", i)
		if status, body := get(t, address, "", choose(t, address, name)); status != http.StatusOK || !strings.Contains(body, "Namespace "+name) {
			t.Fatalf("namespace %s: status %d: %s", name, status, body)
		}
	}
}

func TestWrongFlags(t *testing.T) {
	for args, want := range map[string]string{
		"--address=0.0.0.0":     "--address: \"0.0.0.0\" is no loopback address",
		"--address=example.com": "is no loopback address",
		"--address=":            "is no loopback address",
		"--port=-1":             "--port: -1 is not between 0 and 65535",
		"--port=65536":          "--port: 65536 is not between 0 and 65535",
		"more":                  "takes no arguments",
	} {
		clitest.Run(t.Context(), clitest.NewWorld(t).Options(), "ui", args).CheckFailed(t, want)
	}
}
