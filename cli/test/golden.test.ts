/**
 * Transcripts of the program. A case is a folder of testdata/ with `manifests/`; each `.txt` beside it begins with a
 * command line, followed by what the command prints. With GOLDEN=write the transcripts are written again.
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { runInside, type Finished } from "./support.ts";

const testdata = fileURLToPath(new URL("testdata", import.meta.url));
const writes = process.env["GOLDEN"] === "write";

const prompt = "$ svc-gateway ";

/** Words as a shell would split them, with single quotes. */
const splitWords = (line: string): readonly string[] =>
  Array.from(line.matchAll(/'([^']*)'|(\S+)/g), ([, quoted, plain]) => quoted ?? plain ?? "");

/** Paths in a transcript are relative to the folder of the case. */
async function runIn(folder: string, argv: readonly string[]): Promise<Finished> {
  const before = process.cwd();
  process.chdir(folder);
  try {
    return await runInside(argv);
  } finally {
    process.chdir(before);
  }
}

describe("command line: golden transcripts", () => {
  for (const name of readdirSync(testdata)) {
    const folder = join(testdata, name);
    for (const file of readdirSync(folder).filter((entry) => entry.endsWith(".txt"))) {
      it(`the command prints the transcript ${name}/${file}`, async () => {
        const expected = readFileSync(join(folder, file), "utf8");
        const [command = ""] = expected.split("\n");
        expect(command.startsWith(prompt), "the first line is a command").to.equal(true);
        const { code, out, err } = await runIn(folder, splitWords(command.slice(prompt.length)));
        const actual = [
          command,
          ...(err === "" ? [] : [err.trimEnd()]),
          out === "" ? "" : out,
          `exit ${code}`,
        ]
          .filter((part) => part !== "")
          .map((part) => (part.endsWith("\n") ? part : `${part}\n`))
          .join("");
        if (writes) writeFileSync(join(folder, file), actual);
        else expect(actual).to.equal(expected);
      });
    }
  }
});
