/** Serves examples sequentially and sends the requests of their READMEs. */
import { readFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { isAnswer, requestsOf } from "./readme.ts";
import { serveExample } from "./standalone.ts";

const root = resolve(import.meta.dirname, "../..");

export type Output = { readonly out: (text: string) => void; readonly err: (text: string) => void };

/**
 * Sends the requests of examples to a gateway (svc-gateway.mjs) and prints the answers. Returns the exit code: 1 if
 * an answer differs from the README, or if a gateway does not start, which ends the run with one line.
 */
export async function runExamples(
  folders: readonly string[],
  gatewayProgram: string,
  { out, err }: Output,
): Promise<0 | 1> {
  const totals = { examples: 0, requests: 0, wrong: 0 };
  for (const folder of folders) {
    totals.examples++;
    out(`${relative(root, folder)}\n`);
    const served = await serveExample(folder, gatewayProgram);
    if (!served.ok) {
      err(`${relative(root, folder)}: ${served.error.message}\n`);
      return 1;
    }
    const example = served.value;
    for (const { command, answer } of requestsOf(readFileSync(join(folder, "README.md"), "utf8"))) {
      const output = await example.run(command);
      const isRight = isAnswer(answer, output);
      totals.requests++;
      if (!isRight) totals.wrong++;
      const [first = "", ...others] = output.trimEnd().split("\n");
      const more = others.length === 0 ? "" : ` (and ${others.length} more lines)`;
      out(`  ${isRight ? "ok  " : "FAIL"} ${command}\n       ${first}${more}\n`);
      if (!isRight) out(`       expected ${JSON.stringify(answer)}\n${output}\n`);
    }
    await example.close();
  }
  out(
    `${totals.examples} examples, ${totals.requests} requests, ${totals.wrong} with another answer than their README\n`,
  );
  return totals.wrong === 0 ? 0 : 1;
}
