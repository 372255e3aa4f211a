import { expect } from "chai";
import { createAuthStore } from "../../src/auth/auth-store.ts";
import { FairPlaces } from "../../src/auth/fair-places.ts";
import { createEncoderSlots } from "../../src/filters/encoder-slots.ts";
import { extAuthFilter } from "../../src/filters/ext-auth.ts";
import type { LocalReply } from "../../src/message/local-reply.ts";
import { RetryBudget } from "../../src/upstream/retry-budget.ts";
import type { Upstream } from "../../src/upstream/upstream.ts";
import { exchange } from "./support.ts";

const check = {
  endpoints: "ns/gate/80",
  protocol: "http1",
  api: "http",
  timeoutMs: 50,
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
    rates: { counter: () => ({ take: () => 0, giveBack: () => undefined }) },
    concurrency: { enter: () => 0, leave: () => undefined },
    upstreamOf: () => () => upstream,
    encoders: createEncoderSlots(0, { inc() {} }),
  });
  return { ask: () => Promise.resolve(filter.onRequest?.(exchange())), entered: () => entered };
}

describe("ext-auth", () => {
  it("ext-auth: a request gets 503 where no endpoint is available, and its place is given back", async () => {
    const { ask, entered } = filterWith(() => undefined);
    expect((await ask())?.status).to.equal(503);
    expect(entered()).to.equal(0);
  });

  it("ext-auth: a check request that loses its place to another namespace is aborted, whether it fails closed or not", async () => {
    for (const failClosed of [true, false]) {
      const places = new FairPlaces(2);
      let aborted = 0;
      const auth = {
        ...createAuthStore({ sendCheck: () => ({ resume() {}, abort: () => void aborted++ }) }),
        enterCall: places.take.bind(places),
      };
      const endpoint = { host: "127.0.0.1", port: 1, address: "127.0.0.1:1" };
      const ask = (endpoints: string): Promise<LocalReply | undefined> => {
        const upstream: Upstream = {
          key: endpoints,
          service: "x",
          protocol: "http1",
          endpoints: [endpoint],
          retryBudget: new RetryBudget(0),
          pick: () => ({ endpoint, watch: undefined, setCookie: undefined }),
        };
        const filter = extAuthFilter([{ check: { ...check, endpoints, failClosed } }], {
          auth,
          rates: { counter: () => ({ take: () => 0, giveBack: () => undefined }) },
          concurrency: { enter: () => 0, leave: () => undefined },
          upstreamOf: () => () => upstream,
          encoders: createEncoderSlots(0, { inc() {} }),
        });
        return Promise.resolve(filter.onRequest?.(exchange()));
      };
      const first = ask("blog/gate/80");
      const others = [ask("blog/gate/80")];
      await Promise.resolve();
      others.push(ask("shop/gate/80"));
      expect((await first)?.error).to.equal("too many authorization requests");
      expect(aborted).to.equal(1);
      // The others end with their time.
      expect((await Promise.all(others)).map((reply) => reply?.status)).to.deep.equal(
        failClosed ? [503, 503] : [undefined, undefined],
      );
    }
  });

  it("ext-auth: a place is given back when a check throws", async () => {
    const { ask, entered } = filterWith(() => {
      throw new Error("a bug");
    });
    const failure = await ask().catch((error: unknown) => error);
    expect(failure).to.be.an("error").with.property("message", "a bug");
    expect(entered()).to.equal(0);
  });
});
