/** Findings about paths and hosts of Ingresses of ingress-nginx. See docs/reference/events.md, "Findings". */
import { formatRef, type ObjectRef } from "../../api/object.ts";
import type { Diagnostic } from "../finding.ts";
import { quote } from "../text.ts";
import { finding, type Place } from "./define-finding.ts";

/** A path that RE2 cannot match. */
export const unservableExpression = (place: Place, path: string, why: string, literal: string): Diagnostic =>
  finding("error", "UnservableExpression")(
    place,
    `Path ${quote(path)} is a regular expression that cannot be served: ${why}; every request whose path begins with ` +
      `${quote(literal === "" ? "/" : literal)} and that no longer path takes is answered 503`,
  );

/** A path of type Exact or Prefix that is a regular expression on its host. */
export const expressionInPrefix = (place: Place, path: string): Diagnostic =>
  finding("warning", "ExpressionInPrefix")(
    place,
    `Path ${quote(path)} of the type Exact or Prefix has characters other than letters, digits and ._-/, and is matched as a ` +
      "regular expression, as in ingress-nginx; expected the type ImplementationSpecific",
  );

/** Regular expressions of an Ingress that must not turn all paths of a host into regular expressions. */
export const hostWideNotYours = (place: Place, host: string, namespace: string): Diagnostic =>
  finding("warning", "HostWideNotYours")(
    place,
    `Host ${host} belongs to namespace ${namespace}, so only the paths of this Ingress are regular expressions; in ` +
      "ingress-nginx all paths of the host would be",
  );

/** The number of namespaces that fit into an Event. */
const maxShownNamespaces = 5;

const few = (namespaces: readonly string[]): string =>
  namespaces.length <= maxShownNamespaces
    ? namespaces.join(", ")
    : `${namespaces.slice(0, maxShownNamespaces).join(", ")} and ${namespaces.length - maxShownNamespaces} more`;

/**
 * TLS of a host of another namespace. `namespaces` have paths that are redirected because of it. With
 * `clients`, the Ingress requests client certificates, which also applies to the whole host; with `none`, no
 * client can be verified, because the Secret is unusable.
 */
export const tlsForOthers = (
  place: Place,
  host: string,
  namespaces: readonly string[],
  clients: "asked" | "none" | undefined,
): Diagnostic =>
  finding("warning", "TlsForOthers")(
    place,
    `spec.tls gives TLS to host ${host}, which another namespace had first and lists under no spec.tls: as in ingress-nginx, requests ` +
      `without TLS are redirected to https for all paths of the host, also for those of namespace ${few(namespaces)}; to ` +
      `serve them without TLS, set ssl-redirect: "false" there${clients === undefined ? "" : sharedClients[clients]}`,
  );

const sharedClients: Readonly<Record<"asked" | "none", string>> = {
  asked: "; over TLS they need the client certificates that auth-tls-secret of this Ingress asks for",
  none: "; over TLS they are answered 403 as well, because auth-tls-secret of this Ingress cannot be used; to prevent that, list the host under spec.tls of an older Ingress of theirs, or set --host-ownership namespace",
};

/** A redirect of `/` on a host of another namespace. */
export const appRootNotYours = (place: Place, host: string, namespace: string): Diagnostic =>
  finding("warning", "HostWideNotYours")(
    place,
    `app-root has no effect on host ${host}, which belongs to namespace ${namespace}; expected an Ingress of that namespace, or ` +
      'one that serves the path "/"',
  );

/** A further name for a host of another namespace. */
export const nameNotYours = (place: Place, annotation: string, host: string, namespace: string): Diagnostic =>
  finding("warning", "HostWideNotYours")(
    place,
    `${annotation} has no effect on host ${host}, which belongs to namespace ${namespace}; in ingress-nginx all paths of the host ` +
      "would be served under the further name; expected an Ingress of that namespace",
  );

/** A further name that belongs to another object. `holder` is undefined if that object is not known. */
export const aliasTaken = (place: Place, name: string, holder: ObjectRef | undefined): Diagnostic =>
  finding("warning", "AliasTaken")(
    place,
    `Host ${name} belongs to ${holder === undefined ? "another object" : formatRef(holder)}, so it is no further name of the ` +
      "hosts of this Ingress",
  );

/** An alias that no Ingress may have. */
export const aliasRefused = (place: Place, name: string, why: string): Diagnostic =>
  finding("warning", name.startsWith("~") ? "AliasExpression" : "AliasTaken")(
    place,
    `Alias ${quote(name)} is not served: ${why}`,
  );

/** TLS that is terminated although an Ingress requests passthrough. */
export const passthroughNotServed = (place: Place, host: string, why: string): Diagnostic =>
  finding("warning", "HostWideNotYours")(
    place,
    `ssl-passthrough has no effect on host ${host}: ${why}; its TLS is terminated`,
  );
