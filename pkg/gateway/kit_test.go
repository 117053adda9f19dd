// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/klog/v2"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/gateway"
	berthfake "berth.dev/berth/pkg/generated/clientset/versioned/fake"
	"berth.dev/berth/pkg/registration"
	"berth.dev/berth/pkg/ui"
)

const (
	clusters = "/globalscheduler/v1/clusters"
	admin    = "admin"
	nobody   = "nobody"
)

// TestMain keeps the access log out of the output.
func TestMain(m *testing.M) {
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
	os.Exit(m.Run())
}

// world is a gateway in front of an API server in memory. Callers are known by the token that is
// their name.
type world struct {
	t        *testing.T
	objects  *berthfake.Clientset
	pods     *fake.Clientset
	registry *prometheus.Registry
	limits   gateway.Limits
	asked    []authorizer.Attributes
	// identityError and rightsError are what the API server answers instead of an identity or a
	// decision.
	identityError, rightsError error

	// known is what the gateway was told of clusters, nil for nothing.
	known gateway.Known

	server *httptest.Server
	uids   int
	// lent are the tokens that clients were made for.
	lent []string
}

func newWorld(t *testing.T, objects ...runtime.Object) *world {
	t.Helper()
	w := &world{
		t: t, objects: berthfake.NewSimpleClientset(objects...), pods: fake.NewClientset(),
		registry: prometheus.NewRegistry(), limits: gateway.DefaultLimits(),
	}
	// As an API server does.
	w.objects.PrependReactor("create", "clusters", func(action clienttesting.Action) (bool, runtime.Object, error) {
		created, ok := action.(clienttesting.CreateAction).GetObject().(*berthv1alpha1.Cluster)
		if ok {
			w.uids++
			created.UID, created.ResourceVersion = uid(w.uids), strconv.Itoa(100+w.uids)
		}
		return false, nil, nil
	})
	return w
}

// uid returns the UID of the nth cluster that was registered.
func uid(n int) types.UID { return types.UID(fmt.Sprintf("00000000-0000-4000-8000-%012d", n)) }

// start starts the gateway, at the first request.
func (w *world) start() {
	if w.server != nil {
		return
	}
	w.server = httptest.NewServer(w.handler())
	w.t.Cleanup(w.server.Close)
}

// handler returns a new gateway.
func (w *world) handler() http.Handler {
	return gateway.New(gateway.Config{
		Clusters: w.objects.BerthV1alpha1(), Pods: w.pods.CoreV1(), Registry: w.registry, Limits: w.limits,
		Known: w.known, Authenticator: fixed(w), Authorizer: rights(w), Done: w.t.Context().Done(),
		TokenClients: func(token string) (ui.Clients, error) {
			w.lent = append(w.lent, token)
			return ui.Clients{Kubernetes: w.pods, Berth: w.objects}, nil
		},
	})
}

// client returns the client that requests are sent with.
func (w *world) client() *http.Client {
	w.start()
	return w.server.Client()
}

func (w *world) authenticate(r *http.Request) (*authenticator.Response, bool, error) {
	if w.identityError != nil {
		return nil, false, w.identityError
	}
	token, found := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	switch {
	case !found:
		return &authenticator.Response{User: &user.DefaultInfo{Name: user.Anonymous}}, true, nil
	case token == "expired":
		return nil, false, errors.New("the token has expired")
	default:
		return &authenticator.Response{User: &user.DefaultInfo{Name: token}}, true, nil
	}
}

// authorize lets the administrator do everything, and a user named after verbs, as in "get,list",
// just that. A name after an @ limits it to one cluster.
func (w *world) authorize(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
	w.asked = append(w.asked, a)
	if w.rightsError != nil {
		return authorizer.DecisionNoOpinion, "", w.rightsError
	}
	verbs, only, limited := strings.Cut(a.GetUser().GetName(), "@")
	allowed := slices.Contains(strings.Split(verbs, ","), a.GetVerb()) && (!limited || only == a.GetName())
	if a.GetUser().GetName() == admin || allowed && a.GetAPIGroup() == "berth.dev" && a.GetResource() == "clusters" {
		return authorizer.DecisionAllow, "", nil
	}
	return authorizer.DecisionNoOpinion, "", nil
}

// failing makes the API server answer a verb on clusters with an error.
func (w *world) failing(verb string, err error) {
	w.objects.PrependReactor(verb, "clusters", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, err })
}

// answer is what came back.
type answer struct {
	status int
	header http.Header
	body   string
}

// send sends a request as the administrator. Headers are pairs of name and value; an empty value
// removes the header.
func (w *world) send(method, path, body string, headers ...string) answer {
	w.t.Helper()
	w.start()
	request, err := http.NewRequestWithContext(w.t.Context(), method, w.server.URL+path, strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+admin)
	request.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(headers); i += 2 {
		request.Header.Del(headers[i])
		if headers[i+1] != "" {
			request.Header.Set(headers[i], headers[i+1])
		}
	}
	response, err := w.server.Client().Do(request)
	if err != nil {
		w.t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return answer{status: response.StatusCode, header: response.Header, body: string(text)}
}

// profile returns the cluster in an answer.
func (a answer) profile(t *testing.T) registration.Profile {
	t.Helper()
	var document registration.Document
	if err := json.Unmarshal([]byte(a.body), &document); err != nil || document.Profile.Name == "" {
		t.Fatalf("status %d, no cluster in %.500q: %v", a.status, a.body, err)
	}
	return document.Profile
}

// checkProblem checks that an answer is a problem in the one form that all have.
func (a answer) checkProblem(t *testing.T, status int, code gateway.Code, message string) {
	t.Helper()
	var p gateway.Problem
	if err := json.Unmarshal([]byte(a.body), &p); err != nil {
		t.Fatalf("status %d, body %.500q: %v", a.status, a.body, err)
	}
	if a.status != status || p.Code != code || !strings.Contains(p.Message, message) {
		t.Errorf("status %d, code %q, message %.500q, want %d, %q and %q", a.status, p.Code, p.Message, status, code, message)
	}
	if p.RequestID == "" || p.RequestID != a.header.Get("X-Request-Id") {
		t.Errorf("request id %q in the body and %q in the header", p.RequestID, a.header.Get("X-Request-Id"))
	}
	if a.header.Get("Content-Type") != "application/json" || a.header.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("headers %v", a.header)
	}
}

// example is the published request.
func example(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "examples", "registration", "cluster1.json"))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// named is a small request.
func named(name string) string {
	return `{"cluster_profile":{"cluster_name":"` + name + `","cluster_spec":{"Region":{"region":"r"}}}}`
}

// register registers a cluster and returns its id.
func (w *world) register(body string) string {
	w.t.Helper()
	got := w.send(http.MethodPost, clusters, body)
	if got.status != http.StatusCreated {
		w.t.Fatalf("status %d: %s", got.status, got.body)
	}
	return got.profile(w.t).ID
}

func fixed(w *world) authenticator.Request  { return authenticator.RequestFunc(w.authenticate) }
func rights(w *world) authorizer.Authorizer { return authorizer.AuthorizerFunc(w.authorize) }
