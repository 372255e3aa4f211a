/** What happened to one attempt of a request, in milliseconds of the monotonic clock. */
export class AttemptNote {
  /** The end of the attempt has been noted; later events are of an attempt that was given up. */
  private isOver = false;
  private readonly startedAtMs = performance.now();
  private connectedAtMs: number | undefined = undefined;
  private answeredAtMs: number | undefined = undefined;
  private endedAtMs: number | undefined = undefined;

  /** The attempt has a connection. */
  connected(): void {
    if (!this.isOver) this.connectedAtMs = performance.now();
  }

  /** The head of its response has come. */
  answered(): void {
    if (!this.isOver) this.answeredAtMs = performance.now();
  }

  ended(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.endedAtMs = performance.now();
  }

  /** From the beginning to the connection; undefined when there was none. */
  get connectMs(): number | undefined {
    return this.since(this.connectedAtMs);
  }

  /** From the beginning to the head of the response; undefined when there was none. */
  get firstByteMs(): number | undefined {
    return this.since(this.answeredAtMs);
  }

  /** The whole duration; that so far while the attempt goes on. */
  get durationMs(): number {
    return (this.endedAtMs ?? performance.now()) - this.startedAtMs;
  }

  private since(timeMs: number | undefined): number | undefined {
    return timeMs === undefined ? undefined : timeMs - this.startedAtMs;
  }
}

/** The attempts of a request, noted where its log asks for their times. */
export class UpstreamNotes {
  /** The attempt that was begun last. */
  last: AttemptNote | undefined = undefined;

  begin(): AttemptNote {
    this.last = new AttemptNote();
    return this.last;
  }
}
