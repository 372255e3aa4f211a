/**
 * Lists the texts that do not follow docs/style.md: words to avoid in pages, names of tests, messages and comments, names of
 * tests that are half a sentence, and docstrings whose first word leaves the subject open. Messages are the strings of at
 * least two words under src/. Ends with 1 when there are findings.
 *
 *   scripts/node scripts/words/check.ts                          the whole project, as `make test` does
 *   scripts/node scripts/words/check.ts operator/src/translate   one folder or file
 */
import { parseArgs } from "node:util";
import { findingsIn } from "./findings.ts";

const { positionals } = parseArgs({ allowPositionals: true });
const findings = findingsIn(positionals.length === 0 ? ["."] : positionals);
for (const finding of findings) console.log(finding);
console.log(`${findings.length} findings`);
process.exitCode = findings.length === 0 ? 0 : 1;
