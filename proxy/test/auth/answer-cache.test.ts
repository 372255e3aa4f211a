import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect } from "chai";
import { createAnswerCache, type KnownAnswer } from "../../src/auth/answer-cache.ts";
import { createVerifiedCache } from "../../src/auth/verified-cache.ts";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

/** The bytes of the heap that are in use after a garbage collection. */
const usedBytes = (): number => {
  collect();
  return process.memoryUsage().heapUsed;
};

describe("remembered answers of authorization services", () => {
  it("an answer that is remembered keeps the fields that are needed, and not the head that they were a piece of", () => {
    const answers = createVerifiedCache<KnownAnswer>(1000);
    const cache = createAnswerCache(
      { cache: { key: [], times: [{ ms: 60_000 }] }, identity: "", isKept: (name) => name === "x-user" },
      answers,
      () => 0,
    );
    const before = usedBytes();
    for (let i = 0; i < 300; i++) {
      const head = Buffer.alloc(65_536, 97 + (i % 26)).toString("latin1");
      cache.set(String(i), {
        status: 200,
        headers: ["x-user", head.slice(0, 40), "x-unused", head.slice(40)],
      });
    }
    expect(cache.get("299")?.headers).to.deep.equal(["x-user", "n".repeat(40)]);
    expect((usedBytes() - before) / 300, "bytes of an answer").to.be.lessThan(10_000);
  });
});
