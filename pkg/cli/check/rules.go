// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"sync"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"berth.dev/berth/manifests"
)

// document is an object that Berth is shipped with, as JSON.
type document struct {
	kind string
	text []byte
}

// documents reads what Berth is shipped with once.
var documents = sync.OnceValues(func() ([]document, error) {
	var found []document
	err := fs.WalkDir(manifests.Rules, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := manifests.Rules.ReadFile(path)
		if err != nil {
			return err
		}
		read, err := documentsOf(content)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		found = append(found, read...)
		return nil
	})
	return found, err
})

func documentsOf(content []byte) ([]document, error) {
	var found []document
	reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(content)))
	for {
		read, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return found, nil
		}
		if err != nil {
			return nil, err
		}
		text, err := yaml.YAMLToJSON(read)
		if err != nil {
			return nil, err
		}
		var head metav1.TypeMeta
		if err := json.Unmarshal(text, &head); err != nil {
			return nil, err
		}
		found = append(found, document{kind: head.Kind, text: text})
	}
}

// shipped decodes the objects of a kind that Berth is shipped with.
func shipped[T any](kind string) ([]T, error) {
	all, err := documents()
	if err != nil {
		return nil, err
	}
	var found []T
	for _, d := range all {
		if d.kind != kind {
			continue
		}
		var object T
		if err := json.Unmarshal(d.text, &object); err != nil {
			return nil, fmt.Errorf("a %s: %w", kind, err)
		}
		found = append(found, object)
	}
	return found, nil
}

func flowSchema(s *state) []error {
	if s.flows.err != nil {
		return one(s.flows.err)
	}
	found := s.flowOf("berth-leader-election")
	if s.standsIn() {
		found = append(found, s.flowOf("berth-leader-election-instead")...)
	}
	return found
}

// flowOf tells what is wrong with a FlowSchema for leases.
func (s *state) flowOf(name string) []error {
	const level = "leader-election"
	for i := range s.flows.items {
		flow := &s.flows.items[i]
		if flow.Name != name {
			continue
		}
		for j := range flow.Status.Conditions {
			if c := &flow.Status.Conditions[j]; c.Type == "Dangling" && c.Status == "True" {
				return one(fmt.Errorf("FlowSchema %s has no effect: %s", name, c.Message))
			}
		}
		if flow.Spec.PriorityLevelConfiguration.Name != level {
			return one(fmt.Errorf("FlowSchema %s gives the priority level %s, not %s", name, flow.Spec.PriorityLevelConfiguration.Name, level))
		}
		return nil
	}
	return one(fmt.Errorf("there is no FlowSchema %s: a burst of pods can end the scheduler that binds them", name))
}

func admissionPolicies(s *state) []error {
	want, err := shipped[admissionv1.ValidatingAdmissionPolicy]("ValidatingAdmissionPolicy")
	if err := errors.Join(err, s.policies.err); err != nil {
		return one(err)
	}
	var found []error
	for i := range want {
		if !slices.ContainsFunc(s.policies.items, func(p admissionv1.ValidatingAdmissionPolicy) bool { return p.Name == want[i].Name }) {
			found = append(found, fmt.Errorf("there is no ValidatingAdmissionPolicy %s", want[i].Name))
		}
	}
	return found
}

func admissionBindings(s *state) []error {
	want, err := shipped[admissionv1.ValidatingAdmissionPolicyBinding]("ValidatingAdmissionPolicyBinding")
	if err := errors.Join(err, s.policyBindings.err); err != nil {
		return one(err)
	}
	var found []error
	for i := range want {
		name := want[i].Spec.PolicyName
		denies := slices.ContainsFunc(s.policyBindings.items, func(b admissionv1.ValidatingAdmissionPolicyBinding) bool {
			return b.Spec.PolicyName == name && slices.Contains(b.Spec.ValidationActions, admissionv1.Deny)
		})
		if !denies {
			found = append(found, fmt.Errorf("no ValidatingAdmissionPolicyBinding makes %s deny anything", name))
		}
	}
	return found
}

// admissionTypes tells what the API server has found in the expressions of the policies.
func admissionTypes(s *state) []error {
	want, err := shipped[admissionv1.ValidatingAdmissionPolicy]("ValidatingAdmissionPolicy")
	if err != nil {
		return one(err)
	}
	var found []error
	for i := range s.policies.items {
		p := &s.policies.items[i]
		known := slices.ContainsFunc(want, func(w admissionv1.ValidatingAdmissionPolicy) bool { return w.Name == p.Name })
		if known && p.Status.TypeChecking != nil && len(p.Status.TypeChecking.ExpressionWarnings) > 0 {
			first := p.Status.TypeChecking.ExpressionWarnings[0]
			found = append(found, warnf("ValidatingAdmissionPolicy %s: %s: %s", p.Name, first.FieldRef, first.Warning))
		}
	}
	return found
}
