import type { Upstream, UpstreamEndpoint } from "../upstream/upstream.ts";

/** What happened to one attempt of a request; times are in milliseconds of the monotonic clock. */
export class AttemptNote {
  readonly endpoint: UpstreamEndpoint;
  readonly protocol: Upstream["protocol"];
  /** The span of the attempt; empty where the request is not traced. */
  readonly spanId: string;
  readonly startedAtMs = performance.now();
  /** Of the response; 0 when there was none. */
  status = 0;
  /** A word for programs and a text for readers, where the attempt failed. */
  error: string | undefined = undefined;
  errorText: string | undefined = undefined;
  /** Undefined while there is no connection. */
  isReused: boolean | undefined = undefined;
  private connectedAtMs: number | undefined = undefined;
  private answeredAtMs: number | undefined = undefined;
  private endedAtMs: number | undefined = undefined;

  constructor(endpoint: UpstreamEndpoint, protocol: Upstream["protocol"], spanId: string) {
    this.endpoint = endpoint;
    this.protocol = protocol;
    this.spanId = spanId;
  }

  /** The attempt has a connection. */
  connected(isReused: boolean): void {
    if (this.endedAtMs !== undefined) return;
    this.connectedAtMs = performance.now();
    this.isReused = isReused;
  }

  /** The head of its response has come. */
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

/** Further attempts of a request are not noted singly. */
const maxNotes = 32;

/** The attempts of a request, noted where its log or its trace asks for them. */
export class UpstreamNotes {
  readonly all: AttemptNote[] = [];
  /** The attempt that was begun last. */
  last: AttemptNote | undefined = undefined;

  begin(endpoint: UpstreamEndpoint, protocol: Upstream["protocol"], spanId: string): AttemptNote {
    this.last = new AttemptNote(endpoint, protocol, spanId);
    if (this.all.length < maxNotes) this.all.push(this.last);
    return this.last;
  }
}
