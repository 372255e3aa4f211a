import type { AwakeClock } from "../timing/awake-clock.ts";

/** How often a worker records that its event loop runs. */
const beatIntervalMs = 500;

/** Two numbers for each worker: how often it has beaten, and whether it is busy. */
const cells = 2;

export const heartbeatBytes = (workers: number): number => workers * cells * Int32Array.BYTES_PER_ELEMENT;

/** The state of a worker in memory that the supervisor reads. */
export class Heartbeat {
  private readonly memory: Int32Array;
  private readonly at: number;

  constructor(memory: SharedArrayBuffer, worker: number) {
    this.memory = new Int32Array(memory);
    this.at = worker * cells;
  }

  /** Begins to record that the event loop runs. */
  start(): void {
    setInterval(() => this.beat(), beatIntervalMs).unref();
    this.setBusy(false);
  }

  /** Runs work that may block the event loop for a while, such as compiling a snapshot. */
  whileBusy<Value>(work: () => Value): Value {
    this.setBusy(true);
    let result: Value | undefined;
    try {
      result = work();
      return result;
    } finally {
      if (result instanceof Promise) void result.finally(() => this.setBusy(false)).catch(() => undefined);
      else this.setBusy(false);
    }
  }

  setBusy(isBusy: boolean): void {
    this.beat();
    Atomics.store(this.memory, this.at + 1, Number(isBusy));
  }

  get beats(): number {
    return Atomics.load(this.memory, this.at);
  }

  get isBusy(): boolean {
    return Atomics.load(this.memory, this.at + 1) !== 0;
  }

  private beat(): void {
    Atomics.add(this.memory, this.at, 1);
  }
}

/** Milliseconds without a beat after which a worker hangs: one that serves, and one that starts or compiles a snapshot. */
export type HangLimits = { readonly serving: number; readonly busy: number };

export type HangingWorker = {
  readonly worker: number;
  /** How long its event loop has been blocked. */
  readonly silentMs: number;
  /** It hangs while it starts or compiles a snapshot. */
  readonly isBusy: boolean;
};

type Watched = {
  readonly heartbeat: Heartbeat;
  beats: number;
  sinceMs: number;
  /** How long its thread had waited for a processor when it had been silent for a moment; undefined before. */
  waitedMs: number | undefined;
};

/** Silence after which the time that a thread waits for a processor is looked up; busy turns are shorter. */
export const momentMs = 2_000;

/** So many limits of silence are a hang even where the thread waited for a processor most of that time. */
export const mostLimits = 6;

/** How long the thread of a worker has waited for a processor since its start, in milliseconds; undefined where that is not known. */
export type ProcessorWait = (worker: number) => number | undefined;

/**
 * Detects workers whose event loop is blocked, by an endless loop or an endless wait. Time is that of the supervisor's
 * awake clock, without what a thread waits for a processor, so that neither a suspended machine nor a worker without processor
 * time is mistaken for one that hangs: its successor would have no more of it, and would begin again.
 */
export class HangWatch {
  private readonly memory: SharedArrayBuffer;
  private readonly limits: HangLimits;
  private readonly clock: Pick<AwakeClock, "look" | "nowMs">;
  private readonly processorWait: ProcessorWait;
  private readonly watched = new Map<number, Watched>();

  constructor(
    memory: SharedArrayBuffer,
    limits: HangLimits,
    clock: Pick<AwakeClock, "look" | "nowMs">,
    processorWait: ProcessorWait = () => undefined,
  ) {
    this.memory = memory;
    this.limits = limits;
    this.clock = clock;
    this.processorWait = processorWait;
  }

  /** Begins to watch a thread that is about to start; it counts as busy until it has started. */
  started(worker: number): void {
    const heartbeat = new Heartbeat(this.memory, worker);
    heartbeat.setBusy(true);
    this.clock.look();
    this.watched.set(worker, {
      heartbeat,
      beats: heartbeat.beats,
      sinceMs: this.clock.nowMs,
      waitedMs: undefined,
    });
  }

  /** The thread has ended, or is being ended. */
  forget(worker: number): void {
    this.watched.delete(worker);
  }

  /** Returns the workers that hang, each once. */
  check(): readonly HangingWorker[] {
    this.clock.look();
    const { nowMs } = this.clock;
    const hanging: HangingWorker[] = [];
    for (const [worker, watched] of this.watched) {
      const { heartbeat } = watched;
      const { beats, isBusy } = heartbeat;
      // The clock goes back when it notices a pause that began after the last beat.
      if (beats !== watched.beats || nowMs < watched.sinceMs) {
        watched.beats = beats;
        watched.sinceMs = nowMs;
        watched.waitedMs = undefined;
      }
      const silentMs = nowMs - watched.sinceMs;
      if (silentMs >= momentMs) watched.waitedMs ??= this.processorWait(worker);
      const limitMs = isBusy ? this.limits.busy : this.limits.serving;
      if (silentMs < limitMs) continue;
      const ownMs = silentMs - this.waitedSince(worker, watched);
      if (ownMs < limitMs && silentMs < limitMs * mostLimits) continue;
      hanging.push({ worker, silentMs, isBusy });
      this.watched.delete(worker);
    }
    return hanging;
  }

  private waitedSince(worker: number, { waitedMs }: Watched): number {
    return waitedMs === undefined ? 0 : (this.processorWait(worker) ?? waitedMs) - waitedMs;
  }
}
