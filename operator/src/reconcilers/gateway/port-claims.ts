import type { Clock } from "@svc-gateway/common/time/clock.ts";
import { ok, problem, type Result } from "@svc-gateway/common/values/result.ts";
import type { ObjectOf } from "../../api/kinds.ts";
import { type ApiClient, type ApiError, describeApiError } from "../../sources/kubernetes/api-client.ts";
import { componentLabel, vipComponent } from "../../translate/gateway/names.ts";
import { mappingOf } from "../../translate/gateway/scopes/ports.ts";

type Service = ObjectOf<"Service">;

/** The end of a write: the API server stored it, refused it, or may still store it because its answer is missing. */
export type WriteEnd = "stored" | "refused" | "unknown";

/** A Service that is about to be written. */
type Write = {
  readonly name: string;
  /** The internal ports that it will map to. */
  readonly ports: readonly number[];
  /** Internal ports that the Service stored in the API server does not map to yet. */
  readonly added: readonly number[];
};

/**
 * The internal ports that the Services of Gateways map to or may soon map to. Plans are made from the Services that a
 * build has observed, so two plans can contain one port while a write is under way, and the plan of a new leader can
 * contain a port that the former one has given away (docs/adr/0044-bound-once-observed.md).
 */
export type PortClaims = {
  /**
   * Claims the ports for a write, and returns the function to call at its end. Returns undefined if another Service
   * maps to one of them or may soon do so: a later build will observe that, or the port becomes free. Fails if the API
   * server cannot be asked.
   */
  claim(write: Write, signal: AbortSignal): Promise<Result<((end: WriteEnd) => void) | undefined>>;
};

export type PortClaimsOptions = {
  readonly client: Pick<ApiClient, "call">;
  /** The namespace of the Services. */
  readonly namespace: string;
  readonly clock: Pick<Clock, "nowMs">;
  /** Called with Services whose claims failed, once a write has ended that left its ports unused. */
  readonly onReleased: (names: readonly string[]) => void;
};

/** A claim of one port. Each write replaces those of its ports. */
type Claim = {
  readonly name: string;
  isUnderWay: boolean;
  /** The time until which a write without an answer may still be stored. */
  unknownUntilMs: number;
};

/**
 * The time after which the API server has given up on a write whose answer is missing, the default of its
 * `--request-timeout`.
 */
const unknownMs = 60_000;

/** Creates the claims of one term of the leader. There is at most one for each internal port. */
export function createPortClaims({ client, namespace, clock, onReleased }: PortClaimsOptions): PortClaims {
  const claims = new Map<number, Claim>();
  const blocked = new Set<string>();
  const collection = `/api/v1/namespaces/${namespace}/services`;
  let listing: Promise<Result<void>> | undefined;

  /** Claims the ports of all Services that exist when the term begins, which no build may have observed yet. */
  const list = async (signal: AbortSignal): Promise<Result<void>> => {
    const listed = await client.call<{ readonly items?: readonly Service[] }>(collection, {
      query: { labelSelector: `${componentLabel}=${vipComponent}` },
      signal,
    });
    if (!listed.ok) {
      listing = undefined;
      return problem(describeApiError(listed.error));
    }
    for (const service of listed.value.items ?? []) {
      for (const port of mappingOf(service).values()) {
        if (claims.has(port)) continue;
        claims.set(port, { name: service.metadata.name, isUnderWay: false, unknownUntilMs: 0 });
      }
    }
    return ok(undefined);
  };

  const mayBeStored = ({ isUnderWay, unknownUntilMs }: Claim): boolean =>
    isUnderWay || clock.nowMs() < unknownUntilMs;

  /** Drops the claim of another Service if that Service does not map to the port. */
  const review = async (port: number, claim: Claim, signal: AbortSignal): Promise<Result<void>> => {
    if (mayBeStored(claim)) return ok(undefined);
    const found = await client.call<Service>(`${collection}/${claim.name}`, { signal });
    if (!found.ok && found.error.status !== 404) return problem(describeApiError(found.error));
    const isUsed = found.ok && [...mappingOf(found.value).values()].includes(port);
    // A write that began in the meantime has replaced the claim.
    if (!isUsed && claims.get(port) === claim) claims.delete(port);
    return ok(undefined);
  };

  return {
    async claim({ name, ports, added }, signal) {
      const otherOf = (port: number): Claim | undefined => {
        const claim = claims.get(port);
        return claim?.name === name ? undefined : claim;
      };
      if (added.length > 0) {
        const listed = await (listing ??= list(signal));
        if (!listed.ok) return listed;
      }
      for (const port of added) {
        const other = otherOf(port);
        const reviewed = other === undefined ? ok(undefined) : await review(port, other, signal);
        if (!reviewed.ok) return reviewed;
      }
      // Nothing is awaited between this check and the claims.
      if (added.some((port) => otherOf(port) !== undefined)) {
        blocked.add(name);
        return ok(undefined);
      }
      blocked.delete(name);
      const claimed = ports.flatMap((port) => {
        if (otherOf(port) !== undefined) return [];
        const unknownUntilMs = claims.get(port)?.unknownUntilMs ?? 0;
        const claim: Claim = { name, isUnderWay: true, unknownUntilMs };
        claims.set(port, claim);
        return [claim];
      });
      return ok((end) => {
        for (const claim of claimed) {
          claim.isUnderWay = false;
          if (end === "unknown") claim.unknownUntilMs = clock.nowMs() + unknownMs;
        }
        if (end !== "refused") return;
        const names = [...blocked];
        blocked.clear();
        onReleased(names);
      });
    },
  };
}

/** The end of a write that failed. Without an answer, and after a fault of the server, it may be stored later. */
export const endOf = ({ status }: ApiError): WriteEnd =>
  status === 0 || status === 408 || status >= 500 ? "unknown" : "refused";
