import { once } from "node:events";
import { join } from "node:path";
import { connect } from "node:tls";
import { expect } from "chai";
import { issueCertificate } from "../../../proxy/test/tls/certificates.ts";
import { ingressManifest, listOf, withGateway, type Gateway } from "./gateway.ts";

const host = "a.example.com";
const issued = issueCertificate([host]);

const secret = (certificate: string, key: string): object => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name: "cert" },
  type: "kubernetes.io/tls",
  stringData: { "tls.crt": certificate, "tls.key": key },
});

/** Whether a handshake shows the certificate. */
async function isShown({ httpsPort }: Gateway): Promise<boolean> {
  const socket = connect({ host: "127.0.0.1", port: httpsPort, servername: host, rejectUnauthorized: false });
  try {
    await once(socket, "secureConnect");
    return socket.getPeerCertificate().subjectaltname === `DNS:${host}`;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

describe("a TLS Secret that is changed into garbage, standalone", () => {
  it("a TLS Secret that becomes garbage keeps its last certificate in service until it is deleted", async () => {
    const manifests = {
      "ingress.json": listOf(
        ingressManifest("web", host, [{ path: "/", service: "web" }], { tlsSecret: "cert" }),
      ),
      "secret.json": JSON.stringify(secret(issued.chainPem, issued.keyPem)),
    };
    await withGateway({ manifests }, async (gateway) => {
      expect(await isShown(gateway)).to.equal(true);
      await gateway.write("secret.json", JSON.stringify(secret("garbage", "garbage")));
      const logged = await gateway.log((line) => JSON.stringify(line).includes("LastCertificateKept"));
      expect(JSON.stringify(logged)).to.include("is served until");
      expect([logged["file"], logged["line"]]).to.deep.equal([join(gateway.folder, "ingress.json"), 1]);
      expect(await isShown(gateway)).to.equal(true);
      const metrics = await (await fetch(`http://127.0.0.1:${gateway.adminPort}/metrics`)).text();
      expect(metrics).to.match(/^svc_controller_certificates_kept 1$/m);
      await gateway.write("secret.json", JSON.stringify({ apiVersion: "v1", kind: "List", items: [] }));
      await gateway.published(2);
      expect(await isShown(gateway)).to.equal(false);
    });
  });
});
