// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
)

// fault is a change of a file that somebody could make by mistake.
type fault struct {
	file string
	line int
	// function is the name of the function that it is in.
	function string
	// start and end are the place of what is replaced in the file.
	start, end int
	old, text  string
}

// String returns what is changed, without the line, which moves.
func (f fault) String() string {
	old, _, more := strings.Cut(f.old, "\n")
	if more {
		old += " …"
	}
	text := f.text
	switch {
	case text == "":
		text = "(left out)"
	case more:
		text = "(turned round)"
	}
	return fmt.Sprintf("%s %s: %s -> %s", f.file, f.function, old, text)
}

// swapped are operators that are mistaken for each other.
var swapped = map[token.Token]token.Token{
	token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ, token.GEQ: token.GTR,
	token.EQL: token.NEQ, token.NEQ: token.EQL, token.LAND: token.LOR, token.LOR: token.LAND,
	token.ADD: token.SUB, token.SUB: token.ADD, token.INC: token.DEC, token.DEC: token.INC,
}

// constants are mistaken for their neighbors.
var constants = map[string]string{"true": "false", "false": "true", "0": "1", "1": "2"}

// finder collects the faults of a file.
type finder struct {
	file     string
	source   []byte
	set      *token.FileSet
	function string
	found    []fault
}

// faultsIn returns the faults that can be planted in a file.
func faultsIn(file string, source []byte) ([]fault, error) {
	f := &finder{file: file, source: source, set: token.NewFileSet()}
	parsed, err := parser.ParseFile(f.set, file, source, parser.SkipObjectResolution)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", file, err)
	}
	for _, declaration := range parsed.Decls {
		if function, ok := declaration.(*ast.FuncDecl); ok && function.Body != nil {
			f.function = function.Name.Name
			ast.Inspect(function.Body, f.visit)
		}
	}
	return f.found, nil
}

func (f *finder) add(from, to token.Pos, text string) {
	start, end := f.set.Position(from), f.set.Position(to)
	f.found = append(f.found, fault{
		file: f.file, line: start.Line, function: f.function, start: start.Offset, end: end.Offset,
		old: string(f.source[start.Offset:end.Offset]), text: text,
	})
}

func (f *finder) textOf(node ast.Node) string {
	return string(f.source[f.set.Position(node.Pos()).Offset:f.set.Position(node.End()).Offset])
}

func (f *finder) visit(node ast.Node) bool {
	switch n := node.(type) {
	case ast.Expr:
		f.inExpression(n)
	case ast.Stmt:
		f.inStatement(n)
	}
	return true
}

func (f *finder) inExpression(expression ast.Expr) {
	switch n := expression.(type) {
	case *ast.BinaryExpr:
		if other, found := swapped[n.Op]; found {
			f.add(n.Pos(), n.End(), f.textOf(n.X)+" "+other.String()+" "+f.textOf(n.Y))
		}
	case *ast.Ident:
		if other := constants[n.Name]; other != "" {
			f.add(n.Pos(), n.End(), other)
		}
	case *ast.BasicLit:
		if other := constants[n.Value]; other != "" && n.Kind == token.INT {
			f.add(n.Pos(), n.End(), other)
		}
	}
}

func (f *finder) inStatement(statement ast.Stmt) {
	switch n := statement.(type) {
	case *ast.IncDecStmt:
		f.add(n.Pos(), n.End(), f.textOf(n.X)+swapped[n.Tok].String())
	case *ast.IfStmt:
		if _, compares := n.Cond.(*ast.BinaryExpr); !compares {
			f.add(n.Cond.Pos(), n.Cond.End(), "!("+f.textOf(n.Cond)+")")
		}
	case *ast.BranchStmt:
		if n.Label == nil && n.Tok != token.FALLTHROUGH {
			f.add(n.Pos(), n.End(), "")
		}
	case *ast.ExprStmt:
		if !onlyTells(f.textOf(n)) {
			f.add(n.Pos(), n.End(), "")
		}
	case *ast.AssignStmt:
		if n.Tok != token.DEFINE && len(n.Lhs) == 1 {
			f.add(n.Pos(), n.End(), "_ = "+f.textOf(n.Rhs[0]))
		}
	}
}

// onlyTells reports whether a statement writes to a log, counts for a metric or is no use to leave
// out.
func onlyTells(statement string) bool {
	function, _, _ := strings.Cut(statement, "(")
	for _, suffix := range []string{".Info", ".Error", ".Inc", ".Add", ".Observe", ".Lock", ".Unlock", ".RLock", ".RUnlock", "panic"} {
		if strings.HasSuffix(function, suffix) {
			return true
		}
	}
	return false
}
