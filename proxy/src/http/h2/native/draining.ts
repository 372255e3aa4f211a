/** The payload of the PING after the first GOAWAY; its acknowledgement shows that the client has read both. */
export const noticePing = Buffer.from("svc-last", "latin1");

/** How long the last GOAWAY waits for that acknowledgement, in milliseconds. */
const noticeMs = 1000;

/**
 * The state of the graceful end of a connection (RFC 9113 6.8): a first GOAWAY that refuses nothing, and a round trip
 * later one with the last accepted stream.
 */
export class Draining {
  private state: "no" | "noticed" | "final" = "no";
  private sinceMs = 0;

  get hasBegun(): boolean {
    return this.state !== "no";
  }

  /** True once no more streams are accepted. */
  get isFinal(): boolean {
    return this.state === "final";
  }

  begin(nowMs: number): void {
    this.state = "noticed";
    this.sinceMs = nowMs;
  }

  /** Reports whether the last GOAWAY is due because the acknowledgement has not arrived in time. */
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
