// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Krew writes the manifest by which krew, the plugin manager of kubectl, installs berthctl as
// "kubectl berth". It looks into the archives that it names, so that what it says of them is true.
//
// Usage: go run ./hack/krew -version VERSION -downloads URL ARCHIVE...
//
// An archive is called berthctl-VERSION-OS-ARCHITECTURE.tar.gz and will be found below the URL.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"

	"sigs.k8s.io/yaml"
)

func main() {
	version := flag.String("version", "", "version, such as v0.1.0")
	downloads := flag.String("downloads", "", "URL below which the archives will be")
	flag.Parse()
	if err := run(*version, *downloads, flag.Args(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "krew:", err)
		os.Exit(1)
	}
}

func run(version, downloads string, archives []string, out io.Writer) error {
	p, err := manifest(version, downloads, archives)
	if err != nil {
		return err
	}
	if err := p.check(); err != nil {
		return err
	}
	content, err := yaml.Marshal(p)
	if err != nil {
		return err
	}
	_, err = out.Write(content)
	return err
}
