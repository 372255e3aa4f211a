import { once } from "node:events";
import { request, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { connect, createServer } from "node:tls";
import { expect } from "chai";
import { issueCertificate } from "../../../proxy/test/tls/certificates.ts";
import { startEchoBackend } from "../../../scripts/echo/backend.ts";
import { listOf, serviceManifests, withGateway } from "./gateway.ts";

const ingress = (
  name: string,
  host: string,
  path: string,
  annotations: Readonly<Record<string, string>>,
  tls: readonly object[] = [],
): object => ({
  apiVersion: "networking.k8s.io/v1",
  kind: "Ingress",
  metadata: {
    name,
    annotations: Object.fromEntries(
      Object.entries(annotations).map(([key, value]) => [`nginx.ingress.kubernetes.io/${key}`, value]),
    ),
  },
  spec: {
    ingressClassName: "nginx",
    tls,
    rules: [
      {
        host,
        http: {
          paths: [
            {
              path,
              pathType: "ImplementationSpecific",
              backend: { service: { name, port: { number: 80 } } },
            },
          ],
        },
      },
    ],
  },
});

/** The first name of the certificate that a server name is shown. */
async function shownTo(port: number, servername: string): Promise<string | undefined> {
  const socket = connect({ host: "127.0.0.1", port, servername, rejectUnauthorized: false });
  await once(socket, "secureConnect");
  const { subjectaltname } = socket.getPeerCertificate();
  socket.destroy();
  return subjectaltname?.split(", ")[0];
}

describe("hosts of ingress-nginx, standalone", () => {
  it("connections are passed through, other hosts get the fallback certificate, and redirects are as in ingress-nginx", async () => {
    const { chainPem, keyPem } = issueCertificate(["backend.example"]);
    const secure = createServer({ cert: chainPem, key: keyPem }, (socket) => socket.end("secure"));
    secure.on("tlsClientError", () => undefined).listen(0, "127.0.0.1");
    await once(secure, "listening");
    const web = await startEchoBackend({ name: "web" });
    const rewriting = { "rewrite-target": "/$2", "app-root": "/app" };
    const objects = [
      ...serviceManifests("secure", [(secure.address() as AddressInfo).port]),
      ...serviceManifests("web", [web.port]),
      ingress("secure", "pass.example", "/", { "ssl-passthrough": "true" }),
      ingress("web", "web.example", "/App(/|$)(.*)", rewriting, [
        { hosts: ["web.example"], secretName: "none" },
      ]),
    ];
    const flags = ["--ingress-nginx-classes", "nginx", "--ingress-nginx-ssl-passthrough"];
    try {
      await withGateway({ manifests: { "all.json": listOf(...objects) }, flags }, async (gateway) => {
        expect(await shownTo(gateway.httpsPort, "pass.example")).to.equal("DNS:backend.example");
        expect(await shownTo(gateway.httpsPort, "web.example")).to.equal("DNS:fallback.invalid");
        const ask = async (path: string): Promise<IncomingMessage & { readonly text: string }> => {
          const sent = request({
            host: "127.0.0.1",
            port: gateway.httpPort,
            path,
            headers: { host: "web.example" },
          });
          sent.end();
          const [response] = (await once(sent, "response")) as [IncomingMessage];
          let text = "";
          for await (const chunk of response) text += String(chunk);
          return Object.assign(response, { text });
        };
        expect((await ask("/")).headers.location).to.equal("http://web.example/app");
        expect((await ask("/app/x/")).headers.location).to.match(/^https:\/\/web\.example\/app\/x$/);
      });
    } finally {
      await web.close();
      secure.close();
    }
  });
});
