// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clienttesting "k8s.io/client-go/testing"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/gateway"
)

var (
	clusterKind     = berthv1alpha1.SchemeGroupVersion.WithKind("Cluster").GroupKind()
	clusterResource = berthv1alpha1.SchemeGroupVersion.WithResource("clusters").GroupResource()
)

// Python's urllib and others send all of a body before they read the answer.
func TestWhoSendsTooMuchBeforeReadingGetsAnAnswer(t *testing.T) {
	const size = 6 << 20
	for name, length := range map[string]string{"declared": "Content-Length: 6291456", "chunked": "Transfer-Encoding: chunked"} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.start()
			connection, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", w.server.Listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer connection.Close()
			body := strings.Repeat(" ", size)
			if name == "chunked" {
				body = "600000\r\n" + body + "\r\n0\r\n\r\n"
			}
			head := "POST " + clusters + " HTTP/1.1\r\nHost: gateway\r\nAuthorization: Bearer " + admin + "\r\n" + length + "\r\n\r\n"
			if _, err := io.WriteString(connection, head+body); err != nil {
				t.Fatalf("the body was not taken: %v", err)
			}
			response, err := http.ReadResponse(bufio.NewReader(connection), nil)
			if err != nil {
				t.Fatalf("no answer: %v", err)
			}
			defer response.Body.Close()
			if response.StatusCode != http.StatusRequestEntityTooLarge {
				t.Errorf("status %d", response.StatusCode)
			}
		})
	}
}

func TestRegisterRefuses(t *testing.T) {
	curly, err := os.ReadFile(filepath.Join("..", "registration", "testdata", "curly.txt"))
	if err != nil {
		t.Fatal(err)
	}
	spec := func(members string) string {
		return `{"cluster_profile":{"cluster_name":"c","cluster_spec":{"Region":{"region":"r"},` + members + `}}}`
	}
	tests := map[string]struct {
		body    string
		headers []string
		status  int
		code    gateway.Code
		want    string
	}{
		"the published text with its quotes": {string(curly), nil, 400, gateway.CodeMalformed, "line 4, column 13: this is no JSON: “ is a typographic quote"},
		"no profile":                         {`{}`, nil, 400, gateway.CodeMalformed, "cluster_profile: is required"},
		"no region":                          {`{"cluster_profile":{"cluster_name":"c","cluster_spec":{}}}`, nil, 400, gateway.CodeMalformed, "Region: is required"},
		"an unknown field":                   {spec(`"color":"red"`), nil, 400, gateway.CodeMalformed, "color: unknown field"},
		"keys that disagree":                 {spec(`"ipAddress":"10.0.0.3","ipAdrress":"10.0.0.4"`), nil, 400, gateway.CodeMalformed, "is there twice, with different values"},
		"a number beyond all":                {spec(`"CPUCapacity":9223372036854775808`), nil, 400, gateway.CodeMalformed, "CPUCapacity: must be at most"},
		"the name id":                        {named("id"), nil, 400, gateway.CodeInvalidName, `the name "id" is reserved`},
		"the name name":                      {named("name"), nil, 400, gateway.CodeInvalidName, `the name "name" is reserved`},
		"a name that looks like an id":       {named("3dda2801-d675-4688-a63f-dcda8d327f51"), nil, 400, gateway.CodeInvalidName, "looks like a cluster_id"},
		"an id":                              {strings.Replace(named("c"), `{"cluster_name"`, `{"cluster_id":"x","cluster_name"`, 1), nil, 400, gateway.CodeInvalidID, "Berth gives it"},
		"no body":                            {"", nil, 400, gateway.CodeMalformed, "this is no JSON"},
		"100,000 flavors":                    {spec(`"flavors":[` + strings.TrimSuffix(strings.Repeat(`{"FlavorID":"f","TotalCapacity":1},`, 100_000), ",") + `]`), nil, 413, gateway.CodeTooLarge, "larger than 1 MiB"},
		"2 MiB":                              {spec(`"ipAddress":"` + strings.Repeat("1", 2<<20) + `"`), nil, 413, gateway.CodeTooLarge, "larger than 1 MiB"},
		"a form":                             {named("c"), []string{"Content-Type", "application/x-www-form-urlencoded"}, 415, gateway.CodeUnsupportedMediaType, "application/json"},
		"YAML":                               {named("c"), []string{"Content-Type", "application/yaml"}, 415, gateway.CodeUnsupportedMediaType, "application/json"},
		"a broken media type":                {named("c"), []string{"Content-Type", ";;"}, 415, gateway.CodeUnsupportedMediaType, "application/json"},
		"a compressed body":                  {named("c"), []string{"Content-Encoding", "gzip"}, 415, gateway.CodeUnsupportedMediaType, "compressed"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.send(http.MethodPost, clusters, tc.body, tc.headers...).checkProblem(t, tc.status, tc.code, tc.want)
			if list := w.send(http.MethodGet, clusters, ""); list.body != `{"clusters":[]}`+"\n" {
				t.Errorf("something was registered: %s", list.body)
			}
		})
	}
}

func TestRegisterAccepts(t *testing.T) {
	tests := map[string]struct {
		body        string
		contentType string
		wantWarning string
	}{
		"a charset":            {body: named("c"), contentType: "application/json; charset=utf-8"},
		"no content type":      {body: named("c")},
		"unknown storage":      {body: strings.Replace(named("c"), `"Region"`, `"storage":[{"TypeID":"nvme","StorageCapacity":1}],"Region"`, 1), contentType: "application/json", wantWarning: `storage type \"nvme\" is none of sata, sas and ssd`},
		"no scheduler by name": {body: strings.Replace(named("c"), `"Region"`, `"HomeScheduler":"no-such","Region"`, 1), contentType: "application/json", wantWarning: "HomeScheduler is ignored"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := newWorld(t).send(http.MethodPost, clusters, tc.body, "Content-Type", tc.contentType)
			if got.status != http.StatusCreated || !strings.Contains(got.header.Get("Warning"), tc.wantWarning) {
				t.Errorf("status %d, warning %q: %s", got.status, got.header.Get("Warning"), got.body)
			}
		})
	}
}

func TestUpdateRefuses(t *testing.T) {
	w := newWorld(t)
	id := w.register(named("c"))
	withID := func(other string) string {
		return strings.Replace(named("c"), `{"cluster_name"`, `{"cluster_id":"`+other+`","cluster_name"`, 1)
	}
	w.send(http.MethodPut, clusters+"/c", named("d")).checkProblem(t, 400, gateway.CodeInvalidName, `cluster_name must be "c"`)
	w.send(http.MethodPut, clusters+"/c", withID(string(uid(7)))).checkProblem(t, 400, gateway.CodeInvalidID, id)
	w.send(http.MethodPut, clusters+"/none", named("none")).checkProblem(t, 404, gateway.CodeNotFound, `there is no cluster "none"`)
	w.send(http.MethodPut, clusters+"/c", "{").checkProblem(t, 400, gateway.CodeMalformed, "this is no JSON")
	if got := w.send(http.MethodPut, clusters+"/c", withID(id)); got.status != http.StatusOK {
		t.Errorf("status %d: %s", got.status, got.body)
	}
}

func TestParametersAreChecked(t *testing.T) {
	tests := map[string]struct{ method, path, want string }{
		"no limit":              {http.MethodGet, "?limit=", "limit must be a whole number"},
		"a limit of 0":          {http.MethodGet, "?limit=0", "limit must be a whole number"},
		"a negative limit":      {http.MethodGet, "?limit=-1", "limit must be a whole number"},
		"a limit in words":      {http.MethodGet, "?limit=all", "limit must be a whole number"},
		"a limit beyond all":    {http.MethodGet, "?limit=99999999999999999999", "limit must be a whole number"},
		"two limits":            {http.MethodGet, "?limit=1&limit=2", "the parameter limit is there twice"},
		"an unknown parameter":  {http.MethodGet, "?fieldSelector=a", `there is no parameter "fieldSelector"`},
		"a very long token":     {http.MethodGet, "?continue=" + strings.Repeat("x", 5000), "continue token"},
		"a force in words":      {http.MethodDelete, "/c?force=yes", "force must be true or false"},
		"force without a value": {http.MethodDelete, "/c?force", "force must be true or false"},
		"force elsewhere":       {http.MethodPut, "/c?force=true", `there is no parameter "force"`},
		"a dry run":             {http.MethodPost, "?dryRun=All", `there is no parameter "dryRun"`},
	}
	w := newWorld(t)
	w.register(named("c"))
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w.send(tc.method, clusters+tc.path, named("c")).checkProblem(t, 400, gateway.CodeInvalidParameter, tc.want)
		})
	}
}

func TestMethodsThatAreNone(t *testing.T) {
	w := newWorld(t)
	tests := map[string]struct{ method, path, wantAllow string }{
		"changing all clusters":     {http.MethodPut, clusters, "GET, HEAD, POST"},
		"deleting all clusters":     {http.MethodDelete, clusters, "GET, HEAD, POST"},
		"registering under an id":   {http.MethodPost, clusters + "/id/3dda2801-d675-4688-a63f-dcda8d327f51", "GET, HEAD, PUT, PATCH, DELETE"},
		"registering under a name":  {http.MethodPost, clusters + "/name/c", "GET, HEAD, PUT, PATCH, DELETE"},
		"patching all clusters":     {http.MethodPatch, clusters, "GET, HEAD, POST"},
		"asking across origins":     {http.MethodOptions, clusters, "GET, HEAD, POST"},
		"a method nobody has":       {"FROBNICATE", clusters, "GET, HEAD, POST"},
		"changing this description": {http.MethodPost, "/globalscheduler/v1/openapi.json", "GET, HEAD"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := w.send(tc.method, tc.path, "")
			got.checkProblem(t, 405, gateway.CodeMethodNotAllowed, tc.method)
			if allow := got.header.Get("Allow"); allow != tc.wantAllow {
				t.Errorf("allow %q, want %q", allow, tc.wantAllow)
			}
		})
	}
}

func TestWhoMayDoWhat(t *testing.T) {
	byID := clusters + "/id/" + string(uid(9))
	unknownID := clusters + "/id/" + string(uid(8))
	tests := map[string]struct {
		caller, method, path string
		want                 int
	}{
		"nobody registers":                 {nobody, http.MethodPost, clusters, 403},
		"nobody lists":                     {nobody, http.MethodGet, clusters, 403},
		"nobody gets":                      {nobody, http.MethodGet, clusters + "/c", 403},
		"nobody gets by id":                {nobody, http.MethodGet, byID, 403},
		"nobody learns that a name is one": {nobody, http.MethodGet, clusters + "/none", 403},
		"nobody learns that an id is one":  {nobody, http.MethodGet, unknownID, 403},
		"nobody changes":                   {nobody, http.MethodPut, clusters + "/c", 403},
		"nobody unregisters":               {nobody, http.MethodDelete, byID, 403},
		"nobody reads the metrics":         {nobody, http.MethodGet, "/metrics", 403},
		"a reader gets":                    {"get,list", http.MethodGet, byID, 200},
		"a reader lists":                   {"get,list", http.MethodGet, clusters, 200},
		"a reader asks for an unknown id":  {"get,list", http.MethodGet, unknownID, 404},
		"a reader does not register":       {"get,list", http.MethodPost, clusters, 403},
		"a reader does not change":         {"get,list", http.MethodPut, clusters + "/c", 403},
		"a reader does not unregister":     {"get,list", http.MethodDelete, clusters + "/c", 403},
		"whoever may change one":           {"update@c", http.MethodPut, clusters + "/c", 200},
		"whoever may patch":                {"patch", http.MethodPatch, byID, 200},
		"whoever may change, not patch":    {"update", http.MethodPatch, clusters + "/c", 403},
		"whoever may patch, not change":    {"patch", http.MethodPut, clusters + "/c", 403},
		"whoever may change another":       {"update@d", http.MethodPut, clusters + "/c", 403},
		"whoever may change one, by id":    {"update@c", http.MethodPut, byID, 403},
		"whoever may create":               {"create", http.MethodPost, clusters, 409},
		"whoever may delete":               {"delete", http.MethodDelete, byID, 200},
		"whoever may delete by name":       {"delete", http.MethodDelete, clusters + "/name/c", 200},
		"whoever may delete this one":      {"delete@c", http.MethodDelete, clusters + "/name/c", 200},
		"whoever may delete collections":   {"deletecollection", http.MethodDelete, clusters + "/name/c", 403},
		"whoever may delete all":           {"delete,deletecollection", http.MethodDelete, clusters + "/name/c", 200},
		"whoever may delete all, by id":    {"delete,deletecollection", http.MethodDelete, byID, 200},
		"the administrator's metrics":      {admin, http.MethodGet, "/metrics", 200},
		"an expired token":                 {"expired", http.MethodGet, clusters, 401},
		"an unknown path":                  {nobody, http.MethodGet, "/api/v1/secrets", 404},
		"health":                           {"expired", http.MethodGet, "/readyz", 200},
		"the description":                  {"expired", http.MethodGet, "/globalscheduler/v1/openapi.json", 200},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, &berthv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "c", UID: uid(9), ResourceVersion: "1"}})
			got := w.send(tc.method, tc.path, named("c"), "Authorization", "Bearer "+tc.caller)
			if got.status != tc.want {
				t.Errorf("status %d, want %d: %s", got.status, tc.want, got.body)
			}
		})
	}
}

func TestNothingIsLookedUpForWhoeverMayNot(t *testing.T) {
	for name, path := range map[string]string{
		"a cluster by id": "/id/" + string(uid(9)), "a cluster by name": "/name/c", "an unknown id": "/id/" + string(uid(8)), "an unknown name": "/name/none",
	} {
		for _, method := range []string{http.MethodGet, http.MethodPut, http.MethodDelete} {
			t.Run(method+" "+name, func(t *testing.T) {
				w := newWorld(t, &berthv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "c", UID: uid(9), ResourceVersion: "1"}})
				w.send(http.MethodGet, clusters+"/c", "") // Its id is known from now on.
				w.objects.ClearActions()
				w.asked = nil
				got := w.send(method, clusters+path, named("c"), "Authorization", "Bearer "+nobody)
				got.checkProblem(t, http.StatusForbidden, gateway.CodeForbidden, "")
				want := 1
				if method == http.MethodDelete && strings.HasPrefix(path, "/name/") {
					want = 2 // whether it may delete all, and this one
				}
				if len(w.asked) != want || len(w.objects.Actions()) != 0 {
					t.Errorf("%d rights and %d objects were asked for, want %d rights alone", len(w.asked), len(w.objects.Actions()), want)
				}
			})
		}
	}
}

func TestWithoutCredentials(t *testing.T) {
	w := newWorld(t)
	for _, path := range []string{clusters, clusters + "/c", clusters + "/id/" + string(uid(1)), clusters + "/name/..%2f", "/metrics", "/nowhere"} {
		for _, authorization := range []string{"", "Basic YWRtaW46YWRtaW4="} {
			got := w.send(http.MethodGet, path, "", "Authorization", authorization)
			got.checkProblem(t, 401, gateway.CodeUnauthenticated, "no valid credentials")
			if got.header.Get("WWW-Authenticate") == "" {
				t.Errorf("%s: no WWW-Authenticate", path)
			}
		}
	}
	if len(w.asked) > 0 || len(w.objects.Actions()) > 0 {
		t.Errorf("%d rights and %d objects were asked for", len(w.asked), len(w.objects.Actions()))
	}
}

func TestWhatTheAPIServerSays(t *testing.T) {
	transport := &url.Error{Op: "Get", URL: "https://10.0.0.1/secret-path", Err: errors.New("connection refused")}
	invalid := apierrors.NewInvalid(clusterKind, "c", field.ErrorList{
		field.Invalid(field.NewPath("spec", "cpuCapacity"), -1, "should be greater than or equal to 0"),
	})
	tests := map[string]struct {
		err    error
		status int
		code   gateway.Code
		want   string
	}{
		"invalid":           {invalid, 400, gateway.CodeInvalid, "spec.cpuCapacity: Invalid value: -1: should be greater than or equal to 0"},
		"bad request":       {apierrors.NewBadRequest("strict decoding error"), 400, gateway.CodeInvalid, "strict decoding error"},
		"there already":     {apierrors.NewAlreadyExists(clusterResource, "c"), 409, gateway.CodeAlreadyExists, `name "c" is registered already`},
		"too large":         {apierrors.NewRequestEntityTooLargeError("limit is 3 MiB"), 413, gateway.CodeTooLarge, "limit"},
		"no such kind":      {apierrors.NewGenericServerResponse(404, "create", clusterResource, "", "page not found", 0, true), 503, gateway.CodeUnavailable, "try again"},
		"unreachable":       {transport, 503, gateway.CodeUnavailable, "the API server cannot answer at present"},
		"busy":              {apierrors.NewTooManyRequests("busy", 1), 503, gateway.CodeUnavailable, "try again"},
		"out of time":       {context.DeadlineExceeded, 503, gateway.CodeUnavailable, "try again"},
		"no leader in etcd": {apierrors.NewTimeoutError("etcdserver: no leader", 1), 503, gateway.CodeUnavailable, "try again"},
		"not allowed to":    {apierrors.NewForbidden(clusterResource, "c", errors.New("secret reason")), 500, gateway.CodeInternal, "request id"},
		"anything else":     {errors.New("secret reason"), 500, gateway.CodeInternal, "request id"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.failing("create", tc.err)
			got := w.send(http.MethodPost, clusters, named("c"))
			got.checkProblem(t, tc.status, tc.code, tc.want)
			if strings.Contains(got.body, "secret") {
				t.Errorf("the answer gives away %s", got.body)
			}
			if (got.header.Get("Retry-After") != "") != (tc.status == 503) {
				t.Errorf("retry after %q", got.header.Get("Retry-After"))
			}
		})
	}
}

func TestFaultsComeWithTheirFields(t *testing.T) {
	w := newWorld(t)
	w.failing("create", apierrors.NewInvalid(clusterKind, "c", field.ErrorList{
		field.Invalid(field.NewPath("spec", "cpuCapacity"), -1, "too small"), field.Required(field.NewPath("metadata", "name"), ""),
	}))
	got := w.send(http.MethodPost, clusters, named("c")).body
	want := `"details":[{"field":"spec.cpuCapacity","message":"Invalid value: -1: too small"},{"field":"metadata.name","message":"Required value"}]`
	if !strings.Contains(got, want) {
		t.Errorf("body %s, want %s", got, want)
	}
}

func TestContinueTokens(t *testing.T) {
	w := newWorld(t)
	w.failing("list", apierrors.NewResourceExpired("too old"))
	w.send(http.MethodGet, clusters+"?continue=x", "").checkProblem(t, 400, gateway.CodeContinueExpired, "begin the list again")
	w.failing("list", apierrors.NewBadRequest("continue key is not valid"))
	w.send(http.MethodGet, clusters+"?continue=x", "").checkProblem(t, 400, gateway.CodeInvalidParameter, "continue token")
}

func TestWithoutTheAPIServerNobodyGetsIn(t *testing.T) {
	unreachable := &url.Error{Op: "Post", URL: "https://10.0.0.1", Err: errors.New("connection refused")}
	w := newWorld(t)
	w.identityError = utilerrors.NewAggregate([]error{errors.New("no certificate"), utilerrors.NewAggregate([]error{unreachable})})
	w.send(http.MethodGet, clusters, "").checkProblem(t, 503, gateway.CodeUnavailable, "try again")
	w.identityError, w.rightsError = nil, unreachable
	w.send(http.MethodGet, clusters, "").checkProblem(t, 503, gateway.CodeUnavailable, "try again")
	w.identityError = errors.New("unknown key id")
	w.send(http.MethodGet, clusters, "").checkProblem(t, 401, gateway.CodeUnauthenticated, "")
}

func TestWithoutPodsNothingIsUnregistered(t *testing.T) {
	w := newWorld(t, &berthv1alpha1.Cluster{
		ObjectMeta: metav1.ObjectMeta{Name: "c", UID: uid(9)}, Spec: berthv1alpha1.ClusterSpec{Nodes: []string{"n1"}},
	})
	var err error
	w.pods.PrependReactor("list", "pods", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, err })
	err = apierrors.NewServiceUnavailable("starting")
	w.send(http.MethodDelete, clusters+"/c", "").checkProblem(t, 503, gateway.CodeUnavailable, "")
	err = apierrors.NewNotFound(corev1.Resource("pods"), "c")
	w.send(http.MethodDelete, clusters+"/c", "").checkProblem(t, 500, gateway.CodeInternal, "")
	if got := w.send(http.MethodGet, clusters+"/c", ""); got.status != http.StatusOK {
		t.Errorf("status %d: %s", got.status, got.body)
	}
}

func TestWhatIsAskedOfTheAPIServer(t *testing.T) {
	w := newWorld(t, &berthv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "c", UID: uid(9), ResourceVersion: "1"}})
	w.send(http.MethodPost, clusters, named("d"))
	w.send(http.MethodGet, clusters, "")
	w.send(http.MethodGet, clusters+"/id/"+string(uid(9)), "")
	w.send(http.MethodPut, clusters+"/c", named("c"))
	w.send(http.MethodDelete, clusters+"/c", "")
	var got []string
	for _, a := range w.asked {
		got = append(got, strings.Join([]string{a.GetUser().GetName(), a.GetVerb(), a.GetResource(), a.GetAPIGroup(), a.GetName()}, " "))
	}
	want := []string{
		"admin create clusters berth.dev ", "admin list clusters berth.dev ", "admin get clusters berth.dev ",
		"admin get clusters berth.dev c", "admin update clusters berth.dev c",
		"admin deletecollection clusters berth.dev ", "admin delete clusters berth.dev ",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rights mismatch (-want +got):\n%s", diff)
	}
}
