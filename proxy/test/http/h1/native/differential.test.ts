import { expect } from "chai";
import { Choices } from "../../../chaos/random.ts";
import { explanationOf } from "./differences.ts";
import { cut, generatedConnection } from "./generated-messages.ts";
import { readByLlhttp, readByNative } from "./readings.ts";

/** Each run uses the same bytes. SEED=<integer> selects others, and RUNS=<number> sets how many. */
const seed = Number(process.env["SEED"] ?? 9112);
const runs = Number(process.env["RUNS"] ?? 5_000);

describe("the native codec of HTTP/1, on generated connections", function () {
  this.timeout(0);

  it("the native codec reads what llhttp reads, or refuses it for a reason that is listed", async () => {
    const choices = new Choices(seed);
    const explained = new Map<string, number>();
    let alike = 0;
    let messages = 0;
    for (let run = 0; run < runs; run++) {
      const bytes = generatedConnection(choices);
      const native = readByNative([bytes]);
      const llhttp = await readByLlhttp(bytes);
      const explanation = explanationOf(native, llhttp, bytes);
      messages += native.messages.length;
      if (explanation === "alike") alike++;
      else if (explanation !== undefined) explained.set(explanation, (explained.get(explanation) ?? 0) + 1);
      else {
        const shown = JSON.stringify({ bytes: bytes.toString("latin1"), native, llhttp }, null, 1);
        expect.fail(`unexplained difference in run ${run} of seed ${seed}: ${shown}`);
      }
    }
    if (process.env["RUNS"] !== undefined) {
      console.log({ runs, alike, messages, explained: Object.fromEntries(explained) });
    }
    expect(alike / runs, "share of connections that are read alike").to.be.greaterThan(0.7);
    expect(messages / runs, "requests read in each connection").to.be.greaterThan(0.5);
  });

  it("the native codec reads the same, however the bytes are cut and whether or not it may keep them", () => {
    const choices = new Choices(seed + 1);
    for (let run = 0; run < runs; run++) {
      const bytes = generatedConnection(choices);
      const whole = readByNative([bytes]);
      const pieces = cut(choices, bytes);
      const about = JSON.stringify(pieces.map((piece) => piece.toString("latin1")));
      expect(readByNative(pieces), about).to.deep.equal(whole);
      expect(readByNative(pieces, false), about).to.deep.equal(whole);
    }
  });
});
