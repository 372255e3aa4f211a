import type { PortMapping } from "@svc-gateway/common/settings/flag-types.ts";
import type { DataPlaneSettings } from "@svc-gateway/common/settings/settings.ts";
import type { LogDirectives } from "@svc-gateway/common/telemetry/log-level.ts";
import type { MetricExport } from "@svc-gateway/common/telemetry/metric-set.ts";
import type { Result } from "@svc-gateway/common/values/result.ts";
import type { ShutdownMode } from "../proxy.ts";
import type { SharedMemory } from "../shared/shared-memory.ts";
import type { ApplySummary } from "../state/proxy-state.ts";
import type { LogWake } from "./log-ring.ts";
import type { UpdatePart } from "../state/update-part.ts";
import type { PackedUpdate } from "./packed-update.ts";

/** The start parameters of a worker. */
export type WorkerStart = {
  readonly settings: WorkerSettings;
  /** The number of the worker, from 0. Only worker 0 logs events that are the same in all workers. */
  readonly worker: number;
  readonly workers: number;
  /** The memory for responses that wait for clients, in bytes. */
  readonly responseMemoryBytes: number;
  readonly memory: SharedMemory;
};

export type WorkerSettings = DataPlaneSettings & {
  readonly portMap?: readonly PortMapping[] | undefined;
};

/** The calls of the supervisor to a worker, with argument and answer; one at a time, except for `metrics`. */
export type WorkerCalls = {
  /** Parses a part of an update, the last part of which arrives with `stage`. */
  readonly read: { readonly argument: UpdatePart; readonly answer: Result<unknown> };
  /** Checks and compiles an update. Nothing else is staged until it is committed or discarded. */
  readonly stage: { readonly argument: PackedUpdate; readonly answer: Result<unknown> };
  /** Serves the staged update. Answered when its sockets are bound or have failed to bind. */
  readonly commit: { readonly argument: readonly PortMapping[]; readonly answer: Committed };
  readonly discard: { readonly argument: undefined; readonly answer: undefined };
  readonly metrics: { readonly argument: undefined; readonly answer: MetricExport };
  /** Drains and ends the worker; answered with its final metrics. */
  readonly shutdown: { readonly argument: ShutdownMode; readonly answer: MetricExport };
};

export type Committed = {
  readonly summary: ApplySummary;
  /** The local ports of the bound listeners, including those with a free port. */
  readonly ports: readonly PortMapping[];
};

export type WorkerCall = keyof WorkerCalls;

/** A message from the supervisor to a worker. */
export type ToWorker =
  | { readonly type: "call"; readonly id: number; readonly call: WorkerCall; readonly argument: unknown }
  /** Ends the shutdown in progress immediately. */
  | { readonly type: "hurry" }
  | { readonly type: "log-level"; readonly directives: LogDirectives };

/** A message from a worker to the supervisor. */
export type FromWorker =
  | { readonly type: "ready" }
  | { readonly type: "answer"; readonly id: number; readonly answer: unknown }
  /** The ring of the worker has new log lines or spans. */
  | { readonly type: "log" | "spans"; readonly when: LogWake }
  /** The bound listener ports, sorted, and the local ports of UDP listeners; sent on every change. */
  | { readonly type: "ports"; readonly ports: readonly number[]; readonly udp: readonly PortMapping[] }
  /** The final metrics of a worker that ends because of a bug. */
  | { readonly type: "counts"; readonly metrics: MetricExport };
