// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strconv"
	"strings"
)

// form is how a fault is woven into a file beside what is right.
type form int

const (
	// alone: it cannot be, so it is compiled by itself.
	alone form = iota
	// expression: a function that returns one of two values.
	expression
	// statement: one of two branches.
	statement
	// header: a statement in the head of another, where only a call can stand.
	header
	// jump: a branch that is taken or not.
	jump
)

const (
	// number is the environment variable that says which fault is the case.
	number = "BERTH_FAULT"
	// reached is the one that names a file for the numbers of those that tests come to.
	reached = "BERTH_FAULTS_REACHED"
)

// chooser returns a file for a package that reads them.
func chooser(name string) []byte {
	return []byte("package " + name + `

import (
	plantedos "os"
	plantedstrconv "strconv"
	plantedsync "sync"
)

var (
	plantedNumber, _ = plantedstrconv.Atoi(plantedos.Getenv("` + number + `"))
	plantedFile, _   = plantedos.OpenFile(plantedos.Getenv("` + reached + `"), plantedos.O_APPEND|plantedos.O_CREATE|plantedos.O_WRONLY, 0o600)
	plantedReached   plantedsync.Map
)

func planted(fault int) bool {
	if plantedFile != nil {
		if _, known := plantedReached.LoadOrStore(fault, true); !known {
			plantedFile.WriteString(plantedstrconv.Itoa(fault) + "\n")
		}
	}
	return fault == plantedNumber
}
`)
}

// shape is what matters of a file's syntax to where faults can be woven in.
type shape struct {
	// headers are statements in the head of others.
	headers map[ast.Node]bool
	// fixed is where the language wants a constant, or a communication.
	fixed []ast.Node
}

func shapeOf(syntax *ast.File) shape {
	s := shape{headers: map[ast.Node]bool{}}
	ast.Inspect(syntax, func(node ast.Node) bool {
		switch n := node.(type) {
		case *ast.ForStmt:
			s.headers[n.Init], s.headers[n.Post] = true, true
		case *ast.IfStmt:
			s.headers[n.Init] = true
		case *ast.SwitchStmt:
			s.headers[n.Init] = true
		case *ast.CommClause:
			if n.Comm != nil {
				s.fixed = append(s.fixed, n.Comm)
			}
		case *ast.ArrayType:
			if n.Len != nil {
				s.fixed = append(s.fixed, n.Len)
			}
		case *ast.GenDecl:
			if n.Tok == token.CONST {
				s.fixed = append(s.fixed, n)
			}
		case *ast.CompositeLit:
			s.fixed = append(s.fixed, keysOf(n)...)
		}
		return true
	})
	return s
}

// keysOf returns the keys of a composite literal.
func keysOf(literal *ast.CompositeLit) []ast.Node {
	var keys []ast.Node
	for _, element := range literal.Elts {
		if pair, ok := element.(*ast.KeyValueExpr); ok {
			keys = append(keys, pair.Key)
		}
	}
	return keys
}

// choose sets how a fault is woven in.
func (s *subject) choose(f *fault, in shape) {
	within := func(n ast.Node) bool { return n.Pos() <= f.node.Pos() && f.node.End() <= n.End() }
	if slices.ContainsFunc(in.fixed, within) {
		return
	}
	switch n := f.node.(type) {
	case ast.Expr:
		s.chooseExpression(f, n)
	case *ast.BranchStmt:
		f.form = jump
	default:
		f.form = statement
		if in.headers[n] {
			f.form = header
		}
	}
}

// chooseExpression finds a name for the type of an expression.
func (s *subject) chooseExpression(f *fault, n ast.Expr) {
	if basic, ok := s.info.TypeOf(n).(*types.Basic); ok && basic.Info()&types.IsUntyped != 0 && basic.Kind() != types.UntypedBool {
		return // part of a constant, whose type is that of the whole
	}
	f.form = expression
	f.typ = types.TypeString(types.Default(s.info.TypeOf(n)), func(p *types.Package) string {
		if p == s.types {
			return ""
		}
		if !imports(f.file.syntax, p) {
			f.form = alone
		}
		return p.Name()
	})
}

// imports reports whether a file imports a package by its own name.
func imports(syntax *ast.File, p *types.Package) bool {
	return slices.ContainsFunc(syntax.Imports, func(i *ast.ImportSpec) bool {
		return i.Path.Value == strconv.Quote(p.Path()) && (i.Name == nil || i.Name.Name == p.Name())
	})
}

// weave returns the text of a file with all faults in it.
func weave(source *file, faults []*fault) []byte {
	here := slices.DeleteFunc(slices.Clone(faults), func(f *fault) bool { return f.file != source || f.form == alone })
	slices.SortStableFunc(here, func(a, b *fault) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(b.end, a.end)) })
	var text func(start, end int, inside []*fault) string
	text = func(start, end int, inside []*fault) string {
		var b strings.Builder
		for len(inside) > 0 {
			outer, n := inside[0], 1
			for n < len(inside) && inside[n].end <= outer.end {
				n++
			}
			b.Write(source.text[start:outer.start])
			b.WriteString(outer.beside(text(outer.start, outer.end, inside[1:n])))
			start, inside = outer.end, inside[n:]
		}
		b.Write(source.text[start:end])
		return b.String()
	}
	return []byte(text(0, len(source.text), here))
}

// beside returns a fault and what is right in one, of which the environment chooses.
func (f *fault) beside(right string) string {
	switch f.form {
	case expression:
		return fmt.Sprintf("(func() %s { if planted(%d) { return %s }; return %s }())", f.typ, f.number, f.text, right)
	case header:
		return fmt.Sprintf("func() { if planted(%d) { %s } else { %s } }()", f.number, f.text, right)
	case jump:
		return fmt.Sprintf("if !planted(%d) { %s }", f.number, right)
	default:
		return fmt.Sprintf("if planted(%d) { %s } else { %s }", f.number, f.text, right)
	}
}
