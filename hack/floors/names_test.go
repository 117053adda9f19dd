// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package floors_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// free are the names of types that say what a type is for its package, and nothing of the domain.
var free = []string{"Background", "Index", "Objects", "Options", "Reconciler", "Round", "Shared", "State", "Step"}

// twins returns a sentence for each name that two types of a floor have, in order. Interfaces,
// which say what their package needs of a type of another, and other names of a type do not count.
func twins(folder fs.FS) ([]string, error) {
	homes := map[string][]string{}
	err := fs.WalkDir(folder, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return err
		}
		text, err := fs.ReadFile(folder, name)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, typ := range typesOf(file) {
			homes[typ] = append(homes[typ], path.Dir(name))
		}
		return nil
	})
	var found []string
	for _, name := range slices.Sorted(maps.Keys(homes)) {
		if len(homes[name]) > 1 && !slices.Contains(free, name) {
			found = append(found, fmt.Sprintf("%s is in %s", name, strings.Join(homes[name], " and in ")))
		}
	}
	return found, err
}

// typesOf returns the exported types that a file defines.
func typesOf(file *ast.File) []string {
	var types []string
	for _, declaration := range file.Decls {
		group, ok := declaration.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, spec := range group.Specs {
			typ, ok := spec.(*ast.TypeSpec)
			if !ok || !typ.Name.IsExported() || typ.Assign.IsValid() {
				continue
			}
			if _, needed := typ.Type.(*ast.InterfaceType); !needed {
				types = append(types, typ.Name.Name)
			}
		}
	}
	return types
}

// No two types of one floor have the same name.
func TestNames(t *testing.T) {
	for _, folder := range []string{"placement", "model", "plugins", "simulator", "explain", "controllers", "cli"} {
		found, err := twins(os.DirFS("../../pkg/" + folder))
		if err != nil {
			t.Fatal(err)
		}
		for _, twin := range found {
			t.Errorf("pkg/%s: %s", folder, twin)
		}
	}
}

func TestTwins(t *testing.T) {
	found, err := twins(fstest.MapFS{
		"a/a.go":      {Data: []byte("package a\n\ntype Room struct{}\n\ntype State int\n\ntype Lister interface{}\n\ntype room struct{}")},
		"b/b.go":      {Data: []byte("package b\n\ntype (\n\tRoom int\n\tState int\n\tLister struct{}\n)")},
		"c/c_test.go": {Data: []byte("package c\n\ntype Room int")},
		"d/d.go":      {Data: []byte("package d\n\nimport \"x/a\"\n\ntype Room = a.Room")},
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"Room is in a and in b"}, found); diff != "" {
		t.Error(diff)
	}
}
