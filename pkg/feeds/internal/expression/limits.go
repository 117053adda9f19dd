// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package expression

import (
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/overloads"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"github.com/google/cel-go/interpreter"
)

// bySize lets a call cost as much as it has to read. By itself CEL counts one step for the size of
// a text, for instance, although that reads the text.
type bySize struct{}

// CallCost leaves the two calls that take longer than they have to read to CEL. To append to a list
// takes one step.
func (bySize) CallCost(function, overload string, args []ref.Val, _ ref.Val) *uint64 {
	if overload == overloads.MatchesString || overload == overloads.ContainsString {
		return nil
	}
	cost := uint64(1)
	if function == operators.Add && aggregate(args[0]) {
		return &cost
	}
	for _, arg := range args {
		if sizer, ok := arg.(traits.Sizer); ok {
			if size, ok := sizer.Size().(types.Int); ok {
				cost += uint64(size) / 10
			}
		}
	}
	return &cost
}

// scalarsOnly replaces the operators that could take practically for ever at the cost of one step:
// lists joined again and again have a size that is computed by visiting all parts, and lists put
// into lists again and again are compared part by part. Rules for workloads need neither.
func scalarsOnly(node interpreter.Interpretable) (interpreter.Interpretable, error) {
	call, ok := node.(interpreter.InterpretableCall)
	if !ok {
		return node, nil
	}
	switch call.Function() {
	case operators.Equals, operators.NotEquals, operators.In, operators.Add:
		return &scalarCall{InterpretableCall: call}, nil
	}
	return node, nil
}

// scalarCall is an operator that accepts no lists and maps, but for what accepts says.
type scalarCall struct{ interpreter.InterpretableCall }

// Eval evaluates the operands, once each, and the operator.
func (c *scalarCall) Eval(vars interpreter.Activation) ref.Val {
	left, right := c.Args()[0].Eval(vars), c.Args()[1].Eval(vars)
	for _, operand := range []ref.Val{left, right} {
		if types.IsUnknownOrError(operand) {
			return operand
		}
	}
	if !c.accepts(left, right) {
		return types.NewErr("lists and maps cannot be compared or added")
	}
	switch c.Function() {
	case operators.Equals:
		return types.Equal(left, right)
	case operators.NotEquals:
		return types.Bool(types.Equal(left, right) != types.True)
	case operators.In:
		if container, ok := right.(traits.Container); ok {
			return container.Contains(left)
		}
	case operators.Add:
		if adder, ok := left.(traits.Adder); ok {
			return adder.Add(right)
		}
	}
	return types.MaybeNoSuchOverloadErr(left)
}

// accepts reports whether the operands are bearable. Lists can be added in one way only: CEL itself
// appends an element to the result of the macros map and filter.
func (c *scalarCall) accepts(left, right ref.Val) bool {
	switch c.Function() {
	case operators.In:
		return !aggregate(left)
	case operators.Add:
		if _, result := left.(traits.MutableLister); result {
			element, ok := right.(traits.Lister)
			return ok && element.Size() == types.IntOne
		}
	}
	return !aggregate(left) && !aggregate(right)
}

func aggregate(value ref.Val) bool {
	switch value.(type) {
	case traits.Lister, traits.Mapper:
		return true
	}
	return false
}
