// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/version"
)

// The rules of krew's index: a name is in lower case with dashes, a version is semantic and has a
// v, and a short description is one line that fits beside the name in a list.
var (
	validName   = regexp.MustCompile(`^[a-z0-9][a-z0-9-]*$`)
	validHash   = regexp.MustCompile(`^[0-9a-f]{64}$`)
	longestLine = 50
)

// check reports all by which krew's index would refuse a manifest.
func (p *plugin) check() error {
	var wrong []error
	report := func(ok bool, format string, args ...any) {
		if !ok {
			wrong = append(wrong, fmt.Errorf(format, args...))
		}
	}
	report(validName.MatchString(p.Metadata.Name), "name %q: lower case letters, digits and dashes", p.Metadata.Name)
	_, err := version.ParseSemantic(p.Spec.Version)
	report(err == nil && strings.HasPrefix(p.Spec.Version, "v"), "version %q: a semantic version with a v before it", p.Spec.Version)
	short := p.Spec.ShortDescription
	report(short != "" && len(short) <= longestLine && !strings.ContainsAny(short, "\r\n"), "shortDescription: one line of at most %d characters", longestLine)
	report(!strings.HasSuffix(short, "."), "shortDescription: no full stop")
	report(len(p.Spec.Platforms) > 0, "platforms: at least one")
	seen := make([]string, 0, len(p.Spec.Platforms))
	for _, one := range p.Spec.Platforms {
		labels := one.Selector.MatchLabels
		target := labels["os"] + "/" + labels["arch"]
		report(!slices.Contains(seen, target), "platforms: %s is there twice", target)
		seen = append(seen, target)
		where, err := url.Parse(one.URI)
		report(err == nil && where.Scheme == "https" && where.Host != "", "uri %q: an https address", one.URI)
		report(validHash.MatchString(one.SHA256), "sha256 of %s: 64 hexadecimal digits", target)
		report(len(one.Files) > 0 && one.Bin != "", "%s: files and bin", target)
	}
	return errors.Join(wrong...)
}
