import type { Compression } from "@svc-gateway/common/features/compression.ts";
import { expect } from "chai";
import type { BodyEnds } from "../../src/exchange/filter.ts";
import { compressionFilter } from "../../src/filters/compression.ts";
import { Fields } from "../../src/message/fields.ts";
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

/** Passes a response head to the filter, and returns the changed head with the coding that was chosen. */
function compress({ settings: change, accepts = "gzip, br", request = [], head, hasSlot = true }: Given) {
  const slots = { taken: 0, take: () => hasSlot && ++slots.taken > 0, free: () => slots.taken-- };
  const response: ResponseHead = {
    status: 200,
    headers: Fields.of(["Content-Type", "text/html"]),
    length: undefined,
    bodyless: false,
    ...head,
  };
  const under = exchange({ headers: ["Accept-Encoding", accepts, ...request] });
  const filter = compressionFilter({ ...settings, ...change }, slots);
  const transform = filter.transformBody?.(under, response, nowhere);
  transform?.cancel();
  const headers = [...response.headers.toList()];
  const at = headers.indexOf("Content-Encoding");
  return {
    coding: at < 0 ? undefined : headers[at + 1],
    transforms: transform !== undefined,
    taken: slots.taken,
    ...response,
    headers,
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
      it(`compression: Accept-Encoding ${JSON.stringify(accepts)} with ${JSON.stringify(change)} gets ${coding ?? "no"} coding`, () => {
        const result = compress({ accepts, settings: change });
        expect([result.coding, result.transforms]).to.deep.equal([coding, coding !== undefined]);
      });
    }
  });

  const html: HeaderList = ["Content-Type", "text/html"];
  const untouched: { readonly [what: string]: Partial<Given> } = {
    "a response of another type": { head: { headers: Fields.of(["Content-Type", "image/png"]) } },
    "a response without a type": { head: { headers: Fields.of([]) } },
    "a gRPC response, although the resource lists its type,": {
      head: { headers: Fields.of(["content-type", "application/grpc+json"]) },
    },
    "a response that is already encoded": {
      head: { headers: Fields.of([...html, "Content-Encoding", "zstd"]) },
    },
    "a partial response": { head: { status: 206 } },
    "a response to an unsatisfiable range": {
      head: { status: 416, headers: Fields.of([...html, "Content-Range", "bytes */9"]) },
    },
    "a response with no-transform": {
      head: { headers: Fields.of([...html, "cache-control", "public,No-Transform"]) },
    },
    "a response to a request with no-transform": { request: ["Cache-Control", "no-transform"] },
    "a small response": { head: { length: 999 } },
    "an empty response": { head: { length: 0 }, settings: { minSize: 0 } },
    "a 204 response": { head: { status: 204, bodyless: true } },
    "a 205 response": { head: { status: 205 } },
    "a 304 response": { head: { status: 304, bodyless: true } },
  };
  for (const [what, given] of Object.entries(untouched)) {
    it(`compression: ${what} is not changed`, () => {
      const before = given.head?.headers?.toList() ?? html;
      const result = compress({ ...given, head: { ...given.head, headers: Fields.of([...before]) } });
      expect([result.transforms, result.taken, result.headers]).to.deep.equal([false, 0, before]);
    });
  }

  for (const [what, given] of Object.entries<Partial<Given>>({
    "a response to HEAD": { head: { bodyless: true } },
    "a response for a client that accepts no coding": { accepts: "br;q=0, gzip;q=0" },
    "a response for which no encoder is free": { hasSlot: false },
  })) {
    it(`compression: ${what} is sent as it is, with Vary: Accept-Encoding`, () => {
      const result = compress(given);
      expect([result.transforms, result.headers]).to.deep.equal([
        false,
        [...html, "Vary", "Accept-Encoding"],
      ]);
    });
  }

  it("compression: a response of the smallest declared length is compressed, with its type in any case and with parameters", () => {
    const headers = ["Content-Type", " TEXT/html ; charset=utf-8"];
    expect(compress({ head: { length: 1000, headers: Fields.of(headers) } }).coding).to.equal("br");
  });

  it("compression: headers about the original bytes are removed, and the ETag becomes weak", () => {
    const headers = [
      ...["content-length", "2000", "Content-Type", "text/html", "Accept-Ranges", "bytes"],
      ...["ETag", '"a"', "Repr-Digest", "sha-256=:x:", "Digest", "x", "Content-MD5", "x", "X-Kept", "1"],
    ];
    const { headers: changed, length } = compress({ head: { headers: Fields.of(headers), length: 2000 } });
    expect(length).to.equal(undefined);
    expect(changed).to.deep.equal([
      ...["Content-Type", "text/html", "ETag", 'W/"a"', "X-Kept", "1"],
      ...["Vary", "Accept-Encoding", "Content-Encoding", "br"],
    ]);
    const weak = compress({ head: { headers: Fields.of([...html, "ETag", 'W/"b"']) } });
    expect(weak.headers).to.include('W/"b"');
  });

  for (const [vary, expected] of [
    ["Origin", ["Origin", "Accept-Encoding"]],
    ["origin, ACCEPT-encoding", ["origin, ACCEPT-encoding"]],
    ["*", ["*"]],
    ["X-Accept-Encoding", ["X-Accept-Encoding", "Accept-Encoding"]],
  ] as const) {
    it(`compression: Vary: ${vary} becomes ${expected.join(" and ")}`, () => {
      const { headers } = compress({ head: { headers: Fields.of([...html, "Vary", vary]) } });
      const values = headers.filter((_, index) => headers[index - 1] === "Vary");
      expect(values).to.deep.equal(expected);
    });
  }
});
