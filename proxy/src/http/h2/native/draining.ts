/** What the PING after the first GOAWAY carries; its acknowledgement shows that the client has read both. */
export const noticePing = Buffer.from("svc-last", "latin1");

/** How long the last GOAWAY waits for that acknowledgement. */
const noticeMs = 1000;

/**
 * How far the graceful end of a connection has come (RFC 9113 6.8): a first GOAWAY that refuses nothing, and a round trip later
 * the one that names the last stream that was taken.
 */
export class Draining {
  private state: "no" | "noticed" | "final" = "no";
  private sinceMs = 0;

  get hasBegun(): boolean {
    return this.state !== "no";
  }

  /** No more streams are taken. */
  get isFinal(): boolean {
    return this.state === "final";
  }

  begin(nowMs: number): void {
    this.state = "noticed";
    this.sinceMs = nowMs;
  }

  /** Whether it is time for the last GOAWAY: the acknowledgement has not come. */
  isDue(nowMs: number): boolean {
    return this.state === "noticed" && nowMs - this.sinceMs >= noticeMs;
  }

  isAnswer(ping: Uint8Array): boolean {
    return this.state === "noticed" && noticePing.equals(ping);
  }

  finish(): void {
    this.state = "final";
  }
}
