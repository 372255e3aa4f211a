/** `make examples`: serves every example, sends the requests of its README, and prints a table of what was answered. */
import { readFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { exampleFolders } from "./folders.ts";
import { isAnswer, requestsOf } from "./readme.ts";
import { serveExample } from "./standalone.ts";

const root = resolve(import.meta.dirname, "../..");
const totals = { examples: 0, requests: 0, wrong: 0 };

for (const folder of exampleFolders()) {
  totals.examples++;
  process.stdout.write(`${relative(root, folder)}\n`);
  const example = await serveExample(folder, join(root, "dist/svc-gateway.mjs"));
  for (const { command, answer } of requestsOf(readFileSync(join(folder, "README.md"), "utf8"))) {
    const output = await example.run(command);
    const isRight = isAnswer(answer, output);
    totals.requests++;
    if (!isRight) totals.wrong++;
    const [first = "", ...others] = output.trimEnd().split("\n");
    const more = others.length === 0 ? "" : ` (and ${others.length} more lines)`;
    process.stdout.write(`  ${isRight ? "ok  " : "FAIL"} ${command}\n       ${first}${more}\n`);
    if (!isRight) process.stdout.write(`       expected ${JSON.stringify(answer)}\n${output}\n`);
  }
  await example.close();
}
process.stdout.write(
  `${totals.examples} examples, ${totals.requests} requests, ${totals.wrong} with another answer than their README\n`,
);
process.exitCode = totals.wrong === 0 ? 0 : 1;
