import type { AwakeClock } from "../timing/awake-clock.ts";

/** How often a worker records that its event loop runs. */
const beatIntervalMs = 500;

/** The number of cells per worker: its number of beats, and whether it is busy. */
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

  /** Starts to record that the event loop runs. */
  start(): void {
    setInterval(() => this.beat(), beatIntervalMs).unref();
    this.setBusy(false);
  }

  /** Runs work that can block the event loop for a while, such as compiling a snapshot. */
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

/** The milliseconds without a beat after which a worker hangs: while it serves, and while it starts or compiles. */
export type HangLimits = { readonly serving: number; readonly busy: number };

export type HangingWorker = {
  readonly worker: number;
  /** How long its event loop has been blocked. */
  readonly silentMs: number;
  /** Whether it hangs while it starts or compiles a snapshot. */
  readonly isBusy: boolean;
};

type Watched = {
  readonly heartbeat: Heartbeat;
  beats: number;
  sinceMs: number;
  /** The processor wait of the thread, read after `momentMs` of silence; undefined until then. */
  waitedMs: number | undefined;
};

/** The silence after which the processor wait of a thread is read, longer than usual busy turns. */
export const momentMs = 2_000;

/** The multiple of the limit after which silence is a hang even if the thread mostly waited for a processor. */
export const mostLimits = 6;

/** Returns how long a worker has waited for a processor since its start, in milliseconds; undefined if unknown. */
export type ProcessorWait = (worker: number) => number | undefined;

/**
 * Detects workers whose event loop is blocked by an endless loop or an endless wait. Time is measured by the
 * supervisor's awake clock, so that a suspended machine is not mistaken for a hang. Time for which a thread waits for a
 * processor does not count either: a successor would get no more processor time, and would start again.
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

  /** Starts to watch a thread that is about to start; it counts as busy until it has started. */
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

  /** Stops watching a worker whose thread has ended or is being ended. */
  forget(worker: number): void {
    this.watched.delete(worker);
  }

  /** Returns the workers that hang, each only once. */
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
