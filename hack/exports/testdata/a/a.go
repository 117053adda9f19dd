// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package a has exported names, of which package b uses some.
package a

import "fmt"

// Called is called by b.
func Called() *Result { return &Result{} }

// Result is the result of a function that is called, and b calls a method of it.
type Result struct {
	Field Inner
}

// Method is called by b.
func (*Result) Method() {}

// Own is called by nobody.
func (*Result) Own() {}

// String is asked for by fmt.
func (*Result) String() string { return "" }

// Close is asked for by an interface.
func (*Result) Close() error { return nil }

// Closer is used by nobody.
type Closer interface{ Close() error }

// Inner is the type of a field that b can read.
type Inner struct{}

// Tested is called by the package's own test only.
func Tested() { fmt.Println(alone{}) }

// Colour is used by b.
type Colour int

// Red and Green are all colours; b uses one of them.
const (
	Red Colour = iota
	Green
)

// Limit is used by the package's own test only.
const Limit = 3

// Unused is used by nobody.
const Unused = 4

// Global is used by nobody.
var Global = 5

type alone struct{}

// Method is a method of a type that nobody sees.
func (alone) Method() {}

// Outer is seen by b, and with it all below it. Its field has the name of its type.
type Outer struct{ Middle Middle }

// Middle is in Outer.
type Middle struct{ Leaf Leaf }

// Leaf is in Middle.
type Leaf struct{}
