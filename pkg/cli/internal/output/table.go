// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package output

import (
	"io"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/printers"
)

// Column is a column of a table.
type Column struct {
	// Name is the header; it is printed in capitals.
	Name string
	// Wide columns are printed only in wide tables.
	Wide bool
}

// Rows is a table: a row for each slice, a cell for each column. Control characters in cells are
// made harmless, and a cell ends with its first line. A table without rows prints nothing.
func Rows(w io.Writer, wide bool, columns []Column, rows [][]any) error {
	table := &metav1.Table{}
	for _, column := range columns {
		definition := metav1.TableColumnDefinition{Name: column.Name, Type: "string"}
		if column.Wide {
			definition.Priority = 1
		}
		table.ColumnDefinitions = append(table.ColumnDefinitions, definition)
	}
	for _, cells := range rows {
		table.Rows = append(table.Rows, metav1.TableRow{Cells: cells})
	}
	return printers.NewTablePrinter(printers.PrintOptions{Wide: wide}).PrintObj(table, w)
}

// OneLine returns a text that others wrote as one line without control characters, so that it can
// neither break a layout nor command a terminal.
func OneLine(text string) string {
	var line strings.Builder
	// A strings.Builder does not fail.
	_ = printers.WriteEscaped(&line, strings.Join(strings.Fields(text), " "))
	return line.String()
}

// Article returns the indefinite article of a noun.
func Article(noun string) string {
	if strings.ContainsAny(noun[:1], "aeioAEIO") {
		return "an"
	}
	return "a"
}
