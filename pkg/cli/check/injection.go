// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	admissionv1beta1 "k8s.io/api/admissionregistration/v1beta1"

	"berth.dev/berth/pkg/cli/internal/client"
)

const (
	// injectionName is the policy that the chart renders.
	injectionName = "berth-inject-scheduler-name"

	injectionGroup    = "admissionregistration.k8s.io"
	injectionResource = "mutatingadmissionpolicies"
)

// injection is what is read of a MutatingAdmissionPolicy, of any version.
type injection struct {
	// expression sets the schedulerName.
	expression string
	bound      bool
}

// injectionVersion returns the version in which the API server serves MutatingAdmissionPolicies,
// the one that the chart would choose. Empty if it serves none.
func injectionVersion(c client.Clients) string {
	for _, v := range []string{"v1", "v1beta1"} {
		served, err := c.Kubernetes.Discovery().ServerResourcesForGroupVersion(injectionGroup + "/" + v)
		if err != nil {
			continue
		}
		for i := range served.APIResources {
			if served.APIResources[i].Name == injectionResource {
				return v
			}
		}
	}
	return ""
}

// readAny lists objects of a version that the client may have no types for.
func readAny(ctx context.Context, c client.Clients, groupVersion, resource string, into any) error {
	request := c.Kubernetes.AdmissionregistrationV1().RESTClient().Get().AbsPath("apis", groupVersion, resource)
	text, err := request.SetHeader("Accept", "application/json").Do(ctx).Raw()
	if err != nil {
		return client.DescribeError("listing "+resource, err)
	}
	return json.Unmarshal(text, into)
}

// readInjections reads the policy that sets schedulerName. Both versions have the same fields.
func readInjections(ctx context.Context, c client.Clients, version string) list[injection] {
	var policies admissionv1beta1.MutatingAdmissionPolicyList
	if err := readAny(ctx, c, injectionGroup+"/"+version, injectionResource, &policies); err != nil {
		return list[injection]{err: err}
	}
	var bound admissionv1beta1.MutatingAdmissionPolicyBindingList
	if err := readAny(ctx, c, injectionGroup+"/"+version, "mutatingadmissionpolicybindings", &bound); err != nil {
		return list[injection]{err: err}
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
