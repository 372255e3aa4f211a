/** The host names of listeners and routes, and their intersections (Gateway API, "Hostname matching"). */
import type { HostPattern } from "@svc-gateway/common/ir/keys.ts";
import { formatHostname, parseHostname } from "@svc-gateway/common/values/hostname.ts";
import { ok, type Problem, type Result } from "@svc-gateway/common/values/result.ts";
import { anyHost } from "../ingress/host.ts";

/** Reads the `hostname` of a listener or a route; an absent or empty one means every host. */
export function readHost(text: string | undefined): Result<HostPattern> {
  if (text === undefined || text === "") return ok(anyHost);
  const parsed = parseHostname(text);
  return parsed.ok ? ok({ kind: parsed.value.kind, host: formatHostname(parsed.value) }) : parsed;
}

/**
 * Whether every host of `inner` is one of `outer`. A wildcard matches one or more labels here, so that
 * `*.example.com` covers `a.b.example.com`, but not `example.com`.
 */
export function covers(outer: HostPattern, inner: HostPattern): boolean {
  if (outer.kind === "any") return true;
  if (inner.kind === "any") return false;
  if (outer.host === inner.host) return true;
  return outer.kind === "wildcard" && inner.host.endsWith(outer.host.slice(1));
}

/** The hosts that both patterns match: the narrower of the two, or undefined if there are none. */
export function intersect(a: HostPattern, b: HostPattern): HostPattern | undefined {
  if (covers(a, b)) return b;
  return covers(b, a) ? a : undefined;
}

/** The hosts on which a listener serves a route, without duplicates; empty if they have none in common. */
export function commonHosts(
  listener: HostPattern,
  route: readonly HostPattern[] | undefined,
): readonly HostPattern[] {
  if (route === undefined) return [listener];
  const common = new Map<string, HostPattern>();
  for (const host of route) {
    const both = intersect(listener, host);
    if (both !== undefined) common.set(both.host, both);
  }
  return [...common.values()];
}

/**
 * The rank of a pattern by its narrowness. Of two patterns that cover a host, the one with the higher rank decides.
 */
export const specificity = ({ kind, host }: HostPattern): number =>
  kind === "exact" ? 1000 : kind === "wildcard" ? host.length : 0;

/** The hosts of a route; undefined for every host. An invalid one is omitted and passed to `leftOut`. */
export function readHosts(
  written: readonly string[] = [],
  leftOut: (index: number, why: Problem) => void,
): readonly HostPattern[] | undefined {
  if (written.length === 0) return undefined;
  return written.flatMap((text, index) => {
    const host = readHost(text);
    if (host.ok) return [host.value];
    leftOut(index, host.error);
    return [];
  });
}
