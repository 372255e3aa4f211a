import type { HealthState } from "@svc-gateway/common/admin/health.ts";
import type { ProxyScope } from "@svc-gateway/common/settings/settings.ts";
import type { Logger } from "@svc-gateway/common/telemetry/logger.ts";
import { monotonicClock, systemClock, type Clock } from "@svc-gateway/common/time/clock.ts";
import type { Endpoint } from "@svc-gateway/common/values/endpoint.ts";
import { problem, type Result } from "@svc-gateway/common/values/result.ts";
import { Check, ClientMessage, HealthReport, NodeStatus } from "@svc-gateway/proto/generated/discovery.js";
import { defaultKeepalive, type Keepalive } from "@svc-gateway/proto/wire.ts";
import { systemLookup, type LookupHost } from "./addresses.ts";
import { requestIdentity } from "./bootstrap.ts";
import type { ControllerName } from "./channel.ts";
import type { ControllerStream } from "./controller-stream.ts";
import { createIdentityKeeper } from "./identity-keeper.ts";
import type { IncomingUpdate } from "../state/incoming-update.ts";
import { awake } from "../timing/awake-clock.ts";
import { afterAwake, defaultLiveness, type LivenessLimits } from "./liveness.ts";
import type { DiscoveryClientMetrics } from "./discovery-client-metrics.ts";
import { createReplicaWatch, type ReplicaWatch } from "./replica-watch.ts";
import { createStreamKeeper } from "./stream-keeper.ts";
import { createTrustRoots } from "./trust-roots.ts";
import { createUpdateReceiver, type ApplyUpdate } from "./update-receiver.ts";

/** A health check of this process, as it is reported to the controller. */
export type ReportedCheck = {
  readonly subsystem: string;
  readonly name: string;
  readonly state: HealthState;
  readonly reason: string;
};

export type DiscoveryClientOptions = {
  /** The name of the pod. */
  readonly nodeId: string;
  readonly scope: ProxyScope;
  /** The release of this proxy, without a leading `v`. */
  readonly release: string;
  readonly endpoint: Endpoint;
  readonly bootstrapEndpoint: Endpoint;
  readonly tokenPath: string;
  readonly trustBundlePath: string;
  readonly controller: ControllerName;
  readonly apply: ApplyUpdate;
  /**
   * `Pending` before the first snapshot, `Ready` with a stream on which a snapshot was applied, `Degraded` when that
   * stream is lost. Called at each change.
   */
  readonly onState: (state: HealthState) => void;
  /** Returns the current checks of this process; called after `onState` and `healthChanged`. */
  readonly checks: () => readonly ReportedCheck[];
  readonly metrics: DiscoveryClientMetrics;
  readonly log: Logger;
  readonly keepalive?: Keepalive;
  readonly liveness?: LivenessLimits;
  readonly lookup?: LookupHost;
  /** Replaces the clocks of this machine, both for the time of day and for intervals. */
  readonly clock?: Clock;
  /** A number from 0 to 1, 1 excluded. */
  readonly random?: () => number;
};

export type DiscoveryClient = {
  start(): void;
  state(): HealthState;
  /** Sets the complete list of bound listener ports. */
  setBoundPorts(ports: readonly number[]): void;
  /** Reports the checks to the controller; called when a check of this process has changed. */
  healthChanged(): void;
  /** Closes the stream. The applied snapshot is kept. */
  stop(): Promise<void>;
};

const stateNumbers: Readonly<Record<HealthState, number>> = { Pending: 0, Ready: 1, Degraded: 2 };

/**
 * The proxy's side of the discovery channel: obtains an identity, keeps a stream to a controller, preferably the
 * leader, and passes updates to `apply` one at a time. The last valid snapshot is kept during all failures of the
 * controllers; nothing is written to disk. See docs/discovery.md.
 */
export function createDiscoveryClient(options: DiscoveryClientOptions): DiscoveryClient {
  const { apply, onState, checks, metrics, log, nodeId, scope, controller } = options;
  const { keepalive = defaultKeepalive, liveness = defaultLiveness, lookup = systemLookup } = options;
  const { clock = systemClock, random = Math.random } = options;
  const intervals = options.clock ?? monotonicClock;
  const trust = createTrustRoots(options.trustBundlePath);
  let state: HealthState = "Pending";
  let stream: ControllerStream | undefined;
  let boundPorts: readonly number[] = [];
  let lastApply: Promise<unknown> = Promise.resolve();
  let stopped: Promise<void> | undefined;
  let endWatch = (): void => {};

  const sendHealth = (): void => {
    const reported = checks().map((check) => new Check({ ...check }));
    const report = new HealthReport({ version: options.release, checks: reported });
    stream?.send(new ClientMessage({ health_report: report }));
  };

  const sendPorts = (): void => {
    stream?.send(new ClientMessage({ node_status: new NodeStatus({ bound_ports: [...boundPorts] }) }));
  };

  const enter = (next: HealthState): void => {
    if (next === state) return;
    log.info({ from: state, to: next }, "discovery state changed");
    state = next;
    metrics.state.with({}).set(stateNumbers[next]);
    onState(next);
    sendHealth();
  };

  /** Applies one update at a time, also while one stream replaces another. */
  const applyInTurn = (update: IncomingUpdate): Promise<Result<unknown>> => {
    const result = lastApply
      .then(() => apply(update))
      .catch((error: unknown) => problem(`internal error: ${String(error)}`));
    lastApply = result;
    return result;
  };

  const onStream = (next: ControllerStream): void => {
    stream = next;
    sendHealth();
    sendPorts();
    const receiver = createUpdateReceiver({
      apply: applyInTurn,
      send: next.send,
      onApplied: () => {
        if (stream === next) enter("Ready");
      },
      metrics,
      log,
    });
    next.watch(() => {
      if (next.end() !== undefined) receiver.end();
    });
    next.receive(receiver.receive);
  };

  const onLost = (): void => {
    stream = undefined;
    if (state === "Ready") enter("Degraded");
  };

  const watchOf = ({ host }: Endpoint): ReplicaWatch =>
    createReplicaWatch({ host, lookup, clock: intervals, random });
  const signers = watchOf(options.bootstrapEndpoint);
  const controllers = watchOf(options.endpoint);

  const identity = createIdentityKeeper({
    request: (signal) =>
      requestIdentity(
        {
          endpoint: options.bootstrapEndpoint,
          tokenPath: options.tokenPath,
          nodeId,
          controller,
          trust,
          keepalive,
          replicas: signers,
          random,
          clock: intervals,
        },
        signal,
      ),
    onRejected: (reason) =>
      log.error(
        { reason },
        "controllers use another wire version; this proxy requests no certificate until it is restarted",
      ),
    scheduleRetry: signers.schedule,
    metrics,
    log,
    clock,
    random,
  });

  const keeper = createStreamKeeper({
    nodeId,
    scope,
    endpoint: options.endpoint,
    controller,
    identity,
    trust,
    keepalive,
    liveness,
    after: afterAwake,
    replicas: controllers,
    isServing: () => state !== "Pending",
    onStream,
    onLost,
    scheduleRetry: controllers.schedule,
    metrics,
    log,
    clock: intervals,
    random,
  });

  return {
    start() {
      metrics.state.with({}).set(stateNumbers[state]);
      endWatch = awake.watch();
      identity.start();
      keeper.start();
    },
    state: () => state,
    setBoundPorts(ports) {
      boundPorts = [...new Set(ports)].sort((a, b) => a - b);
      sendPorts();
    },
    healthChanged: sendHealth,
    stop() {
      identity.stop();
      endWatch();
      stopped ??= keeper
        .stop()
        .then(() => lastApply)
        .then(() => undefined);
      return stopped;
    },
  };
}
