import { expect } from "chai";
import { maxBodySizeFilter } from "../../src/filters/max-body-size.ts";
import { exchange, type ExchangeOptions } from "./support.ts";

const run = (
  maxBytes: number,
  options: ExchangeOptions,
): { readonly status?: number; readonly limit: number } => {
  const under = exchange(options);
  const reply = maxBodySizeFilter({ maxBytes }).onRequest?.(under);
  if (reply instanceof Promise) throw new Error("the filter must not wait");
  return { ...(reply === undefined ? {} : { status: reply.status }), limit: under.maxBodyBytes };
};

describe("the max-body-size filter", () => {
  it("max-body-size: a declared length up to the limit passes, a longer one gets 413", () => {
    expect(run(100, { body: 99 })).to.deep.equal({ limit: 100 });
    expect(run(100, { body: 100 })).to.deep.equal({ limit: 100 });
    expect(run(100, { body: 101 })).to.include({ status: 413 });
  });

  it("max-body-size: a body without a declared length is limited while it passes", () => {
    expect(run(100, { body: "streaming" })).to.deep.equal({ limit: 100 });
  });

  it("max-body-size: a request without a body passes, also under a limit of 0", () => {
    expect(run(0, {})).to.deep.equal({ limit: 0 });
    expect(run(0, { body: 0 })).to.deep.equal({ limit: 0 });
    expect(run(0, { body: 1 })).to.include({ status: 413 });
  });

  it("max-body-size: the smallest of several limits holds", () => {
    const under = exchange({ body: "streaming" });
    for (const maxBytes of [100, 50, 70]) {
      expect(maxBodySizeFilter({ maxBytes }).onRequest?.(under)).to.equal(undefined);
    }
    expect(under.maxBodyBytes).to.equal(50);
  });

  it("max-body-size: a refusal closes the connection, whose unread body would be in the way of the next request", () => {
    const reply = maxBodySizeFilter({ maxBytes: 1 }).onRequest?.(exchange({ body: 2 }));
    expect(reply).to.deep.equal({ status: 413, error: "request body too large", close: true });
  });
});
