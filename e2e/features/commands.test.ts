import { expect } from "chai";
import { askedOnCluster } from "../../scripts/blocks/commands.ts";
import { blocksOfPage, commandsOfBlock, pages } from "../../scripts/blocks/check.ts";
import { readyPodsOf, type Component } from "../support/pods.ts";
import { clusterEnvironment } from "../support/provider.ts";
import { run } from "../support/run-program.ts";

const firstPod = async (component: Component): Promise<string> => (await readyPodsOf(component))[0] ?? "";

/** Placeholders of pages for names in the reader's cluster, with a name to insert instead. */
const placeholders: readonly (readonly [placeholder: RegExp, name: () => Promise<string> | string])[] = [
  [/^svc-controller-POD$/, () => firstPod("controller")],
  [/^(?:POD|svc-proxy-6c9f7)$/, () => firstPod("shared-proxy")],
  [/(?<=^|=)NAMESPACE$/, () => "svc-system"],
  [/(?<==)NAME$/, () => "svc-controller-discovery"],
  [/^KIND$/, () => "ingresses"],
];

/**
 * Flags that are omitted when a command is run: only a restarted container has a previous log, and a watch does not
 * end.
 */
const leftOut = new Set(["--previous", "--watch"]);

/** Whether a command of kubectl changes nothing, and needs no objects or permissions of the reader. */
const isRead = ([program, ...words]: readonly string[]): boolean =>
  program === "kubectl" &&
  words.some((word) => /^(?:get|logs|can-i)$/.test(word)) &&
  !words.some((word) => /^(?:basic|certificates)$|(?:^|,)output$/.test(word));

async function withNames(words: readonly string[]): Promise<readonly string[]> {
  const named = words.filter((word) => !leftOut.has(word));
  for (const [placeholder, name] of placeholders) {
    for (const [index, word] of named.entries())
      if (placeholder.test(word)) named[index] = word.replace(placeholder, await name());
  }
  return named;
}

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
        // With --help a program parses all of its flags, and does nothing else.
        const { status, stderr } = await run(program, [...words, "--help"], { env });
        if (status !== 0) refused.push(`${[program, ...words].join(" ")}: ${stderr.trim()}`);
      }
      expect(refused).to.deep.equal([]);
    });

    const reads = commands.filter(isRead);
    if (reads.length === 0) continue;
    it(`the cluster answers the commands of ${page} that read from it`, async () => {
      const env = await clusterEnvironment();
      const failed: string[] = [];
      for (const [program = "", ...words] of reads) {
        const named = await withNames(words);
        const { status, stderr } = await run(program, named, { env });
        // A selector without a matching object yields an empty result, not an error.
        const isEmpty = named.includes("--selector") && stderr.includes("No resources found");
        if (status !== 0 || isEmpty) failed.push(`${[program, ...named].join(" ")}: ${stderr.trim()}`);
      }
      expect(failed).to.deep.equal([]);
    });
  }
});
