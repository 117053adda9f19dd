// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// pusher sends images to a registry, with the credentials that `docker login` has left.
type pusher struct {
	from     string
	registry string
	tag      string
}

func (p *pusher) addFlags(flags *flag.FlagSet) {
	flags.StringVar(&p.from, "from", "", "directory that build has written")
	flags.StringVar(&p.registry, "registry", "", "where to, such as registry.example.com/berth")
	flags.StringVar(&p.tag, "tag", "latest", "tag of the images")
}

// push sends the images of the programs and prints a line with name and digest for each.
func (p *pusher) push(names []string, out io.Writer) error {
	if p.registry == "" {
		return errors.New("say where to with -registry")
	}
	for _, program := range names {
		index, err := p.read(program)
		if err != nil {
			return fmt.Errorf("reading the image of %s: %w", program, err)
		}
		to, err := name.NewTag(strings.TrimSuffix(p.registry, "/") + "/" + program + ":" + p.tag)
		if err != nil {
			return err
		}
		if err := remote.WriteIndex(to, index, remote.WithAuthFromKeychain(authn.DefaultKeychain)); err != nil {
			return fmt.Errorf("pushing %s: %w", to, err)
		}
		digest, err := index.Digest()
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%s@%s\n", to, digest)
	}
	return nil
}

// read returns the only index of an OCI layout.
func (p *pusher) read(program string) (v1.ImageIndex, error) {
	all, err := layout.ImageIndexFromPath(filepath.Join(p.from, program))
	if err != nil {
		return nil, err
	}
	manifest, err := all.IndexManifest()
	if err != nil {
		return nil, err
	}
	if len(manifest.Manifests) != 1 {
		return nil, fmt.Errorf("there are %d images in it, not one", len(manifest.Manifests))
	}
	return all.ImageIndex(manifest.Manifests[0].Digest)
}
