import { connect, type Socket } from "node:net";

/** HTTP/2 frames built by hand (RFC 9113 4.1), for bytes that a correct client library refuses to send. */
export const frameTypes = {
  data: 0,
  headers: 1,
  priority: 2,
  rstStream: 3,
  settings: 4,
  pushPromise: 5,
  ping: 6,
  goaway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const;

export const flags = { endStream: 1, ack: 1, endHeaders: 4, padded: 8, priority: 32 } as const;

const empty: Buffer = Buffer.alloc(0);

export const preface = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "latin1");

export function frame(type: number, flagBits: number, streamId: number, payload: Buffer = empty): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flagBits;
  head.writeUInt32BE(streamId, 5);
  return Buffer.concat([head, payload]);
}

export const uint32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};

/** A field as a literal without indexing (RFC 7541 6.2.2). */
export const field = (name: string, value: string): Buffer =>
  Buffer.concat([Buffer.of(0), literal(name), literal(value)]);

/** Returns a string after its length, which is a number with a prefix of 7 bits (RFC 7541 5.1 and 5.2). */
function literal(text: string): Buffer {
  const bytes = Buffer.from(text, "latin1");
  if (bytes.length < 127) return Buffer.concat([Buffer.of(bytes.length), bytes]);
  const length = [127];
  let rest = bytes.length - 127;
  for (; rest > 127; rest >>>= 7) length.push((rest & 127) | 128);
  return Buffer.concat([Buffer.of(...length, rest), bytes]);
}

export const requestBlock = (method: string, fields: readonly (readonly [string, string])[] = []): Buffer =>
  Buffer.concat(
    [
      [":method", method] as const,
      [":scheme", "http"] as const,
      [":path", "/"] as const,
      [":authority", "a.test"] as const,
      ...fields,
    ].map(([name, value]) => field(name, value)),
  );

/** Returns HEADERS of a request, which a body follows unless `end` is true. */
export const requestFrame = (
  streamId: number,
  options: {
    readonly end: boolean;
    readonly method?: string;
    readonly fields?: readonly (readonly [string, string])[];
  },
): Buffer =>
  frame(
    frameTypes.headers,
    flags.endHeaders | (options.end ? flags.endStream : 0),
    streamId,
    requestBlock(options.method ?? "GET", options.fields),
  );

export type Frame = {
  readonly type: number;
  readonly flags: number;
  readonly streamId: number;
  readonly payload: Buffer;
};

/** One end of a connection, at the level of frames: keeps all received frames, and can wait for some. */
export class RawPeer {
  readonly frames: Frame[] = [];
  /** True once the other end has closed the connection. */
  ended = false;
  readonly socket: Socket;
  private buffered: Buffer = Buffer.alloc(0);
  private prefaceBytes: number;
  private readonly waiters = new Set<() => void>();

  /** With `asServer` the other end is a client, which begins with its preface. */
  constructor(socket: Socket, options: { readonly asServer: boolean }) {
    this.socket = socket;
    this.prefaceBytes = options.asServer ? preface.length : 0;
    socket.on("error", () => undefined);
    socket.on("data", (chunk: Buffer) => this.onData(chunk));
    const onEnd = (): void => {
      this.ended = true;
      this.wake();
    };
    socket.on("end", onEnd);
    socket.on("close", onEnd);
  }

  send(...frames: readonly Buffer[]): void {
    this.socket.write(Buffer.concat(frames));
  }

  async frame(matches: (frame: Frame) => boolean): Promise<Frame> {
    return this.when(() => this.frames.find(matches));
  }

  async ofType(type: number): Promise<Frame> {
    return this.frame((received) => received.type === type);
  }

  /** Waits for the end of the connection, and returns the error code of the last GOAWAY. */
  async goawayCode(): Promise<number | undefined> {
    await this.when(() => (this.ended ? true : undefined));
    return this.frames.findLast(({ type }) => type === frameTypes.goaway)?.payload.readUInt32BE(4);
  }

  async resetCode(streamId: number): Promise<number> {
    const reset = await this.frame((f) => f.type === frameTypes.rstStream && f.streamId === streamId);
    return reset.payload.readUInt32BE(0);
  }

  async when<T>(probe: () => T | undefined): Promise<T> {
    for (;;) {
      const found = probe();
      if (found !== undefined) return found;
      if (this.ended) throw new Error(`connection ended; frames: ${this.describe()}`);
      await new Promise<void>((resolve) => this.waiters.add(resolve));
    }
  }

  close(): void {
    this.socket.destroy();
  }

  private describe(): string {
    return this.frames.map((f) => `${f.type}/${f.flags}@${f.streamId}`).join(" ");
  }

  private onData(chunk: Buffer): void {
    this.buffered = Buffer.concat([this.buffered, chunk]);
    if (this.prefaceBytes > 0) {
      if (this.buffered.length < this.prefaceBytes) return;
      this.buffered = this.buffered.subarray(this.prefaceBytes);
      this.prefaceBytes = 0;
    }
    while (this.buffered.length >= 9) {
      const end = 9 + this.buffered.readUIntBE(0, 3);
      if (this.buffered.length < end) break;
      this.frames.push({
        type: this.buffered.readUInt8(3),
        flags: this.buffered.readUInt8(4),
        streamId: this.buffered.readUInt32BE(5),
        payload: this.buffered.subarray(9, end),
      });
      this.buffered = this.buffered.subarray(end);
    }
    this.wake();
  }

  private wake(): void {
    const waiters = [...this.waiters];
    this.waiters.clear();
    for (const waiter of waiters) waiter();
  }
}

/** Connects as a client and sends preface and SETTINGS. */
export function rawClient(port: number, settings: Buffer = empty): RawPeer {
  const peer = new RawPeer(connect(port, "127.0.0.1"), { asServer: false });
  peer.send(preface, frame(frameTypes.settings, 0, 0, settings));
  return peer;
}
