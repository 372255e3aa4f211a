/** Finds hosts that are served over TLS without naming a certificate, for which ingress-nginx uses its own. */
import type { ObjectOf } from "@svc-gateway/operator/api/kinds.ts";
import type { ServedUnit } from "./served-units.ts";

export type MissingSecret = {
  readonly host: string;
  /** The first Ingress with a rule for the host. */
  readonly ingress: ObjectOf<"Ingress">;
  /** A name that the Secret could have in the namespace of the Ingress. */
  readonly name: string;
};

type Needs = {
  /** The hosts that redirect to https, whether or not a Secret is named for them. */
  readonly redirected: ReadonlySet<string>;
  /** The hosts whose TLS connections are passed through to the backend. */
  readonly passed: ReadonlySet<string>;
};

/** The hosts with a redirect to https. */
export const redirectedHosts = (units: readonly ServedUnit[]): ReadonlySet<string> =>
  new Set(units.flatMap(({ route, host }) => (route.features?.["ssl-redirect"] === undefined ? [] : [host])));

/**
 * Returns the distinct hosts of rules that have TLS, because a block of `spec.tls` lists them or they redirect to
 * https, but for which no block names a Secret. A wildcard in a block covers the hosts one label below it; a block
 * without hosts covers those of the rules.
 */
export function missingSecrets(
  ingresses: readonly ObjectOf<"Ingress">[],
  { redirected, passed }: Needs,
): readonly MissingSecret[] {
  const named = new Set<string>();
  const bare = new Set<string>();
  for (const { hosts, secretName } of ingresses.flatMap(tlsBlocks)) {
    for (const host of hosts) (secretName === undefined ? bare : named).add(host);
  }
  const missing = new Map<string, MissingSecret>();
  for (const ingress of ingresses) {
    for (const host of ruleHosts(ingress)) {
      const hasTls = redirected.has(host) || isListed(bare, host);
      if (!hasTls || isListed(named, host) || passed.has(host) || missing.has(host)) continue;
      missing.set(host, { host, ingress, name: `${ingress.metadata.name}-tls` });
    }
  }
  // A Secret for the wildcard covers these hosts, too.
  const isCovered = (host: string): boolean => missing.has(wildcardOver(host)) && !host.startsWith("*");
  return [...missing.values()].filter(({ host }) => !isCovered(host));
}

/** The blocks of `spec.tls` with the hosts that they cover, in lower case. */
export const tlsBlocks = (
  ingress: ObjectOf<"Ingress">,
): readonly { readonly hosts: readonly string[]; readonly secretName: string | undefined }[] =>
  (ingress.spec?.tls ?? []).map(({ hosts = [], secretName }) => ({
    hosts: hosts.length === 0 ? ruleHosts(ingress) : hosts.map((host) => host.toLowerCase()),
    secretName: secretName === "" ? undefined : secretName,
  }));

/** The hosts of rules, in lower case, without rules for every host. */
const ruleHosts = ({ spec }: ObjectOf<"Ingress">): readonly string[] => [
  ...new Set((spec?.rules ?? []).flatMap(({ host = "" }) => (host === "" ? [] : [host.toLowerCase()]))),
];

const isListed = (hosts: ReadonlySet<string>, host: string): boolean =>
  hosts.has(host) || hosts.has(wildcardOver(host));

/** The wildcard that covers a host, one label above it. */
export const wildcardOver = (host: string): string => `*${host.slice(host.indexOf("."))}`;
