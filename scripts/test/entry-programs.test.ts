import { expect } from "chai";
import { spawnSync } from "node:child_process";
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { transformSync } from "esbuild";
import { entryModule, launcherScript } from "../entry-programs.ts";

/** Makes a process report another version of Node.js. */
const pretend = (release: string): string =>
  `data:text/javascript,${encodeURIComponent(
    `Object.defineProperty(process, "versions", { value: { ...process.versions, node: ${JSON.stringify(release)} } })`,
  )}`;

describe("the programs that start the bundle", () => {
  let root: string;
  before(() => {
    root = mkdtempSync(join(tmpdir(), "svc-gateway-entry-"));
    mkdirSync(join(root, "dist"));
    writeFileSync(join(root, "dist/main.mjs"), 'console.log("started", process.argv.slice(2).join(" "));\n');
    writeFileSync(join(root, "dist/svc-gateway.mjs"), entryModule("main.mjs"));
    writeFileSync(join(root, "dist/svc-gateway"), launcherScript("svc-gateway.mjs"));
    chmodSync(join(root, "dist/svc-gateway"), 0o755);
  });
  after(() => rmSync(root, { recursive: true }));

  const runEntry = (release: string): unknown => {
    const argv = ["--import", pretend(release), join(root, "dist/svc-gateway.mjs"), "a", "b"];
    const { status, stdout, stderr } = spawnSync(process.execPath, argv, { encoding: "utf8" });
    return { status, stdout, stderr };
  };

  it("the source entry reports a Node.js that is too old in one sentence, and loads nothing", () => {
    const argv = [
      "--import",
      pretend("22.18.0"),
      join(import.meta.dirname, "../../cli/src/main.ts"),
      "version",
    ];
    const { status, stdout, stderr } = spawnSync(process.execPath, argv, { encoding: "utf8" });
    expect({ status, stdout, stderr }).to.deep.equal({
      status: 2,
      stdout: "",
      stderr: `svc-gateway: Node.js 22.18.0 is too old: version 24 or newer is needed (${process.execPath})\n`,
    });
  });

  it("scripts/node reports a Node.js that is too old in one sentence where npm has installed none", () => {
    const scripts = join(root, "scripts");
    mkdirSync(scripts, { recursive: true });
    copyFileSync(join(import.meta.dirname, "../node"), join(scripts, "node"));
    const bin = join(root, "old");
    mkdirSync(bin);
    writeFileSync(join(bin, "node"), "#!/bin/sh\necho 20.9.0\n");
    chmodSync(join(bin, "node"), 0o755);
    const env = { ...process.env, PATH: `${bin}:/usr/bin:/bin` };
    const { status, stderr } = spawnSync(join(scripts, "node"), ["x.ts"], { encoding: "utf8", env });
    rmSync(scripts, { recursive: true });
    expect({ status, stderr }).to.deep.equal({
      status: 2,
      stderr: `svc-gateway: Node.js 20.9.0 is too old: version 24 or newer is needed (${join(bin, "node")})\n`,
    });
  });

  it("the entry programs report a Node.js that is too old in one sentence, and load nothing", () => {
    for (const release of ["20.9.0", "4.8.4", "23.11.1"]) {
      expect(runEntry(release)).to.deep.equal({
        status: 2,
        stdout: "",
        stderr: `svc-gateway: Node.js ${release} is too old: version 24 or newer is needed (${process.execPath})\n`,
      });
    }
  });

  it("the entry programs start the bundle with its arguments on Node.js 24 and newer", () => {
    for (const release of ["24.0.0", "100.1.2"]) {
      expect(runEntry(release)).to.deep.equal({ status: 0, stdout: "started a b\n", stderr: "" });
    }
  });

  it("the entry module uses only syntax that Node.js 12 reads", () => {
    const source = entryModule("main.mjs");
    const written = (target: string): string => transformSync(source, { target, format: "esm" }).code;
    expect(written("node12.20")).to.equal(written("esnext"));
    expect(source).not.to.match(/\b(await|const|let|\?\.|\?\?)\b|=>|`/);
  });

  it("the launcher uses the system's Node.js without an installed one, and reports when there is none", () => {
    const bin = join(root, "bin");
    mkdirSync(bin);
    for (const tool of ["sh", "dirname"]) {
      symlinkSync(
        spawnSync("sh", ["-c", `command -v ${tool}`], { encoding: "utf8" }).stdout.trim(),
        join(bin, tool),
      );
    }
    const launch = (): unknown => {
      const env = { PATH: bin };
      const { status, stdout, stderr } = spawnSync(join(root, "dist/svc-gateway"), ["a"], {
        env,
        encoding: "utf8",
      });
      return { status, stdout, stderr };
    };
    expect(launch()).to.deep.equal({
      status: 2,
      stdout: "",
      stderr: "svc-gateway: Node.js 24 or newer is needed, and there is no node in PATH\n",
    });
    symlinkSync(process.execPath, join(bin, "node"));
    expect(launch()).to.deep.equal({ status: 0, stdout: "started a\n", stderr: "" });
  });

  it("the launcher finds its program when it is started by a link to it, also one of several steps", () => {
    symlinkSync("../dist/svc-gateway", join(root, "bin/first"));
    symlinkSync(join(root, "bin/first"), join(root, "second"));
    const { status, stdout, stderr } = spawnSync(join(root, "second"), ["a"], { encoding: "utf8" });
    expect({ status, stdout, stderr }).to.deep.equal({ status: 0, stdout: "started a\n", stderr: "" });
  });
});
