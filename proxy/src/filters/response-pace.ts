import type { ResponsePace } from "@svc-gateway/common/features/rate-limit.ts";
import type { BodyEnds, BodyTransform } from "../exchange/filter.ts";
import type { Chunk, HeaderList } from "../message/message.ts";

/** The interval between two writes while a body is held back, in milliseconds. */
const stepMs = 100;

/** Limits the pace of a body from the upstream to the client: see `pace` in docs/features/rate-limit.md. */
export const paceBody = (
  pace: ResponsePace,
  ends: BodyEnds,
  now: () => number = () => performance.now(),
): BodyTransform => new PacedBody(pace, ends, now);

/**
 * One body, sent at a limited rate after its first bytes. It reads nothing from the upstream while bytes are held back,
 * so that it holds at most the data of one read.
 */
class PacedBody implements BodyTransform {
  private readonly pace: ResponsePace;
  private readonly ends: BodyEnds;
  private readonly now: () => number;
  private readonly startedMs: number;
  private sentBytes = 0;
  private held: Chunk[] = [];
  private end: { readonly trailers: HeaderList | undefined } | undefined = undefined;
  private timer: NodeJS.Timeout | undefined = undefined;
  /** Whether the client accepts no more data for now. */
  private isBlocked = false;

  constructor(pace: ResponsePace, ends: BodyEnds, now: () => number) {
    this.pace = pace;
    this.ends = ends;
    this.now = now;
    this.startedMs = now();
  }

  onData(chunk: Chunk): boolean {
    if (chunk.length > 0) this.held.push(chunk);
    this.send();
    return this.isEmpty;
  }

  onEnd(trailers: HeaderList | undefined): void {
    this.end = { trailers };
    this.send();
  }

  onAbort(): void {
    this.cancel();
  }

  resume(): void {
    this.isBlocked = false;
    this.send();
    if (this.isEmpty) this.ends.upstream.resume();
  }

  cancel(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.held = [];
    this.end = undefined;
  }

  /** Whether no bytes are held back and the client accepts more. */
  private get isEmpty(): boolean {
    return this.held.length === 0 && !this.isBlocked;
  }

  /** The number of bytes that may be sent now. */
  private get allowedBytes(): number {
    const { afterBytes, bytesPerSecond } = this.pace;
    const earned = ((this.now() - this.startedMs) / 1000) * bytesPerSecond;
    return Math.floor(afterBytes + earned) - this.sentBytes;
  }

  private send(): void {
    while (this.held.length > 0 && !this.isBlocked) {
      const allowed = this.allowedBytes;
      if (allowed <= 0) return this.wait();
      const [first] = this.held as [Chunk];
      const isWhole = first.length <= allowed;
      const piece = isWhole ? first : slice(first, 0, allowed);
      if (isWhole) this.held.shift();
      else this.held[0] = slice(first, allowed, first.length);
      this.sentBytes += piece.length;
      this.isBlocked = !this.ends.client.onData(piece);
    }
    if (this.held.length > 0 || this.end === undefined) return;
    const { trailers } = this.end;
    this.end = undefined;
    this.ends.client.onEnd(trailers);
  }

  private wait(): void {
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      this.send();
      if (this.isEmpty) this.ends.upstream.resume();
    }, stepMs);
  }
}

const slice = (chunk: Chunk, start: number, end: number): Chunk =>
  typeof chunk === "string" ? chunk.slice(start, end) : chunk.subarray(start, end);
