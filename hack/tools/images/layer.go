// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/tar"
	"bytes"
	"encoding/pem"
	"io"
	"path"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// layer returns a layer with one file and the directories above it, of root and of the time of the
// images.
func (b *builder) layer(name string, content []byte, mode int64) (v1.Layer, error) {
	var archive bytes.Buffer
	writer := tar.NewWriter(&archive)
	above := strings.Split(path.Dir(name), "/")
	for i := range above {
		if above[i] == "." {
			continue
		}
		header := &tar.Header{Typeflag: tar.TypeDir, Name: strings.Join(above[:i+1], "/") + "/", Mode: 0o755, ModTime: b.time()}
		if err := writer.WriteHeader(header); err != nil {
			return nil, err
		}
	}
	header := &tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: mode, Size: int64(len(content)), ModTime: b.time()}
	if err := writer.WriteHeader(header); err != nil {
		return nil, err
	}
	if _, err := writer.Write(content); err != nil {
		return nil, err
	}
	if err := writer.Close(); err != nil {
		return nil, err
	}
	open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(archive.Bytes())), nil }
	return tarball.LayerFromOpener(open, tarball.WithMediaType(types.OCILayer))
}

// certificates returns those of the authorities that Mozilla trusts, as PEM, of the pinned version
// of the Go project's list. Authorities that are trusted for a part of the certificates only are
// left out, because PEM cannot say so.
func certificates() []byte {
	var content bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint == nil {
			// Writing to memory cannot fail.
			_ = pem.Encode(&content, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate})
		}
	}
	return content.Bytes()
}
