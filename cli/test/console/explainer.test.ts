import { expect } from "chai";
import { createExplainer, type Explainer } from "../../src/console/explainer.ts";
import type { Explained } from "../../src/console/pages/explain.ts";
import { buildOf, shop, unlimitedMs } from "./support.ts";

const ask = (url: string, headers = "") => ({ method: "GET", url, headers, scope: "" });

const messageOf = (explained: Explained): string =>
  explained.type === "problem" ? explained.message : explained.answer.outcome;

describe("the explainer of the console", () => {
  let explainer: Explainer;
  afterEach(() => explainer.close());

  it("a request is explained as by the command, and again after a build", async () => {
    explainer = createExplainer({ portMap: [], timeoutMs: unlimitedMs });
    const [first, second] = [await buildOf(shop()), await buildOf(shop("shop", "/other"))];
    expect(messageOf(await explainer.explain(ask("http://shop.example.com/a"), first))).to.equal("route");
    expect(messageOf(await explainer.explain(ask("http://shop.example.com/a"), second))).to.equal("no-route");
    expect(messageOf(await explainer.explain(ask("ftp://x"), first))).to.equal(
      '"ftp://x" is not a URL: expected http://... or https://...',
    );
    expect(messageOf(await explainer.explain(ask("http://x/", "no colon"), first))).to.include("expected");
    expect(messageOf(await explainer.explain(ask("http://x/"), undefined))).to.equal(
      "Nothing has been built yet.",
    );
  });

  it("a request that takes too long is given up, and the next one gets another thread", async () => {
    const program = new URL(
      `data:text/javascript,${encodeURIComponent(`
        import { parentPort } from "node:worker_threads";
        parentPort.on("message", ({ type, id, typed }) => {
          if (type !== "ask") return;
          if (typed.url === "hang") for (;;);
          parentPort.postMessage({ id, explained: { type: "problem", message: "answered" } });
        });`)}`,
    );
    const build = await buildOf(shop());
    let answer = "";
    // A new thread may need longer to start than requests may take at first.
    for (let timeoutMs = 300; answer !== "answered"; timeoutMs *= 2) {
      explainer = createExplainer({ portMap: [], timeoutMs, program });
      expect(messageOf(await explainer.explain(ask("hang"), build))).to.match(/not explained within/);
      answer = messageOf(await explainer.explain(ask("fine"), build));
      await explainer.close();
    }
  });

  it("a thread that fails is a problem of one request, and few requests wait", async () => {
    const failing = new URL(
      `data:text/javascript,${encodeURIComponent(`
        import { parentPort } from "node:worker_threads";
        parentPort.on("message", () => { throw new Error("a bug"); });`)}`,
    );
    explainer = createExplainer({ portMap: [], timeoutMs: unlimitedMs, program: failing });
    const build = await buildOf(shop());
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => explainer.explain(ask("http://x/"), build)),
    );
    expect(answers.map(messageOf).toSorted()).to.deep.equal([
      ...Array.from({ length: 2 }, () => "Other requests are being explained: try again in a moment."),
      ...Array.from({ length: 8 }, () => "The request could not be explained."),
    ]);
  });
});
