import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect } from "chai";
import { hasCurl } from "../examples/curl.ts";
import { isAnswer, requestsOf } from "../examples/readme.ts";
import { serveExample, type ServedExample } from "../examples/standalone.ts";
import { useBuiltProgram } from "./built-program.ts";

const root = resolve(import.meta.dirname, "../..");
const page = readFileSync(join(root, "docs/tutorials/first-hour.md"), "utf8");

/** The requests of the tutorial after each `make run MANIFESTS=<an example>`, up to the next one. */
const parts = page
  .split("make run MANIFESTS=")
  .slice(1)
  .map((text) => ({ folder: /^\S+/.exec(text)?.[0] ?? "", requests: requestsOf(text) }))
  .filter(({ requests }) => requests.length > 0);

describe("the tutorial of the first hour", () => {
  const program = useBuiltProgram();

  it("the tutorial serves four examples, with requests for each", () => {
    expect(parts.map(({ folder }) => folder)).to.have.lengthOf(4);
  });

  for (const { folder, requests } of parts) {
    describe(folder, () => {
      let example: ServedExample | undefined;
      before(async function () {
        if (!hasCurl) this.skip();
        const served = await serveExample(join(root, folder), program());
        if (!served.ok) throw new Error(served.error.message);
        example = served.value;
      });
      after(() => example?.close());

      for (const { command, answer } of requests) {
        it(`the tutorial is answered as it says: ${command}`, async () => {
          // Uses the bundle of this test instead of dist/.
          const own = command.replaceAll("dist/svc-gateway", `'${process.execPath}' '${program()}'`);
          const output = (await example?.run(own)) ?? "";
          expect(isAnswer(answer, output), `expected\n${answer.join("\n")}\nand got\n${output}`).to.equal(
            true,
          );
        });
      }
    });
  }
});
