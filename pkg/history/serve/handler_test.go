// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package serve_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	clocktesting "k8s.io/utils/clock/testing"

	"berth.dev/berth/pkg/history"
	"berth.dev/berth/pkg/history/serve"
)

// rights lists what users may do: "path USER", "all USER NAMESPACE", "USER NAMESPACE/NAME".
type rights map[string]bool

func (r rights) Authorize(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
	key := "path " + a.GetUser().GetName()
	switch {
	case r["unreachable"] && a.IsResourceRequest():
		return authorizer.DecisionNoOpinion, "", errors.New("no answer")
	case a.IsResourceRequest() && a.GetResource() == "pods" && a.GetName() == "":
		key = "all " + a.GetUser().GetName() + " " + a.GetNamespace()
	case a.IsResourceRequest():
		key = a.GetUser().GetName() + " " + a.GetNamespace() + "/" + a.GetName()
	}
	if r[key] {
		return authorizer.DecisionAllow, "", nil
	}
	return authorizer.DecisionNoOpinion, "", nil
}

func caller(name string) authenticator.RequestFunc {
	return func(*http.Request) (*authenticator.Response, bool, error) {
		return &authenticator.Response{User: &user.DefaultInfo{Name: name}}, name != "", nil
	}
}

func ring(pods int) *history.Ring {
	r := history.New(history.DefaultLimits(), clocktesting.NewFakePassiveClock(time.Unix(0, 0)))
	for i := range pods {
		r.Add(history.Entry{
			About:    history.Object{Kind: "Pod", Namespace: "shop", Name: "web-" + strconv.Itoa(i)},
			Workload: &history.Object{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"},
			Decision: history.Unschedulable, Message: "secret",
		})
	}
	return r
}

func TestHandler(t *testing.T) {
	const pod = "?kind=Pod&namespace=shop&name=web-0"
	const deployment = "?group=apps&kind=Deployment&namespace=shop&name=web"
	eve := rights{"path eve": true}
	for name, test := range map[string]struct {
		method, path, user string
		rights             rights
		want, wantEntries  int
		wantText           string
	}{
		"who may get the pod":             {path: pod, user: "ann", rights: rights{"path ann": true, "ann shop/web-0": true}, want: 200, wantEntries: 1},
		"who may get all pods":            {path: deployment, user: "ann", rights: rights{"path ann": true, "all ann shop": true}, want: 200, wantEntries: 60},
		"who may get one of several pods": {path: deployment, user: "ann", rights: rights{"path ann": true, "ann shop/web-3": true}, want: 200, wantEntries: 1},
		"a pod beyond those asked about":  {path: deployment, user: "ann", rights: rights{"path ann": true, "ann shop/web-55": true}, want: 200},
		"who may get no pod":              {path: pod, user: "eve", rights: eve, want: 200},
		"who may get no pod of a Deployment that he may get": {
			path: deployment, user: "eve", rights: rights{"path eve": true, "eve shop/web": true}, want: 200,
		},
		"an object that nothing is known of": {path: "?kind=Pod&namespace=shop&name=x", user: "eve", rights: eve, want: 200},
		"who may not get the path": {
			path: pod, user: "eve", rights: rights{"all eve shop": true}, want: 403, wantText: "ClusterRole berth-history-reader",
		},
		"nobody":                       {path: pod, want: 401},
		"anonymous":                    {path: pod, user: user.Anonymous, rights: rights{"path " + user.Anonymous: true}, want: 401},
		"an API server that is silent": {path: pod, user: "eve", rights: rights{"path eve": true, "unreachable": true}, want: 503},
		"another method":               {method: http.MethodPost, path: pod, user: "eve", rights: eve, want: 405},
		"another path":                 {path: "/more", user: "eve", rights: eve, want: 404},
		"no name":                      {path: "?kind=Pod&namespace=shop", user: "eve", rights: eve, want: 400, wantText: "must give the name"},
		"no kind":                      {path: "?name=a", user: "eve", rights: eve, want: 400, wantText: `"" is no kind such as Pod`},
		"a kind that is none":          {path: "?kind=" + strings.Repeat("P", 4000) + "&name=a", user: "eve", rights: eve, want: 400, wantText: "is no kind"},
		"a name that is none":          {path: "?kind=Pod&name=<script>", user: "eve", rights: eve, want: 400, wantText: "is no name of an object"},
		"a namespace that is none":     {path: "?kind=Pod&name=a&namespace=a/b", user: "eve", rights: eve, want: 400, wantText: "is no namespace"},
		"a group that is none":         {path: "?kind=Pod&name=a&group=a/b", user: "eve", rights: eve, want: 400, wantText: "is no API group"},
	} {
		t.Run(name, func(t *testing.T) {
			h := &serve.Handler{Process: "berth-scheduler-0", Ring: ring(60), Authenticator: caller(test.user), Authorizer: test.rights}
			recorder := httptest.NewRecorder()
			method := http.MethodGet
			if test.method != "" {
				method = test.method
			}
			h.ServeHTTP(recorder, httptest.NewRequest(method, serve.Path+test.path, http.NoBody))
			body := recorder.Body.String()
			if recorder.Code != test.want || !strings.Contains(body, test.wantText) {
				t.Fatalf("answered %d %s, want %d %s", recorder.Code, body, test.want, test.wantText)
			}
			var answer history.Answer
			if test.want == http.StatusOK {
				if err := json.Unmarshal([]byte(body), &answer); err != nil || answer.Process != "berth-scheduler-0" {
					t.Fatalf("answered %s: %v", body, err)
				}
			}
			if len(answer.Entries) != test.wantEntries || test.wantEntries == 0 && strings.Contains(body, "secret") {
				t.Errorf("answered %d entries, want %d", len(answer.Entries), test.wantEntries)
			}
		})
	}
}
