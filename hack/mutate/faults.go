// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"strings"
)

// fault is a change of a file that somebody could make by mistake.
type fault struct {
	file *file
	line int
	// function is the name of the function that it is in.
	function string
	// node is what is replaced, and start and end are its place in the file.
	node       ast.Node
	start, end int
	old, text  string
	// in is the line of a constant, which says little by itself.
	in string
	// number is by which it is chosen, form how it is woven in, and typ the type of an expression for
	// that.
	number int
	form   form
	typ    string
}

// String returns what is changed, without the line, which moves.
func (f *fault) String() string {
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
	if f.in != "" {
		text += " in " + f.in
	}
	return fmt.Sprintf("%s %s: %s -> %s", f.file.name, f.function, old, text)
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
	file     *file
	set      *token.FileSet
	function string
	found    []*fault
}

// faultsIn returns the faults that can be planted in a file.
func faultsIn(set *token.FileSet, source *file) []*fault {
	f := &finder{file: source, set: set}
	for _, declaration := range source.syntax.Decls {
		if function, ok := declaration.(*ast.FuncDecl); ok && function.Body != nil {
			f.function = function.Name.Name
			ast.Inspect(function.Body, f.visit)
		}
	}
	return f.found
}

func (f *finder) add(node ast.Node, text string) {
	start, end := f.set.Position(node.Pos()), f.set.Position(node.End())
	f.found = append(f.found, &fault{
		file: f.file, line: start.Line, function: f.function, node: node, start: start.Offset, end: end.Offset,
		old: string(f.file.text[start.Offset:end.Offset]), text: text,
	})
}

// addConstant adds a constant, which may have a sign, that is mistaken for its neighbor.
func (f *finder) addConstant(whole, constant ast.Expr, sign string) {
	other := constants[f.textOf(constant)]
	if other == "" {
		return
	}
	f.add(whole, sign+other)
	last := f.found[len(f.found)-1]
	last.in = strings.TrimSpace(strings.Split(string(f.file.text), "\n")[last.line-1])
}

func (f *finder) textOf(node ast.Node) string {
	return string(f.file.text[f.set.Position(node.Pos()).Offset:f.set.Position(node.End()).Offset])
}

func (f *finder) visit(node ast.Node) bool {
	switch n := node.(type) {
	case *ast.UnaryExpr:
		if literal, ok := n.X.(*ast.BasicLit); ok {
			f.addConstant(n, literal, n.Op.String())
			return false
		}
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
			f.add(n, f.textOf(n.X)+" "+other.String()+" "+f.textOf(n.Y))
		}
	case *ast.Ident, *ast.BasicLit:
		f.addConstant(n, n, "")
	}
}

func (f *finder) inStatement(statement ast.Stmt) {
	switch n := statement.(type) {
	case *ast.IncDecStmt:
		f.add(n, f.textOf(n.X)+swapped[n.Tok].String())
	case *ast.IfStmt:
		if _, compares := n.Cond.(*ast.BinaryExpr); !compares {
			f.add(n.Cond, "!("+f.textOf(n.Cond)+")")
		}
	case *ast.BranchStmt:
		if n.Label == nil && n.Tok != token.FALLTHROUGH {
			f.add(n, "")
		}
	case *ast.ExprStmt:
		if !onlyTells(f.textOf(n)) {
			f.add(n, "")
		}
	case *ast.AssignStmt:
		if n.Tok != token.DEFINE && len(n.Lhs) == 1 {
			f.add(n, "_ = "+f.valueOf(n))
		}
	}
}

// valueOf returns what is assigned. The constant of x *= 0xff51afd7ed558ccd has the type of x.
func (f *finder) valueOf(n *ast.AssignStmt) string {
	value := f.textOf(n.Rhs[0])
	if _, constant := n.Rhs[0].(*ast.BasicLit); constant && n.Tok != token.ASSIGN {
		return f.textOf(n.Lhs[0]) + " " + strings.TrimSuffix(n.Tok.String(), "=") + " " + value
	}
	return value
}

// onlyTells reports whether a statement writes to a log, counts for a metric or is no use to leave
// out.
func onlyTells(statement string) bool {
	if strings.HasPrefix(statement, "klog.FromContext(") {
		return true
	}
	function, _, _ := strings.Cut(statement, "(")
	for _, suffix := range []string{".Info", ".Error", ".Inc", ".Add", ".Observe", ".Lock", ".Unlock", ".RLock", ".RUnlock", "panic"} {
		if strings.HasSuffix(function, suffix) {
			return true
		}
	}
	return false
}
