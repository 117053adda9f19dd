// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package expression evaluates CEL expressions about an object. An expression takes bounded time
// and memory, whatever it says and whatever the object holds.
package expression

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/interpreter"

	"berth.dev/berth/pkg/feeds/manifest"
)

const (
	// maxLength bounds an expression, in bytes.
	maxLength = 4096

	// costLimit bounds the steps of an evaluation. A rule that looks at each of a hundred groups
	// needs about a thousand. The time grows with the square of the steps: CEL keeps a stack to
	// count them.
	costLimit = 20_000

	// maxNesting bounds how deep an expression is nested.
	maxNesting = 50

	// variable is the name of the object in expressions.
	variable = "object"
)

var errCost = errors.New("this takes too many steps")

// environment is made once: it does not change and is safe for concurrent use.
var environment = sync.OnceValues(func() (*cel.Env, error) {
	return cel.NewEnv(
		cel.Variable(variable, cel.DynType),
		cel.ParserExpressionSizeLimit(maxLength),
		cel.ParserRecursionLimit(maxNesting),
		cel.EnableHiddenAccumulatorName(true),
	)
})

// Program is a compiled expression. It is safe for concurrent use.
type Program struct{ program cel.Program }

// Compile compiles an expression. The error is one line.
func Compile(text string) (*Program, error) {
	if len(text) > maxLength {
		return nil, fmt.Errorf("must have at most %d characters, not %d", maxLength, len(text))
	}
	env, err := environment()
	if err != nil {
		return nil, err
	}
	ast, issues := env.Compile(text)
	if err := issues.Err(); err != nil {
		return nil, fmt.Errorf("%.200s", strings.Join(strings.Fields(err.Error()), " "))
	}
	program, err := env.Program(ast,
		cel.CostLimit(costLimit), cel.CostTracking(bySize{}), cel.CustomDecorator(scalarsOnly),
		cel.OptimizeRegex(interpreter.MatchesRegexOptimization))
	if err != nil {
		return nil, err
	}
	return &Program{program: program}, nil
}

// Eval evaluates the expression for an object. The value is of the types that values of a
// manifest.Object have.
func (p *Program) Eval(object manifest.Object) (any, error) {
	value, _, err := p.program.Eval(map[string]any{variable: native(map[string]any(object))})
	if err != nil {
		if strings.Contains(err.Error(), "cost limit") {
			return nil, errCost
		}
		return nil, err
	}
	budget := maxValues
	return plain(value, &budget)
}
