/** The annotations of ingress-nginx 1.15: the table that findings, reference page, tests and `report` derive from. */
import { mostSimilar } from "@svc-gateway/common/values/similar.ts";
import * as addresses from "./addresses.ts";
import * as backendTls from "./backend-tls.ts";
import * as balancing from "./balancing.ts";
import * as basicAuth from "./basic-auth.ts";
import * as canary from "./canary.ts";
import * as clientCertificates from "./client-certificates.ts";
import * as cors from "./cors.ts";
import type { FormerAnnotation, NginxAnnotation } from "./declare.ts";
import * as extAuth from "./ext-auth.ts";
import { formerAnnotations } from "./former.ts";
import * as forwarding from "./forwarding.ts";
import * as hosts from "./hosts.ts";
import * as limits from "./limits.ts";
import * as redirects from "./redirects.ts";
import * as responses from "./responses.ts";
import * as routing from "./routing.ts";
import * as snippets from "./snippets.ts";

/** Annotations that belong together on the reference page. */
export type AnnotationGroup = { readonly title: string; readonly annotations: readonly NginxAnnotation[] };

const group = (title: string, members: Readonly<Record<string, NginxAnnotation>>): AnnotationGroup => ({
  title,
  annotations: Object.values(members),
});

/** All annotations, by group. */
export const annotationGroups: readonly AnnotationGroup[] = [
  group("Routing and rewriting", routing),
  group("Redirects", redirects),
  group("Bodies, buffers, timeouts and retries", forwarding),
  group("TLS to backends", backendTls),
  group("TLS of hosts", hosts),
  group("Authentication by a service", extAuth),
  group("Client certificates", clientCertificates),
  group("Basic authentication", basicAuth),
  group("Client addresses", addresses),
  group("Limits", limits),
  group("Errors, headers, logs, mirrors and inspection", responses),
  group("Balancing and sessions", balancing),
  group("Canaries", canary),
  group("Cross-origin requests", cors),
  group("Snippets", snippets),
];

/** Every annotation by its name without prefix. */
export const nginxAnnotations: ReadonlyMap<string, NginxAnnotation> = new Map(
  annotationGroups.flatMap(({ annotations }) => annotations.map((one) => [one.name, one] as const)),
);

/** Returns the entry of a name that older versions knew, or that is often written by mistake. */
export const formerAnnotation = (name: string): FormerAnnotation | undefined =>
  formerAnnotations.find((one) => one.name === name) ??
  formerAnnotations.find((one) => one.isPrefix === true && name.startsWith(one.name));

/** The annotation that an unknown name was probably meant for. */
export const similarAnnotation = (name: string): string | undefined =>
  mostSimilar(name, nginxAnnotations.keys());
