import { expect } from "chai";
import fc from "fast-check";
import type { Exchange } from "../../src/exchange/exchange.ts";
import { ActiveExchanges } from "../../src/http/active-exchanges.ts";

/** The part of an exchange that these tests need. */
const exchangeSince = (startedAtMs: number, expire: (exchange: Exchange) => void): Exchange => {
  const exchange = {
    startedAtMs,
    lastActivityMs: startedAtMs,
    status: 0,
    grpc: false,
    activeIndex: -1,
  } as Exchange;
  exchange.expire = () => expire(exchange);
  return exchange;
};

describe("ActiveExchanges", () => {
  it("each exchange whose time is over expires once, however exchanges were added and removed before", () => {
    const step = fc.record({ add: fc.boolean(), pick: fc.nat(), startedAtMs: fc.constantFrom(0, 100) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const active = new ActiveExchanges({
          streamIdleTimeoutMs: 50,
          tunnelIdleTimeoutMs: 50,
          requestTimeoutMs: 0,
        });
        const model: Exchange[] = [];
        const expired: Exchange[] = [];
        for (const { add, pick, startedAtMs } of steps) {
          if (add) {
            const exchange = exchangeSince(startedAtMs, (each) => {
              expired.push(each);
              active.delete(each);
            });
            model.push(exchange);
            active.add(exchange);
          } else if (model.length > 0) {
            const [removed] = model.splice(pick % model.length, 1);
            active.delete(removed as Exchange);
          }
          expect(active.size).to.equal(model.length);
        }
        active.sweep(120);
        const due = model.filter(({ startedAtMs }) => startedAtMs === 0);
        expect(expired).to.have.members(due).and.have.lengthOf(due.length);
        expect(active.size).to.equal(model.length - due.length);
      }),
    );
  });
});
