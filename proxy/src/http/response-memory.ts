import { awake } from "../timing/awake-clock.ts";

/** A client that has taken nothing for less than this is not cut while other means are left. */
const patienceMs = 1000;
/** Relief goes on until this share of the memory is in use, so that it is not needed again at once. */
const reliefShare = 0.875;
/** At this share of the memory patience ends: reading has stopped, and new responses have still brought more. */
const hardShare = 1.25;
/** The most bytes that a resumed reader may read. */
const readBytes = 65_536;
/** A client that took less than this since it was last examined has made no progress. */
const progressBytes = 4096;

/**
 * The response bytes of one worker that wait for clients, on all connections together. At `maxBytes` reading from
 * upstreams stops; while it stays full, clients that have taken nothing for longest are cut, in that order
 * (docs/security.md, "Clients that do not read").
 */
export class ResponseMemory {
  readonly maxBytes: number;
  heldBytes = 0;
  private readonly onCut: () => void;
  /** Ends of the list of clients that bytes wait for; the first has made no progress for longest. */
  private first: WaitingResponse | undefined = undefined;
  private last: WaitingResponse | undefined = undefined;
  /** Readers that stopped for lack of memory, each at most once. */
  private stopped: StoppableReader[] = [];
  private isReliefDue = false;

  /** `onCut` is called for each client that is cut for lack of memory. */
  constructor(maxBytes: number = Number.POSITIVE_INFINITY, onCut: () => void = () => {}) {
    this.maxBytes = maxBytes;
    this.onCut = onCut;
  }

  /** True when nothing more must be read for clients that bytes wait for. */
  get full(): boolean {
    return this.heldBytes >= this.maxBytes;
  }

  /** True: the reader may continue. False: it stops, until its `onRoom` is called, once, when there is room again. */
  admit(reader: StoppableReader): boolean {
    if (!this.full) return true;
    if (reader.awaitsRoom) return false;
    reader.awaitsRoom = true;
    this.stopped.push(reader);
    this.scheduleRelief();
    return false;
  }

  /** Cuts clients where it must, and resumes stopped readers where it can. Called by the sweeps of fronts as well. */
  relieve(): void {
    if (this.full) this.cutStalled();
    // Not all at once: what they read is counted only when it has arrived.
    let readers = Math.ceil((this.maxBytes - this.heldBytes) / readBytes);
    const { stopped } = this;
    if (readers >= stopped.length) this.stopped = [];
    else this.stopped = readers > 0 ? stopped.slice(readers) : stopped;
    for (const reader of stopped) {
      if (readers-- <= 0) break;
      reader.awaitsRoom = false;
      reader.onRoom();
    }
    if (this.stopped.length > 0 && !this.full) this.scheduleRelief();
  }

  /** @internal The bytes that wait for a client have changed. */
  changed(byBytes: number): void {
    this.heldBytes += byBytes;
    if (byBytes > 0 ? this.full : this.stopped.length > 0 && !this.full) this.scheduleRelief();
  }

  /** @internal */
  append(response: WaitingResponse): void {
    response.sinceMs = awake.nowMs;
    response.before = this.last;
    if (this.last === undefined) this.first = response;
    else this.last.after = response;
    this.last = response;
  }

  /** @internal */
  remove(response: WaitingResponse): void {
    const { before, after } = response;
    if (before === undefined) this.first = after;
    else before.after = after;
    if (after === undefined) this.last = before;
    else after.before = before;
    response.before = undefined;
    response.after = undefined;
  }

  private cutStalled(): void {
    const { nowMs } = awake;
    const { maxBytes } = this;
    while (this.heldBytes > maxBytes * reliefShare && this.first !== undefined) {
      const response = this.first;
      const isPatient = this.heldBytes < maxBytes * hardShare;
      response.client.look();
      if (response !== this.first) continue;
      if (isPatient && nowMs - response.sinceMs < patienceMs) return;
      response.hold(0, 0);
      this.onCut();
      response.client.cut();
    }
  }

  /** Schedules relief outside of the write that found the memory full, because cutting ends exchanges. */
  private scheduleRelief(): void {
    if (this.isReliefDue) return;
    this.isReliefDue = true;
    setImmediate(() => {
      this.isReliefDue = false;
      this.relieve();
    });
  }
}

/** What reads from an upstream for a client, and stops while the response memory is full. */
export type StoppableReader = {
  /** Set by the response memory while the reader waits for it; initially false. */
  awaitsRoom: boolean;
  /** There is room again. */
  onRoom(): void;
};

/** A client that bytes wait for, as the response memory sees it. */
export type WaitingClient = {
  /** Reports by `hold` how much waits now, and how much the client has taken. */
  look(): void;
  /** Ends the response visibly; nothing is held for it afterwards. */
  cut(): void;
};

/** The bytes that wait for one client, on one connection or stream. */
export class WaitingResponse {
  /** Since when the client has made no progress, milliseconds of the awake clock. */
  sinceMs = 0;
  /** @internal Neighbours in the list. */
  before: WaitingResponse | undefined = undefined;
  /** @internal */
  after: WaitingResponse | undefined = undefined;
  readonly client: WaitingClient;
  private readonly memory: ResponseMemory;
  private bytes = 0;
  private takenBytes = 0;

  constructor(memory: ResponseMemory, client: WaitingClient) {
    this.memory = memory;
    this.client = client;
  }

  /** Sets that `bytes` wait for the client, which has taken `takenBytes` so far; only the growth of that count matters. */
  hold(bytes: number, takenBytes: number): void {
    const { memory } = this;
    const change = bytes - this.bytes;
    this.bytes = bytes;
    if (bytes === 0) {
      if (change !== 0) memory.remove(this);
    } else if (change === bytes) {
      this.takenBytes = takenBytes;
      memory.append(this);
    } else if (takenBytes - this.takenBytes >= progressBytes) {
      this.takenBytes = takenBytes;
      memory.remove(this);
      memory.append(this);
    }
    if (change !== 0) memory.changed(change);
  }
}
