import type { Compression } from "@svc-gateway/common/features/compression.ts";
import { expect } from "chai";
import type { BodyEnds } from "../../src/exchange/filter.ts";
import { compressionFilter } from "../../src/filters/compression.ts";
import type { HeaderList, ResponseHead } from "../../src/message/message.ts";
import { exchange } from "./support.ts";

const settings: Compression = {
  gzip: true,
  brotli: true,
  level: 6,
  minSize: 1000,
  types: ["text/html", "text/event-stream", "application/grpc+json"],
};

const nowhere: BodyEnds = {
  client: { onData: () => true, onEnd: () => {}, onAbort: () => {} },
  upstream: { resume: () => {} },
};

type Given = {
  readonly settings?: Partial<Compression>;
  readonly accepts?: string;
  readonly request?: HeaderList;
  readonly head?: Partial<ResponseHead>;
  readonly hasSlot?: boolean;
};

/** What becomes of the head, and the coding that was chosen. */
function compress({ settings: change, accepts = "gzip, br", request = [], head, hasSlot = true }: Given) {
  const slots = { taken: 0, take: () => hasSlot && ++slots.taken > 0, free: () => slots.taken-- };
  const response: ResponseHead = {
    status: 200,
    headers: ["Content-Type", "text/html"],
    length: undefined,
    bodyless: false,
    ...head,
  };
  const under = exchange({ headers: ["Accept-Encoding", accepts, ...request] });
  const filter = compressionFilter({ ...settings, ...change }, slots);
  const transform = filter.transformBody?.(under, response, nowhere);
  transform?.cancel();
  const at = response.headers.indexOf("Content-Encoding");
  return {
    coding: at < 0 ? undefined : response.headers[at + 1],
    transforms: transform !== undefined,
    taken: slots.taken,
    ...response,
  };
}

describe("the compression filter", () => {
  describe("chooses", () => {
    for (const [accepts, change, coding] of [
      ["gzip, br", {}, "br"],
      ["br;q=0.1, gzip", {}, "br"],
      ["gzip", {}, "gzip"],
      ["gzip, br", { brotli: false }, "gzip"],
      ["br", { brotli: false }, undefined],
      ["gzip", { gzip: false }, undefined],
      ["identity", {}, undefined],
      ["", {}, undefined],
    ] as const) {
      it(`${String(coding)} for ${JSON.stringify(accepts)} and ${JSON.stringify(change)}`, () => {
        const result = compress({ accepts, settings: change });
        expect([result.coding, result.transforms]).to.deep.equal([coding, coding !== undefined]);
      });
    }
  });

  const html: HeaderList = ["Content-Type", "text/html"];
  const untouched: { readonly [what: string]: Partial<Given> } = {
    "another type": { head: { headers: ["Content-Type", "image/png"] } },
    "no type": { head: { headers: [] } },
    "gRPC, whatever the resource says": { head: { headers: ["content-type", "application/grpc+json"] } },
    "what is encoded already": { head: { headers: [...html, "Content-Encoding", "zstd"] } },
    "a part": { head: { status: 206 } },
    "a range that could not be served": {
      head: { status: 416, headers: [...html, "Content-Range", "bytes */9"] },
    },
    "no-transform of the upstream": { head: { headers: [...html, "cache-control", "public,No-Transform"] } },
    "no-transform of the client": { request: ["Cache-Control", "no-transform"] },
    "a small response": { head: { length: 999 } },
    "an empty response": { head: { length: 0 }, settings: { minSize: 0 } },
    "204": { head: { status: 204, bodyless: true } },
    "205": { head: { status: 205 } },
    "304": { head: { status: 304, bodyless: true } },
  };
  for (const [what, given] of Object.entries(untouched)) {
    it(`leaves alone ${what}`, () => {
      const before = given.head?.headers ?? html;
      const result = compress({ ...given, head: { ...given.head, headers: [...before] } });
      expect([result.transforms, result.taken, result.headers]).to.deep.equal([false, 0, before]);
    });
  }

  for (const [what, given] of Object.entries<Partial<Given>>({
    "a response to HEAD": { head: { bodyless: true } },
    "a response for a client that accepts no coding": { accepts: "br;q=0, gzip;q=0" },
    "a response for which there is no encoder left": { hasSlot: false },
  })) {
    it(`only tells caches of the other form of ${what}`, () => {
      const result = compress(given);
      expect([result.transforms, result.headers]).to.deep.equal([
        false,
        [...html, "Vary", "Accept-Encoding"],
      ]);
    });
  }

  it("compresses the smallest declared length, and types in any case with parameters", () => {
    const headers = ["Content-Type", " TEXT/html ; charset=utf-8"];
    expect(compress({ head: { length: 1000, headers } }).coding).to.equal("br");
  });

  it("takes away what is about the old bytes, and weakens the validator", () => {
    const headers = [
      ...["content-length", "2000", "Content-Type", "text/html", "Accept-Ranges", "bytes"],
      ...["ETag", '"a"', "Repr-Digest", "sha-256=:x:", "Digest", "x", "Content-MD5", "x", "X-Kept", "1"],
    ];
    const { headers: changed, length } = compress({ head: { headers, length: 2000 } });
    expect(length).to.equal(undefined);
    expect(changed).to.deep.equal([
      ...["Content-Type", "text/html", "ETag", 'W/"a"', "X-Kept", "1"],
      ...["Vary", "Accept-Encoding", "Content-Encoding", "br"],
    ]);
    const weak = compress({ head: { headers: [...html, "ETag", 'W/"b"'] } });
    expect(weak.headers).to.include('W/"b"');
  });

  for (const [vary, expected] of [
    ["Origin", ["Origin", "Accept-Encoding"]],
    ["origin, ACCEPT-encoding", ["origin, ACCEPT-encoding"]],
    ["*", ["*"]],
    ["X-Accept-Encoding", ["X-Accept-Encoding", "Accept-Encoding"]],
  ] as const) {
    it(`makes of Vary: ${vary} ${expected.join(" and ")}`, () => {
      const { headers } = compress({ head: { headers: [...html, "Vary", vary] } });
      const values = headers.filter((_, index) => headers[index - 1] === "Vary");
      expect(values).to.deep.equal(expected);
    });
  }
});
