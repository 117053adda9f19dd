// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"strings"
)

// roots are the folders of the code that is shipped.
var roots = []string{"apis", "cmd", "pkg"}

// count returns how many statements the production code of each folder has. A folder whose name
// ends in "test" is for tests, and so is one that imports package testing.
func count(tree fs.FS) (map[string]int, error) {
	counts, kits := map[string]int{}, map[string]bool{}
	for _, root := range roots {
		err := fs.WalkDir(tree, root, func(name string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
				return err
			}
			file, err := parse(tree, name)
			if err != nil {
				return err
			}
			folder := path.Dir(name)
			kits[folder] = kits[folder] || strings.HasSuffix(folder, "test") || importsTesting(file)
			if !ast.IsGenerated(file) {
				counts[folder] += statements(file)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	for folder, isKit := range kits {
		if isKit {
			delete(counts, folder)
		}
	}
	return counts, nil
}

func parse(tree fs.FS, name string) (*ast.File, error) {
	text, err := fs.ReadFile(tree, name)
	if err != nil {
		return nil, err
	}
	file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	return file, nil
}

// importsTesting reports whether a file belongs to a package that only tests use.
func importsTesting(file *ast.File) bool {
	for _, imported := range file.Imports {
		if imported.Path.Value == `"testing"` {
			return true
		}
	}
	return false
}

// statements counts what a file does. Braces, labels and the clauses of a switch only group
// statements.
func statements(file *ast.File) int {
	n := 0
	ast.Inspect(file, func(node ast.Node) bool {
		switch node.(type) {
		case *ast.BlockStmt, *ast.EmptyStmt, *ast.LabeledStmt, *ast.CaseClause, *ast.CommClause:
		case ast.Stmt:
			n++
		}
		return true
	})
	return n
}

// area returns the part of the code that a folder belongs to: the first two elements of its path.
func area(folder string) string {
	parts := strings.SplitN(folder, "/", 3)
	return strings.Join(parts[:min(len(parts), 2)], "/")
}
