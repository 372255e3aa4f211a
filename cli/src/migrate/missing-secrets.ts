/** Hosts that are served over TLS without a certificate of their own, which ingress-nginx has one for. */
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
  /** Hosts that redirect to https, whether or not a Secret is named for them. */
  readonly redirected: ReadonlySet<string>;
  /** Hosts whose TLS goes to the backend unopened. */
  readonly passed: ReadonlySet<string>;
};

/** The hosts with a redirect to https. */
export const redirectedHosts = (units: readonly ServedUnit[]): ReadonlySet<string> =>
  new Set(units.flatMap(({ route, host }) => (route.features?.["ssl-redirect"] === undefined ? [] : [host])));

/**
 * The hosts of rules that have TLS, because a block of `spec.tls` lists them or they redirect to https, while no block names a Secret for
 * them; each once. A block that lists a wildcard counts for the hosts one label below it, and one without hosts for those of its rules.
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
  // A Secret for the wildcard serves these as well.
  const isCovered = (host: string): boolean => missing.has(wildcardOver(host)) && !host.startsWith("*");
  return [...missing.values()].filter(({ host }) => !isCovered(host));
}

/** The blocks of `spec.tls` with the hosts that they are for, in lower case. */
export const tlsBlocks = (
  ingress: ObjectOf<"Ingress">,
): readonly { readonly hosts: readonly string[]; readonly secretName: string | undefined }[] =>
  (ingress.spec?.tls ?? []).map(({ hosts = [], secretName }) => ({
    hosts: hosts.length === 0 ? ruleHosts(ingress) : hosts.map((host) => host.toLowerCase()),
    secretName: secretName === "" ? undefined : secretName,
  }));

/** The hosts of rules, in lower case; a rule for every host has none. */
const ruleHosts = ({ spec }: ObjectOf<"Ingress">): readonly string[] => [
  ...new Set((spec?.rules ?? []).flatMap(({ host = "" }) => (host === "" ? [] : [host.toLowerCase()]))),
];

const isListed = (hosts: ReadonlySet<string>, host: string): boolean =>
  hosts.has(host) || hosts.has(wildcardOver(host));

/** The wildcard that a host is one label below. */
export const wildcardOver = (host: string): string => `*${host.slice(host.indexOf("."))}`;
