// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/tar"
	"bytes"
	"crypto/x509"
	"encoding/json"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

// programs writes a program for two platforms and returns their directory.
func programs(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, platform := range []string{"linux-amd64", "linux-arm64"} {
		if err := os.MkdirAll(filepath.Join(dir, platform), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, platform, "berth-scheduler"), []byte("for "+platform), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// output runs a command that must succeed.
func output(t *testing.T, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	if err := run(args, &out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func built(t *testing.T) (dir, digests string) {
	t.Helper()
	dir = t.TempDir()
	digests = output(t, "build", "-programs", programs(t), "-out", dir, "-tag", "v1.2.3", "-time", "1700000000", "berth-scheduler")
	return dir, digests
}

func TestTheSameProgramsMakeTheSameImages(t *testing.T) {
	_, first := built(t)
	_, second := built(t)
	if first != second || !strings.HasPrefix(first, "berth-scheduler sha256:") {
		t.Errorf("digests are\n%sand\n%s", first, second)
	}
}

func TestImagesArePushedAsTheyWereBuilt(t *testing.T) {
	dir, digests := built(t)
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	defer server.Close()
	at := strings.TrimPrefix(server.URL, "http://") + "/berth"
	pushed := output(t, "push", "-from", dir, "-registry", at, "-tag", "v1.2.3", "berth-scheduler")
	_, digest, _ := strings.Cut(strings.TrimSpace(digests), " ")
	if want := at + "/berth-scheduler:v1.2.3@" + digest + "\n"; pushed != want {
		t.Errorf("push printed %q, want %q", pushed, want)
	}
	ref, err := name.NewTag(at + "/berth-scheduler:v1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	index, err := remote.Index(ref)
	if err != nil {
		t.Fatal(err)
	}
	if err := validate.Index(index); err != nil {
		t.Error(err)
	}
	for _, architecture := range []string{"amd64", "arm64"} {
		image, err := remote.Image(ref, remote.WithPlatform(v1.Platform{OS: "linux", Architecture: architecture}))
		if err != nil {
			t.Fatal(err)
		}
		checkImage(t, image, architecture)
	}
}

// checkImage checks what an image runs, as whom, and what is in it.
func checkImage(t *testing.T, image v1.Image, architecture string) {
	t.Helper()
	file, err := image.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	if file.Architecture != architecture || file.Config.User != "65532:65532" || file.Config.Entrypoint[0] != "/berth-scheduler" ||
		file.Config.Labels["org.opencontainers.image.version"] != "v1.2.3" || file.Created.Unix() != 1700000000 {
		t.Errorf("the image is %+v", file)
	}
	content := map[string]string{}
	files := tar.NewReader(mutate.Extract(image))
	for {
		header, err := files.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(files)
		if err != nil {
			t.Fatal(err)
		}
		content[header.Name] = string(text)
	}
	if got := content["berth-scheduler"]; got != "for linux-"+architecture {
		t.Errorf("the program is %q", got)
	}
	if roots := x509.NewCertPool(); !roots.AppendCertsFromPEM([]byte(content["etc/ssl/certs/ca-certificates.crt"])) {
		t.Error("there are no certificates")
	}
}

func TestModulesOfAProgramAreListed(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	first := output(t, "sbom", "-version", "v1.2.3", self)
	if second := output(t, "sbom", "-version", "v1.2.3", self); first != second {
		t.Error("the same program made two lists")
	}
	var bom struct {
		BOMFormat  string `json:"bomFormat"`
		Components []struct{ Name, Version, PURL string }
	}
	if err := json.Unmarshal([]byte(first), &bom); err != nil {
		t.Fatal(err)
	}
	names := map[string]string{}
	for _, component := range bom.Components {
		names[component.Name] = component.Version
	}
	if bom.BOMFormat != "CycloneDX" || names["stdlib"] == "" || names["github.com/google/go-containerregistry"] == "" {
		t.Errorf("the list has format %q and %v", bom.BOMFormat, names)
	}
}

func TestWhatIsWrongIsNamed(t *testing.T) {
	empty := t.TempDir()
	tests := map[string]struct {
		args []string
		want string
	}{
		"no command":      {nil, "say build, push or sbom"},
		"unknown command": {[]string{"pull"}, `there is no command "pull": say build, push or sbom`},
		"no programs":     {[]string{"build", "-programs", empty, "-out", empty, "x"}, "there is no directory such as linux-amd64 in " + empty},
		"no registry":     {[]string{"push", "-from", empty, "x"}, "say where to with -registry"},
		"no file":         {[]string{"sbom"}, "name the files of the programs"},
	}
	for title, tc := range tests {
		t.Run(title, func(t *testing.T) {
			if err := run(tc.args, io.Discard); err == nil || err.Error() != tc.want {
				t.Errorf("error is %v, want %s", err, tc.want)
			}
		})
	}
}
