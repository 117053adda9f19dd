// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package constraint

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// SyntaxError says where a constraint cannot be understood, and what was expected there.
type SyntaxError struct {
	// Column is the place of the mistake, counted in characters from 1.
	Column int
	// Message says what was expected and what was found.
	Message string
}

// Error returns the column and the message.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("column %d: %s", e.Column, e.Message)
}

// Parse reads a constraint. The error is a *SyntaxError.
func Parse(kind Kind, text string) (*Constraint, error) {
	if utf8.RuneCountInString(text) > MaxLength {
		return nil, &SyntaxError{Column: MaxLength + 1, Message: tooLong}
	}
	p := &parser{kind: kind, text: text}
	key, at := p.word()
	if !isKey(key) {
		return nil, p.errorAt(at, fmt.Sprintf(expectedName, kind))
	}
	var furthest *SyntaxError
	p.blanks()
	start := p.position
	for _, spelling := range spellings {
		p.position = start
		if !p.operator(spelling) {
			continue
		}
		c, err := p.operands(key, spelling.operator, start)
		if err == nil {
			return c, nil
		}
		if furthest == nil || err.Column > furthest.Column {
			furthest = err
		}
		if spelling.symbol() {
			break
		}
	}
	if furthest == nil {
		return nil, p.errorAt(start, expectedOperators[kind])
	}
	return nil, furthest
}

// What an error says was expected. The API server says the same: a test compares them.
const (
	tooLong        = "a constraint has at most 1024 characters"
	expectedName   = "expected the name of a %s, 1 to 63 letters, digits, _, - and . (no - or . at the ends)"
	expectedValue  = "expected a value, 1 to 63 letters, digits, _, - and . (no - or . at the ends)"
	expectedNumber = "expected a number such as 5, -0.5 or 1e3, with an exponent of at most 308"
	expectedList   = "expected a list in brackets, such as (DE, SK)"
	expectedComma  = "expected a comma or a closing bracket"
	expectedClose  = "expected a closing bracket after several commas"
	expectedEnd    = "expected the end of the constraint"
)

var (
	expectedOperators = map[Kind]string{
		Label:  "expected is, is not, =, ==, !=, in or not in",
		Metric: "expected is, is not, =, ==, !=, <, <=, > or >=",
	}
	// wrongOperators are for the operators of the other kind.
	wrongOperators = map[Kind]string{
		Label:  "a label has no order, " + expectedOperators[Label],
		Metric: "a metric cannot be compared with a list, " + expectedOperators[Metric],
	}
)

// spelling is one way to write an operator: words or symbols, with any blanks between words.
type spelling struct {
	words    []string
	operator Operator
}

// symbol reports whether the operator is written without letters.
func (s spelling) symbol() bool {
	return strings.IndexByte("=!<>", s.words[0][0]) >= 0
}

// spellings are tried from the longest to the shortest, so that "is" is only what it says if
// nothing longer makes sense.
var spellings = []spelling{
	{[]string{"is", "greater", "than", "or", "equal", "to"}, GreaterOrEqual},
	{[]string{"is", "lesser", "than", "or", "equal", "to"}, LessOrEqual},
	{[]string{"is", "less", "than", "or", "equal", "to"}, LessOrEqual},
	{[]string{"greater", "than", "or", "equal", "to"}, GreaterOrEqual},
	{[]string{"lesser", "than", "or", "equal", "to"}, LessOrEqual},
	{[]string{"less", "than", "or", "equal", "to"}, LessOrEqual},
	{[]string{"greater", "than", "or", "equal"}, GreaterOrEqual},
	{[]string{"lesser", "than", "or", "equal"}, LessOrEqual},
	{[]string{"less", "than", "or", "equal"}, LessOrEqual},
	{[]string{"greater", "than"}, Greater},
	{[]string{"lesser", "than"}, Less},
	{[]string{"less", "than"}, Less},
	{[]string{"gte"}, GreaterOrEqual},
	{[]string{"lte"}, LessOrEqual},
	{[]string{"gt"}, Greater},
	{[]string{"lt"}, Less},
	{[]string{"not", "in"}, NotIn},
	{[]string{"in"}, In},
	{[]string{"is", "not"}, IsNot},
	{[]string{"is"}, Is},
	{[]string{"=="}, Is},
	{[]string{"!="}, IsNot},
	{[]string{">="}, GreaterOrEqual},
	{[]string{"=>"}, GreaterOrEqual},
	{[]string{"<="}, LessOrEqual},
	{[]string{"=<"}, LessOrEqual},
	{[]string{">"}, Greater},
	{[]string{"<"}, Less},
	{[]string{"="}, Is},
}

// parser reads a text from left to right.
type parser struct {
	kind     Kind
	text     string
	position int // in bytes
}

// blanks skips spaces and tabs.
func (p *parser) blanks() {
	for p.position < len(p.text) && strings.IndexByte(" \t", p.text[p.position]) >= 0 {
		p.position++
	}
}

// delimiters end a word.
const delimiters = " \t(),=!<>"

// word returns the next word, empty if there is none, and where it starts.
func (p *parser) word() (word string, at int) {
	p.blanks()
	at = p.position
	for p.position < len(p.text) && strings.IndexByte(delimiters, p.text[p.position]) < 0 {
		p.position++
	}
	return p.text[at:p.position], at
}

// operator reads one spelling of an operator and reports whether it is there. Words may touch each
// other but not what follows, unless that is a list.
func (p *parser) operator(s spelling) bool {
	for _, word := range s.words {
		p.blanks()
		if !strings.HasPrefix(p.text[p.position:], word) {
			return false
		}
		p.position += len(word)
	}
	if p.position == len(p.text) || s.symbol() {
		return true
	}
	next := p.text[p.position]
	return next == ' ' || next == '\t' || next == '(' && takesList(s.operator)
}

func takesList(operator Operator) bool {
	return operator == In || operator == NotIn
}

// operands reads what comes after the operator, which stands at the given place.
func (p *parser) operands(key string, operator Operator, at int) (*Constraint, *SyntaxError) {
	c := &Constraint{kind: p.kind, key: key, operator: operator}
	equality := operator == Is || operator == IsNot
	list := takesList(operator)
	if !equality && list != (p.kind == Label) {
		return nil, p.errorAt(at, wrongOperators[p.kind])
	}
	var err *SyntaxError
	if list {
		err = p.list(c)
	} else {
		err = p.value(c)
	}
	if err != nil {
		return nil, err
	}
	if p.blanks(); p.position < len(p.text) {
		return nil, p.errorAt(p.position, expectedEnd)
	}
	return c, nil
}

// list reads values in brackets. Commas may follow the last one.
func (p *parser) list(c *Constraint) *SyntaxError {
	if p.blanks(); !p.symbol('(') {
		return p.errorAt(p.position, expectedList)
	}
	for {
		if err := p.value(c); err != nil {
			return err
		}
		commas := 0
		for p.blanks(); p.symbol(','); p.blanks() {
			commas++
		}
		switch {
		case p.symbol(')'):
			return nil
		case commas == 0:
			return p.errorAt(p.position, expectedComma)
		case commas > 1:
			return p.errorAt(p.position, expectedClose)
		}
	}
}

// value reads one value.
func (p *parser) value(c *Constraint) *SyntaxError {
	value, at := p.word()
	if c.kind == Metric {
		number, err := ParseNumber(value)
		if err != nil {
			return p.errorAt(at, expectedNumber)
		}
		c.number, c.near = number, number.float()
	} else if !isPart(value, maxPartLength) {
		return p.errorAt(at, expectedValue)
	}
	c.values = append(c.values, value)
	return nil
}

func (p *parser) symbol(symbol byte) bool {
	if p.position < len(p.text) && p.text[p.position] == symbol {
		p.position++
		return true
	}
	return false
}

// errorAt returns an error for a place in bytes, with what was found there.
func (p *parser) errorAt(at int, message string) *SyntaxError {
	return &SyntaxError{Column: utf8.RuneCountInString(p.text[:at]) + 1, Message: message + p.found(at)}
}

// foundLength is how much of the text an error repeats.
const foundLength = 20

func (p *parser) found(at int) string {
	rest := []rune(p.text[at:min(len(p.text), at+4*foundLength)])
	if len(rest) == 0 {
		return ", found the end"
	}
	return fmt.Sprintf(", found %q", string(rest[:min(len(rest), foundLength)]))
}
