import { awake } from "../timing/awake-clock.ts";

/** The time in milliseconds without progress before a client can be cut, unless `hardShare` is exceeded. */
const patienceMs = 1000;
/** The share of the memory down to which clients are cut, so that relief is not needed again immediately. */
const reliefShare = 0.875;
/** The share of the memory that ends patience: reading has stopped, but new responses have still added bytes. */
const hardShare = 1.25;
/** The most bytes that a resumed reader may read. */
const readBytes = 65_536;
/** The fewest bytes that a client must read for this to count as progress. */
const progressBytes = 4096;

/**
 * Counts the response bytes that wait for clients on all connections of one worker. At `maxBytes` reading from
 * upstreams stops. While it stays full, clients are cut, beginning with the one that has made no progress for longest
 * (docs/security.md, "Clients that do not read").
 */
export class ResponseMemory {
  readonly maxBytes: number;
  heldBytes = 0;
  private readonly onCut: () => void;
  /** The ends of the list of clients for which bytes wait; the first has made no progress for longest. */
  private first: WaitingResponse | undefined = undefined;
  private last: WaitingResponse | undefined = undefined;
  /** The readers that stopped for lack of memory, each at most once. */
  private stopped: StoppableReader[] = [];
  private isReliefDue = false;

  /** `onCut` is called for each client that is cut for lack of memory. */
  constructor(maxBytes: number = Number.POSITIVE_INFINITY, onCut: () => void = () => {}) {
    this.maxBytes = maxBytes;
    this.onCut = onCut;
  }

  /** Whether the limit is reached, so that reading for clients must stop. */
  get full(): boolean {
    return this.heldBytes >= this.maxBytes;
  }

  /** Returns true if the reader may continue. Otherwise it must stop until its `onRoom` is called, once. */
  admit(reader: StoppableReader): boolean {
    if (!this.full) return true;
    if (reader.awaitsRoom) return false;
    reader.awaitsRoom = true;
    this.stopped.push(reader);
    this.scheduleRelief();
    return false;
  }

  /** Cuts clients if necessary, and resumes stopped readers if possible. Also called by the sweeps of fronts. */
  relieve(): void {
    if (this.full) this.cutStalled();
    // Only as many readers as fit: the bytes that they read are not counted before they arrive.
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

  /** @internal Called when the number of bytes that wait for a client has changed. */
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

  /** Schedules relief for after the write that found the memory full, because cutting clients ends exchanges. */
  private scheduleRelief(): void {
    if (this.isReliefDue) return;
    this.isReliefDue = true;
    setImmediate(() => {
      this.isReliefDue = false;
      this.relieve();
    });
  }
}

/** A reader of an upstream for a client, which stops while the response memory is full. */
export type StoppableReader = {
  /** Set by the response memory while the reader waits for it; initially false. */
  awaitsRoom: boolean;
  /** Called when there is room again. */
  onRoom(): void;
};

/** A client for which bytes wait, as seen by the response memory. */
export type WaitingClient = {
  /** Updates, by a call of `hold`, how many bytes wait and how many the client has read. */
  look(): void;
  /** Ends the response visibly; nothing is held for it afterwards. */
  cut(): void;
};

/** Counts the bytes that wait for one client, on one connection or stream. */
export class WaitingResponse {
  /** The time of the client's last progress, in milliseconds of the awake clock. */
  sinceMs = 0;
  /** @internal The neighbours in the list. */
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

  /** Records that `bytes` wait for the client. `takenBytes` is the total that it has read; only growth matters. */
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
