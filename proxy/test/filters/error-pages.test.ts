import { expect } from "chai";
import type { Exchange } from "../../src/exchange/exchange.ts";
import { errorPagesFilter } from "../../src/filters/error-pages.ts";
import { createAuthStore } from "../../src/auth/auth-store.ts";
import { exchange } from "./support.ts";

describe("the error-pages filter", () => {
  const filter = errorPagesFilter(
    { codes: [401], standIn: { service: "ns/e", endpoints: "ns/e/80", protocol: "http1" }, fields: [] },
    {
      auth: createAuthStore(),
      rates: { counter: () => ({ take: () => 0, giveBack: () => undefined }) },
      concurrency: { enter: () => 0, leave: () => undefined },
      encoders: { take: () => true, free: () => {} },
      upstreamOf: () => () => {
        throw new Error("no upstream is asked for before an error");
      },
    },
  );

  it("error-pages: the errors of a request are planned to be replaced", () => {
    const under = exchange();
    expect(filter.onRequest?.(under)).to.equal(undefined);
    expect(under.errorPages?.codes.has(401)).to.equal(true);
  });

  it("error-pages: no page answers a question of an authorization by URL, whose status lets a request in", () => {
    const plain = exchange();
    const connection = { ...plain.connection, isQuestion: true as const };
    const under = Object.create(plain, { connection: { value: connection } }) as Exchange;
    expect(filter.onRequest?.(under)).to.equal(undefined);
    expect(under.errorPages).to.equal(undefined);
  });
});
