import type { ClientValidation } from "@svc-gateway/common/ir/client-certificate.ts";
import { expect } from "chai";
import { type Logger, silentLogger } from "@svc-gateway/common/telemetry/logger.ts";
import { createCertificateStore } from "../../src/tls/certificate-store.ts";
import { createTerminators, type Terminators } from "../../src/tls/terminators.ts";
import { issueCertificate } from "./certificates.ts";
import { tlsPort, wideSettings } from "./harness.ts";

const a = issueCertificate(["a.example"], { notAfterMs: Date.UTC(2090, 0, 1) });
const b = issueCertificate(["b.example"], { notAfterMs: Date.UTC(2091, 0, 1) });
const c = issueCertificate(["c.example"], { notAfterMs: Date.UTC(2092, 0, 1) });

describe("the certificates of a port", () => {
  let errors: { readonly fields: Readonly<Record<string, unknown>>; readonly message: string }[];
  let terminators: Terminators;

  beforeEach(() => {
    errors = [];
    const log: Logger = { ...silentLogger, error: (fields, message) => errors.push({ fields, message }) };
    terminators = createTerminators(wideSettings, log, { onSecure: () => {}, onError: () => {} });
  });

  it("certificates are chosen by exact name, then by one wildcard label, then by default", () => {
    const store = createCertificateStore(
      tlsPort(["exact", "x.b.example", [a]], ["wildcard", "*.b.example", [b]], ["default", "*", [c]]),
      terminators,
    );
    const notAfterOf = (name: string): number | undefined => store.select(name)?.terminator.notAfterMs;
    expect(notAfterOf("x.b.example")).to.equal(Date.UTC(2090, 0, 1));
    expect(notAfterOf("y.b.example")).to.equal(Date.UTC(2091, 0, 1));
    for (const name of ["b.example", "z.y.b.example", ".b.example", "other", ""]) {
      expect(notAfterOf(name), name).to.equal(Date.UTC(2092, 0, 1));
    }
  });

  it("a closed name has no certificate, although a wider name has one", () => {
    const requiring = (host: string): ClientValidation => ({
      bucket: "exact",
      host,
      mode: "require",
      forward: false,
    });
    const store = createCertificateStore(
      {
        ...tlsPort(["wildcard", "*.b.example", [b]], ["default", "*", [c]]),
        closed: [
          { bucket: "exact", host: "x.b.example" },
          { bucket: "wildcard", host: "*.a.example" },
        ],
      },
      terminators,
      { authorities: {}, hosts: ["x.b.example", "y.a.example"].map(requiring) },
    );
    const notAfterOf = (name: string): number | undefined => store.select(name)?.terminator.notAfterMs;
    for (const name of ["x.b.example", "x.a.example", "y.a.example", "z.y.x.a.example"])
      expect(store.select(name), name).to.equal(undefined);
    expect(notAfterOf("y.b.example")).to.equal(Date.UTC(2091, 0, 1));
    expect(notAfterOf("z.x.b.example")).to.equal(Date.UTC(2092, 0, 1));
    expect(notAfterOf("a.example")).to.equal(Date.UTC(2092, 0, 1));
    expect(store.names.map(({ name }) => name)).to.deep.equal(["*.b.example", "*"]);
  });

  it("the store lists the served names with their expiry for the metrics", () => {
    const store = createCertificateStore(
      tlsPort(["exact", "a.example", [a, b]], ["wildcard", "*.b.example", [b]], ["default", "*", [c]]),
      terminators,
    );
    expect(store.names).to.deep.equal([
      { bucket: "exact", name: "a.example", notAfterMs: Date.UTC(2090, 0, 1) },
      { bucket: "wildcard", name: "*.b.example", notAfterMs: Date.UTC(2091, 0, 1) },
      { bucket: "default", name: "*", notAfterMs: Date.UTC(2092, 0, 1) },
    ]);
  });

  it("the first of two entries for a name is served", () => {
    const store = createCertificateStore(
      tlsPort(
        ["exact", "a.example", [a]],
        ["exact", "a.example", [b]],
        ["wildcard", "*.x", [a]],
        ["wildcard", "*.x", [b]],
        ["default", "*", [a]],
        ["default", "*", [b]],
      ),
      terminators,
    );
    for (const name of ["a.example", "y.x", "z"]) {
      expect(store.select(name)?.terminator.notAfterMs).to.equal(Date.UTC(2090, 0, 1));
    }
    expect(store.names).to.have.length(3);
  });

  it("a terminator is built once, also for several ports and snapshots", () => {
    const first = createCertificateStore(tlsPort(["exact", "a.example", [a]]), terminators);
    const second = createCertificateStore(
      tlsPort(["default", "*", [a]], ["exact", "b.example", [b]]),
      terminators,
    );
    expect(second.select("anything")?.terminator).to.equal(first.select("a.example")?.terminator);
    expect(terminators.size).to.equal(2);
  });

  it("a terminator that no port uses any more is dropped", () => {
    const store = createCertificateStore(
      tlsPort(["exact", "a.example", [a]], ["exact", "b.example", [b]]),
      terminators,
    );
    const next = createCertificateStore(tlsPort(["exact", "b.example", [b]]), terminators);
    terminators.retain(next.terminators);
    expect(terminators.size).to.equal(1);
    expect(next.select("b.example")?.terminator).to.equal(store.select("b.example")?.terminator);
  });

  for (const [name, bad] of [
    ["a chain that does not parse", { ...a, chainPem: "garbage" }],
    ["a key that does not parse", { ...a, keyPem: "garbage" }],
    ["the key of another certificate", { ...a, keyPem: b.keyPem }],
    [
      "a chain with a bad intermediate",
      { ...a, chainPem: `${a.chainPem}-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n` },
    ],
  ] as const) {
    it(`an entry with ${name} is left out, and the others are served`, () => {
      const store = createCertificateStore(
        {
          certificates: { bad, good: b },
          hosts: [
            { bucket: "exact", host: "a.example", certificates: ["bad"] },
            { bucket: "exact", host: "b.example", certificates: ["good"] },
          ],
        },
        terminators,
      );
      expect(store.select("a.example")).to.equal(undefined);
      expect(store.select("b.example")).not.to.equal(undefined);
      expect(store.names.map((served) => served.name)).to.deep.equal(["b.example"]);
      expect(errors).to.have.length(1);
      expect(JSON.stringify(errors)).not.to.contain("PRIVATE KEY");
    });
  }

  it("an entry falls back to its next certificate when the preferred one is unusable", () => {
    const store = createCertificateStore(
      {
        certificates: { good: b },
        hosts: [{ bucket: "exact", host: "a.example", certificates: ["missing", "good"] }],
      },
      terminators,
    );
    expect(store.select("a.example")?.terminator.notAfterMs).to.equal(Date.UTC(2091, 0, 1));
    expect(errors.map(({ fields }) => fields["reason"])).to.deep.equal(["not in the snapshot"]);
  });
});
