import type { Upstream, UpstreamEndpoint } from "../upstream/upstream.ts";

/** A record of one attempt of a request; times are in milliseconds of the monotonic clock. */
export class AttemptNote {
  readonly endpoint: UpstreamEndpoint;
  readonly protocol: Upstream["protocol"];
  /** The id of the span of the attempt; empty if the request is not traced. */
  readonly spanId: string;
  readonly startedAtMs = performance.now();
  /** The status of the response; 0 if there was none. */
  status = 0;
  /** A machine-readable kind and a text for people, if the attempt failed. */
  error: string | undefined = undefined;
  errorText: string | undefined = undefined;
  /** Whether the connection was reused; undefined while there is none. */
  isReused: boolean | undefined = undefined;
  private connectedAtMs: number | undefined = undefined;
  private answeredAtMs: number | undefined = undefined;
  private endedAtMs: number | undefined = undefined;

  constructor(endpoint: UpstreamEndpoint, protocol: Upstream["protocol"], spanId: string) {
    this.endpoint = endpoint;
    this.protocol = protocol;
    this.spanId = spanId;
  }

  /** Called when the attempt has a connection. */
  connected(isReused: boolean): void {
    if (this.endedAtMs !== undefined) return;
    this.connectedAtMs = performance.now();
    this.isReused = isReused;
  }

  /** Called when the head of the response has arrived. */
  answered(status: number): void {
    if (this.endedAtMs !== undefined) return;
    this.answeredAtMs = performance.now();
    this.status = status;
  }

  failed(error: string, text: string): void {
    if (this.endedAtMs !== undefined) return;
    this.error = error;
    this.errorText = text;
    this.ended();
  }

  ended(): void {
    this.endedAtMs ??= performance.now();
  }

  /** The time from the start of the attempt to the connection; undefined if there was none. */
  get connectMs(): number | undefined {
    return this.since(this.connectedAtMs);
  }

  /** The time from the start of the attempt to the head of the response; undefined if there was none. */
  get firstByteMs(): number | undefined {
    return this.since(this.answeredAtMs);
  }

  /** The duration of the attempt; of one that has not ended, the duration so far. */
  get durationMs(): number {
    return (this.endedAtMs ?? performance.now()) - this.startedAtMs;
  }

  private since(timeMs: number | undefined): number | undefined {
    return timeMs === undefined ? undefined : timeMs - this.startedAtMs;
  }
}

/** The most attempts of a request that are recorded individually. */
const maxNotes = 32;

/** The records of the attempts of a request, kept if its log or its trace needs them. */
export class UpstreamNotes {
  readonly all: AttemptNote[] = [];
  /** The attempt that started last. */
  last: AttemptNote | undefined = undefined;

  begin(endpoint: UpstreamEndpoint, protocol: Upstream["protocol"], spanId: string): AttemptNote {
    this.last = new AttemptNote(endpoint, protocol, spanId);
    if (this.all.length < maxNotes) this.all.push(this.last);
    return this.last;
  }
}
