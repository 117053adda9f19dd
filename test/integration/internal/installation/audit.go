// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package installation

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"berth.dev/berth/pkg/localplane"
	"berth.dev/berth/test/internal/auditlog"
)

// rightsEnv names the environment variable with the folder in which each suite notes what rights
// Berth's programs have used. hack/rights compares that with what manifests/base gives them.
const rightsEnv = "BERTH_RIGHTS"

// programs are the ServiceAccounts of Berth's programs.
var programs = []string{localplane.BerthScheduler, localplane.BerthControllerManager, localplane.BerthGateway}

// audit watches over what Berth's programs may do: what they try and may not is a right that is
// missing in the manifests, and what none of them ever uses is one too many.
type audit struct {
	title string
	// provoked are the rights that specs have the programs try in vain.
	provoked []string
	log      *auditlog.Log
}

// record has the API server log the requests of Berth's programs. A suite that keeps a log of its
// own goes without.
func (r *audit) record(options *localplane.Options) {
	ginkgo.GinkgoHelper()
	if slices.ContainsFunc(options.APIServerArgs, func(arg string) bool { return strings.HasPrefix(arg, "--audit-") }) {
		return
	}
	users := make([]string, len(programs))
	for i, program := range programs {
		users[i] = userOf(program)
	}
	var err error
	r.log, err = auditlog.NewOf(ginkgo.GinkgoT().TempDir(), users...)
	gomega.Expect(err).NotTo(gomega.HaveOccurred())
	options.APIServerArgs = append(slices.Clone(options.APIServerArgs), r.log.Flags()...)
}

func userOf(program string) string {
	user, _ := localplane.ServiceAccountIdentity(localplane.BerthNamespace, program)
	return user
}

// check notes what rights were used, and fails if a program lacked one.
func (r *audit) check(ctx context.Context, admin kubernetes.Interface) {
	ginkgo.GinkgoHelper()
	if r.log == nil {
		return
	}
	all, err := r.log.Next()
	gomega.Expect(err).NotTo(gomega.HaveOccurred())
	requests := slices.DeleteFunc(all, func(r auditlog.Request) bool { return !ofProgram(&r) })
	if folder := os.Getenv(rightsEnv); folder != "" {
		text := strings.Join(used(requests), "\n") + "\n"
		path := filepath.Join(folder, fileName(r.title))
		gomega.Expect(os.WriteFile(path, []byte(text), 0o600)).To(gomega.Succeed())
	}
	var missing []string
	for key, request := range lacking(requests, r.provoked) {
		if !allowed(ctx, admin, request) {
			missing = append(missing, key)
		}
	}
	gomega.Expect(missing).To(gomega.BeEmpty(), "rights that manifests/base does not give")
}

// ofProgram reports whether a request was made by one of Berth's programs with its own rights:
// neither by a spec in its name, nor as somebody whom it impersonates, whose rights are not
// Berth's.
func ofProgram(r *auditlog.Request) bool {
	return r.Impersonated == "" && slices.ContainsFunc(programs, func(program string) bool {
		return r.User == userOf(program) && strings.HasPrefix(r.Agent, program+"/")
	})
}

// used returns the rights that were used, each once. Of the namespaces only Berth's own are named:
// there its programs may do more than elsewhere.
func used(requests []auditlog.Request) []string {
	found := map[string]bool{}
	for i := range requests {
		r := &requests[i]
		if r.Unauthorized {
			continue
		}
		key := programOf(r) + " " + right(r)
		if strings.HasPrefix(r.Namespace, "berth-") {
			key += " in " + r.Namespace
		}
		found[key] = true
	}
	return sorted(found)
}

// lacking returns a request for each of the rights that programs were refused, never had and that
// were not provoked, by its name. An API server refuses all for a moment after its start, and takes
// one to see the roles that a suite has just applied.
func lacking(requests []auditlog.Request, provoked []string) map[string]*auditlog.Request {
	lacked, had := map[string]*auditlog.Request{}, map[string]bool{}
	for i := range requests {
		r := &requests[i]
		if slices.Contains(provoked, right(r)) {
			continue
		}
		key := programOf(r) + " " + right(r)
		if r.Namespace != "" {
			key += " in " + r.Namespace
		}
		if r.Unauthorized {
			lacked[key] = r
		} else {
			had[key] = true
		}
	}
	maps.DeleteFunc(lacked, func(key string, _ *auditlog.Request) bool { return had[key] })
	return lacked
}

// allowed reports whether who made a request that was refused may make it now.
func allowed(ctx context.Context, admin kubernetes.Interface, r *auditlog.Request) bool {
	ginkgo.GinkgoHelper()
	resource, subresource, _ := strings.Cut(r.Resource, "/")
	review, err := admin.AuthorizationV1().SubjectAccessReviews().Create(ctx, &authorizationv1.SubjectAccessReview{
		Spec: authorizationv1.SubjectAccessReviewSpec{
			User: r.User, Groups: []string{"system:serviceaccounts", "system:serviceaccounts:" + localplane.BerthNamespace, "system:authenticated"},
			ResourceAttributes: &authorizationv1.ResourceAttributes{
				Verb: r.Verb, Group: r.Group, Resource: resource, Subresource: subresource, Namespace: r.Namespace, Name: r.Name,
			},
		},
	}, metav1.CreateOptions{})
	gomega.Expect(err).NotTo(gomega.HaveOccurred())
	return review.Status.Allowed
}

func sorted(names map[string]bool) []string { return slices.Sorted(maps.Keys(names)) }

func programOf(r *auditlog.Request) string {
	return strings.TrimPrefix(r.User, "system:serviceaccount:"+localplane.BerthNamespace+":")
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
