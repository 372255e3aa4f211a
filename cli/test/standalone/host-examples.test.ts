import { expect } from "chai";
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "yaml";
import { readStandaloneSettings } from "@svc-gateway/common/settings/settings.ts";
import { runInside } from "../support.ts";
import { withGateway } from "./gateway.ts";

const examples = join(import.meta.dirname, "../../../config/examples");

type Compose = {
  readonly services: {
    readonly gateway: {
      readonly command: readonly string[];
      readonly ports: readonly string[];
      readonly volumes: readonly string[];
      readonly healthcheck: { readonly test: readonly string[] };
    };
  };
};

describe("the examples for hosts without a cluster", () => {
  it("the Compose file starts the gateway with its own manifests, and its health check passes when it is ready", async () => {
    const text = readFileSync(join(examples, "compose/compose.yaml"), "utf8");
    const { command, ports, volumes, healthcheck } = (parse(text) as Compose).services.gateway;
    expect(command.slice(0, 2)).to.deep.equal(["serve", "standalone"]);
    const read = readStandaloneSettings({ argv: command.slice(2), env: {} });
    if (!read.ok) throw new Error(read.error.message);
    const { manifests, portMap, adminPort, managementBindAddress } = read.value.settings;
    expect(volumes).to.deep.equal([`./manifests:${manifests}:ro`]);
    expect(managementBindAddress).to.equal("0.0.0.0");
    const published = ports.map((port) => Number(port.split(":").at(-1)));
    expect(published).to.deep.equal([...portMap.map(({ localPort }) => localPort), adminPort]);

    const flags = command.slice(2).filter((flag) => !/^--(manifests|management)/.test(flag));
    const web = readFileSync(join(examples, "compose/manifests/web.yaml"), "utf8");
    await withGateway({ manifests: { "web.yaml": web }, flags }, ({ healthPort }) => {
      const [kind, , ...argv] = healthcheck.test;
      const probe = (port: number): number | null =>
        spawnSync(
          process.execPath,
          argv.map((word) => word.replace(":8081/", `:${port}/`)),
        ).status;
      expect([kind, probe(healthPort), probe(1)]).to.deep.equal(["CMD", 0, 1]);
      return Promise.resolve();
    });
  });

  for (const folder of ["compose", "systemd"]) {
    it(`everything in the manifests of config/examples/${folder} is served as written`, async () => {
      const { code, out } = await runInside(["check", join(examples, folder, "manifests")]);
      expect(code, out).to.equal(0);
    });
  }

  it("the systemd unit is valid, and starts the gateway with flags that it knows", function () {
    const text = readFileSync(join(examples, "systemd/svc-gateway.service"), "utf8");
    const [, program = "", rest = ""] = /^ExecStart=(\S+) \S+ serve standalone (.*)$/m.exec(text) ?? [];
    const read = readStandaloneSettings({ argv: rest.split(" "), env: {} });
    expect(read.ok && read.value.settings.portMap).to.deep.equal([
      { listenerPort: 80, localPort: 80 },
      { listenerPort: 443, localPort: 443 },
    ]);
    if (spawnSync("systemd-analyze", ["--version"]).status !== 0) return this.skip();
    const copy = mkdtempSync(join(tmpdir(), "svc-gateway-unit-"));
    const unit = join(copy, "svc-gateway.service");
    cpSync(join(examples, "systemd/svc-gateway.service"), unit);
    // The programs of the example are not on this machine.
    writeFileSync(unit, text.replace(program, process.execPath));
    const { status, stderr } = spawnSync("systemd-analyze", ["verify", unit], { encoding: "utf8" });
    rmSync(copy, { recursive: true });
    expect({ status, stderr }).to.deep.equal({ status: 0, stderr: "" });
  });
});
