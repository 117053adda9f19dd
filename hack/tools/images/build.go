// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// user is whom the programs run as: nobody, and the same in all images of this kind.
const user = "65532:65532"

// builder makes images.
type builder struct {
	programs string
	out      string
	tag      string
	seconds  int64
}

func (b *builder) addFlags(flags *flag.FlagSet) {
	flags.StringVar(&b.programs, "programs", "", "directory with OS-ARCHITECTURE/PROGRAM")
	flags.StringVar(&b.out, "out", "", "directory to write to")
	flags.StringVar(&b.tag, "tag", "latest", "tag of the images")
	flags.Int64Var(&b.seconds, "time", 0, "time that the images say they are of, in seconds since 1970")
}

// build writes the images of the programs and prints a line with name and digest for each.
func (b *builder) build(names []string, out io.Writer) error {
	platforms, err := b.platforms()
	if err != nil {
		return err
	}
	roots, err := b.layer("etc/ssl/certs/ca-certificates.crt", certificates(), 0o644)
	if err != nil {
		return err
	}
	for _, name := range names {
		index, err := b.index(name, platforms, roots)
		if err != nil {
			return fmt.Errorf("image of %s: %w", name, err)
		}
		digest, err := b.write(name, index)
		if err != nil {
			return fmt.Errorf("writing the image of %s: %w", name, err)
		}
		fmt.Fprintf(out, "%s %s\n", name, digest)
	}
	return nil
}

// platforms returns those that programs were built for, in order.
func (b *builder) platforms() ([]v1.Platform, error) {
	entries, err := os.ReadDir(b.programs)
	if err != nil {
		return nil, err
	}
	var found []v1.Platform
	for _, entry := range entries {
		system, architecture, isPlatform := strings.Cut(entry.Name(), "-")
		if entry.IsDir() && isPlatform {
			found = append(found, v1.Platform{OS: system, Architecture: architecture})
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("there is no directory such as linux-amd64 in %s", b.programs)
	}
	return slices.Clip(found), nil
}

// index returns the images of a program for all platforms.
func (b *builder) index(name string, platforms []v1.Platform, roots v1.Layer) (v1.ImageIndex, error) {
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, platform := range platforms {
		content, err := os.ReadFile(filepath.Join(b.programs, platform.OS+"-"+platform.Architecture, name))
		if err != nil {
			return nil, err
		}
		program, err := b.layer(name, content, 0o755)
		if err != nil {
			return nil, err
		}
		image, err := b.image(name, platform, roots, program)
		if err != nil {
			return nil, err
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: image, Descriptor: v1.Descriptor{Platform: &platform}})
	}
	return index, nil
}

// image returns what runs a program on a platform.
func (b *builder) image(name string, platform v1.Platform, layers ...v1.Layer) (v1.Image, error) {
	image := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	image, err := mutate.AppendLayers(image, layers...)
	if err != nil {
		return nil, err
	}
	file, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	file = file.DeepCopy()
	file.OS, file.Architecture, file.Created = platform.OS, platform.Architecture, v1.Time{Time: b.time()}
	file.Config = v1.Config{
		User: user, Entrypoint: []string{"/" + name}, WorkingDir: "/",
		Labels: map[string]string{
			"org.opencontainers.image.title":    name,
			"org.opencontainers.image.version":  b.tag,
			"org.opencontainers.image.licenses": "Apache-2.0",
		},
	}
	return mutate.ConfigFile(image, file)
}

// write writes an OCI layout that holds an index, in the place of an older one.
func (b *builder) write(name string, index v1.ImageIndex) (v1.Hash, error) {
	place := filepath.Join(b.out, name)
	if err := os.RemoveAll(place); err != nil {
		return v1.Hash{}, err
	}
	path, err := layout.Write(place, empty.Index)
	if err != nil {
		return v1.Hash{}, err
	}
	named := layout.WithAnnotations(map[string]string{"org.opencontainers.image.ref.name": b.tag})
	if err := path.AppendIndex(index, named); err != nil {
		return v1.Hash{}, err
	}
	return index.Digest()
}

func (b *builder) time() time.Time { return time.Unix(b.seconds, 0).UTC() }
