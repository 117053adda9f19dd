// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/klog/v2"

	"berth.dev/berth/pkg/gateway"
	"berth.dev/berth/pkg/registration"
)

func TestEachClientHasItsOwnRate(t *testing.T) {
	w := newWorld(t)
	w.limits.ClientQPS, w.limits.ClientBurst = 0.001, 3
	for i := range 3 {
		if got := w.send(http.MethodGet, clusters, ""); got.status != http.StatusOK {
			t.Fatalf("request %d: status %d", i, got.status)
		}
	}
	got := w.send(http.MethodGet, clusters, "")
	got.checkProblem(t, http.StatusTooManyRequests, gateway.CodeTooManyRequests, "you send too many requests")
	if got.header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	if got := w.send(http.MethodGet, clusters, "", "Authorization", "Bearer list"); got.status != http.StatusOK {
		t.Errorf("another client gets status %d", got.status)
	}
}

func TestAnAddressHasARateToo(t *testing.T) {
	w := newWorld(t)
	w.limits.ClientQPS, w.limits.ClientBurst = 0.001, 1
	for range 4 {
		w.send(http.MethodGet, clusters, "", "Authorization", "Bearer expired").
			checkProblem(t, http.StatusUnauthorized, gateway.CodeUnauthenticated, "")
	}
	w.send(http.MethodGet, clusters, "", "Authorization", "Bearer expired").
		checkProblem(t, http.StatusTooManyRequests, gateway.CodeTooManyRequests, "your address sends too many requests")
	if got := w.send(http.MethodGet, "/livez", ""); got.status != http.StatusOK {
		t.Errorf("the kubelet gets status %d", got.status)
	}
}

func TestRequestsAtOnceAreBounded(t *testing.T) {
	w := newWorld(t)
	w.limits.InFlight = 1
	entered, leave := make(chan struct{}), make(chan struct{})
	w.objects.PrependReactor("create", "clusters", func(clienttesting.Action) (bool, runtime.Object, error) {
		close(entered)
		<-leave
		return false, nil, nil
	})
	w.start()
	var group sync.WaitGroup
	group.Go(func() { w.send(http.MethodPost, clusters, named("c")) })
	<-entered
	w.send(http.MethodGet, clusters, "").checkProblem(t, http.StatusTooManyRequests, gateway.CodeTooManyRequests, "there are too many requests")
	close(leave)
	group.Wait()
	if got := w.send(http.MethodGet, clusters, ""); got.status != http.StatusOK {
		t.Errorf("status %d afterwards", got.status)
	}
}

func TestAPanicIsAnAnswer(t *testing.T) {
	w := newWorld(t)
	w.objects.PrependReactor("get", "clusters", func(clienttesting.Action) (bool, runtime.Object, error) { panic("secret") })
	got := w.send(http.MethodGet, clusters+"/c", "")
	got.checkProblem(t, http.StatusInternalServerError, gateway.CodeInternal, "request id")
	if strings.Contains(got.body, "secret") {
		t.Errorf("the answer gives away %s", got.body)
	}
	if text := w.send(http.MethodGet, "/metrics", "").body; !strings.Contains(text, "berth_gateway_panics_total 1\n") {
		t.Errorf("metrics\n%s", text)
	}
}

func TestRequestIDs(t *testing.T) {
	w := newWorld(t)
	tests := map[string]struct {
		id   string
		kept bool
	}{
		"the caller's own": {"abc-DEF_1.2", true},
		"none":             {"", false},
		"too long":         {strings.Repeat("x", 65), false},
		"with a blank":     {"a b", false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := w.send(http.MethodGet, clusters, "", "X-Request-Id", tc.id).header.Get("X-Request-Id")
			if (got == tc.id) != tc.kept || got == "" {
				t.Errorf("id %q", got)
			}
		})
	}
}

func TestMetricsHaveNoNamesOfClusters(t *testing.T) {
	w := newWorld(t)
	w.register(named("c"))
	for i := range 20 {
		w.send(http.MethodGet, fmt.Sprintf("%s/x%d", clusters, i), "")
		w.send("METHOD"+strings.Repeat("X", i), clusters, "")
	}
	text := w.send(http.MethodGet, "/metrics", "").body
	for _, want := range []string{
		`berth_gateway_requests_total{code="201",method="POST",route="clusters"} 1`,
		`berth_gateway_requests_total{code="404",method="GET",route="clusters/name"} 20`,
		`berth_gateway_requests_total{code="405",method="other",route="clusters"} 20`,
		`berth_gateway_request_duration_seconds_count{method="GET",route="clusters/name"} 20`,
		`berth_gateway_in_flight_requests 1`,
		`berth_gateway_limited_requests_total 0`,
	} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("%s is missing from\n%s", want, text)
		}
	}
}

// TestTheAccessLogKeepsSecrets reads what a request leaves in the log.
func TestTheAccessLogKeepsSecrets(t *testing.T) {
	w := newWorld(t)
	var mu sync.Mutex
	var lines []string
	logger := funcr.New(func(_, line string) {
		mu.Lock()
		defer mu.Unlock()
		lines = append(lines, line)
	}, funcr.Options{})
	klog.SetLogger(logger)
	defer klog.ClearLogger()
	w.send(http.MethodPost, clusters, strings.Replace(named("c"), `"r"`, `"planted-body"`, 1), "Cookie", "planted-cookie=1")
	w.send(http.MethodGet, clusters+"/planted-path", "")
	w.send(http.MethodGet, clusters+"?continue=planted-query", "", "Authorization", "Bearer "+nobody)
	w.send(http.MethodGet, clusters, "", "Authorization", "Basic planted-basic")
	mu.Lock()
	defer mu.Unlock()
	text := strings.Join(lines, "\n")
	for _, secret := range []string{"planted-body", "planted-cookie", "planted-query", "planted-basic", "Bearer"} {
		if strings.Contains(text, secret) {
			t.Errorf("%s is in the log:\n%s", secret, text)
		}
	}
	for _, want := range []string{`"status"=201`, `"status"=403`, `"status"=401`, `"user"="admin"`, `"method"="POST"`, "planted-path"} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is missing from the log:\n%s", want, text)
		}
	}
}

// TestASlowClientKeepsNothing sends half a body and waits for the gateway to lose patience.
func TestASlowClientKeepsNothing(t *testing.T) {
	for _, path := range []string{clusters, "/ui/enter"} {
		w := newWorld(t)
		w.limits.BodyTimeout = 50 * time.Millisecond
		if got := status(t, w.half(path)); got != http.StatusRequestTimeout {
			t.Errorf("POST %s: status %d", path, got)
		}
	}
}

// half sends half a body, and returns what is answered.
func (w *world) half(path string) *bufio.Reader {
	w.t.Helper()
	w.start()
	connection, err := (&net.Dialer{}).DialContext(w.t.Context(), "tcp", w.server.Listener.Addr().String())
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { connection.Close() })
	fmt.Fprintf(connection, "POST %s HTTP/1.1\r\nHost: gateway\r\nAuthorization: Bearer %s\r\nExpect: 100-continue\r\n"+
		"Content-Length: 1000\r\n\r\n{", path, admin)
	if err := connection.SetReadDeadline(time.Now().Add(2 * time.Minute)); err != nil {
		w.t.Fatal(err)
	}
	answers := bufio.NewReader(connection)
	// The gateway asks for the body when it begins to read it.
	if got := status(w.t, answers); got != http.StatusContinue {
		w.t.Fatalf("POST %s: status %d before the body", path, got)
	}
	return answers
}

// status reads the head of the next answer.
func status(t *testing.T, answers *bufio.Reader) int {
	t.Helper()
	response, err := http.ReadResponse(answers, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	return response.StatusCode
}

// description is what the tests look at in the description of the API.
type description struct {
	OpenAPI    string                                `json:"openapi"`
	Paths      map[string]map[string]json.RawMessage `json:"paths"`
	Components struct {
		Schemas map[string]struct {
			Properties map[string]struct {
				Enum []string `json:"enum"`
			} `json:"properties"`
		} `json:"schemas"`
	} `json:"components"`
}

func (w *world) description() description {
	w.t.Helper()
	var d description
	got := w.send(http.MethodGet, "/globalscheduler/v1/openapi.json", "", "Authorization", "")
	if err := json.Unmarshal([]byte(got.body), &d); err != nil || !strings.HasPrefix(d.OpenAPI, "3.0") {
		w.t.Fatalf("status %d, version %q: %v", got.status, d.OpenAPI, err)
	}
	return d
}

func TestTheDescriptionHasThePathsAndMethodsThatThereAre(t *testing.T) {
	w := newWorld(t)
	for path, operations := range w.description().Paths {
		filled := strings.NewReplacer("{cluster_id}", string(uid(1)), "{cluster_name}", "c", "{cluster}", "c").Replace(path)
		var got []string
		for method := range operations {
			if method != "parameters" {
				got = append(got, strings.ToUpper(method))
			}
		}
		allowed := strings.Split(w.send("TRACE", filled, "").header.Get("Allow"), ", ")
		want := slices.DeleteFunc(allowed, func(method string) bool { return method == http.MethodHead })
		slices.Sort(got)
		slices.Sort(want)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("methods of %s mismatch (-want +got):\n%s", path, diff)
		}
	}
}

// TestTheDescriptionTellsWhatAReplacementKeeps compares it with the keys that Berth has added.
func TestTheDescriptionTellsWhatAReplacementKeeps(t *testing.T) {
	d := newWorld(t).description()
	spec := reflect.TypeFor[registration.Spec]()
	for field := range spec.Fields() {
		key, added := strings.CutSuffix(field.Tag.Get("json"), ",omitempty")
		if _, described := d.Components.Schemas["Spec"].Properties[key]; !described {
			t.Errorf("the schema does not have %s", key)
		}
		for path, operations := range d.Paths {
			if put := string(operations["put"]); added && put != "" && !strings.Contains(put, key) {
				t.Errorf("PUT of %s does not tell that %s is kept", path, key)
			}
		}
	}
}

// codes returns all error codes.
func codes(t *testing.T) []string {
	t.Helper()
	source, err := os.ReadFile("problem.go")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, match := range regexp.MustCompile(`Code = "(\w+)"`).FindAllSubmatch(source, -1) {
		found = append(found, string(match[1]))
	}
	if len(found) == 0 {
		t.Fatal("there are no codes")
	}
	slices.Sort(found)
	return found
}

func TestTheDescriptionHasTheCodesThatThereAre(t *testing.T) {
	got := newWorld(t).description().Components.Schemas["Problem"].Properties["error_code"].Enum
	if diff := cmp.Diff(codes(t), got); diff != "" {
		t.Errorf("codes mismatch (-want +got):\n%s", diff)
	}
}

func TestTheReferenceTellsOperationsAndCodes(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "reference", "rest-api.md"))
	if err != nil {
		t.Fatal(err)
	}
	want := codes(t)
	for _, operations := range newWorld(t).description().Paths {
		for _, operation := range operations {
			if match := regexp.MustCompile(`"operationId":\s*"(\w+)"`).FindSubmatch(operation); match != nil {
				want = append(want, string(match[1]))
			}
		}
	}
	for _, word := range want {
		if !strings.Contains(string(page), "`"+word+"`") {
			t.Errorf("%s is missing", word)
		}
	}
}
