// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"

	"berth.dev/berth/pkg/minor"
)

// compiledMark stands in the tag of an image before the minor of Kubernetes that it is compiled
// with. One without it is taken to be compiled as berthctl is.
const compiledMark = "-kubernetes-1."

// imageVersion returns the version in the tag of the image of a Deployment, and the minor of
// Kubernetes that it is compiled with. Without a tag, a digest says nothing about a version.
func imageVersion(d *appsv1.Deployment) (version string, compiled int, known bool) {
	if len(d.Spec.Template.Spec.Containers) == 0 {
		return "", minor.Minor, false
	}
	image, _, byDigest := strings.Cut(d.Spec.Template.Spec.Containers[0].Image, "@")
	_, tag, tagged := strings.Cut(image[strings.LastIndex(image, "/")+1:], ":")
	switch {
	case !tagged && byDigest:
		return "", minor.Minor, false
	case !tagged:
		return "latest", minor.Minor, true
	}
	version, suffix, marked := strings.Cut(tag, compiledMark)
	if number, err := strconv.Atoi(suffix); marked && err == nil {
		return version, number, true
	}
	return tag, minor.Minor, true
}

// compiledWith returns the minor of Kubernetes that the scheduler is compiled with.
func (s *state) compiledWith() int {
	d := s.deployment(schedulerProgram)
	if d == nil {
		return minor.Minor
	}
	_, compiled, _ := imageVersion(d)
	return compiled
}

// versions compares the tags of images, and what those that hold a scheduler are compiled with.
func versions(s *state) []error {
	byVersion, byMinor := map[string][]string{}, map[string][]string{}
	for i := range s.deployments.items {
		d := &s.deployments.items[i]
		version, compiled, known := imageVersion(d)
		if !ours(d) || !known {
			continue
		}
		byVersion[version] = append(byVersion[version], d.Name)
		if d.Name != gatewayProgram {
			with := fmt.Sprintf("Kubernetes 1.%d", compiled)
			byMinor[with] = append(byMinor[with], d.Name)
		}
	}
	var found []error
	if len(byVersion) > 1 {
		found = append(found, fmt.Errorf("the programs are of different versions: %s", programsBy(byVersion, "of")))
	}
	if len(byMinor) > 1 {
		found = append(found, fmt.Errorf("the programs are compiled with different minors: %s", programsBy(byMinor, "with")))
	}
	return found
}

// programsBy names the programs by what they have in common.
func programsBy(programs map[string][]string, word string) string {
	parts := make([]string, 0, len(programs))
	for _, key := range slices.Sorted(maps.Keys(programs)) {
		parts = append(parts, fmt.Sprintf("%s %s %s", strings.Join(programs[key], " and "), word, key))
	}
	return strings.Join(parts, ", ")
}
