/** Compares the hosts whose TLS connections are passed through to a backend, before and after the migration. */
import { decodeResource } from "@svc-gateway/common/ir/resource.ts";
import type { Translation } from "@svc-gateway/operator/translate/translation.ts";
import type { UnitDifference } from "./known-differences.ts";

export type PassedHost = {
  /** The object that requests passthrough, as `namespace/name`. */
  readonly source: string;
  /** The backends of the connections, in a comparable form. */
  readonly backends: string;
};

/** Finds the hosts whose TLS connections are passed through. */
export function passedHosts({ scopes }: Pick<Translation, "scopes">): ReadonlyMap<string, PassedHost> {
  const found = new Map<string, PassedHost>();
  for (const resource of scopes.shared) {
    if (!resource.key.startsWith("l4|tls|")) continue;
    const decoded = decodeResource(resource);
    if (!decoded.ok || decoded.value?.type !== "l4") continue;
    for (const { host, mode, route } of decoded.value.value.hosts) {
      if (mode !== "passthrough" || route === undefined) continue;
      const { namespace, name } = route.source;
      found.set(host, { source: `${namespace}/${name}`, backends: JSON.stringify(route.backends) });
    }
  }
  return found;
}

/** The passthrough of hosts that an Ingress loses. */
export const comparePassed = (
  ingress: string,
  before: ReadonlyMap<string, PassedHost>,
  after: ReadonlyMap<string, PassedHost>,
): readonly UnitDifference[] =>
  [...before].flatMap(([host, { source, backends }]): UnitDifference[] =>
    source !== ingress || after.get(host)?.backends === backends
      ? []
      : [
          {
            property: "passthrough",
            loss: "lost",
            text: `Connections over TLS for ${host} are not passed on to the backend; a TLSRoute does that`,
          },
        ],
  );
