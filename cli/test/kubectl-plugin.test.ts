import { execFileSync, spawnSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { version } from "../src/version.ts";

const program = fileURLToPath(new URL("../src/main.ts", import.meta.url));

describe("the plugin of kubectl", () => {
  it("kubectl runs the program by its name and passes on arguments and exit code", async function () {
    if (spawnSync("kubectl", ["version", "--client"]).status !== 0) this.skip();
    const folder = await mkdtemp(join(tmpdir(), "svc-gateway-plugin-"));
    try {
      const text = `#!/bin/sh\nexec '${process.execPath}' '${program}' "$@"\n`;
      await writeFile(join(folder, "kubectl-svc_gateway"), text, { mode: 0o755 });
      const env = { HOME: folder, PATH: `${folder}${delimiter}${process.env["PATH"] ?? ""}` };
      const printed = execFileSync("kubectl", ["svc_gateway", "version"], { env, encoding: "utf8" });
      expect(printed).to.equal(`svc-gateway ${version}\n`);
      const refused = spawnSync("kubectl", ["svc_gateway", "status", "shop"], { env, encoding: "utf8" });
      expect(refused.status).to.equal(2);
      expect(refused.stderr).to.include("status: expected no argument");
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});
