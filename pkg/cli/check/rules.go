// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/component-helpers/auth/rbac/validation"
	"sigs.k8s.io/yaml"

	"berth.dev/berth/manifests"
	"berth.dev/berth/pkg/cli/internal/client"
)

// shipped decodes the objects of a kind that Berth is shipped with.
func shipped[T any](kind string) ([]T, error) {
	var found []T
	err := fs.WalkDir(manifests.Rules, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := manifests.Rules.ReadFile(path)
		if err != nil {
			return err
		}
		documents := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(content)))
		for {
			document, err := documents.Read()
			if errors.Is(err, io.EOF) {
				return nil
			}
			var head metav1.TypeMeta
			if err := errors.Join(err, yaml.Unmarshal(document, &head)); err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
			if head.Kind != kind {
				continue
			}
			var object T
			if err := yaml.Unmarshal(document, &object); err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
			found = append(found, object)
		}
	})
	return found, err
}

// optional reports whether an installation works without a role: those of the gateway, which need
// not run, and those that give Applications and feeds their kinds, which may be deleted.
func (s *state) optional(role string) bool {
	return role == gatewayProgram && s.deployment(gatewayProgram) == nil ||
		role != schedulerProgram && role != controllersProgram && role != gatewayProgram
}

func permissions(s *state) []error {
	want, err := shipped[rbacv1.ClusterRole]("ClusterRole")
	if err := errors.Join(err, s.roles.err); err != nil {
		return one(err)
	}
	var found []error
	for i := range want {
		if s.optional(want[i].Name) {
			continue
		}
		at := slices.IndexFunc(s.roles.items, func(r rbacv1.ClusterRole) bool { return r.Name == want[i].Name })
		if at < 0 {
			found = append(found, fmt.Errorf("there is no ClusterRole %s", want[i].Name))
			continue
		}
		covers, missing := validation.Covers(s.roles.items[at].Rules, want[i].Rules)
		if !covers {
			found = append(found, fmt.Errorf("ClusterRole %s does not allow %s", want[i].Name, describeRule(&missing[0])))
		}
	}
	return found
}

// describeRule writes what a rule allows.
func describeRule(rule *rbacv1.PolicyRule) string {
	resources := strings.Join(rule.Resources, ",") + "." + strings.Join(rule.APIGroups, ",")
	return strings.Join(rule.Verbs, "/") + " " + strings.Trim(resources, ".")
}

func bindings(s *state) []error {
	want, err := shipped[rbacv1.ClusterRoleBinding]("ClusterRoleBinding")
	if err := errors.Join(err, s.roleBindings.err); err != nil {
		return one(err)
	}
	var found []error
	for i := range want {
		w := &want[i]
		if s.optional(w.RoleRef.Name) {
			continue
		}
		bound := slices.ContainsFunc(s.roleBindings.items, func(b rbacv1.ClusterRoleBinding) bool {
			return b.RoleRef == w.RoleRef && slices.Contains(b.Subjects, w.Subjects[0])
		})
		if !bound {
			found = append(found, fmt.Errorf("no ClusterRoleBinding gives ServiceAccount %s/%s the ClusterRole %s",
				w.Subjects[0].Namespace, w.Subjects[0].Name, w.RoleRef.Name))
		}
	}
	return found
}

func flowSchema(s *state) []error {
	const name, level = "berth-leader-election", "leader-election"
	if s.flows.err != nil {
		return one(s.flows.err)
	}
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

// injectionName is the policy that the chart renders.
const injectionName = "berth-inject-scheduler-name"

// injection is what is read of a MutatingAdmissionPolicy, of any version.
type injection struct {
	// expression sets the schedulerName.
	expression string
	bound      bool
}

// readInjections reads the policy that sets schedulerName, of the version that is served.
func readInjections(ctx context.Context, c client.Clients) list[injection] {
	all := metav1.ListOptions{}
	api := c.Kubernetes.AdmissionregistrationV1beta1()
	policies, err := api.MutatingAdmissionPolicies().List(ctx, all)
	if err != nil {
		// Served in a version only that this program does not know. Nothing can be told of it.
		return list[injection]{}
	}
	bound, err := api.MutatingAdmissionPolicyBindings().List(ctx, all)
	if err != nil {
		return list[injection]{err: client.DescribeError("listing MutatingAdmissionPolicyBindings", err)}
	}
	var found list[injection]
	for i := range policies.Items {
		p := &policies.Items[i]
		if p.Name != injectionName {
			continue
		}
		var read injection
		for j := range p.Spec.Mutations {
			if patch := p.Spec.Mutations[j].JSONPatch; patch != nil {
				read.expression = patch.Expression
			}
		}
		for j := range bound.Items {
			read.bound = read.bound || bound.Items[j].Spec.PolicyName == p.Name
		}
		found.items = append(found.items, read)
	}
	return found
}

func injectionBound(s *state) []error {
	if s.injections.err != nil {
		return one(s.injections.err)
	}
	for _, i := range s.injections.items {
		if !i.bound {
			return one(fmt.Errorf("MutatingAdmissionPolicy %s has no binding, so no pod gets a schedulerName", injectionName))
		}
	}
	return nil
}

func injectionScheduler(s *state) []error {
	for _, i := range s.injections.items {
		named := slices.ContainsFunc(s.served(), func(name string) bool {
			return strings.Contains(i.expression, "'"+name+"'")
		})
		if !named {
			return one(fmt.Errorf("MutatingAdmissionPolicy %s sets a schedulerName that Berth does not serve: pods will wait for ever", injectionName))
		}
	}
	return nil
}
