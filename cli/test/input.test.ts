import { expect } from "chai";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
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

  it("several files, folders and standard input are checked as one set of manifests", async () => {
    const folder = await mkdtemp(join(tmpdir(), "svc-gateway-input-"));
    const [ofClass = "", ofIngress = ""] = manifests.split("---\n");
    const classFile = join(folder, "class.yaml");
    await writeFile(classFile, ofClass);
    const right = ofIngress.replace("svk", "svc");
    const together = await runInside(["check", folder, "-"], { input: [right] });
    expect(together.out).to.include("Ingress default/web").and.not.include("IngressClassNotFound");
    const places = await runInside(["check", "-", classFile], { input: [ofIngress] });
    expect(places.out).to.include(" 5:3      IngressClassNotFound").and.include("(did you mean svc?)");
    const overlapping = await runInside(["check", folder, classFile, `${folder}/../${basename(folder)}`]);
    expect([overlapping.code, overlapping.out.split("\n").at(-2)]).to.deep.equal([
      0,
      "1 object: 1 as written, 0 with warnings, 0 not served as written",
    ]);
    const twice = await runInside(["check", folder, "-"], { input: [ofClass] });
    expect(twice.out).to.include("DuplicateObject");
    expect(twice.code).to.equal(1);
    await rm(folder, { recursive: true });
  });

  it("each path that cannot be read is reported, and standard input is accepted once", async () => {
    const { code, err } = await runInside(["check", "/nowhere/a.yaml", "/nowhere/b"]);
    expect(code).to.equal(2);
    expect(err.split("\n").filter((line) => line.startsWith("svc-gateway: /nowhere/"))).to.have.length(2);
    expect((await runInside(["check", "-", "-"])).err).to.include("standard input (-) can be read only once");
  });

  it("standard input that is not YAML or too large is rejected with one line", async () => {
    const errOf = async (...input: readonly string[]): Promise<string> =>
      (await runInside(["check", "-"], { input })).err;
    expect(await errOf("a: {")).to.match(/^svc-gateway: <stdin>:1:\d+: /);
    expect(await errOf(...Array.from({ length: 17 }, () => " ".repeat(1 << 20)))).to.equal(
      "svc-gateway: <stdin>: the file is not read: it is larger than 16 MiB\n",
    );
  });

  it("a path without a manifest is reported by each command as one that cannot be read", async () => {
    const folder = await mkdtemp(join(tmpdir(), "svc-gateway-input-"));
    const comment = join(folder, "comment.txt");
    await writeFile(comment, "# nothing yet\n---\n");
    const classFile = join(folder, "class.txt");
    await writeFile(classFile, manifests.split("---\n")[0] ?? "");
    const expected = [
      `svc-gateway: ${folder}: no manifest found, expected files that end with .yaml, .yml or .json, with objects of Kubernetes`,
      `svc-gateway: ${comment}: no manifest found, expected objects of Kubernetes`,
      "svc-gateway: <stdin>: no manifest found, expected objects of Kubernetes",
    ];
    const paths = [folder, comment, "-"];
    for (const command of ["check", "report", "migrate"]) {
      const { code, out, err } = await runInside([command, classFile, ...paths]);
      expect([code, out, err.trimEnd().split("\n")], command).to.deep.equal([2, "", expected]);
    }
    for (const [index, path] of paths.entries()) {
      const { code, err } = await runInside(["explain", "http://a.example.com/", "--manifests", path]);
      expect([code, err.trimEnd()]).to.deep.equal([2, expected[index]]);
    }
    await rm(folder, { recursive: true });
  });

  it("manifests that are only for other programs, or that have mistakes, are a result", async () => {
    const other = await runInside(["check", "-"], {
      input: ["{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}}"],
    });
    expect(other.out).to.include("Not read by this gateway");
    expect(other.code).to.equal(0);
    expect((await runInside(["check", "-"], { input: ["{kind: Service}"] })).code).to.equal(1);
  });
});
