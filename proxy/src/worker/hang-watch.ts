import type { AwakeClock } from "../timing/awake-clock.ts";

/** How often a worker shows that its event loop turns. */
const beatIntervalMs = 500;

/** Two numbers for each worker: how often it has beaten, and whether it is busy. */
const cells = 2;

export const heartbeatBytes = (workers: number): number => workers * cells * Int32Array.BYTES_PER_ELEMENT;

/** What a worker shows of itself in memory that the supervisor reads. */
export class Heartbeat {
  private readonly memory: Int32Array;
  private readonly at: number;

  constructor(memory: SharedArrayBuffer, worker: number) {
    this.memory = new Int32Array(memory);
    this.at = worker * cells;
  }

  /** Shows from now on that the event loop turns. */
  start(): void {
    setInterval(() => this.beat(), beatIntervalMs).unref();
    this.setBusy(false);
  }

  /** Does what may take the event loop a while, such as compiling a snapshot. */
  whileBusy<Value>(work: () => Value): Value {
    this.setBusy(true);
    try {
      return work();
    } finally {
      this.setBusy(false);
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
  /** How long its event loop has stood still. */
  readonly silentMs: number;
  /** It hangs in its start, or in a snapshot. */
  readonly isBusy: boolean;
};

type Watched = { readonly heartbeat: Heartbeat; beats: number; sinceMs: number };

/**
 * Notices workers whose event loop does not turn any more: a loop in the code that never ends, or a wait for what never
 * comes. Time is that of the supervisor's awake clock, so that neither a machine that stood still nor a process that did not
 * get its processors is taken for a worker that hangs.
 */
export class HangWatch {
  private readonly memory: SharedArrayBuffer;
  private readonly limits: HangLimits;
  private readonly clock: Pick<AwakeClock, "look" | "nowMs">;
  private readonly watched = new Map<number, Watched>();

  constructor(memory: SharedArrayBuffer, limits: HangLimits, clock: Pick<AwakeClock, "look" | "nowMs">) {
    this.memory = memory;
    this.limits = limits;
    this.clock = clock;
  }

  /** A thread is about to start in the place of the worker; it is busy until it says otherwise. */
  started(worker: number): void {
    const heartbeat = new Heartbeat(this.memory, worker);
    heartbeat.setBusy(true);
    this.clock.look();
    this.watched.set(worker, { heartbeat, beats: heartbeat.beats, sinceMs: this.clock.nowMs });
  }

  /** The thread has ended, or is being ended. */
  forget(worker: number): void {
    this.watched.delete(worker);
  }

  /** The workers that hang; none is named twice. */
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
      }
      const silentMs = nowMs - watched.sinceMs;
      if (silentMs < (isBusy ? this.limits.busy : this.limits.serving)) continue;
      hanging.push({ worker, silentMs, isBusy });
      this.watched.delete(worker);
    }
    return hanging;
  }
}
