// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Pointer is a JSON pointer (RFC 6901) into what an object says of itself: it begins with a slash
// and never leads to what names the object or to its status. The zero value leads nowhere.
type Pointer struct {
	text   string
	tokens []string
}

const (
	maxPointerLength = 256
	maxPointerTokens = 32
)

var (
	pointerEscapes = strings.NewReplacer("~1", "/", "~0", "~")

	// outside are the fields of an object that are not its content.
	outside = []string{"apiVersion", "kind", "metadata", "status"}
)

// ErrNowhere is wrapped by errors about a pointer that leads to nothing in an object.
var ErrNowhere = errors.New("leads nowhere")

// ParsePointer reads a JSON pointer such as /spec/replicas.
func ParsePointer(text string) (Pointer, error) {
	if len(text) > maxPointerLength {
		return Pointer{}, fmt.Errorf("a path must have at most %d characters, not %d", maxPointerLength, len(text))
	}
	if !strings.HasPrefix(text, "/") {
		return Pointer{}, fmt.Errorf("%q is no JSON pointer: it must begin with a slash, as /spec/replicas does", text)
	}
	tokens := strings.Split(text[1:], "/")
	if len(tokens) > maxPointerTokens {
		return Pointer{}, fmt.Errorf("%q has more than %d parts", text, maxPointerTokens)
	}
	for i, token := range tokens {
		if rest := strings.NewReplacer("~0", "", "~1", "").Replace(token); strings.Contains(rest, "~") {
			return Pointer{}, fmt.Errorf("%q is no JSON pointer: ~ must be written ~0, and / within a name ~1", text)
		}
		tokens[i] = pointerEscapes.Replace(token)
		if token == "" || token == ".." || token == "." || token == "-" {
			return Pointer{}, fmt.Errorf("%q must name a field in each part, %q names none", text, token)
		}
	}
	if slices.Contains(outside, tokens[0]) {
		return Pointer{}, fmt.Errorf("%q leads out of what the object describes: /%s is not for a workload to set", text, tokens[0])
	}
	return Pointer{text: text, tokens: tokens}, nil
}

// MustPointer is ParsePointer for constants. It panics if the text is wrong.
func MustPointer(text string) Pointer {
	p, err := ParsePointer(text)
	if err != nil {
		panic(err)
	}
	return p
}

// String returns the pointer as it is written.
func (p Pointer) String() string { return p.text }

// In returns the value that the pointer leads to. Where there is none the error wraps ErrNowhere,
// unless only the last field is missing, which is no error: then the value is nil, as if the field
// were null.
func (p Pointer) In(object Object) (any, error) {
	var value any = map[string]any(object)
	for i, token := range p.tokens {
		switch v := value.(type) {
		case map[string]any:
			value = v[token]
		case []any:
			index, ok := listIndex(token, len(v))
			if !ok {
				return nil, fmt.Errorf("%s %w: the list has no element %.64q", p.text, ErrNowhere, token)
			}
			value = v[index]
		case nil:
			return nil, fmt.Errorf("%s %w: there is no %.64q", p.text, ErrNowhere, p.tokens[i-1])
		default:
			return nil, fmt.Errorf("%s %w: %.64q is neither a map nor a list", p.text, ErrNowhere, p.tokens[i-1])
		}
	}
	return value, nil
}

// listIndex reads the index of an element. There are no leading zeros in it, so each element has
// one pointer only.
func listIndex(token string, length int) (int, bool) {
	index, err := strconv.Atoi(token)
	if err != nil || strconv.Itoa(index) != token || index < 0 || index >= length {
		return 0, false
	}
	return index, true
}
