import { expect } from "chai";
import { once } from "node:events";
import { open, writeFile } from "node:fs/promises";
import { Agent, get, type IncomingMessage } from "node:http";
import { join } from "node:path";
import { startEchoBackend, type EchoBackend } from "../../../scripts/echo/backend.ts";
import { ingressManifest, listOf, serviceManifests, withGateway } from "./gateway.ts";

/** A module that a gateway loads first, and then keeps a cut file for an hour, however slowly this test writes it. */
const patience = `data:text/javascript,${encodeURIComponent(`
  import { settleTimes } from ${JSON.stringify(import.meta.resolve("@svc-gateway/operator/sources/files/settling.ts"))};
  Object.assign(settleTimes, { cutQuietMs: 3_600_000, maxCutMs: 3_600_000 });`)}`;

const statusOf = async (port: number, host: string, agent: Agent): Promise<number | undefined> => {
  const sent = get({ port, host: "127.0.0.1", headers: { Host: host }, agent });
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  response.resume();
  await once(response, "end");
  return response.statusCode;
};

const ingress = (host: string): string =>
  `${JSON.stringify(ingressManifest(host, host, [{ path: "/", service: "a" }]), undefined, 1)}\n`;

describe("serve standalone, while a manifest is written in place", () => {
  let backend: EchoBackend;
  before(async () => {
    backend = await startEchoBackend({ name: "a" });
  });
  after(() => backend.close());

  it("no request is lost while a file is truncated and written again and again", async function () {
    this.timeout(300_000);
    const whole = `${ingress("a.example.com")}---\n${ingress("b.example.com")}`;
    const manifests = { "base.json": listOf(...serviceManifests("a", [backend.port])), "web.yaml": whole };
    const env = { NODE_OPTIONS: `--import=${patience}` };
    await withGateway({ manifests, env }, async ({ folder, httpPort, write, logLines }) => {
      const agent = new Agent({ keepAlive: true, maxSockets: 4 });
      const ask = (host: string): ReturnType<typeof statusOf> => statusOf(httpPort, host, agent);
      const served = async (host: string): Promise<void> => {
        while ((await ask(host)) !== 200) await new Promise((resolve) => setImmediate(resolve));
      };
      let isLoading = true;
      let failures = 0;
      const load = async (host: string): Promise<void> => {
        while (isLoading && failures === 0) if ((await ask(host)) !== 200) failures++;
      };
      const loads = ["a.example.com", "b.example.com"].map((host) => load(host).catch(() => failures++));
      const lengths = [0, 0.3, 0.9].map((share) => Math.floor(share * whole.length));
      try {
        for (const [round, length] of lengths.entries()) {
          const file = await open(join(folder, "web.yaml"), "w");
          await file.write(whole.slice(0, length));
          // Once another file is served, this one has been read as well.
          await write("other.json", ingress(`other-${round}`));
          await served(`other-${round}`);
          await file.write(whole.slice(length));
          await file.close();
        }
        await writeFile(join(folder, "web.yaml"), `${whole}---\n${ingress("c.example.com")}`);
        await served("c.example.com");
      } finally {
        isLoading = false;
        await Promise.all(loads);
      }
      expect(failures).to.equal(0);
      expect(logLines.filter(({ message }) => message === "manifest finding")).to.deep.equal([]);
      agent.destroy();
    });
  });

  it("a file that stays empty is used as it is", async () => {
    const manifests = {
      "base.json": listOf(...serviceManifests("a", [backend.port])),
      "web.yaml": ingress("a.example.com"),
    };
    await withGateway({ manifests }, async ({ folder, httpPort }) => {
      const agent = new Agent({ keepAlive: true });
      expect(await statusOf(httpPort, "a.example.com", agent)).to.equal(200);
      await writeFile(join(folder, "web.yaml"), "");
      while ((await statusOf(httpPort, "a.example.com", agent)) !== 404)
        await new Promise((resolve) => setImmediate(resolve));
      agent.destroy();
    });
  });
});
