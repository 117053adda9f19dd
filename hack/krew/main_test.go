// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// archive writes an archive with some files, as tar names them.
func archive(t *testing.T, name string, entries ...string) string {
	t.Helper()
	var content bytes.Buffer
	packed := gzip.NewWriter(&content)
	writer := tar.NewWriter(packed)
	for _, entry := range entries {
		if err := writer.WriteHeader(&tar.Header{Name: entry, Typeflag: tar.TypeReg, Mode: 0o755}); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []io.Closer{writer, packed} {
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, content.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func whole(t *testing.T, platform string) string {
	t.Helper()
	name := "berthctl-v1.2.3-" + platform
	return archive(t, name+".tar.gz", name+"/LICENSE", name+"/berthctl")
}

func TestTheManifestNamesTheArchives(t *testing.T) {
	paths := []string{whole(t, "linux-amd64"), whole(t, "darwin-arm64")}
	var out bytes.Buffer
	if err := run("v1.2.3", "https://example.com/v1.2.3/", paths, &out); err != nil {
		t.Fatal(err)
	}
	var p plugin
	if err := yaml.UnmarshalStrict(out.Bytes(), &p); err != nil {
		t.Fatal(err)
	}
	for i, want := range []struct{ os, architecture string }{{"linux", "amd64"}, {"darwin", "arm64"}} {
		one := p.Spec.Platforms[i]
		content, err := os.ReadFile(paths[i])
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(content)
		if one.Selector.MatchLabels["os"] != want.os || one.Selector.MatchLabels["arch"] != want.architecture ||
			one.SHA256 != hex.EncodeToString(sum[:]) || one.Bin != "berthctl" ||
			one.URI != "https://example.com/v1.2.3/"+filepath.Base(paths[i]) {
			t.Errorf("platform %d is %+v", i, one)
		}
	}
}

func TestWhatKrewWouldRefuseIsNamed(t *testing.T) {
	tests := map[string]struct {
		version, downloads string
		archives           []string
		want               string
	}{
		"no archives":   {version: "v1.2.3", downloads: "https://x", want: "platforms: at least one"},
		"no version":    {downloads: "https://x", want: "version \"\": a semantic version with a v before it"},
		"no https":      {version: "v1.2.3", downloads: "http://x", archives: []string{whole(t, "linux-amd64")}, want: "an https address"},
		"twice":         {version: "v1.2.3", downloads: "https://x", archives: []string{whole(t, "linux-amd64"), whole(t, "linux-amd64")}, want: "linux/amd64 is there twice"},
		"other name":    {version: "v1.2.3", downloads: "https://x", archives: []string{whole(t, "linux")}, want: "it is not called berthctl-v1.2.3-OS-ARCHITECTURE.tar.gz"},
		"other content": {version: "v1.2.3", downloads: "https://x", archives: []string{archive(t, "berthctl-v1.2.3-linux-amd64.tar.gz", "berthctl")}, want: "there is no berthctl-v1.2.3-linux-amd64/berthctl in it"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			err := run(tc.version, tc.downloads, tc.archives, io.Discard)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error is %v, want one with %s", err, tc.want)
			}
		})
	}
}
