import { expect } from "chai";
import { createAuthStore } from "../../src/auth/auth-store.ts";
import { createEncoderSlots } from "../../src/filters/encoder-slots.ts";
import { extAuthFilter } from "../../src/filters/ext-auth.ts";
import { RetryBudget } from "../../src/upstream/retry-budget.ts";
import type { Upstream } from "../../src/upstream/upstream.ts";
import { exchange } from "./support.ts";

const check = {
  endpoints: "ns/gate/80",
  protocol: "http1",
  api: "http",
  timeoutMs: 1_000,
  failClosed: true,
} as const;

/** The filter with a service whose endpoints are chosen so; the requests themselves are tested in integration tests. */
function filterWith(pick: Upstream["pick"]) {
  let entered = 0;
  const upstream: Upstream = {
    key: "ns/gate/80",
    service: "ns/gate",
    protocol: "http1",
    endpoints: [{ host: "127.0.0.1", port: 1, address: "127.0.0.1:1" }],
    retryBudget: new RetryBudget(0),
    pick,
  };
  const enterCall = () => {
    entered++;
    return () => entered--;
  };
  const filter = extAuthFilter([{ check }], {
    auth: { ...createAuthStore(), enterCall },
    rates: { take: () => 0 },
    upstreamOf: () => () => upstream,
    encoders: createEncoderSlots(0, { inc() {} }),
  });
  return { ask: () => Promise.resolve(filter.onRequest?.(exchange())), entered: () => entered };
}

describe("ext-auth", () => {
  it("answers 503 where no endpoint may be asked, and gives its place back", async () => {
    const { ask, entered } = filterWith(() => undefined);
    expect((await ask())?.status).to.equal(503);
    expect(entered()).to.equal(0);
  });

  it("gives its place back after a bug", async () => {
    const { ask, entered } = filterWith(() => {
      throw new Error("a bug");
    });
    const failure = await ask().catch((error: unknown) => error);
    expect(failure).to.be.an("error").with.property("message", "a bug");
    expect(entered()).to.equal(0);
  });
});
