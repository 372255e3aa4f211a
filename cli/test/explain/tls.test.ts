import { expect } from "chai";
import type { TlsPort } from "@svc-gateway/common/ir/certificate.ts";
import { createExampleCertificates } from "../../../scripts/quickstart/certificates.ts";
import { explainTls } from "../../src/explain/data-plane.ts";

describe("explainTls", () => {
  let port: TlsPort;
  before(async () => {
    const names = ["a.example.com", "*.example.com", "fallback.example.org"];
    const made = await Promise.all(names.map((name) => createExampleCertificates([name])));
    port = {
      certificates: Object.fromEntries(
        made.map(({ certificatePem, keyPem }, index) => [
          names[index] ?? "",
          { chainPem: certificatePem, keyPem },
        ]),
      ),
      hosts: [
        { bucket: "exact", host: "a.example.com", certificates: ["a.example.com"] },
        { bucket: "wildcard", host: "*.example.com", certificates: ["*.example.com"] },
        { bucket: "default", host: "*", certificates: ["fallback.example.org"] },
      ],
    };
  });

  const cases = {
    "a.example.com": ["exact", "a.example.com", "a.example.com"],
    "b.example.com": ["wildcard", "*.example.com", "*.example.com"],
    "c.b.example.com": ["default", "*", "fallback.example.org"],
    "": ["default", "*", "fallback.example.org"],
  };
  for (const [serverName, [bucket, host, certificate]] of Object.entries(cases)) {
    it(`the certificate shown to ${serverName === "" ? "a client without a server name" : serverName} is explained`, () => {
      const tls = explainTls(port, serverName)?.tls;
      expect(tls).to.include({ serverName, bucket, host });
      expect(tls?.certificates.map(({ names }) => names)).to.deep.equal([[certificate]]);
      expect(tls?.certificates[0]?.issuer).to.equal("CN=svc-gateway examples");
    });
  }

  it("a handshake that is refused has no explanation", () => {
    const [exact] = port.hosts;
    const hosts = exact === undefined ? [] : [exact];
    expect(explainTls({ ...port, hosts }, "b.example.com")).to.equal(undefined);
  });

  it("an explanation never contains a private key", () => {
    expect(JSON.stringify(explainTls(port, "a.example.com"))).not.to.include("PRIVATE");
  });
});
