// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/gateway"
)

func TestPagesAreReadWithTheTokenOfTheCaller(t *testing.T) {
	w := newWorld(t, &berthv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "beijing"}})
	got := w.send(http.MethodGet, "/ui/sites", "")
	if got.status != http.StatusOK || !strings.Contains(got.body, "beijing") || !strings.Contains(got.body, admin) {
		t.Fatalf("status %d: %s", got.status, got.body)
	}
	if policy := got.header.Get("Content-Security-Policy"); !strings.Contains(policy, "default-src 'none'") {
		t.Errorf("policy %q", policy)
	}
	got = w.send(http.MethodGet, "/ui/", "", "Authorization", "", "Cookie", "berth-token=someone")
	if got.status != http.StatusOK || !strings.Contains(got.body, "someone") || !strings.Contains(got.body, "/ui/leave") {
		t.Errorf("with a cookie: status %d: %s", got.status, got.body)
	}
	w.send(http.MethodGet, "/ui/pools", "")
	if want := []string{admin, "someone"}; !slices.Equal(w.lent, want) {
		t.Errorf("clients for %q, want %q", w.lent, want)
	}
}

func TestBrowsersAreAskedForAToken(t *testing.T) {
	w := newWorld(t)
	for name, headers := range map[string][]string{
		"no token":            {"Authorization", ""},
		"an expired header":   {"Authorization", "Bearer expired"},
		"an expired cookie":   {"Authorization", "", "Cookie", "berth-token=expired"},
		"what is not a token": {"Authorization", "", "Cookie", "berth-token=a b"},
	} {
		got := w.send(http.MethodGet, "/ui/sites", "", headers...)
		if got.status != http.StatusUnauthorized || !strings.Contains(got.body, `name="token"`) {
			t.Errorf("%s: status %d: %s", name, got.status, got.body)
		}
	}
	if got := w.send(http.MethodGet, "/ui/events", "", "Authorization", "Bearer expired"); got.status != http.StatusUnauthorized {
		t.Errorf("events: status %d", got.status)
	}
	if got := w.send(http.MethodGet, "/ui/assets/style.css", "", "Authorization", ""); got.status != http.StatusOK {
		t.Errorf("the style: status %d", got.status)
	}
	if len(w.lent) > 0 {
		t.Errorf("clients were made for %q", w.lent)
	}
	w.identityError = errors.New("connection refused")
	if got := w.send(http.MethodGet, "/ui/sites", ""); got.status == http.StatusOK {
		t.Errorf("without an API server: status %d", got.status)
	}
}

func TestEnterAndLeave(t *testing.T) {
	w := newWorld(t)
	const form = "application/x-www-form-urlencoded"
	follow := w.client()
	follow.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	defer func() { follow.CheckRedirect = nil }()
	enter := func(body string, headers ...string) answer {
		return w.send(http.MethodPost, "/ui/enter", body, append([]string{"Authorization", "", "Content-Type", form}, headers...)...)
	}
	got := enter("token=someone")
	cookie := got.header.Get("Set-Cookie")
	if got.status != http.StatusSeeOther || !strings.Contains(cookie, "berth-token=someone; Path=/ui/; HttpOnly") ||
		!strings.Contains(cookie, "SameSite=Strict") {
		t.Errorf("status %d, cookie %q", got.status, cookie)
	}
	if got := enter("token=expired"); got.status != http.StatusUnauthorized || got.header.Get("Set-Cookie") != "" {
		t.Errorf("an expired token: status %d", got.status)
	}
	if got := enter("token=" + strings.Repeat("x", 5000)); got.status != http.StatusBadRequest {
		t.Errorf("a long token: status %d", got.status)
	}
	if got := enter("token=someone", "Sec-Fetch-Site", "cross-site"); got.status != http.StatusForbidden {
		t.Errorf("from another site: status %d", got.status)
	}
	if got := w.send(http.MethodGet, "/ui/leave", ""); got.status != http.StatusFound || !strings.Contains(got.header.Get("Set-Cookie"), "Max-Age=0") {
		t.Errorf("leaving: status %d, cookie %q", got.status, got.header.Get("Set-Cookie"))
	}
}

func TestPagesHaveTheRateOfTheUser(t *testing.T) {
	w := newWorld(t)
	w.limits.ClientQPS, w.limits.ClientBurst = 0.001, 1
	w.send(http.MethodGet, "/ui/sites", "")
	w.send(http.MethodGet, "/ui/sites", "").checkProblem(t, http.StatusTooManyRequests, gateway.CodeTooManyRequests, "you send")
}

// TestStrangersWithHalfABodyBlockNobody sends a form that never ends, for which nobody needs a
// token.
func TestStrangersWithHalfABodyBlockNobody(t *testing.T) {
	w := newWorld(t)
	w.limits.InFlight = 1
	w.half("/ui/enter")
	if got := w.send(http.MethodGet, clusters, ""); got.status != http.StatusOK {
		t.Errorf("the API: status %d: %s", got.status, got.body)
	}
	if got := w.send(http.MethodGet, "/ui/sites", ""); got.status != http.StatusOK {
		t.Errorf("the pages: status %d: %s", got.status, got.body)
	}
	w.send(http.MethodPost, "/ui/enter", "token=someone", "Authorization", "").
		checkProblem(t, http.StatusTooManyRequests, gateway.CodeTooManyRequests, "there are")
}

func TestAnAddressEntersAtARate(t *testing.T) {
	w := newWorld(t)
	w.limits.ClientQPS, w.limits.ClientBurst = 0.001, 1
	for i := range 4 {
		if got := w.send(http.MethodPost, "/ui/enter", "token=expired", "Authorization", ""); got.status != http.StatusUnauthorized {
			t.Fatalf("attempt %d: status %d: %s", i, got.status, got.body)
		}
	}
	w.send(http.MethodPost, "/ui/enter", "token=expired", "Authorization", "").
		checkProblem(t, http.StatusTooManyRequests, gateway.CodeTooManyRequests, "your address sends")
}

// TestTheTokenIsKeptForTLSOnly enters over TLS.
func TestTheTokenIsKeptForTLSOnly(t *testing.T) {
	w := newWorld(t)
	handler := w.handler()
	over := func(method, path, body string, cookie *http.Cookie) *http.Response {
		r := httptest.NewRequestWithContext(t.Context(), method, "https://gateway"+path, strings.NewReader(body))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		if cookie != nil {
			r.AddCookie(cookie)
		}
		answered := httptest.NewRecorder()
		handler.ServeHTTP(answered, r)
		return answered.Result()
	}
	entered := over(http.MethodPost, "/ui/enter", "token=someone", nil)
	defer entered.Body.Close()
	cookies := entered.Cookies()
	if len(cookies) != 1 || cookies[0].Name != "__Secure-berth-token" || !cookies[0].Secure || !cookies[0].HttpOnly {
		t.Fatalf("status %d, cookies %v", entered.StatusCode, cookies)
	}
	for name, want := range map[string]int{"__Secure-berth-token": http.StatusOK, "berth-token": http.StatusUnauthorized} {
		got := over(http.MethodGet, "/ui/sites", "", &http.Cookie{Name: name, Value: "someone"})
		got.Body.Close()
		if got.StatusCode != want {
			t.Errorf("with the cookie %s: status %d, want %d", name, got.StatusCode, want)
		}
	}
}

// TestOneUserHasAFewNamespacesAtOnce looks at more namespaces than one user may, with new tokens.
func TestOneUserHasAFewNamespacesAtOnce(t *testing.T) {
	w := newWorld(t)
	w.limits.ClientQPS, w.limits.ClientBurst = 1000, 1000
	look := func(namespace string) {
		t.Helper()
		got := w.send(http.MethodGet, "/ui/pools", "", "Cookie", "berth-namespace="+namespace)
		if got.status != http.StatusOK || !strings.Contains(got.body, "Namespace "+namespace) {
			t.Fatalf("namespace %s: status %d: %s", namespace, got.status, got.body)
		}
	}
	for i := range 60 {
		look(fmt.Sprintf("n%d", i))
	}
	if got := w.send(http.MethodGet, "/ui/pools", "", "Authorization", "Bearer another"); got.status != http.StatusOK {
		t.Errorf("another user: status %d: %s", got.status, got.body)
	}
	made := len(w.lent)
	look("n59")
	if len(w.lent) != made {
		t.Error("the latest namespace was read anew")
	}
	look("n0")
	if len(w.lent) != made+1 {
		t.Error("the first namespace is still watched")
	}
}

func TestStreamsSayNothingAboutSpeed(t *testing.T) {
	w := newWorld(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	w.start()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, w.server.URL+"/ui/events", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+admin)
	response, err := w.client().Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	w.send(http.MethodGet, "/ui/sites", "")
	cancel()
	const want = `berth_gateway_requests_total{code="200",method="GET",route="ui"} 2`
	patience := time.After(time.Minute)
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	text := ""
	for !strings.Contains(text, want) {
		select {
		case <-patience:
			t.Fatalf("%s is missing from\n%s", want, text)
		case <-ticker.C:
			text = w.send(http.MethodGet, "/metrics", "").body
		}
	}
	if !strings.Contains(text, `berth_gateway_request_duration_seconds_count{method="GET",route="ui"} 1`) {
		t.Errorf("the duration of a stream counts in\n%s", text)
	}
}
