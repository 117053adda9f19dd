// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package supportbundle holds the command that collects what somebody needs who is to find out why
// an installation does not do what it should.
package supportbundle

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"berth.dev/berth/pkg/cli/internal/client"
)

const (
	long = `Collect what a maintainer needs to find out what is wrong, in an archive, and list what is in it.

It holds the objects of Berth's kinds; the Deployments, pods, leases, events and configuration of the namespace berth-system,
with the last lines of the logs, also of programs that have ended; nodes; the leases of all Schedulers; and the admission policies and
permissions of Berth. Nothing is changed.

No Secret is read. Environment variables, annotations that are neither Berth's nor Kubernetes', what looks like credentials in URLs,
flags, fields, texts and logs, and the data of Secrets and ConfigMaps that stand in Applications are taken out. Names of your objects and
labels stay: look into the archive before you send it.

What cannot be read is listed with the reason, and left out.`

	examples = `  # Into berth-support-bundle.tar.gz
  berthctl support-bundle

  # Into another file
  berthctl support-bundle --filename /tmp/berth.tar.gz`

	defaultName = "berth-support-bundle.tar.gz"

	// private is the mode of the archive: whoever collects it says who may read it.
	private = 0o600
)

// NewCommand returns the command support-bundle.
func NewCommand(streams genericiooptions.IOStreams, factory *client.Factory) *cobra.Command {
	var filename string
	cmd := &cobra.Command{
		Use:               "support-bundle",
		Short:             "Collect what a maintainer needs, without secrets",
		Long:              long,
		Example:           examples,
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return run(cmd.Context(), streams, factory, filename)
		},
	}
	cmd.Flags().StringVarP(&filename, "filename", "f", defaultName, "file to write, which must not exist")
	return cmd
}

// entry is a file of the archive, or why it is not there.
type entry struct {
	name    string
	content []byte
	err     error
}

func run(ctx context.Context, streams genericiooptions.IOStreams, factory *client.Factory, filename string) error {
	clients, err := factory.Clients()
	if err != nil {
		return err
	}
	if _, err := clients.Kubernetes.Discovery().ServerVersion(); err != nil {
		return client.DescribeError("asking the API server for its version", err)
	}
	file, err := os.OpenFile(filename, os.O_WRONLY|os.O_CREATE|os.O_EXCL, private)
	if err != nil {
		return fmt.Errorf("--filename: %w", err)
	}
	entries := collect(ctx, clients)
	if err := errors.Join(pack(file, entries), file.Close()); err != nil {
		return fmt.Errorf("writing %s: %w", filename, err)
	}
	for _, e := range entries {
		if e.err != nil {
			fmt.Fprintf(streams.Out, "%s: left out: %v\n", e.name, e.err)
			continue
		}
		fmt.Fprintf(streams.Out, "%s: %d bytes\n", e.name, len(e.content))
	}
	_, err = fmt.Fprintf(streams.Out, "written to %s\n", filename)
	return err
}

// pack writes the archive.
func pack(file *os.File, entries []entry) error {
	zipped := gzip.NewWriter(file)
	archive := tar.NewWriter(zipped)
	for _, e := range entries {
		if e.err != nil {
			continue
		}
		header := &tar.Header{Name: "berth-support-bundle/" + e.name, Mode: private, Size: int64(len(e.content))}
		if err := archive.WriteHeader(header); err != nil {
			return err
		}
		if _, err := archive.Write(e.content); err != nil {
			return err
		}
	}
	return errors.Join(archive.Close(), zipped.Close())
}
