// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// subject is a package in which faults are planted.
type subject struct {
	path, folder, name string
	files              []*file
	set                *token.FileSet
	types              *types.Package
	info               types.Info
}

// file is a file of it. Its name is that in the repository.
type file struct {
	path, name string
	text       []byte
	syntax     *ast.File
}

// listed is what go list says of a package.
type listed struct {
	ImportPath, Dir, Name, Export string
	GoFiles                       []string
	DepOnly                       bool
}

// subjects reads and checks the packages that match patterns.
func subjects(ctx context.Context, patterns []string) ([]*subject, error) {
	arguments := slices.Concat([]string{"list", "-export", "-deps", "-json=ImportPath,Dir,Name,Export,GoFiles,DepOnly"}, patterns)
	command := exec.CommandContext(ctx, "go", arguments...)
	command.Stderr = os.Stderr
	output, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("listing packages: %w", err)
	}
	exports := map[string]string{}
	var found []*subject
	for decoder := json.NewDecoder(bytes.NewReader(output)); ; {
		var p listed
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return found, nil
		} else if err != nil {
			return nil, fmt.Errorf("listing packages: %w", err)
		}
		exports[p.ImportPath] = p.Export
		if p.DepOnly || len(p.GoFiles) == 0 {
			continue
		}
		s, err := read(p, func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
		if err != nil {
			return nil, err
		}
		found = append(found, s)
	}
}

// expand returns the packages that match patterns.
func expand(ctx context.Context, patterns []string) ([]string, error) {
	if len(patterns) == 0 {
		return nil, nil
	}
	output, err := exec.CommandContext(ctx, "go", append([]string{"list"}, patterns...)...).Output()
	if err != nil {
		return nil, fmt.Errorf("listing packages with tests: %w", err)
	}
	return strings.Fields(string(output)), nil
}

// read reads the files of a package, whose dependencies have been listed before it.
func read(p listed, dependency func(path string) (io.ReadCloser, error)) (*subject, error) {
	s := &subject{path: p.ImportPath, folder: p.Dir, name: p.Name, set: token.NewFileSet()}
	root, err := os.Getwd()
	if err != nil {
		return nil, fmt.Errorf("finding the repository: %w", err)
	}
	for _, name := range p.GoFiles {
		path := filepath.Join(p.Dir, name)
		short, err := filepath.Rel(root, path)
		if err != nil {
			return nil, fmt.Errorf("naming %s: %w", path, err)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("reading a file of %s: %w", p.ImportPath, err)
		}
		if err := s.parse(path, short, text); err != nil {
			return nil, err
		}
	}
	if err := s.check(dependency); err != nil {
		return nil, err
	}
	return s, nil
}

func (s *subject) parse(path, name string, text []byte) error {
	syntax, err := parser.ParseFile(s.set, path, text, parser.SkipObjectResolution)
	if err != nil {
		return fmt.Errorf("reading %s: %w", name, err)
	}
	s.files = append(s.files, &file{path: path, name: name, text: text, syntax: syntax})
	return nil
}

// check finds the types of expressions.
func (s *subject) check(dependency importer.Lookup) error {
	s.info = types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
	config := types.Config{Importer: importer.ForCompiler(s.set, "gc", dependency)}
	syntax := make([]*ast.File, 0, len(s.files))
	for _, f := range s.files {
		syntax = append(syntax, f.syntax)
	}
	var err error
	if s.types, err = config.Check(s.path, s.set, syntax, &s.info); err != nil {
		return fmt.Errorf("checking %s: %w", s.path, err)
	}
	return nil
}

// faults returns the faults that can be planted, without those that do not compile.
func (s *subject) faults() []*fault {
	var found []*fault
	for _, f := range s.files {
		shape := shapeOf(f.syntax)
		for _, fault := range faultsIn(s.set, f) {
			if s.compiles(fault) {
				s.choose(fault, shape)
				found = append(found, fault)
				fault.number = len(found)
			}
		}
	}
	return found
}

// compiles reports whether what a fault puts in the place of something has a type there.
func (s *subject) compiles(f *fault) bool {
	text := f.text
	switch n := f.node.(type) {
	case ast.Expr:
	case *ast.AssignStmt:
		text = string(f.file.text[s.set.Position(n.Rhs[0].Pos()).Offset:f.end])
	default:
		return true
	}
	value, err := types.Eval(s.set, s.types, f.node.Pos(), text)
	return err == nil && !value.IsVoid() && !value.IsNil()
}
