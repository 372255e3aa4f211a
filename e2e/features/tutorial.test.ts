import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { blocksOfPage } from "../../scripts/blocks/check.ts";
import { toCluster } from "../../scripts/examples/cluster.ts";
import { addressOfExample, applyExample, deleteExample, renderExample } from "../support/example.ts";
import { waitForRollout } from "../support/pods.ts";
import { poll } from "../support/poll.ts";
import { clusterEnvironment, root, tryKubectl } from "../support/provider.ts";
import { run, type Ran } from "../support/run-program.ts";

/** Commands that are not run as written, with the reason. */
const elsewhere: readonly (readonly [command: RegExp, reason: string])[] = [
  [/^make deploy$/, "the suite has installed the gateway"],
  [
    /^kubectl (?:apply|delete) -k /,
    "the cluster has no registry: the same objects with an image that it has",
  ],
  [/ port-forward /, "requests go to the address of the proxies"],
  [/ --rate /, "faults/ sends requests while proxies end"],
  [/ delete pod | --watch$/, "faults/ deletes proxies under load"],
];

/**
 * The expected output of commands; other commands have to succeed. `check --live` fails, because the Service of the
 * shop does not exist; objects of other tests can also be invalid.
 */
const printed: readonly (readonly [command: RegExp, output: RegExp])[] = [
  [/get ingress basic$/, /^basic\s+svc\s+basic\.example\.com/m],
  [/get ingressclass,gatewayclass$/, /ingressclass\S+\/svc\b[^]*gatewayclass\S+\/svc\b/],
  [/ status$/, /^Controllers\n[^]*^Proxies\n[^]*in sync/m],
  [/^curl /, /^green GET \/cart\/7$/m],
  [/explain --live /, /^ {2}route +Prefix \/cart$/m],
  [/--dry-run=server/, /^ingress\.networking\.k8s\.io\/shop created \(server dry run\)$/m],
  [/check --live$/, /Ingress default\/shop\n[^]*Service default\/web does not exist/],
];

const blocks = blocksOfPage("docs/tutorials/first-day.md");
const commands = blocks
  .filter(({ language }) => language === "sh")
  .flatMap(({ text }) =>
    text
      .trimEnd()
      .replaceAll(/\\\n\s*/g, "")
      .split("\n"),
  );

describe("the tutorial of the first day", () => {
  let folder: string;
  let example: Awaited<ReturnType<typeof renderExample>> = [];
  let address: string;

  const tutorialCommand = async (command: string): Promise<Ran> => {
    const gateway = `'${root}/scripts/node' '${root}/cli/src/main.ts'`;
    const own = toCluster(command, address)
      .replaceAll("dist/svc-gateway", gateway)
      .replaceAll("shop.yaml", join(folder, "shop.yaml"));
    return run("bash", ["-c", own], { env: await clusterEnvironment() });
  };

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), "svc-gateway-first-day-"));
    const [shop] = blocks.filter(({ language }) => language === "yaml");
    writeFileSync(join(folder, "shop.yaml"), shop?.text ?? "");
    example = await renderExample(join(root, "config/examples/basic"));
    await applyExample(example);
    for (const name of ["blue", "green"]) await waitForRollout({ namespace: "default", name });
    address = await addressOfExample(example);
  });
  after(async () => {
    rmSync(folder, { recursive: true, force: true });
    await deleteExample(example);
    await tryKubectl(["delete", "ingress", "shop", "--ignore-not-found"]);
  });

  it("every command that is run or read in its own way is one of the tutorial", () => {
    const unused = [...elsewhere, ...printed].filter(
      ([pattern]) => !commands.some((command) => pattern.test(command)),
    );
    expect(unused).to.deep.equal([]);
  });

  for (const command of commands.filter((one) => !elsewhere.some(([pattern]) => pattern.test(one))))
    it(`the command of the tutorial does on the cluster what the page says: ${command}`, async () => {
      const output = printed.find(([pattern]) => pattern.test(command))?.[1];
      let last: Ran | undefined;
      // The controllers may see an object a moment later than kubectl.
      const isRight = async (): Promise<boolean> => {
        last = await tutorialCommand(command);
        return output === undefined ? last.status === 0 : output.test(last.stdout);
      };
      await poll(command, isRight, 20_000).catch(() =>
        expect.fail(
          `${command}\nexpected ${String(output ?? "success")}\nand got\n${last?.stdout ?? ""}${last?.stderr ?? ""}`,
        ),
      );
    });
});
