// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package installation

import (
	"slices"
	"strings"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"

	"berth.dev/berth/pkg/localplane"
	"berth.dev/berth/test/internal/auditlog"
)

// programs are the ServiceAccounts of Berth's programs.
var programs = []string{localplane.BerthScheduler, localplane.BerthControllerManager, localplane.BerthGateway}

// audit watches over what Berth's programs may do: what they try and may not is a right that is
// missing in the manifests.
type audit struct{ log *auditlog.Log }

// record has the API server log the requests of Berth's programs.
func (r *audit) record(options *localplane.Options) {
	ginkgo.GinkgoHelper()
	users := make([]string, len(programs))
	for i, program := range programs {
		users[i], _ = localplane.ServiceAccountIdentity(localplane.BerthNamespace, program)
	}
	var err error
	r.log, err = auditlog.NewOf(ginkgo.GinkgoT().TempDir(), users...)
	gomega.Expect(err).NotTo(gomega.HaveOccurred())
	options.APIServerArgs = append(slices.Clone(options.APIServerArgs), r.log.Flags()...)
}

// expectEnough fails if a program lacked a right, at the end of a suite. What it had later on does
// not count: the API server takes a moment to see the roles that a suite has just applied. Neither
// does what a program tries as somebody whom it impersonates, whose rights are not Berth's.
func (r *audit) expectEnough() {
	ginkgo.GinkgoHelper()
	if r.log == nil {
		return
	}
	requests, err := r.log.Next()
	gomega.Expect(err).NotTo(gomega.HaveOccurred())
	gomega.Expect(lacking(requests)).To(gomega.BeEmpty(), "rights that manifests/base does not give")
}

// lacking returns the rights that users lacked to the end, each once.
func lacking(requests []auditlog.Request) []string {
	lacked := map[string]bool{}
	for i := range requests {
		r := &requests[i]
		if r.Impersonated != "" {
			continue
		}
		key := strings.TrimPrefix(r.User, "system:serviceaccount:"+localplane.BerthNamespace+":") + " " + right(r)
		if r.Namespace != "" {
			key += " in " + r.Namespace
		}
		lacked[key] = r.Unauthorized
	}
	var names []string
	for key, lacks := range lacked {
		if lacks {
			names = append(names, key)
		}
	}
	slices.Sort(names)
	return names
}

// right returns the right that a request takes, as "patch deployments.apps" or "create
// pods/eviction".
func right(r *auditlog.Request) string {
	resource, subresource, nested := strings.Cut(r.Resource, "/")
	if r.Group != "" {
		resource += "." + r.Group
	}
	if nested {
		resource += "/" + subresource
	}
	return r.Verb + " " + resource
}
