import { expect } from "chai";
import { askedOnCluster } from "../../scripts/blocks/commands.ts";
import { blocksOfPage, commandsOfBlock, pages } from "../../scripts/blocks/check.ts";
import { clusterEnvironment } from "../support/provider.ts";
import { run } from "../support/run-program.ts";

describe("the commands of pages for a cluster", () => {
  for (const page of pages) {
    const commands = blocksOfPage(page)
      .filter(({ options }) => !options.has("skip"))
      .flatMap(commandsOfBlock)
      .filter(([program = ""]) => askedOnCluster.has(program));
    if (commands.length === 0) continue;
    it(`the commands of ${page} have flags that kubectl and helm know`, async () => {
      const env = await clusterEnvironment();
      const refused: string[] = [];
      for (const [program = "", ...words] of commands) {
        // With --help a program reads all of its flags, and does nothing.
        const { status, stderr } = await run(program, [...words, "--help"], { env });
        if (status !== 0) refused.push(`${[program, ...words].join(" ")}: ${stderr.trim()}`);
      }
      expect(refused).to.deep.equal([]);
    });
  }
});
