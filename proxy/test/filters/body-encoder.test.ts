import { randomBytes } from "node:crypto";
import { brotliDecompressSync, constants, gunzipSync } from "node:zlib";
import { expect } from "chai";
import { createEncoder, type Coding } from "../../src/filters/body-encoder.ts";
import type { HeaderList } from "../../src/message/message.ts";
import { eventually } from "../integration/gateway.ts";

const decoders = {
  gzip: (data: Buffer) => gunzipSync(data, { finishFlush: constants.Z_SYNC_FLUSH }),
  br: (data: Buffer) => brotliDecompressSync(data, { finishFlush: constants.BROTLI_OPERATION_FLUSH }),
};

/** An encoder between two recorded ends. */
function encode(coding: Coding, { flushesAtOnce = false, takes = true } = {}) {
  const seen = {
    output: Buffer.alloc(0),
    resumes: 0,
    trailers: undefined as HeaderList | undefined,
    ended: false,
    aborted: false,
    closed: 0,
    takes,
  };
  const transform = createEncoder(
    coding,
    { level: 6, flushesAtOnce },
    {
      client: {
        onData(chunk) {
          seen.output = Buffer.concat([seen.output, Buffer.from(chunk as Buffer)]);
          return seen.takes;
        },
        onEnd(trailers) {
          seen.ended = true;
          seen.trailers = trailers;
        },
        onAbort: () => (seen.aborted = true),
      },
      upstream: { resume: () => seen.resumes++ },
    },
    () => seen.closed++,
  );
  const text = (): string => decoders[coding](seen.output).toString("latin1");
  return { transform, seen, text };
}

describe("a body encoder", () => {
  for (const coding of ["gzip", "br"] as const) {
    describe(coding, () => {
      it(`the ${coding} encoder encodes text and bytes, passes trailers on, and frees itself`, async () => {
        const { transform, seen, text } = encode(coding);
        transform.onData("caf\xe9 ");
        transform.onData(Buffer.from("crème", "latin1"));
        transform.onEnd(["x-sum", "1"]);
        await eventually(() => seen.ended && seen.closed === 1);
        expect([text(), seen.trailers]).to.deep.equal(["caf\xe9 cr\xe8me", ["x-sum", "1"]]);
      });

      it(`the ${coding} encoder ends an empty body`, async () => {
        const { transform, seen, text } = encode(coding);
        transform.onEnd(undefined);
        await eventually(() => seen.ended);
        expect(text()).to.equal("");
      });

      for (const flushesAtOnce of [true, false]) {
        it(`the ${coding} encoder sends what it has ${flushesAtOnce ? "after each piece" : "when the upstream pauses"}`, async () => {
          const { transform, seen, text } = encode(coding, { flushesAtOnce });
          for (const event of ["data: 1\n\n", "data: 2\n\n"]) {
            transform.onData(event);
            await eventually(() => seen.output.length > 0 && text().endsWith(event));
          }
          expect([text(), seen.ended]).to.deep.equal(["data: 1\n\ndata: 2\n\n", false]);
          transform.cancel();
          await eventually(() => seen.closed === 1);
        });
      }

      it(`the ${coding} encoder pauses the upstream while the client takes nothing, and resumes it afterwards`, async () => {
        const { transform, seen } = encode(coding, { takes: false });
        // Random bytes, so that the output has the length of the input.
        const sent: Buffer[] = [];
        let wants = true;
        const feed = (): void => {
          seen.resumes = 0;
          sent.push(randomBytes(16_384));
          wants = transform.onData(sent.at(-1) ?? "");
        };
        for (let turns = 0; turns < 500; turns++) {
          if (wants || seen.resumes > 0) feed();
          await new Promise((resolve) => setImmediate(resolve));
        }
        // An upstream that is not paused is not resumed.
        while (wants || seen.resumes > 0) feed();
        // As much as fits into the buffers of the encoder, on either side of it.
        expect(sent.length).to.be.lessThan(30);
        seen.takes = true;
        transform.resume();
        await eventually(() => seen.resumes > 0);
        transform.onEnd(undefined);
        await eventually(() => seen.ended);
        expect(decoders[coding](seen.output).equals(Buffer.concat(sent))).to.equal(true);
      });

      it(`the ${coding} encoder frees itself when it is cancelled in the middle, and sends nothing more`, async () => {
        const { transform, seen } = encode(coding);
        for (let i = 0; i < 20; i++) transform.onData(randomBytes(65_536));
        transform.cancel();
        transform.cancel();
        const { length } = seen.output;
        await eventually(() => seen.closed === 1);
        expect([seen.output.length, seen.ended, seen.aborted]).to.deep.equal([length, false, false]);
      });
    });
  }
});
