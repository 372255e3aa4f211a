import { constants, createBrotliCompress, createGzip, type BrotliCompress, type Gzip } from "node:zlib";
import type { BodyEnds, BodyTransform } from "../exchange/filter.ts";
import type { Chunk, HeaderList } from "../message/message.ts";

/** Names of codings in Content-Encoding (RFC 9110 8.4.1, RFC 7932 13). */
export type Coding = "gzip" | "br";

export type EncoderOptions = {
  /** 1 (fast) to 9 (small). */
  readonly level: number;
  /** Whether the encoder is flushed as soon as it has encoded every piece it got, instead of after a pause. */
  readonly flushesAtOnce: boolean;
};

/** The time without new data after which the encoder is flushed, in milliseconds. */
const pauseMs = 10;

/**
 * A window of 64 KiB. With the larger windows that browsers support, an encoder of a high quality holds 33 MB instead
 * of 1.7 MB, and compresses text better by only a few per cent.
 */
const brotliWindowBits = 16;

/** Puts an encoder between the upstream and the client. `onClosed` is called once, when its memory is free. */
export function createEncoder(
  coding: Coding,
  options: EncoderOptions,
  ends: BodyEnds,
  onClosed: () => void,
): BodyTransform {
  const { level } = options;
  const encoder =
    coding === "gzip"
      ? createGzip({ level })
      : createBrotliCompress({
          params: {
            [constants.BROTLI_PARAM_QUALITY]: level,
            [constants.BROTLI_PARAM_LGWIN]: brotliWindowBits,
          },
        });
  encoder.once("close", onClosed);
  const flushKind = coding === "gzip" ? constants.Z_SYNC_FLUSH : constants.BROTLI_OPERATION_FLUSH;
  return new BodyEncoder(encoder, flushKind, options.flushesAtOnce, ends);
}

/**
 * The compression of one body, which runs on libuv's threads. Backpressure applies on both sides: the encoder is read
 * only as fast as the client accepts data, and stops the upstream while its input buffer is full.
 */
class BodyEncoder implements BodyTransform {
  private readonly encoder: Gzip | BrotliCompress;
  private readonly flushKind: number;
  private readonly flushesAtOnce: boolean;
  private trailers: HeaderList | undefined = undefined;
  /** Pieces that the encoder has not processed yet. */
  private pending = 0;
  private pause: NodeJS.Timeout | undefined = undefined;
  private ended = false;

  constructor(encoder: Gzip | BrotliCompress, flushKind: number, flushesAtOnce: boolean, ends: BodyEnds) {
    this.encoder = encoder;
    this.flushKind = flushKind;
    this.flushesAtOnce = flushesAtOnce;
    encoder.on("data", (chunk: Buffer) => {
      if (!ends.client.onData(chunk)) encoder.pause();
    });
    encoder.on("drain", () => ends.upstream.resume());
    encoder.once("end", () => ends.client.onEnd(this.trailers));
    encoder.once("error", () => ends.client.onAbort("malformed"));
  }

  onData(chunk: Chunk): boolean {
    this.pending++;
    this.stopWaiting();
    return typeof chunk === "string"
      ? this.encoder.write(chunk, "latin1", this.written)
      : this.encoder.write(chunk, this.written);
  }

  onEnd(trailers: HeaderList | undefined): void {
    this.trailers = trailers;
    this.ended = true;
    this.stopWaiting();
    this.encoder.end();
  }

  onAbort(): void {
    this.cancel();
  }

  resume(): void {
    this.encoder.resume();
  }

  cancel(): void {
    this.ended = true;
    this.stopWaiting();
    this.encoder.destroy();
  }

  private readonly written = (): void => {
    if (--this.pending > 0 || this.ended) return;
    if (this.flushesAtOnce) this.flush();
    else this.pause = setTimeout(() => this.flush(), pauseMs);
  };

  private flush(): void {
    this.encoder.flush(this.flushKind);
  }

  private stopWaiting(): void {
    clearTimeout(this.pause);
    this.pause = undefined;
  }
}
