// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"debug/buildinfo"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"runtime/debug"
	"slices"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// writeSBOM writes which Go modules some programs were built from, as a CycloneDX document. The
// same programs make the same document, which therefore has neither a time nor a serial number.
func writeSBOM(version string, files []string, out io.Writer) error {
	if len(files) == 0 {
		return errors.New("name the files of the programs")
	}
	modules := map[string]cdx.Component{}
	var programs []cdx.Dependency
	var refs []string
	for _, file := range files {
		info, err := buildinfo.ReadFile(file)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		var on []string
		for _, module := range append(info.Deps, &debug.Module{Path: "stdlib", Version: info.GoVersion[len("go"):]}) {
			if module.Replace != nil {
				module = module.Replace
			}
			component := componentOf(module)
			modules[component.BOMRef] = component
			on = append(on, component.BOMRef)
		}
		program := filepath.Base(file)
		refs = append(refs, program)
		programs = append(programs, cdx.Dependency{Ref: program, Dependencies: &on})
		modules[program] = cdx.Component{BOMRef: program, Type: cdx.ComponentTypeApplication, Name: program, Version: version}
	}
	programs = append(programs, cdx.Dependency{Ref: "berth", Dependencies: &refs})
	components := slices.SortedFunc(maps.Values(modules), func(a, b cdx.Component) int {
		return slices.Compare([]string{a.BOMRef}, []string{b.BOMRef})
	})
	bom := cdx.NewBOM()
	bom.Metadata = &cdx.Metadata{Component: &cdx.Component{
		BOMRef: "berth", Type: cdx.ComponentTypeApplication, Name: "berth", Version: version,
	}}
	bom.Components, bom.Dependencies = &components, &programs
	return cdx.NewBOMEncoder(out, cdx.BOMFileFormatJSON).SetPretty(true).Encode(bom)
}

func componentOf(module *debug.Module) cdx.Component {
	url := "pkg:golang/" + module.Path + "@" + module.Version
	return cdx.Component{BOMRef: url, Type: cdx.ComponentTypeLibrary, Name: module.Path, Version: module.Version, PackageURL: url}
}
