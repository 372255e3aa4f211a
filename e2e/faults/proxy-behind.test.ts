import { join } from "node:path";
import { expect } from "chai";
import { namespace } from "../deploy/release.ts";
import { useLoadedSandbox } from "../support/load.ts";
import { nameOf, podsOf, readyPodsOf } from "../support/pods.ts";
import { poll } from "../support/poll.ts";
import { clusterEnvironment, root } from "../support/provider.ts";
import { run } from "../support/run-program.ts";
import { prepareSignals, removeSignaller, signalPod } from "../support/signal.ts";

type Status = {
  readonly proxies: readonly { readonly name: string; readonly state: string; readonly version: string }[];
  readonly problems: readonly {
    readonly severity: string;
    readonly subject: string;
    readonly message: string;
  }[];
};

/** Tests docs/operations.md, "A proxy that is behind", with a proxy that cannot apply changes. */
describe("a proxy that is a version behind", () => {
  const sandbox = useLoadedSandbox("proxy-behind");

  before(prepareSignals);
  after(removeSignaller);

  const svcGateway = async (...args: readonly string[]): ReturnType<typeof run> =>
    run(process.execPath, [join(root, "dist/svc-gateway.mjs"), ...args], { env: await clusterEnvironment() });

  const readStatus = async (): Promise<{ readonly code: number | null; readonly status: Status }> => {
    const { status, stdout } = await svcGateway("status", "-o", "json");
    return { code: status, status: JSON.parse(stdout) as Status };
  };
  /** The states of the proxies, by name. */
  const statesOf = ({ proxies }: Status): Readonly<Record<string, string>> =>
    Object.fromEntries(proxies.map(({ name, state }) => [name, state]));
  const allInSync = async (): Promise<boolean> => {
    const { status } = await readStatus();
    const names = (await podsOf("shared-proxy")).map(nameOf);
    return names.every((name) => statesOf(status)[name] === "in sync");
  };

  it("the command status names the proxy that is behind and no other, until it has caught up", async () => {
    await poll("all proxies to be in sync", allInSync, 30_000);
    const [victim = "", other = ""] = await readyPodsOf("shared-proxy");
    await signalPod(victim, "SIGSTOP");
    try {
      // The other proxy serves the changes that the stopped one has not received.
      await sandbox.waitUntilServed(await sandbox.applyRoute("newer"), 30_000);
      const { value } = await poll("the stopped proxy to be behind", async () => {
        const read = await readStatus();
        return statesOf(read.status)[victim] === "behind" && read;
      });
      expect(value.code).to.equal(1);
      expect(statesOf(value.status)[other]).to.equal("in sync");
      const versions = new Map(value.status.proxies.map(({ name, version }) => [name, version]));
      expect(versions.get(victim)).not.to.equal(versions.get(other));
      const found = value.status.problems.filter(({ subject }) => subject.startsWith("Pod "));
      expect(found.map(({ severity, subject }) => [severity, subject])).to.deep.equal([
        ["error", `Pod ${namespace}/${victim}`],
      ]);
      expect(found[0]?.message).to.match(
        /^is behind: it serves the version [0-9a-f]{12}, which is not the present one$/,
      );
    } finally {
      await signalPod(victim, "SIGCONT");
    }
    await poll("all proxies to be in sync again", allInSync, 60_000);
  });
});
