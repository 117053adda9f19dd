// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package feeds

// ParseFeedParsers is for tests.
var ParseFeedParsers = parseFeedParsers
