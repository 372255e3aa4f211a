import { expect } from "chai";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { runInside } from "./support.ts";

const manifests = [
  "apiVersion: networking.k8s.io/v1",
  "kind: IngressClass",
  "metadata: {name: svc}",
  "spec: {controller: svc-labs.dev/gateway-controller}",
  "---",
  "apiVersion: networking.k8s.io/v1",
  "kind: Ingress",
  "metadata: {name: web}",
  "spec:",
  "  ingressClassName: svk",
  "  defaultBackend: {service: {name: web, port: {number: 80}}}",
  "",
].join("\n");

describe("manifests that are no folder", () => {
  it("manifests are read from standard input, with places in it", async () => {
    // In two parts, the second of which begins within a line.
    const input = [manifests.slice(0, 100), manifests.slice(100)];
    const { code, out } = await runInside(["check", "-"], { input });
    expect(code).to.equal(1);
    expect(out).to.match(/^<stdin>\n/);
    expect(out).to.include(" 10:3     IngressClassNotFound  spec.ingressClassName");
    const explained = await runInside(["explain", "http://a.example.com/", "--manifests", "-"], { input });
    expect(explained.out).to.include("no route: answered 404");
  });

  it("manifests are read from a pipe, and from a file with any name", async () => {
    const folder = await mkdtemp(join(tmpdir(), "svc-gateway-input-"));
    const file = join(folder, "manifests.txt");
    await writeFile(file, `\uFEFF${manifests}`);
    const { code, out } = await runInside(["check", file]);
    expect([code, out.split("\n")[0]]).to.deep.equal([1, file]);
    expect(out).to.include(" 10:3     IngressClassNotFound  spec.ingressClassName");
    const program = fileURLToPath(new URL("../src/main.ts", import.meta.url));
    const pipe = `cat "$0" | "$1" "$2" check /dev/stdin`;
    const child = spawn("sh", ["-c", pipe, file, process.execPath, program], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    let text = "";
    child.stdout.setEncoding("utf8").on("data", (part: string) => (text += part));
    await once(child, "close");
    expect(text).to.include(" 10:3     IngressClassNotFound  spec.ingressClassName");
    await rm(folder, { recursive: true });
  });

  it("standard input that is not YAML or too large is rejected with one line", async () => {
    const errOf = async (...input: readonly string[]): Promise<string> =>
      (await runInside(["check", "-"], { input })).err;
    expect(await errOf("a: {")).to.match(/^svc-gateway: <stdin>:1:\d+: /);
    expect(await errOf(...Array.from({ length: 17 }, () => " ".repeat(1 << 20)))).to.equal(
      "svc-gateway: <stdin>: the file is not read: it is larger than 16 MiB\n",
    );
  });

  it("empty standard input has no objects", async () => {
    expect((await runInside(["check", "-"])).code).to.equal(0);
  });
});
