// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	mitText = "Permission is hereby granted, free of charge, to any\n person obtaining a copy of this software"
	bsdText = "Redistribution and use in source and binary forms, with or without\n# modification, are permitted provided that"
)

func TestClassify(t *testing.T) {
	for name, tc := range map[string]struct {
		text string
		want []licence
	}{
		"Apache":                       {"Apache License\n   Version 2.0, January 2004", []licence{apache2}},
		"MIT, wrapped and indented":    {mitText, []licence{mit}},
		"BSD behind comment signs":     {"# " + bsdText, []licence{bsd}},
		"ISC":                          {"Permission to use, copy, modify, and/or distribute this software for any purpose with or without fee is hereby granted", []licence{isc}},
		"MPL, which names the GPL":     {"Mozilla Public License Version 2.0 \"Covered Software\" ... GNU General Public License", []licence{mpl2}},
		"two texts in one file":        {mitText + "\n\nLicensed under the Apache License, Version 2.0", []licence{apache2, mit}},
		"GPL":                          {"GNU GENERAL PUBLIC LICENSE Version 3", nil},
		"a part under the GPL":         {mitText + "\nThe plugin is under the GNU General\nPublic License.", nil},
		"Apache with the Commons rule": {"\"Commons Clause\" License Condition; Apache License, Version 2.0", nil},
		"BSD with the advertising rule": {
			bsdText + " 3. All advertising materials mentioning features or use of this software", nil,
		},
		"unknown words": {"do as you like", nil},
		"empty":         {"", nil},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, classify(tc.text)); diff != "" {
				t.Errorf("licences (-want +got):\n%s", diff)
			}
		})
	}
}

func TestModuleLicences(t *testing.T) {
	for name, tc := range map[string]struct {
		files     map[string]string
		want      []string
		wantError string
	}{
		"the module's licence":               {files: map[string]string{"LICENSE": mitText}, want: []string{"MIT"}},
		"forked code with terms of its own":  {files: map[string]string{"LICENSE": mitText, "a/b/LICENCE.txt": bsdText}, want: []string{"BSD", "MIT"}},
		"terms beside the package":           {files: map[string]string{"LICENSE": mitText, "a/c/COPYING": "GNU General Public License"}, want: []string{"MIT"}},
		"terms for prose and a source file":  {files: map[string]string{"LICENSE": mitText, "LICENSE.docs": "CC", "license.go": "package a"}, want: []string{"MIT"}},
		"terms that are not allowed":         {files: map[string]string{"LICENSE": mitText, "a/COPYING": "GNU General Public License"}, wantError: "not an allowed licence"},
		"dedicated to the public, unlisted":  {files: map[string]string{"UNLICENSE": "This is free and unencumbered software"}, wantError: "not an allowed licence"},
		"no licence at all":                  {files: map[string]string{"README": mitText}, wantError: "no licence text"},
		"licence in a folder that is unused": {files: map[string]string{"x/LICENSE": mitText}, wantError: "no licence text"},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			for file, text := range tc.files {
				write(t, filepath.Join(root, file), text)
			}
			pkg := filepath.Join(root, "a", "b")
			if err := os.MkdirAll(pkg, 0o700); err != nil {
				t.Fatal(err)
			}
			got, err := module{path: "m", dir: root, packages: []string{pkg}}.licences()
			if tc.wantError == "" && err != nil || tc.wantError != "" && (err == nil || !strings.Contains(err.Error(), tc.wantError)) {
				t.Fatalf("error %v, want %q", err, tc.wantError)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("licences (-want +got):\n%s", diff)
			}
		})
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestParseModules(t *testing.T) {
	got, err := parseModules("b\tv1\t/b\t/b/x\na\tv2\t/a\t/a\nb\tv1\t/b\t/b/y\nb\tv1\t/b\t/b/x\n\n")
	if err != nil {
		t.Fatal(err)
	}
	want := []module{
		{path: "a", version: "v2", dir: "/a", packages: []string{"/a"}},
		{path: "b", version: "v1", dir: "/b", packages: []string{"/b/x", "/b/y"}},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(module{})); diff != "" {
		t.Errorf("modules (-want +got):\n%s", diff)
	}
	if _, err := parseModules("a\tv1\n"); err == nil {
		t.Error("a line without directories was accepted")
	}
}
