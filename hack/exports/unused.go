// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"go/ast"
	"go/types"
	"maps"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// usage is what the packages say of each other. A name is that of a package, of a type if it is a
// method, and of the object: the objects of a package differ where the package was compiled once
// more for a test.
type usage struct {
	exported map[string]types.Object
	used     map[string]bool
	// methods are the interfaces that ask for a method, by its name.
	methods map[string][]*types.Interface
	// named are the methods of generic interfaces, of which no type can be said to implement them.
	named map[string]bool
	seen  map[*types.Package]bool
}

// unused returns the exported names of the packages chosen by path that no other package uses, in
// order.
func unused(all []*packages.Package, chosen func(path string) bool) []string {
	u := &usage{
		exported: map[string]types.Object{}, used: map[string]bool{}, methods: map[string][]*types.Interface{},
		named: map[string]bool{}, seen: map[*types.Package]bool{},
	}
	for _, p := range all {
		u.addInterfaces(p.Types)
		if p.Name != "main" && !isTest(p) && chosen(p.PkgPath) {
			u.addExported(p)
		}
		u.addUnnamedInterfaces(p)
		for _, object := range p.TypesInfo.Uses {
			if object.Pkg() != nil && isUse(object, p.PkgPath) {
				u.use(object)
			}
		}
	}
	return slices.DeleteFunc(slices.Sorted(maps.Keys(u.exported)), func(name string) bool {
		object := u.exported[name]
		return u.used[name] || u.asked(object) || u.enumerated(object)
	})
}

// isTest reports whether a package is one of tests, or was compiled once more for them: the types
// of its copy are none that the interfaces of others ask for.
func isTest(p *packages.Package) bool {
	return strings.HasSuffix(p.PkgPath, "_test") || strings.HasSuffix(p.PkgPath, ".test") || strings.Contains(p.ID, " [")
}

// isUse reports whether it counts as use when a package names an object. The tests of a package are
// no reason to export what they call; a constant, which says what a value is, may be exported for
// them.
func isUse(object types.Object, by string) bool {
	if _, isConstant := object.(*types.Const); isConstant {
		return object.Pkg().Path() != by
	}
	return object.Pkg().Path() != strings.TrimSuffix(by, "_test")
}

// addExported adds what a package declares outside its tests.
func (u *usage) addExported(p *packages.Package) {
	for _, file := range p.Syntax {
		if strings.HasSuffix(p.Fset.File(file.Pos()).Name(), "_test.go") {
			continue
		}
		ast.Inspect(file, func(node ast.Node) bool {
			switch node := node.(type) {
			case *ast.FuncDecl:
				u.declare(p.TypesInfo.Defs[node.Name])
				return false
			case *ast.TypeSpec:
				u.declare(p.TypesInfo.Defs[node.Name])
				return false
			case *ast.ValueSpec:
				for _, name := range node.Names {
					u.declare(p.TypesInfo.Defs[name])
				}
			}
			return true
		})
	}
}

func (u *usage) declare(object types.Object) {
	if object != nil && object.Exported() && (receiver(object) == nil || receiver(object).Obj().Exported()) {
		u.exported[nameOf(object)] = object
	}
}

// use marks an object as used, and the types that its users get to see through it.
func (u *usage) use(object types.Object) {
	if variable, ok := object.(*types.Var); ok && variable.IsField() {
		u.useType(variable.Type()) // A field may have the name of a type.
		return
	}
	name := nameOf(object)
	if u.used[name] {
		return
	}
	u.used[name] = true
	u.useType(object.Type())
	if declared, ok := object.(*types.TypeName); ok {
		u.useFields(declared)
	}
}

// useFields marks the types of the exported fields of a struct, and the results of the methods of
// an interface.
func (u *usage) useFields(declared *types.TypeName) {
	switch under := declared.Type().Underlying().(type) {
	case *types.Struct:
		for field := range under.Fields() {
			if field.Exported() {
				u.useType(field.Type())
			}
		}
	case *types.Interface:
		for method := range under.Methods() {
			u.useType(method.Type())
		}
	}
}

func (u *usage) useType(t types.Type) {
	switch t := t.(type) {
	case *types.Named:
		u.use(t.Obj())
		for argument := range t.TypeArgs().Types() {
			u.useType(argument)
		}
	case *types.Alias:
		u.use(t.Obj())
		u.useType(types.Unalias(t))
	case *types.Signature:
		u.useTuple(t.Params())
		u.useTuple(t.Results())
		for parameter := range t.TypeParams().TypeParams() {
			u.useType(parameter.Constraint())
		}
	case *types.Map:
		u.useType(t.Key())
		u.useType(t.Elem())
	case interface{ Elem() types.Type }: // pointers, slices, arrays, channels
		u.useType(t.Elem())
	}
}

func (u *usage) useTuple(tuple *types.Tuple) {
	for variable := range tuple.Variables() {
		u.useType(variable.Type())
	}
}

// addInterfaces adds the interfaces that a package declares, and those of the packages that it
// imports.
func (u *usage) addInterfaces(p *types.Package) {
	if p == nil || u.seen[p] {
		return
	}
	u.seen[p] = true
	for _, name := range p.Scope().Names() {
		declared, ok := p.Scope().Lookup(name).(*types.TypeName)
		if !ok {
			continue
		}
		if asking, ok := declared.Type().Underlying().(*types.Interface); ok {
			named, _ := declared.Type().(*types.Named)
			u.addInterface(asking, named != nil && named.TypeParams().Len() > 0)
		}
	}
	for _, imported := range p.Imports() {
		u.addInterfaces(imported)
	}
}

// addUnnamedInterfaces adds the interfaces that a package writes without giving them a name, as in
// []interface{ Start() }.
func (u *usage) addUnnamedInterfaces(p *packages.Package) {
	for expression, value := range p.TypesInfo.Types {
		_, written := expression.(*ast.InterfaceType)
		if asking, ok := value.Type.(*types.Interface); ok && written {
			u.addInterface(asking, false)
		}
	}
}

func (u *usage) addInterface(asking *types.Interface, generic bool) {
	for method := range asking.Methods() {
		u.methods[method.Name()] = append(u.methods[method.Name()], asking)
		u.named[method.Name()] = u.named[method.Name()] || generic
	}
}

// wellKnown are methods that are asked for without a name: errors, encoding, printing.
var wellKnown = []string{"Error", "Unwrap", "Is", "As", "String", "MarshalJSON", "UnmarshalJSON", "MarshalText", "UnmarshalText"}

// asked reports whether an object is a method that an interface asks for.
func (u *usage) asked(object types.Object) bool {
	owner := receiver(object)
	if owner == nil {
		return false
	}
	name := object.Name()
	return slices.Contains(wellKnown, name) || u.named[name] ||
		slices.ContainsFunc(u.methods[name], func(asking *types.Interface) bool {
			return owner.TypeParams().Len() > 0 || types.Implements(types.NewPointer(owner), asking)
		})
}

// enumerated reports whether an object is one of the values of a type that is used: they are
// exported together.
func (u *usage) enumerated(object types.Object) bool {
	named, isNamed := object.Type().(*types.Named)
	_, isConstant := object.(*types.Const)
	return isNamed && isConstant && u.used[nameOf(named.Obj())]
}

// receiver returns the type of which an object is a method, nil if it is none.
func receiver(object types.Object) *types.Named {
	function, ok := object.(*types.Func)
	if !ok || function.Signature().Recv() == nil {
		return nil
	}
	t := function.Signature().Recv().Type()
	if pointer, ok := t.(*types.Pointer); ok {
		t = pointer.Elem()
	}
	named, _ := types.Unalias(t).(*types.Named)
	return named
}

// nameOf returns the name by which an object is known in all packages.
func nameOf(object types.Object) string {
	if function, ok := object.(*types.Func); ok {
		object = function.Origin()
	}
	path := ""
	if object.Pkg() != nil {
		path = object.Pkg().Path() + "."
	}
	if owner := receiver(object); owner != nil {
		return path + owner.Obj().Name() + "." + object.Name()
	}
	return path + object.Name()
}
