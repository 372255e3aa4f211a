import { expect } from "chai";
import type { Filter } from "../../src/exchange/filter.ts";
import { createBench } from "./fakes.ts";
import { Fields } from "../../src/message/fields.ts";

const cancelled: string[] = [];

/** A filter that adds its name to the head and to every chunk of the body. */
const marking = (name: string): Filter => ({
  slug: name,
  onResponse: (_, head) => head.headers.append("X-Seen", name),
  transformBody: (_exchange, _head, { client, upstream }) => ({
    onData: (chunk) => client.onData(`${chunk.toString()} ${name}`),
    onEnd: (trailers) => client.onEnd(trailers),
    onAbort: (reason) => client.onAbort(reason),
    resume: () => upstream.resume(),
    cancel: () => void cancelled.push(name),
  }),
});

describe("response filters", () => {
  it("response filters of the backend see head and body first, then those of the route", () => {
    const bench = createBench({ filters: [marking("route")], backendFilters: [marking("backend")] });
    const client = bench.request();
    const { handler } = bench.upstream.last;
    handler.onHead({ status: 200, headers: Fields.of([]), length: undefined, bodyless: false });
    handler.onData("body");
    handler.onEnd(undefined);
    expect(client.head?.headers).to.deep.equal(["X-Seen", "backend", "X-Seen", "route"]);
    expect(client.text).to.equal("body backend route");
  });

  it("transformations resume the upstream through each other, and are all freed when the client leaves", () => {
    const bench = createBench({ filters: [marking("route")], backendFilters: [marking("backend")] });
    const client = bench.request();
    bench.upstream.last.handler.onHead({
      status: 200,
      headers: Fields.of([]),
      length: undefined,
      bodyless: false,
    });
    client.onDrain?.();
    expect(bench.upstream.resumed).to.equal(1);
    client.onClose?.("client-closed");
    expect(cancelled.splice(0)).to.deep.equal(["route", "backend"]);
  });

  it("response filters of the backend see the proxy's own answers once the backend is chosen", () => {
    const own = createBench({ filters: [marking("route")], backendFilters: [marking("backend")] });
    const failed = own.request();
    own.upstream.last.handler.onError({ kind: "refused", text: "x", requestSent: false });
    expect(failed.head?.headers.slice(-4)).to.deep.equal(["X-Seen", "backend", "X-Seen", "route"]);
    const refusing: Filter = { slug: "refusing", onRequest: () => ({ status: 403 }) };
    const bench = createBench({
      filters: [refusing, marking("route")],
      backendFilters: [marking("backend")],
    });
    expect(bench.request().head?.headers.slice(-2)).to.deep.equal(["X-Seen", "route"]);
    expect(bench.request().head?.headers).not.to.include("backend");
  });

  it("response filters of the backend work alone, and may leave the body unchanged", () => {
    const bench = createBench({
      backendFilters: [{ slug: "looks", transformBody: () => undefined }, marking("backend")],
    });
    const client = bench.request();
    const { handler } = bench.upstream.last;
    handler.onHead({ status: 200, headers: Fields.of([]), length: undefined, bodyless: false });
    handler.onData("body");
    expect(client.text).to.equal("body backend");
  });
});
