import type { ProxyScope } from "@svc-gateway/common/settings/settings.ts";
import type { Clock } from "@svc-gateway/common/time/clock.ts";
import { formatEndpoint, type Endpoint } from "@svc-gateway/common/values/endpoint.ts";
import { fail, ok, type Result } from "@svc-gateway/common/values/result.ts";
import type { Keepalive } from "@svc-gateway/proto/wire.ts";
import { resolveEndpoint } from "./addresses.ts";
import type { ControllerName } from "./channel.ts";
import { openStream, type ControllerStream, type StreamEnd } from "./controller-stream.ts";
import type { After, LivenessLimits } from "./liveness.ts";
import type { ProxyIdentity } from "./proxy-identity.ts";
import type { ReplicaWatch } from "./replica-watch.ts";
import { firstSuccess, type Attempt, type LateAttempts } from "./staggered.ts";
import type { TrustRoots } from "./trust-roots.ts";

export type StreamOpenerOptions = {
  readonly nodeId: string;
  readonly scope: ProxyScope;
  readonly endpoint: Endpoint;
  readonly controller: ControllerName;
  readonly trust: TrustRoots;
  readonly keepalive: Keepalive;
  readonly replicas: ReplicaWatch;
  readonly clock: Clock;
  readonly random: () => number;
  readonly liveness: LivenessLimits;
  readonly after: After;
};

/** Opens streams to one, any or the leading one of the replicas. Aborting ends attempts and streams. */
export type StreamOpener = {
  /** Opens a stream to any replica; that at `last` is tried after all others. */
  openAny(identity: ProxyIdentity, last: Endpoint | undefined, signal: AbortSignal): Promise<OpenResult>;
  /** Opens a stream to the replica at this address. */
  openAt(identity: ProxyIdentity, address: Endpoint, signal: AbortSignal): Promise<OpenResult>;
  /** Opens a stream to the leader, which must be a replica other than `except`. */
  openLeader(identity: ProxyIdentity, except: Endpoint, signal: AbortSignal): Promise<OpenResult>;
};

export type OpenResult = Result<ControllerStream, readonly StreamEnd[]>;

/** The delay between attempts, and so the longest delay by an address that drops packets. */
const staggerMs = 250;

export function createStreamOpener(options: StreamOpenerOptions): StreamOpener {
  const { endpoint, trust, replicas, clock, random } = options;

  const attemptAt =
    (identity: ProxyIdentity, address: Endpoint, trustPem: string): Attempt<ControllerStream, StreamEnd> =>
    async (signal) => {
      const opened = await openStream({ ...options, address, identity, trustPem }, signal);
      if (opened.ok) return opened;
      return fail({ ...opened.error, message: `${formatEndpoint(address)}: ${opened.error.message}` });
    };

  const leadersOnly =
    (attempt: Attempt<ControllerStream, StreamEnd>): Attempt<ControllerStream, StreamEnd> =>
    async (signal) => {
      const opened = await attempt(signal);
      if (!opened.ok || opened.value.isLeading()) return opened;
      opened.value.close();
      return fail({ kind: "closed", message: `${formatEndpoint(opened.value.address)} is not the leader` });
    };

  const resolve = async (): Promise<Result<Replicas, readonly StreamEnd[]>> => {
    const [trustPem, addresses] = await Promise.all([
      trust.read(),
      resolveEndpoint(endpoint, replicas.lookup, random),
    ]);
    if (!trustPem.ok) return fail([{ kind: "failed", message: trustPem.error.message }]);
    if (!addresses.ok) return fail([{ kind: "failed", message: addresses.error.message }]);
    return ok({ trustPem: trustPem.value, addresses: addresses.value });
  };

  const race = (
    attempts: readonly Attempt<ControllerStream, StreamEnd>[],
    signal: AbortSignal,
    lateAttempts: LateAttempts<ControllerStream, StreamEnd> = noLateAttempts,
  ): Promise<OpenResult> =>
    firstSuccess(attempts, { staggerMs, clock, signal, lateAttempts, discard: (stream) => stream.close() });

  return {
    async openAny(identity, last, signal) {
      const resolved = await resolve();
      if (!resolved.ok) return resolved;
      const { addresses, trustPem } = resolved.value;
      const ordered = [...addresses.filter(isOther(last)), ...addresses.filter((one) => !isOther(last)(one))];
      const attemptsAt = (some: readonly Endpoint[]): readonly Attempt<ControllerStream, StreamEnd>[] =>
        some.map((address) => attemptAt(identity, address, trustPem));
      return race(attemptsAt(ordered), signal, (add) =>
        replicas.follow((hosts) => add(attemptsAt(hosts.map((host) => ({ host, port: endpoint.port }))))),
      );
    },
    async openAt(identity, address, signal) {
      const trustPem = await trust.read();
      if (!trustPem.ok) return fail([{ kind: "failed", message: trustPem.error.message }]);
      return race([attemptAt(identity, address, trustPem.value)], signal);
    },
    async openLeader(identity, except, signal) {
      const resolved = await resolve();
      if (!resolved.ok) return resolved;
      const { addresses, trustPem } = resolved.value;
      const others = addresses.filter(isOther(except));
      return race(
        others.map((address) => leadersOnly(attemptAt(identity, address, trustPem))),
        signal,
      );
    },
  };
}

const noLateAttempts = () => (): void => {};

type Replicas = { readonly trustPem: string; readonly addresses: readonly Endpoint[] };

const isOther =
  (address: Endpoint | undefined) =>
  (one: Endpoint): boolean =>
    address === undefined || one.host !== address.host || one.port !== address.port;
