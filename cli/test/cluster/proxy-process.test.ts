import { expect } from "chai";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type AddressInfo, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createExampleCertificates } from "../../../scripts/quickstart/certificates.ts";
import { startProgram } from "../support.ts";

describe("serve proxy", () => {
  it("a proxy ends on SIGTERM although a connection to a controller hangs", async () => {
    // Takes connections and never says a word, like an address that swallows packets.
    const controller = createServer();
    const folder = await mkdtemp(join(tmpdir(), "svc-gateway-proxy-"));
    const { authorityPem } = await createExampleCertificates(["a.example.com"]);
    await writeFile(join(folder, "token"), "a-token");
    await writeFile(join(folder, "ca.crt"), authorityPem);
    controller.listen(0, "127.0.0.1");
    await once(controller, "listening");
    const endpoint = `127.0.0.1:${(controller.address() as AddressInfo).port}`;
    const connected = once(controller, "connection") as Promise<[Socket]>;
    const child = startProgram([
      ...["serve", "proxy", "--shared", "--proxy-workers", "1"],
      ...["--discovery-endpoint", endpoint, "--discovery-bootstrap-endpoint", endpoint],
      ...["--discovery-sa-token-path", join(folder, "token")],
      ...["--discovery-ca-bundle-path", join(folder, "ca.crt")],
      ...["--management-bind-address", "127.0.0.1", "--admin-port", "0", "--health-port", "0"],
    ]);
    let out = "";
    const ended = once(child, "close");
    try {
      const started = new Promise<void>((resolve) =>
        child.stdout.setEncoding("utf8").on("data", (text: string) => {
          out += text;
          if (out.includes('"started"')) resolve();
        }),
      );
      const [hanging] = await connected;
      await started;
      child.kill("SIGTERM");
      expect(await ended).to.deep.equal([0, null]);
      expect(out).to.contain('"stopped"');
      hanging.destroy();
    } finally {
      child.kill("SIGKILL");
      controller.close();
      await rm(folder, { recursive: true, force: true });
    }
  });
});
