// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/tar"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const description = `Shows and explains what Berth, a scheduler that knows about places, does with
workloads: where their replicas are and why, what is left of licences and addresses,
what would happen if something changed, and whether an installation works.
`

// plugin is a manifest of krew's, krew.googlecontainertools.github.com/v1alpha2.
type plugin struct {
	metav1.TypeMeta `json:",inline"`
	Metadata        metadata `json:"metadata"`
	Spec            spec     `json:"spec"`
}

type metadata struct {
	Name string `json:"name"`
}

type spec struct {
	Version          string     `json:"version"`
	ShortDescription string     `json:"shortDescription"`
	Description      string     `json:"description"`
	Platforms        []platform `json:"platforms"`
}

type platform struct {
	Selector metav1.LabelSelector `json:"selector"`
	URI      string               `json:"uri"`
	SHA256   string               `json:"sha256"`
	Files    []files              `json:"files"`
	Bin      string               `json:"bin"`
}

type files struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// manifest returns the manifest of some archives.
func manifest(version, downloads string, archives []string) (*plugin, error) {
	p := &plugin{
		TypeMeta: metav1.TypeMeta{APIVersion: "krew.googlecontainertools.github.com/v1alpha2", Kind: "Plugin"},
		Metadata: metadata{Name: "berth"},
		Spec:     spec{Version: version, ShortDescription: "See where workloads are placed, and why", Description: description},
	}
	for _, archive := range archives {
		one, err := platformOf(version, archive)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", archive, err)
		}
		one.URI = strings.TrimSuffix(downloads, "/") + "/" + filepath.Base(archive)
		p.Spec.Platforms = append(p.Spec.Platforms, one)
	}
	return p, nil
}

// platformOf returns what an archive is for, and what of it is installed.
func platformOf(version, archive string) (platform, error) {
	name, isArchive := strings.CutSuffix(filepath.Base(archive), ".tar.gz")
	target, isOurs := strings.CutPrefix(name, "berthctl-"+version+"-")
	system, architecture, isPlatform := strings.Cut(target, "-")
	if !isArchive || !isOurs || !isPlatform {
		return platform{}, fmt.Errorf("it is not called berthctl-%s-OS-ARCHITECTURE.tar.gz", version)
	}
	sum, entries, err := read(archive)
	if err != nil {
		return platform{}, err
	}
	wanted := []string{"berthctl", "LICENSE"}
	one := platform{
		Selector: metav1.LabelSelector{MatchLabels: map[string]string{"os": system, "arch": architecture}},
		SHA256:   sum, Bin: wanted[0],
	}
	for _, file := range wanted {
		from := path.Join(name, file)
		if !entries[from] {
			return platform{}, fmt.Errorf("there is no %s in it", from)
		}
		one.Files = append(one.Files, files{From: from, To: "."})
	}
	return one, nil
}

// read returns the hash of an archive and the names of the files in it.
func read(archive string) (sum string, entries map[string]bool, err error) {
	file, err := os.Open(archive)
	if err != nil {
		return "", nil, err
	}
	defer file.Close()
	hash := sha256.New()
	unpacked, err := gzip.NewReader(io.TeeReader(file, hash))
	if err != nil {
		return "", nil, err
	}
	entries = map[string]bool{}
	for reader := tar.NewReader(unpacked); ; {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return "", nil, err
		}
		entries[path.Clean(header.Name)] = header.Typeflag == tar.TypeReg
	}
	// The end of the archive is padding, which belongs to the hash too.
	if _, err := io.Copy(hash, file); err != nil {
		return "", nil, err
	}
	return hex.EncodeToString(hash.Sum(nil)), entries, nil
}
