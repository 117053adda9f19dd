// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package supportbundle

import (
	"regexp"
	"strings"
)

// redacted stands where something was taken out.
const redacted = "REDACTED"

// telling is the part of a name by which fields, flags and the like are known that may hold
// credentials.
const telling = `(?:password|passwd|passphrase|token|credential|secret[-_]?key|client[-_]?secret|api[-_]?key|private[-_]?key|key-data|authorization)`

var (
	// sensitive matches names of fields, headers and the like that may hold credentials.
	sensitive = regexp.MustCompile(`(?i)` + telling + `|^secret$`)
	// sensitiveFlag matches a flag whose value is the next argument.
	sensitiveFlag = regexp.MustCompile(`(?i)^--?[-.\w]*` + telling + `[-\w]*$`)

	// inText are credentials in the middle of a text: the user and the password of a URL, what stands
	// after a name, tokens, and keys.
	inText = []struct {
		pattern *regexp.Regexp
		instead string
	}{
		{regexp.MustCompile(`://[^/@\s"']+@`), "://" + redacted + "@"},
		{regexp.MustCompile(`(?s)-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)`), redacted},
		{regexp.MustCompile(`(?i)\b(bearer|basic)\s+[-\w.~+/=]{6,}`), "$1 " + redacted},
		{regexp.MustCompile(`\beyJ[-\w]+\.[-\w]+\.[-\w]*`), redacted},
		{regexp.MustCompile(`(?i)([-.\w]*` + telling + `[-\w]*["']?\s*[=:]\s*["']?)([^\s"',;&]+)`), "${1}" + redacted},
	}
)

// ours matches the keys of annotations that tell something of Berth or of Kubernetes.
var ours = regexp.MustCompile(`(?:^|[./])(?:berth\.dev|kubernetes\.io|k8s\.io|kubeedge\.io|helm\.sh)/`)

// lastApplied is a copy of an object as kubectl applied it, of which nothing would be taken out.
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// scrub takes credentials out of a text.
func scrub(text string) string {
	for _, one := range inText {
		text = one.pattern.ReplaceAllString(text, one.instead)
	}
	return text
}

// redact takes out of a JSON value, in place, what nobody else should see: the data of Secrets and
// ConfigMaps, the values of environment variables and of annotations of others, what is in fields
// and flags with telling names, and credentials in texts. References to Secrets by name stay.
func redact(value any) {
	switch v := value.(type) {
	case []any:
		follows := false
		for i := range v {
			if text, is := v[i].(string); is {
				v[i] = scrub(text)
				if follows {
					v[i] = redacted
				}
				follows = sensitiveFlag.MatchString(text)
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
	if kind := fields["kind"]; kind == "Secret" || kind == "ConfigMap" {
		for _, key := range []string{"data", "stringData", "binaryData"} {
			redactAll(fields[key], func(string) bool { return true })
		}
	}
	redactAll(fields["annotations"], func(key string) bool { return !ours.MatchString(key) })
	for key, value := range fields {
		text, isText := value.(string)
		switch {
		case isText && sensitive.MatchString(key):
			fields[key] = redacted
		case isText:
			fields[key] = scrub(text)
		case key == "env":
			redactEnvironment(value)
		}
		redact(fields[key])
	}
}

// redactAll takes out the values of the keys.
func redactAll(value any, which func(key string) bool) {
	fields, _ := value.(map[string]any)
	for key := range fields {
		if which(key) {
			fields[key] = redacted
		}
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
