/** Hosts that are served over TLS without a certificate of their own, which ingress-nginx has one for. */
import type { ObjectOf } from "@svc-gateway/operator/api/kinds.ts";
import type { ServedUnit } from "./served-units.ts";

type MissingSecret = {
  readonly host: string;
  /** A name that it could have, as `namespace/name`. */
  readonly secret: string;
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

/** Those of hosts that have or redirect to https, each once. */
export function missingSecrets(
  ingresses: readonly ObjectOf<"Ingress">[],
  { redirected, passed }: Needs,
): readonly MissingSecret[] {
  const named = new Set<string>();
  const bare = new Map<string, MissingSecret>();
  for (const ingress of ingresses) {
    const { namespace, name } = ingress.metadata;
    const ofRules = (ingress.spec?.rules ?? []).flatMap(({ host }) => host?.toLowerCase() ?? []);
    const add = (host: string): void => {
      if (!bare.has(host)) bare.set(host, { host, secret: `${namespace}/${name}-tls` });
    };
    for (const { hosts, secretName = "" } of ingress.spec?.tls ?? []) {
      for (const host of hosts !== undefined && hosts.length > 0 ? hosts : ofRules) {
        if (secretName === "") add(host.toLowerCase());
        else named.add(host.toLowerCase());
      }
    }
    for (const host of ofRules) if (redirected.has(host)) add(host);
  }
  return [...bare.values()].filter(
    ({ host }) => !named.has(host) && !named.has(`*${host.slice(host.indexOf("."))}`) && !passed.has(host),
  );
}
