import { expect } from "chai";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { roles } from "@svc-gateway/common/settings/flag.ts";
import { commands } from "../src/command-line.ts";
import { runInside, runProgram } from "./support.ts";

describe("the command line", () => {
  describe("usage errors", () => {
    const cases: readonly (readonly [argv: readonly string[], message: RegExp])[] = [
      [
        [],
        /^svc-gateway: expected a command: serve, check, explain, status, report, migrate, completion, version \(see /,
      ],
      [["chek"], /^svc-gateway: unknown command "chek", expected one of serve, check/],
      [["--verbose"], /^svc-gateway: --verbose: unknown flag/],
      [["serve"], /^svc-gateway: serve: expected a role: controller, proxy or standalone/],
      [["serve", "all"], /^svc-gateway: serve: unknown role "all"/],
      [
        ["serve", "controller", "--manifests", "."],
        /^svc-gateway: --manifests: not a flag of serve controller, only of serve standalone/,
      ],
      [["serve", "proxy", "--shared"], /^svc-gateway: --discovery-endpoint: required/],
      [["serve", "standalone"], /^svc-gateway: --manifests: required/],
      [
        ["serve", "standalone", "--manifest", "x"],
        /^svc-gateway: --manifest: unknown flag \(did you mean --manifests\?\)/,
      ],
      [
        ["serve", "standalone", "--manifests", "/nonexistent"],
        /^svc-gateway: \/nonexistent: the folder does not exist/,
      ],
      [
        ["serve", "standalone", "--manifests", ".", "--admin-port", "x"],
        /^svc-gateway: --admin-port: expected .*, got "x"/,
      ],
      [["check"], /^svc-gateway: check: expected a folder/],
      [["check", "/nonexistent"], /^svc-gateway: \/nonexistent: the folder does not exist/],
      [["check", "/nonexistent/"], /^svc-gateway: \/nonexistent\/: the folder does not exist/],
      [["check", "/nonexistent.yaml"], /^svc-gateway: \/nonexistent.yaml: the file does not exist$/m],
      [["check", "/dev/null/a.yml"], /^svc-gateway: \/dev\/null\/a.yml: the file does not exist: a part/],
      [
        ["explain", "GET", "http://a/", "--manifests", "/nonexistent.json"],
        /^svc-gateway: \/nonexistent.json: the file does not exist$/m,
      ],
      [
        ["serve", "standalone", "--manifests", "/dev/null"],
        /^svc-gateway: \/dev\/null: the path is not a folder/,
      ],
      [["check", "-", "-"], /^svc-gateway: check: standard input \(-\) can be read only once/],
      [["report"], /^svc-gateway: report: expected a folder/],
      [["report", "-", "-"], /^svc-gateway: report: standard input \(-\) can be read only once/],
      [["report", ".", "-o", "html"], /^svc-gateway: --output: expected text or markdown or json or yaml/],
      [["report", ".", "--accept", "A b"], /^svc-gateway: --accept: expected names of annotations/],
      [["check", ".", "-o", "xml"], /^svc-gateway: --output: expected text or json or yaml, got "xml"/],
      [["check", ".", "--ingress-http-port", "99999"], /^svc-gateway: --ingress-http-port: expected/],
      [
        ["check", ".", "--ingress-https-port", "80"],
        /^svc-gateway: --ingress-https-port: expected another port/,
      ],
      [
        ["check", ".", "--port-map", "80=90,443=90"],
        /^svc-gateway: --port-map: expected different local ports/,
      ],
      [["check", ".", "--port-map", "80=8082"], /^svc-gateway: --admin-port: expected another port/],
      [["explain"], /^svc-gateway: explain: expected a method and a URL/],
      [["explain", "http://a/"], /^svc-gateway: explain: expected --manifests PATH, or --live/],
      [["explain", "--manifests", "."], /^svc-gateway: explain: expected a method and a URL/],
      [["explain", "GET", "example.com", "--manifests", "."], /^svc-gateway: "example.com" is not a URL/],
      [["explain", "GET IT", "http://a/", "--manifests", "."], /^svc-gateway: "GET IT" is not a method/],
      [
        ["explain", "GET", "http://a/%zz", "--manifests", "."],
        /the gateway answers 400: the target "\/%zz" is malformed/,
      ],
      [
        ["explain", "GET", "http://a b/", "--manifests", "."],
        /the gateway answers 400: Host is not host\[:port\]/,
      ],
      [["explain", "TRACE", "http://a/", "--manifests", "."], /the gateway answers TRACE with 405/],
      [["explain", "http://a/", "-H", "x", "--manifests", "."], /-H "x": expected "Name: value"/],
      [["explain", "http://a/", "--manifests", ".", "-H"], /-H: expected "Name: value", got nothing/],
      [["completion"], /^svc-gateway: completion: expected bash, zsh or fish/],
      [["completion", "tcsh"], /^svc-gateway: completion: expected bash, zsh or fish, got "tcsh"/],
      [["completion", "bash", "zsh"], /^svc-gateway: unexpected argument "zsh"/],
      [["version", "now"], /^svc-gateway: unexpected argument "now"/],
    ];
    for (const [argv, message] of cases) {
      it(`"svc-gateway ${argv.join(" ")}" fails with exit code 2 and one line`, async () => {
        const { code, out, err } = await runInside(argv);
        expect({ code, out }).to.deep.equal({ code: 2, out: "" });
        expect(err).to.match(message);
        expect(err.trimEnd().split("\n")).to.have.length(1);
      });
    }
  });

  it("the exit code and the output streams of the process are those of the command", async () => {
    const [refused, released] = await Promise.all([runProgram(["chek"]), runProgram(["version"])]);
    expect(refused).to.include({ code: 2, out: "" });
    expect(refused.err).to.match(/^svc-gateway: unknown command "chek".*\n$/);
    expect(released).to.deep.equal({ code: 0, out: "svc-gateway 0.1.0\n", err: "" });
  });

  it("version prints the release", async () => {
    const expected = { code: 0, out: "svc-gateway 0.1.0\n", err: "" };
    expect(await runInside(["version"])).to.deep.equal(expected);
    expect(await runInside(["--version"])).to.deep.equal(expected);
  });

  describe("help texts", () => {
    it("help lists all commands", async () => {
      for (const argv of [["--help"], ["-h"], ["help"]]) {
        const { code, out, err } = await runInside(argv);
        expect({ code, err }).to.deep.equal({ code: 0, err: "" });
        for (const { name, summary } of commands) expect(out).to.include(name).and.include(summary);
      }
    });

    for (const { name, load } of commands) {
      it(`${name} --help prints its help, with any other words on the line`, async () => {
        const { help } = await load();
        const { code, out, err } = await runInside([...name.split(" "), "--nonsense", "--help"]);
        expect({ code, out, err }).to.deep.equal({ code: 0, out: help(), err: "" });
        expect(out).to.match(new RegExp(`^Usage: svc-gateway ${name}`));
      });
    }

    it("the help of a command that reads manifests keeps the flags of the gateway apart from its own", async () => {
      for (const name of ["check", "explain", "report", "migrate"]) {
        const { out } = await runInside([name, "--help"]);
        const [own = "", ofGateway = ""] = out.split("\nFlags of the gateway: ");
        expect(own, name).to.include("--output").and.not.include("--admin-port");
        expect(ofGateway, name).to.include("--admin-port").and.not.include("--output");
      }
    });

    it("the help of no command has an empty default", async () => {
      for (const { name } of commands) {
        const { out } = await runInside([...name.split(" "), "--help"]);
        expect(out, name).not.to.match(/ \(\)$/m);
      }
    });

    it("a serve command exists for every role", () => {
      for (const role of roles) expect(commands.map(({ name }) => name)).to.include(`serve ${role}`);
    });
  });

  describe("settings", () => {
    let folder: string;
    beforeEach(async () => {
      folder = await mkdtemp(join(tmpdir(), "svc-gateway-cli-"));
    });
    afterEach(() => rm(folder, { recursive: true }));

    it("settings are read from the environment, and a flag overrides its variable", async () => {
      const manifest = (kind: string, spec: object): string =>
        JSON.stringify({ apiVersion: "networking.k8s.io/v1", kind, metadata: { name: "a" }, spec });
      const rules = [{ host: "a.example.com" }];
      const backend = { service: { name: "missing", port: { number: 80 } } };
      await writeFile(join(folder, "a.json"), manifest("IngressClass", { controller: "example.com/ours" }));
      await writeFile(
        join(folder, "b.json"),
        manifest("Ingress", { ingressClassName: "a", rules, defaultBackend: backend }),
      );
      const env = { SVC_CONTROLLER_NAME: "example.com/ours" };
      expect((await runInside(["check", folder])).code, "not ours").to.equal(0);
      expect((await runInside(["check", folder], { env })).code, "ours, and its Service is missing").to.equal(
        1,
      );
      const argv = ["check", folder, "--controller-name", "example.com/other"];
      expect((await runInside(argv, { env })).code).to.equal(0);
    });
  });
});
