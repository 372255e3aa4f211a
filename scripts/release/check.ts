/**
 * `make release-check`: builds a release twice and compares the bytes, installs the npm package without a network and
 * runs it, and renders the chart if Helm is available.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { dirname, delimiter, join } from "node:path";
import { textOf } from "@svc-gateway/common/values/errors.ts";
import { digestsOf } from "./checksums.ts";
import { buildRelease } from "./release.ts";
import { parseVersion, readSource, root } from "./source.ts";

const scratch = mkdtempSync(join(tmpdir(), "svc-gateway-release-"));
try {
  process.exitCode = (await check()) ? 0 : 1;
} catch (error) {
  process.stderr.write(`release-check: ${textOf(error)}\n`);
  process.exitCode = 1;
} finally {
  rmSync(scratch, { recursive: true });
}

async function check(): Promise<boolean> {
  const version = parseVersion(process.env["VERSION"] ?? "0.0.0-check");
  if (!version.ok) throw new Error(version.error.message);
  const source = readSource(version.value);
  const built: ReadonlyMap<string, string>[] = [];
  for (const name of ["first", "second"]) {
    const startedMs = performance.now();
    const done = await buildRelease(join(scratch, name), source, undefined);
    if (!done.ok) throw new Error(done.error.message);
    built.push(digestsOf(join(scratch, name)));
    say(true, `${name} build`, `${((performance.now() - startedMs) / 1000).toFixed(1)} s`);
  }
  const [first = new Map<string, string>(), second = new Map<string, string>()] = built;
  const same = [...first].map(([name, digest]) =>
    say(digest === second.get(name), `same bytes: ${name}`, digest),
  );
  const file = (suffix: string): string => join(scratch, "first", `svc-gateway-${source.version}${suffix}`);
  return [
    ...same,
    checkNpm(file("-npm.tgz"), source.version),
    checkChart(file(".tgz"), source.version),
  ].every(Boolean);
}

function checkNpm(archive: string, version: string): boolean {
  const folder = join(scratch, "npm");
  mkdirSync(folder);
  const env = { ...process.env, PATH: [dirname(process.execPath), process.env["PATH"]].join(delimiter) };
  const npm = (...args: readonly string[]): string =>
    execFileSync("npm", args, { cwd: folder, env, encoding: "utf8" });
  npm("init", "--yes");
  npm("install", "--offline", "--no-audit", "--no-fund", archive);
  const printed = npm("exec", "--offline", "--", "svc-gateway", "version").trim();
  const isVersion = say(printed === `svc-gateway ${version}`, "npm exec svc-gateway version", printed);
  const manifests = join(root, "config/examples/compose/manifests");
  const checked = spawnSync("npm", ["exec", "--offline", "--", "svc-gateway", "check", manifests], {
    cwd: folder,
    env,
    encoding: "utf8",
  });
  const lastLine = checked.stdout.trim().split("\n").at(-1) ?? "";
  return say(checked.status === 0, "npm exec svc-gateway check", lastLine) && isVersion;
}

function checkChart(archive: string, version: string): boolean {
  const helm = [process.env["HELM"] ?? "", join(homedir(), ".cache/e2e-cluster/bin/helm")].find(existsSync);
  if (helm === undefined)
    return say(true, "the chart is not rendered", "there is no Helm: set HELM to its path");
  const { status, stdout } = spawnSync(helm, ["template", "x", archive], { encoding: "utf8" });
  return say(
    status === 0 && stdout.includes(`image: svc-gateway:${version}`),
    "the chart names the image",
    version,
  );
}

function say(isOk: boolean, what: string, detail: string): boolean {
  process.stdout.write(`${isOk ? "ok  " : "FAIL"} ${what}: ${detail}\n`);
  return isOk;
}
