// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package constraint

import (
	"fmt"
	"slices"
	"strings"
)

// The language is regular, so the API server can decide about a constraint by one regular
// expression, and tell the column of a mistake by a few more. They are in the syntax of RE2,
// without lookahead: an operator of words takes the blanks behind it along.
const (
	blanks = `[ \t]*`
	// ends is what follows a word, and ended what follows an operator of words.
	ends  = `(?:[ \t(),=!<>]|$)`
	ended = `(?:[ \t]|$)`
	after = `(?:[ \t]+|$)`

	part = `\w(?:[\w.-]{0,61}\w)?`
	key  = `(?:\w(?:[\w.-]{0,251}\w)?/)?` + part
	// upToOperator is what comes before the operator, upToWord what comes before one of words.
	upToKey      = `^` + blanks + key
	upToOperator = upToKey + blanks
	upToWord     = upToKey + `[ \t]+`

	listWords = `(?:not` + blanks + `)?in`
	notWords  = `is` + blanks + `not`
	than      = `(?:greater|lesser|less)` + blanks + `than`
	orEqual   = blanks + `or` + blanks + `equal`
	to        = blanks + `to`
	thanWords = than + `(?:` + orEqual + `(?:` + to + `)?)?`

	isList   = upToWord + listWords + `(?:[ \t(]|$)`
	upToText = upToKey + labelOperator

	// upToList and upToValues end before and behind the opening bracket; values are those that a
	// comma follows.
	upToList   = upToWord + listWords + blanks
	upToValues = upToList + `\(` + blanks
	values     = `(?:` + part + blanks + `,` + blanks + `)`
	list       = `\(` + blanks + part + `(?:` + blanks + `,` + blanks + part + `)*(?:` + blanks + `,)*` + blanks + `\)`

	labelOperator  = `(?:[ \t]+(?:` + notWords + `|is)` + after + `|` + blanks + `(?:==?|!=)` + blanks + `)`
	metricOperator = `(?:[ \t]+(?:is` + blanks + than + orEqual + to + `|` + thanWords + `|gte?|lte?|` + notWords + `|is)` + after +
		`|` + blanks + `(?:==|!=|>=|=>|<=|=<|[<>=])` + blanks + `)`
	anyNumber = `(?:` + number + `|inf)`
)

// Pattern returns the regular expression, in the syntax of RE2, that matches what Parse takes for a
// constraint of the kind and nothing else, as long as the text has at most MaxLength characters.
func Pattern(kind Kind) string {
	if kind == Metric {
		return upToKey + metricOperator + anyNumber + blanks + `$`
	}
	return `(?:` + upToText + part + `|` + upToList + list + `)` + blanks + `$`
}

// mistake is one way in which a text is no constraint.
type mistake struct {
	// when matches texts that may have this mistake, and unless those that do not. Empty, they
	// decide nothing.
	when, unless string
	// upTo matches what comes before the mistake.
	upTo string
	// expected is what should have been there.
	expected string
}

// mistakesOf returns all there are, in the order in which they count.
func mistakesOf(kind Kind) []mistake {
	name := mistake{
		unless: `^` + blanks + key + ends,
		upTo:   `^` + blanks, expected: fmt.Sprintf(expectedName, kind),
	}
	if kind == Metric {
		return append([]mistake{name}, mistakesWithNumbers()...)
	}
	return slices.Concat([]mistake{name}, mistakesWithLists(), mistakesWithTexts())
}

func mistakesWithNumbers() []mistake {
	upToNumber := upToKey + metricOperator
	return []mistake{
		{when: isList, upTo: upToOperator, expected: wrongOperators[Metric]},
		{unless: upToNumber, upTo: upToOperator, expected: expectedOperators[Metric]},
		{unless: upToNumber + anyNumber + ends, upTo: upToNumber, expected: expectedNumber},
		{upTo: upToNumber + anyNumber + blanks, expected: expectedEnd},
	}
}

// mistakesWithLists are those before the operator of a label, and behind it if that is in or not
// in.
func mistakesWithLists() []mistake {
	isOrder := upToKey + `(?:` + blanks + `=?[<>]|[ \t]+(?:gte?|lte?|` + thanWords + `)` + ended + `)`
	upToComma := upToValues + values + `*` + part
	return []mistake{
		{when: isOrder, upTo: upToOperator, expected: wrongOperators[Label]},
		{unless: upToText + `|` + isList, upTo: upToOperator, expected: expectedOperators[Label]},
		{when: isList, unless: upToValues, upTo: upToList, expected: expectedList},
		{
			when: upToValues + values + `+,[, \t]*(?:[^), \t]|$)`,
			upTo: upToValues + values + `+,[, \t]*`, expected: expectedClose,
		},
		{
			when: upToComma + `(?:[ \t]+[^), \t]|[(=!<>]|[ \t]*$)`,
			upTo: upToComma + blanks, expected: expectedComma,
		},
		{when: isList, unless: upToList + list, upTo: upToValues + values + `*`, expected: expectedValue},
		{when: isList, upTo: upToList + list + blanks, expected: expectedEnd},
	}
}

// mistakesWithTexts are those behind the operators is and is not. In "a is not b" the word not
// could be a value, too.
func mistakesWithTexts() []mistake {
	upToNotText := upToWord + notWords + after
	return []mistake{
		{when: upToNotText, unless: upToNotText + part + ends, upTo: upToNotText, expected: expectedValue},
		{unless: upToText + part + ends, upTo: upToText, expected: expectedValue},
		{upTo: upToText + part + blanks, expected: expectedEnd},
	}
}

// condition returns the expression in CEL that reports whether the text has the mistake, empty if
// it always has.
func (m *mistake) condition(text string) string {
	var conditions []string
	if m.when != "" {
		conditions = append(conditions, fmt.Sprintf("%s.matches(r'%s')", text, m.when))
	}
	if m.unless != "" {
		conditions = append(conditions, fmt.Sprintf("!%s.matches(r'%s')", text, m.unless))
	}
	return strings.Join(conditions, " && ")
}

// explanation returns the expression in CEL for what is said of the mistake. The API server can
// tell in advance what it costs only without macros, and if the number becomes a text last of all.
func (m *mistake) explanation(text, offset string) string {
	at := fmt.Sprintf("%s.find(r'%s').size()", text, m.upTo)
	return fmt.Sprintf("'column %%d: %[1]s, found %%s'.format([dyn(%[2]s + %[3]s + 1), dyn(%[3]s == %[4]s.size() ? 'the end' : "+
		"strings.quote(%[4]s.substring(%[3]s).find('^(?s:.{1,%[5]d})')))])", m.expected, offset, at, text, foundLength)
}

// Explanation returns an expression in CEL, as the API server of Kubernetes has it, that says of a
// text which Pattern does not match, or which is too long, what Parse says of it: the column, what
// was expected and what was found there. text is an expression in CEL for the text, and offset one
// for the number of characters before it that count for the column.
func Explanation(kind Kind, text, offset string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s.size() > %d ? 'column %%d: %s'.format([%s + %d]) : ", text, MaxLength, tooLong, offset, MaxLength+1)
	for _, m := range mistakesOf(kind) {
		if condition := m.condition(text); condition != "" {
			b.WriteString(condition + " ? " + m.explanation(text, offset) + " : ")
		} else {
			b.WriteString(m.explanation(text, offset))
		}
	}
	return b.String()
}
