/**
 * Chooses the session cookie of a Service for several paths. In ingress-nginx, each path has its own cookie, with the
 * path as its `Path`; here a Service has one. Cookies that differ only in their `Path` become one, whose `Path` covers
 * all of them.
 */
import { canonicalJson } from "@svc-gateway/common/ir/canonical-json.ts";
import type { SessionAffinity } from "@svc-gateway/common/ir/session-affinity.ts";

/** The affinity that one path requests for one Service. */
export type SessionWish = {
  /** `namespace/name`. */
  readonly service: string;
  readonly host: string;
  readonly affinity: SessionAffinity;
};

/** Chooses the cookie of each Service; of wishes that differ in more than their paths, the first one counts. */
export function decideCookies(wishes: readonly SessionWish[]): ReadonlyMap<string, SessionAffinity> {
  const decided = new Map<string, SessionAffinity>();
  const alike = new Map<string, readonly SessionWish[]>();
  for (const [service, ofService] of Map.groupBy(wishes, (wish) => wish.service)) {
    const [first] = ofService;
    if (first === undefined) continue;
    const same = ofService.filter(({ affinity }) => isSameCookie(affinity, first.affinity));
    alike.set(service, same);
    decided.set(service, { ...first.affinity, path: commonPath(same.map(({ affinity }) => affinity.path)) });
  }
  // With equal names and paths, Services of a host would overwrite each other's cookie: each keeps its first path.
  for (const [service, same] of alike) {
    const joined = decided.get(service);
    const first = same[0]?.affinity;
    if (joined === undefined || first === undefined || joined.path === first.path) continue;
    const hosts = new Set(same.map(({ host }) => host));
    const clashes = wishes.some(
      (other) =>
        other.service !== service &&
        hosts.has(other.host) &&
        other.affinity.cookie === joined.cookie &&
        decided.get(other.service)?.path === joined.path,
    );
    if (clashes) decided.set(service, first);
  }
  return decided;
}

/** Whether two cookies differ at most in their paths. */
export const isSameCookie = (a: SessionAffinity, b: SessionAffinity): boolean =>
  canonicalJson({ ...a, path: "" }) === canonicalJson({ ...b, path: "" });

/** The longest path of whole elements that covers all paths (RFC 6265 5.1.4). */
function commonPath([first = "/", ...others]: readonly string[]): string {
  if (others.every((other) => other === first)) return first;
  const elements = elementsOf(first);
  const common = others.reduce((length, other) => {
    const differs = elementsOf(other).findIndex((element, at) => element !== elements[at]);
    return Math.min(length, differs === -1 ? elementsOf(other).length : differs);
  }, elements.length);
  return `/${elements.slice(0, common).join("/")}`;
}

const elementsOf = (path: string): readonly string[] => path.split("/").filter((element) => element !== "");
