// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"regexp"
	"strings"
)

// licence is an SPDX licence identifier.
type licence string

const (
	apache2 licence = "Apache-2.0"
	mit     licence = "MIT"
	bsd     licence = "BSD"
	isc     licence = "ISC"
	mpl2    licence = "MPL-2.0"
)

// marks lists the sentences by which an allowed licence is known. A text is under a licence if it
// has all of the licence's marks. They are lower case, with one space between words and no quotes,
// as normalise leaves them.
var marks = []struct {
	licence licence
	marks   []string
}{
	{mpl2, []string{"mozilla public license", "version 2.0", "covered software"}},
	{apache2, []string{"apache license", "version 2.0"}},
	{mit, []string{"permission is hereby granted, free of charge, to any person obtaining a copy"}},
	{isc, []string{"permission to use, copy, modify, and", "distribute this software for any purpose with or without fee is hereby granted"}},
	{bsd, []string{"redistribution and use in source and binary forms, with or without modification, are permitted"}},
}

// vetoes are words of licences that ask for more than the allowed ones. The Mozilla licence names
// some of them as "secondary licenses", so they do not count against its text.
var vetoes = []string{
	"gnu general public license",
	"gnu lesser general public license",
	"gnu affero general public license",
	"server side public license",
	"business source license",
	"commons clause",
	"all advertising materials mentioning features",
}

// notWord matches what differs between copies of one licence: quotes, comment signs, bullets and
// white space.
var notWord = regexp.MustCompile(`[^\pL\pN.,;:()/-]+`)

// normalise brings a licence text into the form that marks and vetoes are written in.
func normalise(text string) string {
	return strings.TrimSpace(notWord.ReplaceAllString(strings.ToLower(text), " "))
}

// classify names the allowed licences whose terms the text holds, in the order of marks. It returns
// none if there is no such licence, and none either if the text also holds terms that are not
// allowed.
func classify(text string) []licence {
	text = normalise(text)
	var found []licence
	for _, candidate := range marks {
		if containsAll(text, candidate.marks) {
			found = append(found, candidate.licence)
		}
	}
	if len(found) > 0 && found[0] == mpl2 {
		return found
	}
	for _, veto := range vetoes {
		if strings.Contains(text, veto) {
			return nil
		}
	}
	return found
}

func containsAll(text string, parts []string) bool {
	for _, part := range parts {
		if !strings.Contains(text, part) {
			return false
		}
	}
	return true
}
