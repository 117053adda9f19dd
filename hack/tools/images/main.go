// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Command images makes images of programs that are built already, and lists what is in them. It
// needs no Docker and no network: an image is a program, the certificates of the public authorities
// and nothing else, and the same programs always make the same image.
//
// Usage:
//
//	images build -programs DIR -out DIR -tag TAG [-time SECONDS] PROGRAM...
//	images push -from DIR -registry REGISTRY -tag TAG PROGRAM...
//	images sbom -version VERSION FILE...
//
// The programs of build lie in DIR/OS-ARCHITECTURE/PROGRAM, as in linux-amd64/berth-scheduler. It
// writes one OCI layout for each program, with an image for each platform, and prints the digests:
// what push, crane and skopeo can send to a registry. sbom prints a CycloneDX document of the Go
// modules that the files were built from.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "images:", err)
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	if len(args) == 0 {
		return fmt.Errorf("say build, push or sbom")
	}
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	switch args[0] {
	case "build":
		var b builder
		b.addFlags(flags)
		if err := flags.Parse(args[1:]); err != nil {
			return err
		}
		return b.build(flags.Args(), out)
	case "push":
		var p pusher
		p.addFlags(flags)
		if err := flags.Parse(args[1:]); err != nil {
			return err
		}
		return p.push(flags.Args(), out)
	case "sbom":
		version := flags.String("version", "unknown", "version of what the files belong to")
		if err := flags.Parse(args[1:]); err != nil {
			return err
		}
		return writeSBOM(*version, flags.Args(), out)
	default:
		return fmt.Errorf("there is no command %q: say build, push or sbom", args[0])
	}
}
