// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package supportbundle

import (
	"regexp"
	"strings"
)

// redacted stands where something was taken out.
const redacted = "REDACTED"

// urlUser matches the user and the password of a URL.
var urlUser = regexp.MustCompile(`://[^/@\s"']+@`)

// sensitive matches names of fields, headers and the like that may hold credentials.
var sensitive = regexp.MustCompile(`(?i)password|passwd|token|credential|secretkey|api-?key|authorization`)

// lastApplied is a copy of an object as kubectl applied it, of which nothing would be taken out.
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// redact takes out of a JSON value, in place, what nobody else should see: the data of Secrets, the
// values of environment variables, what is in fields with telling names, and users in URLs.
// References to Secrets by name stay.
func redact(value any) {
	switch v := value.(type) {
	case []any:
		for i := range v {
			if text, is := v[i].(string); is {
				v[i] = urlUser.ReplaceAllString(text, "://"+redacted+"@")
			}
			redact(v[i])
		}
	case map[string]any:
		redactMap(v)
	}
}

func redactMap(fields map[string]any) {
	delete(fields, "managedFields")
	delete(fields, lastApplied)
	if fields["kind"] == "Secret" {
		for _, key := range []string{"data", "stringData"} {
			if fields[key] != nil {
				fields[key] = redacted
			}
		}
	}
	for key, value := range fields {
		text, isText := value.(string)
		switch {
		case isText && sensitive.MatchString(key):
			fields[key] = redacted
		case isText:
			fields[key] = urlUser.ReplaceAllString(text, "://"+redacted+"@")
		case key == "env":
			redactEnvironment(value)
		}
		redact(fields[key])
	}
}

// redactEnvironment takes out values, but those of Go's own variables.
func redactEnvironment(value any) {
	variables, _ := value.([]any)
	for _, v := range variables {
		variable, isMap := v.(map[string]any)
		name, _ := variable["name"].(string)
		if isMap && variable["value"] != nil && !strings.HasPrefix(name, "GO") {
			variable["value"] = redacted
		}
	}
}
