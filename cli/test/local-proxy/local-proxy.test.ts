import { expect } from "chai";
import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { get } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { readStandaloneSettings } from "@svc-gateway/common/settings/settings.ts";
import { createExampleCertificates } from "../../../scripts/quickstart/certificates.ts";
import { certificateMs, issueCertificate, openLocalCa } from "../../src/local-proxy/local-ca.ts";
import { prepareLocalProxy } from "../../src/local-proxy/local-proxy.ts";
import { until } from "../../../common/test/until.ts";
import { runInside, runProgram, startProgram } from "../support.ts";

const settingsOf = (...argv: readonly string[]) => {
  const read = readStandaloneSettings({ argv, env: {} });
  if (!read.ok) throw new Error(read.error.message);
  return read.value.settings;
};

describe("serve standalone --proxy", () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "svc-gateway-local-"));
  });
  afterEach(() => rm(folder, { recursive: true }));

  it("the printed manifests are served as written once their PEM files are beside them", async () => {
    const rules = ["--proxy", "app.local=localhost:3000", "--proxy", "app.local/api=https://localhost:3443"];
    const printed = await runInside(["serve", "standalone", ...rules, "--print-manifests"]);
    expect(printed.code, printed.err).to.equal(0);
    expect(printed.out).to.match(
      /^# --proxy app\.local=http:\/\/localhost:3000\n# --proxy app\.local\/api=https:\/\/localhost:3443\n---\n/,
    );
    const authority = await openLocalCa(join(folder, "ca"), Date.now());
    if (!authority.ok) throw new Error(authority.error);
    const { certificatePem, keyPem } = await issueCertificate(authority.value, ["app.local"], Date.now());
    await writeFile(join(folder, "proxy.yaml"), printed.out);
    await writeFile(join(folder, "tls.crt"), certificatePem);
    await writeFile(join(folder, "tls.key"), keyPem);
    const checked = await runInside(["check", join(folder, "proxy.yaml")]);
    expect(checked.code, checked.out).to.equal(0);
    const explained = await runInside([
      ...["explain", "https://app.local:8443/api/x", "--manifests", join(folder, "proxy.yaml")],
    ]);
    expect(explained.out).to.include("sent to the backend").and.include("localhost:3443");
  });

  it("a local proxy serves its backend over TLS, with a certificate of the local CA", async () => {
    const backend: Server = createServer((request, response) => response.end(`backend ${request.url}`));
    backend.listen(0, "127.0.0.1");
    await once(backend, "listening");
    const { port } = backend.address() as AddressInfo;
    const child = startProgram([
      ...["serve", "standalone", "--proxy", `app.localhost/a=127.0.0.1:${port}`, "--local-ca-dir", folder],
      ...["--port-map", "80=0,443=0", "--admin-port", "0", "--health-port", "0"],
      ...["--proxy-bind-address", "127.0.0.1", "--proxy-workers", "1"],
    ]);
    const ended = once(child, "close");
    let err = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => (err += text));
    try {
      const ports = new Map<unknown, number>();
      let rest = "";
      for await (const chunk of child.stdout.setEncoding("utf8")) {
        const lines = `${rest}${String(chunk)}`.split("\n");
        rest = lines.pop() ?? "";
        for (const line of lines) {
          const event = JSON.parse(line) as Readonly<Record<string, unknown>>;
          if (event["message"] === "listener added")
            ports.set(event["listener"], Number(event["local_port"]));
        }
        if (ports.size === 2) break;
      }
      await until(() => err.includes("->"), "the addresses");
      const response = await new Promise<string>((resolve, reject) => {
        void readFile(join(folder, "ca.crt")).then((ca) =>
          get(
            {
              host: "127.0.0.1",
              port: ports.get(443),
              ca,
              servername: "app.localhost",
              path: "/a/b",
              headers: { Host: "app.localhost" },
            },
            (answer) => answer.setEncoding("utf8").once("data", resolve),
          ).once("error", reject),
        );
      });
      expect(response).to.equal("backend /a/b");
      expect(err).to.include(`->  http://127.0.0.1:${port}`).and.include(join(folder, "ca.crt"));
    } finally {
      // In order, so that the folder of its manifests is removed.
      child.kill("SIGINT");
      await ended;
      backend.close();
    }
  });

  it("files of a certificate are linked, so that a replaced one is followed, and the folder is removed at the end", async () => {
    const [cert, key] = [join(folder, "my.crt"), join(folder, "my.key")];
    const { certificatePem, keyPem } = await createExampleCertificates(["app.local"]);
    await writeFile(cert, certificatePem);
    await writeFile(key, keyPem);
    const prepared = await prepareLocalProxy(
      settingsOf("--proxy", "app.local=localhost:3000", "--cert", cert, "--key", key),
      {},
    );
    if (!prepared.ok) throw new Error(prepared.error);
    const { folder: served, remove } = prepared.value;
    await writeFile(cert, "other");
    expect(await readFile(join(served, "tls.crt"), "utf8")).to.equal("other");
    expect((await readdir(served)).sort()).to.deep.equal(["proxy.yaml", "tls.crt", "tls.key"]);
    await remove();
    expect(await readdir(served).catch(() => "removed")).to.equal("removed");
    expect(await readFile(cert, "utf8"), "the user's own file stays").to.equal("other");
  });

  describe("without a usable folder", () => {
    const before = process.env["TMPDIR"];
    afterEach(() => {
      if (before === undefined) delete process.env["TMPDIR"];
      else process.env["TMPDIR"] = before;
    });
    /** Prepares a local proxy with this folder for temporary files. Returns the reason of the failure. */
    const failureIn = async (temporary: string, ...flags: readonly string[]): Promise<string> => {
      process.env["TMPDIR"] = temporary;
      const rule = ["--proxy", "app.local=localhost:3000", "--local-ca-dir", join(folder, "ca")];
      const prepared = await prepareLocalProxy(settingsOf(...rule, ...flags), {});
      return prepared.ok ? "" : prepared.error;
    };

    it("a local proxy fails with one sentence if there is no folder for temporary files", async () => {
      const missing = join(folder, "missing");
      expect(await failureIn(missing)).to.match(
        new RegExp(`^no folder for the files of --proxy can be created in ${missing}: ENOENT`),
      );
    });

    it("a local proxy whose CA has a key that cannot sign fails with one sentence and leaves no folder", async () => {
      const [ca, temporary] = [join(folder, "ca"), join(folder, "tmp")];
      await Promise.all([mkdir(ca), mkdir(temporary)]);
      await promisify(execFile)("openssl", [
        ...["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "3650", "-subj", "/CN=own CA"],
        ...["-keyout", join(ca, "ca.key"), "-out", join(ca, "ca.crt")],
      ]);
      const failure = await failureIn(temporary);
      expect(await readdir(temporary)).to.deep.equal([]);
      expect(failure).to.match(
        new RegExp(
          `^the local CA in ${ca} cannot sign a certificate, expected an EC key \\(P-256\\) in ca\\.key: `,
        ),
      );
    });

    it("a local proxy whose manifests cannot be written fails with one sentence and leaves no folder", async () => {
      const [cert, key] = [join(folder, "my.crt"), join(folder, "my.key")];
      const { certificatePem, keyPem } = await createExampleCertificates(["app.local"]);
      await Promise.all([writeFile(cert, certificatePem), writeFile(key, keyPem)]);
      // The links fit into the longest path of Linux, 4,095 bytes, and the manifests do not.
      let temporary = folder;
      while (temporary.length < 4060) {
        const left = 4060 - temporary.length - 1;
        temporary = join(temporary, "d".repeat(left > 250 ? 200 : left));
      }
      await mkdir(temporary, { recursive: true });
      const failure = await failureIn(temporary, "--cert", cert, "--key", key);
      expect(await readdir(temporary)).to.deep.equal([]);
      expect(failure).to.match(/^the files of --proxy cannot be written to .*: ENAMETOOLONG/);
    });
  });

  it("a local proxy whose port is taken ends with one sentence, and names no address before it", async () => {
    const taken = createServer().listen(0, "127.0.0.1");
    await once(taken, "listening");
    const { port } = taken.address() as AddressInfo;
    const { code, err } = await runProgram([
      ...["serve", "standalone", "--proxy", "app.localhost=127.0.0.1:1", "--local-ca-dir", folder],
      ...["--port-map", `80=${port},443=0`, "--admin-port", "0", "--health-port", "0"],
      ...["--proxy-bind-address", "127.0.0.1", "--proxy-workers", "1"],
    ]);
    taken.close();
    expect(code, err).to.not.equal(0);
    expect(err).to.match(/^svc-gateway: listener 80 cannot be served: [^\n]*\n$/);
  });

  it("a certificate file that does not exist ends the start with one sentence", async () => {
    const { code, err } = await runProgram([
      ...[
        "serve",
        "standalone",
        "--proxy",
        "a.local=localhost:1",
        "--cert",
        "/no/a.crt",
        "--key",
        "/no/a.key",
      ],
    ]);
    expect(code).to.equal(2);
    expect(err).to.equal("svc-gateway: --cert: /no/a.crt: the file does not exist\n");
  });

  it("a key that does not belong to the certificate ends the start with one sentence", async () => {
    const [cert, key] = [join(folder, "my.crt"), join(folder, "my.key")];
    const [one, other] = await Promise.all(
      ["a.local", "a.local"].map((name) => createExampleCertificates([name])),
    );
    await writeFile(cert, one?.certificatePem ?? "");
    await writeFile(key, other?.keyPem ?? "");
    const rule = ["--proxy", "a.local=localhost:1", "--cert", cert, "--key", key];
    const prepare = async (): Promise<unknown> => prepareLocalProxy(settingsOf(...rule), {});
    expect(await prepare()).to.deep.equal({
      ok: false,
      error: `--cert, --key: ${key} does not match any certificate in ${cert}`,
    });
    await writeFile(key, "no key");
    expect(await prepare()).to.deep.equal({
      ok: false,
      error: `--cert, --key: ${key} is not an unencrypted private key in PEM form`,
    });
  });

  describe("the local CA", () => {
    it("the local CA is made once, and only its user may read its key", async () => {
      const ca = join(folder, "new");
      const [first, second] = [await openLocalCa(ca, Date.now()), await openLocalCa(ca, Date.now())];
      expect(first.ok && second.ok && first.value.certificatePem === second.value.certificatePem).to.equal(
        true,
      );
      expect((await stat(join(ca, "ca.key"))).mode & 0o777).to.equal(0o600);
      expect((await stat(ca)).mode & 0o777).to.equal(0o700);
    });

    it("a certificate of the local CA is for the given names and ends within the limit of browsers", async () => {
      const nowMs = Date.now();
      const authority = await openLocalCa(folder, nowMs);
      if (!authority.ok) throw new Error(authority.error);
      const issued = await issueCertificate(authority.value, ["a.local", "*.b.local"], nowMs);
      const certificate = new X509Certificate(issued.certificatePem);
      const signer = new X509Certificate(authority.value.certificatePem);
      expect(certificate.checkIssued(signer) && certificate.verify(signer.publicKey)).to.equal(true);
      expect(certificate.checkHost("a.local")).to.equal("a.local");
      expect(certificate.checkHost("x.b.local")).to.equal("*.b.local");
      expect(certificate.ca).to.equal(false);
      expect(certificate.validToDate.getTime()).to.be.at.most(nowMs + certificateMs);
    });

    it("a key that does not belong to the local CA is a problem, since its certificate may be trusted already", async () => {
      const other = join(folder, "other");
      await openLocalCa(folder, Date.now());
      await openLocalCa(other, Date.now());
      await writeFile(join(folder, "ca.key"), await readFile(join(other, "ca.key")));
      const opened = await openLocalCa(folder, Date.now());
      expect(opened.ok ? "" : opened.error).to.equal(
        `the local CA in ${folder} is broken: ca.key does not belong to ca.crt; delete both`,
      );
    });
  });
});
