// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"context"
	"fmt"
	"net"
	"path/filepath"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/apis/apiserver"
	"k8s.io/apiserver/pkg/authentication/authenticatorfactory"
	"k8s.io/apiserver/pkg/authorization/authorizerfactory"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/dynamiccertificates"
	"k8s.io/apiserver/pkg/server/options"
	"k8s.io/client-go/kubernetes"
	certutil "k8s.io/client-go/util/cert"
)

const (
	// answerTTL is how long an answer about a caller is kept, as the scheduler's own ports keep it.
	answerTTL = 10 * time.Second
	// reviewTimeout bounds the question who a caller is.
	reviewTimeout = 10 * time.Second
)

// StartAlone is Start for a program that has no secure port of this kind: it asks the API server
// who callers are and what they may do, knows their client certificates by the authority that the
// API server publishes, and uses tls.crt and tls.key of a directory, or signs a certificate itself
// if that is empty.
func (h *Handler) StartAlone(ctx context.Context, address, certDir string, client kubernetes.Interface) error {
	like := &genericapiserver.SecureServingInfo{}
	var err error
	if like.Cert, err = certificateIn(certDir); err != nil {
		return err
	}
	clients, err := dynamiccertificates.NewDynamicCAFromConfigMapController(
		"client-ca", metav1.NamespaceSystem, "extension-apiserver-authentication", "client-ca-file", client)
	if err != nil {
		return fmt.Errorf("following the authority of client certificates: %w", err)
	}
	like.ClientCA = clients
	if err := h.ask(client, clients); err != nil {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("listening for those who ask for the history: %w", err)
	}
	like.Listener = listener
	if _, _, err := like.Serve(h, shutdownTimeout, ctx.Done()); err != nil {
		return fmt.Errorf("serving the history: %w", err)
	}
	return nil
}

// ask has the API server asked who callers are and what they may do.
func (h *Handler) ask(client kubernetes.Interface, clients dynamiccertificates.CAContentProvider) (err error) {
	authentication := authenticatorfactory.DelegatingAuthenticatorConfig{
		Anonymous: &apiserver.AnonymousAuthConfig{}, CacheTTL: answerTTL,
		TokenAccessReviewClient: client.AuthenticationV1(), TokenAccessReviewTimeout: reviewTimeout,
		WebhookRetryBackoff: options.DefaultAuthWebhookRetryBackoff(), ClientCertificateCAContentProvider: clients,
	}
	if h.Authenticator, _, err = authentication.New(); err != nil {
		return fmt.Errorf("finding out how to tell callers: %w", err)
	}
	authorization := authorizerfactory.DelegatingAuthorizerConfig{
		SubjectAccessReviewClient: client.AuthorizationV1(), AllowCacheTTL: answerTTL, DenyCacheTTL: answerTTL,
		WebhookRetryBackoff: options.DefaultAuthWebhookRetryBackoff(),
	}
	if h.Authorizer, err = authorization.New(); err != nil {
		return fmt.Errorf("finding out how to tell what callers may do: %w", err)
	}
	return nil
}

// certificateIn returns the certificate in a directory, or a new one if that is empty.
func certificateIn(dir string) (dynamiccertificates.CertKeyContentProvider, error) {
	const purpose = "history"
	if dir != "" {
		kept, err := dynamiccertificates.NewDynamicServingContentFromFiles(purpose, filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key"))
		if err != nil {
			return nil, fmt.Errorf("reading the certificate in %s: %w", dir, err)
		}
		return kept, nil
	}
	cert, key, err := certutil.GenerateSelfSignedCertKey("localhost", nil, nil)
	if err != nil {
		return nil, fmt.Errorf("making a certificate: %w", err)
	}
	made, err := dynamiccertificates.NewStaticCertKeyContent(purpose, cert, key)
	if err != nil {
		return nil, fmt.Errorf("making a certificate: %w", err)
	}
	return made, nil
}
