/** Connections over TLS that go to a backend unopened: which hosts have them, and whether they still have them afterwards. */
import { decodeResource } from "@svc-gateway/common/ir/resource.ts";
import type { Translation } from "@svc-gateway/operator/translate/translation.ts";
import type { UnitDifference } from "./known-differences.ts";

export type PassedHost = {
  /** `namespace/name` of the object that asks for it. */
  readonly source: string;
  /** Where the connections go, in one form for equal ones. */
  readonly backends: string;
};

/** The hosts whose connections over TLS are passed on. */
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

/** What an Ingress loses of it. */
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
