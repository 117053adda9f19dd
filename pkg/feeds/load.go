// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package feeds

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/yaml"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/feeds/manifest"
)

// feedParserKind is the kind of rules.
const feedParserKind = "FeedParser"

// maxRuleFiles bounds the number of files in a folder of rules.
const maxRuleFiles = 1000

// LoadFeedParsers reads all FeedParsers of a folder: the files in it whose names end with .yaml,
// .yml or .json, in the order of their names. Folders within it are passed over. An error names the
// file, and the document in it, that holds something else than FeedParsers.
func LoadFeedParsers(folder fs.FS) ([]berthv1alpha1.FeedParser, error) {
	entries, err := fs.ReadDir(folder, ".")
	if err != nil {
		return nil, err
	}
	var rules []berthv1alpha1.FeedParser
	files := 0
	for _, entry := range entries {
		if !slices.Contains([]string{".yaml", ".yml", ".json"}, path.Ext(entry.Name())) {
			continue
		}
		if files++; files > maxRuleFiles {
			return nil, fmt.Errorf("there are more than %d files", maxRuleFiles)
		}
		more, err := loadFile(folder, entry.Name())
		if err != nil {
			return nil, fmt.Errorf("%s: %w", entry.Name(), err)
		}
		rules = append(rules, more...)
	}
	return rules, nil
}

// loadFile reads a file. What is no file is passed over if it is a folder, and refused otherwise:
// to open a pipe can block.
func loadFile(folder fs.FS, name string) ([]berthv1alpha1.FeedParser, error) {
	info, err := fs.Stat(folder, name)
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, nil
	case !info.Mode().IsRegular():
		return nil, errors.New("this is no regular file")
	}
	file, err := folder.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	raw, err := io.ReadAll(io.LimitReader(file, manifest.MaxInputSize+1))
	if err != nil {
		return nil, err
	}
	return parseFeedParsers(raw)
}

// parseFeedParsers reads FeedParsers, written as YAML documents, JSON values or lists of either. It
// does not look into the rules: NewRegistry does.
func parseFeedParsers(raw []byte) ([]berthv1alpha1.FeedParser, error) {
	documents, err := manifest.ReadAll(raw)
	if err != nil {
		return nil, err
	}
	rules := make([]berthv1alpha1.FeedParser, 0, len(documents))
	for _, document := range documents {
		rule, err := parseFeedParser(document.Raw)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", document.Place, err)
		}
		rules = append(rules, rule)
	}
	return rules, nil
}

func parseFeedParser(raw []byte) (berthv1alpha1.FeedParser, error) {
	object, err := manifest.Decode(raw)
	if err != nil {
		return berthv1alpha1.FeedParser{}, err
	}
	id, err := object.Identity()
	if err != nil {
		return berthv1alpha1.FeedParser{}, err
	}
	if id.APIVersion != berthv1alpha1.SchemeGroupVersion.String() || id.Kind != feedParserKind {
		return berthv1alpha1.FeedParser{}, fmt.Errorf("must be a %s of %s, not a %.64s of %.64s",
			feedParserKind, berthv1alpha1.SchemeGroupVersion, id.Kind, id.APIVersion)
	}
	if len(validation.IsDNS1123Subdomain(id.Name)) > 0 {
		return berthv1alpha1.FeedParser{}, fmt.Errorf("metadata.name: %.64q is no name of an object", id.Name)
	}
	var rule berthv1alpha1.FeedParser
	if err := yaml.UnmarshalStrict(raw, &rule); err != nil {
		return berthv1alpha1.FeedParser{}, fmt.Errorf("FeedParser %.64q: %w", id.Name, err)
	}
	return rule, nil
}
