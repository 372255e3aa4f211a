/**
 * Lists the texts that do not follow docs/style.md: words to avoid in pages, names of tests and messages, and names of
 * tests that are half a sentence. Messages are the strings of at least two words under src/. Ends with 1 when there are
 * findings.
 *
 *   scripts/node scripts/words/check.ts                          the whole project, as `make test` does
 *   scripts/node scripts/words/check.ts operator/src/translate   one folder or file
 *   scripts/node scripts/words/check.ts --comments common/src    with comments, which `make test` does not check
 */
import { parseArgs } from "node:util";
import { findingsIn } from "./findings.ts";
import type { TextKind } from "./texts.ts";

const { values, positionals } = parseArgs({
  options: { comments: { type: "boolean", default: false } },
  allowPositionals: true,
});
const kinds: readonly TextKind[] = ["prose", "test name", "message"];
const rooms = positionals.length === 0 ? ["."] : positionals;
const findings = findingsIn(rooms, new Set(values.comments ? [...kinds, "comment"] : kinds));
for (const finding of findings) console.log(finding);
console.log(`${findings.length} findings`);
process.exitCode = findings.length === 0 ? 0 : 1;
