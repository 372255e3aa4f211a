import { expect } from "chai";
import { X509Certificate } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ClientCertPort, ClientValidation } from "@svc-gateway/common/ir/client-certificate.ts";
import { hasShortPath } from "../../src/tls/client-validation.ts";
import { eventually } from "../http/h1/harness.ts";
import { issueCertificate, type Issued } from "./certificates.ts";
import { failureOf, readUntil, startTls, stopTls, tlsPort, type TlsUnderTest } from "./harness.ts";
import { sClient } from "./openssl.ts";
import { startRecordRelay } from "./record-relay.ts";

const server = issueCertificate(["m.example", "open.example"]);
const root = issueCertificate(["root"], { ca: true });
const middle = issueCertificate(["middle"], { ca: true, issuer: root });
const lower = issueCertificate(["lower"], { ca: true, issuer: middle });
const direct = issueCertificate(["direct"], { issuer: root });
const indirect = issueCertificate(["indirect"], { issuer: middle });
const deep = issueCertificate(["deep"], { issuer: lower });
const untrusted = issueCertificate(["untrusted"]);
const rsaRoot = issueCertificate(["RSA root"], { ca: true, type: "rsa" });
/** A certificate of another authority with the same name, whose verification fails at the signature. */
const namesake = issueCertificate(["namesake"], {
  issuer: issueCertificate(["RSA root"], { ca: true, type: "rsa" }),
});
const expired = issueCertificate(["expired"], { issuer: root, notAfterMs: Date.UTC(2021, 0, 1) });

const certificates = tlsPort(["exact", "m.example", [server]], ["exact", "open.example", [server]]);

const strict = (
  overrides: Partial<ClientValidation> = {},
  authorities: readonly Issued[] = [root],
): ClientCertPort => ({
  authorities: { ca: authorities.map(({ leafPem }) => leafPem).join("") },
  hosts: [
    {
      bucket: "exact",
      host: "m.example",
      mode: "require",
      authorities: "ca",
      maxIntermediates: 0,
      forward: false,
      ...overrides,
    },
  ],
});

async function start(clients: ClientCertPort): Promise<TlsUnderTest> {
  const started = await startTls();
  started.serve(certificates, clients);
  return started;
}

/** `in` when the server serves the client, else the client's error code. */
async function outcome(
  { connect }: TlsUnderTest,
  identity: Issued | undefined,
  maxVersion: "TLSv1.2" | "TLSv1.3",
): Promise<string> {
  const options = { servername: "m.example", maxVersion };
  const own = identity === undefined ? {} : { cert: identity.chainPem, key: identity.keyPem };
  try {
    const socket = await connect({ ...options, ...own });
    await readUntil(socket, /m\.example\|/);
    return "in";
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? (error as Error).message;
  }
}

const unknownCa = "ERR_SSL_TLSV1_ALERT_UNKNOWN_CA";

describe("client certificates", () => {
  afterEach(stopTls);

  for (const version of ["TLSv1.2", "TLSv1.3"] as const) {
    describe(version, () => {
      it(`${version}: a client with a certificate of the authority is admitted`, async () => {
        const started = await start(strict());
        expect(await outcome(started, direct, version)).to.equal("in");
        expect(started.results).to.deep.equal([{ result: "ok", version }]);
      });

      const required =
        version === "TLSv1.2"
          ? "ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE"
          : "ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED";
      for (const [what, identity, alert] of [
        ["no certificate", undefined, required],
        ["a certificate of an unknown authority", untrusted, unknownCa],
        ["an expired certificate", expired, "ERR_SSL_SSL/TLS_ALERT_CERTIFICATE_EXPIRED"],
        ["a certificate behind an intermediate, with depth 1", indirect, unknownCa],
      ] as const) {
        it(`${version}: a client with ${what} is refused with an alert`, async () => {
          const started = await start(strict());
          expect(await outcome(started, identity, version)).to.equal(alert);
          await eventually(() => started.results.length === 1);
          expect(started.results).to.deep.equal([
            { result: "fail", version: "unknown", reason: "client certificate refused" },
          ]);
          expect(started.handshakes.pending).to.equal(0);
        });
      }

      it(`${version}: every client is refused when there are no authorities`, async () => {
        const { authorities: _, ...rest } = strict().hosts[0] as ClientValidation;
        const started = await start({ authorities: {}, hosts: [rest] });
        expect(await outcome(started, direct, version)).to.equal(unknownCa);
        expect(await outcome(started, undefined, version)).to.equal(required);
      });

      it(`${version}: exactly as many intermediates are allowed as the depth says`, async () => {
        for (const [maxIntermediates, outcomes] of [
          [0, ["in", unknownCa, unknownCa]],
          [1, ["in", "in", unknownCa]],
          [2, ["in", "in", "in"]],
        ] as const) {
          const started = await start(strict({ maxIntermediates }));
          const seen: string[] = [];
          for (const identity of [direct, indirect, deep])
            seen.push(await outcome(started, identity, version));
          expect(seen, `${maxIntermediates} intermediates`).to.deep.equal(outcomes);
        }
      });

      it(`${version}: intermediates are counted from the nearest authority, which may be an intermediate one itself`, async () => {
        const started = await start(strict({}, [root, middle]));
        expect(await outcome(started, indirect, version)).to.equal("in");
        const alone = await start(strict({}, [middle]));
        expect(await outcome(alone, indirect, version)).to.equal("in");
        expect(await outcome(alone, direct, version)).to.equal(unknownCa);
      });

      it(`${version}: a certificate is requested but not required in the mode optional`, async () => {
        const started = await start(strict({ mode: "optional" }));
        for (const identity of [direct, untrusted, undefined]) {
          expect(await outcome(started, identity, version)).to.equal("in");
        }
      });

      it(`${version}: a certificate of another authority with the same name is admitted in the mode optional`, async () => {
        const started = await start(strict({ mode: "optional" }, [rsaRoot]));
        const relay = await startRecordRelay(started.port);
        const through: TlsUnderTest = {
          ...started,
          connect: (options) => started.connect({ ...options, port: relay.port }),
        };
        expect(await outcome(through, namesake, version)).to.equal("in");
        relay.close();
      });

      it(`${version}: no certificate is requested under another server name`, async () => {
        const started = await start(strict());
        const socket = await started.connect({ servername: "open.example", maxVersion: version });
        expect(await readUntil(socket, /\|/)).to.equal("open.example|");
      });
    });
  }

  for (const mode of ["require", "optional"] as const) {
    it(`TLSv1.3: a host with the mode ${mode} resumes no session, neither its own nor one of another host`, async () => {
      const started = await start(strict({ mode }));
      const own = { cert: direct.chainPem, key: direct.keyPem, maxVersion: "TLSv1.3" } as const;
      for (const servername of ["m.example", "open.example"]) {
        const sessions: Buffer[] = [];
        const first = await started.connect({ ...own, servername });
        first.on("session", (session: Buffer) => sessions.push(session));
        first.resume();
        await eventually(() => sessions.length > 0);
        const [session] = sessions;
        const again = await started.connect({ ...own, servername: "m.example", session });
        expect(again.isSessionReused()).to.equal(false);
        expect(await readUntil(again, /\|/)).to.equal("m.example|");
      }
    });
  }

  describe("openssl as the client", () => {
    let folder: string;
    const files = (name: string): readonly string[] => [
      "-cert",
      join(folder, `${name}.crt`),
      "-cert_chain",
      join(folder, `${name}.crt`),
      "-key",
      join(folder, `${name}.key`),
    ];

    before(async () => {
      folder = await mkdtemp(join(tmpdir(), "svc-gateway-tls-"));
      for (const identity of [direct, untrusted]) {
        await writeFile(join(folder, `${identity.name}.crt`), identity.chainPem);
        await writeFile(join(folder, `${identity.name}.key`), identity.keyPem);
      }
    });
    after(() => rm(folder, { recursive: true }));

    for (const suite of [
      "TLS_AES_128_GCM_SHA256",
      "TLS_AES_256_GCM_SHA384",
      "TLS_CHACHA20_POLY1305_SHA256",
    ]) {
      it(`openssl reads the alert under ${suite}, and no byte of an answer`, async () => {
        const { port } = await start(strict());
        const args = ["-servername", "m.example", "-tls1_3", "-ciphersuites", suite];
        expect(await sClient(port, [...args, ...files("untrusted")])).to.match(/alert unknown ca/);
        const without = await sClient(port, args);
        expect(without).to.match(/alert certificate required/);
        expect(without).not.to.contain("m.example|");
      });
    }

    for (const version of ["-tls1_2", "-tls1_3"]) {
      it(`openssl resumes no session with a client certificate (${version})`, async () => {
        const started = await start(strict());
        const session = join(folder, `session${version}`);
        const args = ["-servername", "m.example", version, ...files("direct")];
        const talk = async (more: readonly string[]): Promise<string> => {
          const talking = sClient(started.port, [...args, ...more]);
          const before = started.results.length;
          await eventually(() => started.results.length > before);
          started.accepted.at(-1)?.end();
          return talking;
        };
        expect(await talk(["-sess_out", session])).to.match(/New, TLS/);
        // Without a ticket TLS 1.2 has nothing to write down.
        const again = await talk(["-sess_in", session]);
        expect(again).to.match(/New, TLS|No such file/i);
        expect(again).not.to.match(/Reused/);
      });
    }
  });

  it("a change of the authorities holds from the next handshake on", async () => {
    const started = await start(strict());
    expect(await outcome(started, direct, "TLSv1.3")).to.equal("in");
    started.serve(certificates, {
      ...strict(),
      authorities: { ca: untrusted.leafPem },
      hosts: strict({ authorities: "other" }).hosts,
    });
    expect(await outcome(started, direct, "TLSv1.3")).to.equal(unknownCa);
  });

  describe("server names without certificates of their own", () => {
    const wild = issueCertificate(["*.wild.example"]);
    const port = tlsPort(["wildcard", "*.wild.example", [wild]], ["exact", "own.wild.example", [server]]);
    const covering = (bucket: ClientValidation["bucket"], host: string): ClientCertPort =>
      strict({ bucket, host });

    it("a name with client rules and no certificate of its own is served with the certificate of its wildcard", async () => {
      const started = await startTls();
      started.serve(port, covering("exact", "m.wild.example"));
      expect(
        await failureOf(started.connect({ servername: "m.wild.example", maxVersion: "TLSv1.2" })),
      ).to.equal("ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE");
      const other = await started.connect({ servername: "x.wild.example", maxVersion: "TLSv1.2" });
      expect(await readUntil(other, /\|/)).to.equal("x.wild.example|");
    });

    it("a name with certificates of its own does not inherit the client rules of its wildcard", async () => {
      const started = await startTls();
      started.serve(port, covering("wildcard", "*.wild.example"));
      const own = await started.connect({ servername: "own.wild.example", maxVersion: "TLSv1.2" });
      expect(await readUntil(own, /\|/)).to.equal("own.wild.example|");
      expect(
        await failureOf(started.connect({ servername: "x.wild.example", maxVersion: "TLSv1.2" })),
      ).to.equal("ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE");
    });
  });

  describe("certificate paths", () => {
    const x509 = ({ leafPem }: Issued): X509Certificate => new X509Certificate(leafPem);

    it("a certificate path consists of authorities that are valid and may sign", () => {
      const leafAsIssuer = issueCertificate(["pretender"], { issuer: direct });
      expect(hasShortPath(x509(leafAsIssuer), [x509(direct)], [x509(root)], 5)).to.equal(false);
      const old = issueCertificate(["old"], { ca: true, notAfterMs: Date.UTC(2021, 0, 1) });
      const ofOld = issueCertificate(["of-old"], { issuer: old });
      expect(hasShortPath(x509(ofOld), [], [x509(old)], 5)).to.equal(false);
    });

    it("an issuer with the right name but without the signature is not trusted", () => {
      const impostor = issueCertificate(["root"], { ca: true });
      const leaf = issueCertificate(["leaf"], { issuer: impostor });
      expect(hasShortPath(x509(leaf), [], [x509(root)], 5)).to.equal(false);
    });

    it("the search for a path ends on certificates that issued each other", () => {
      expect(hasShortPath(x509(untrusted), [x509(untrusted), x509(untrusted)], [x509(root)], 5)).to.equal(
        false,
      );
    });

    it("the certificate of an authority itself is accepted", () => {
      expect(hasShortPath(x509(root), [], [x509(root)], 0)).to.equal(true);
    });
  });
});
