import { once } from "node:events";
import { createServer, request, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { startEchoBackend } from "../../../scripts/echo/backend.ts";
import { listOf, serviceManifests, withGateway } from "./gateway.ts";

const ingress = (name: string, path: string, annotations: Readonly<Record<string, string>>): object => ({
  apiVersion: "networking.k8s.io/v1",
  kind: "Ingress",
  metadata: { name, annotations },
  spec: {
    ingressClassName: "svc",
    rules: [
      {
        host: "reports.example",
        http: { paths: [{ path, pathType: "Prefix", backend: { service: { name, port: { number: 80 } } } }] },
      },
    ],
  },
});

describe("SvcExternalAuth with a URL, standalone", () => {
  it("ext-auth: requests are checked with a URL of the same host, and clients without a session are sent to sign in", async () => {
    const questions: string[] = [];
    const gate = createServer(({ method, url, headers }, response) => {
      questions.push(`${method} ${url} about ${headers["x-original-url"]}`);
      const isKnown = headers.cookie === "session=ok";
      response.writeHead(isKnown ? 202 : 401, isKnown ? { "x-user": "anna" } : {}).end();
    }).listen(0, "127.0.0.1");
    await once(gate, "listening");
    const web = await startEchoBackend({ name: "web" });
    const objects = [
      ...serviceManifests("gate", [(gate.address() as AddressInfo).port]),
      ...serviceManifests("web", [web.port]),
      ingress("web", "/", { "ingress.svc-labs.dev/ext-auth": "default/sign-in" }),
      ingress("gate", "/oauth2", {}),
      {
        apiVersion: "gateway.svc-labs.dev/v1alpha1",
        kind: "SvcExternalAuth",
        metadata: { name: "sign-in" },
        spec: {
          protocol: "HTTP",
          allowedResponseHeaders: ["X-User"],
          http: { url: "http://$host/oauth2/auth", signIn: { url: "http://$host/oauth2/start" } },
        },
      },
    ];
    try {
      await withGateway({ manifests: { "all.json": listOf(...objects) } }, async ({ httpPort }) => {
        const ask = async (cookie?: string): Promise<IncomingMessage & { readonly text: string }> => {
          const headers = { host: "reports.example", ...(cookie !== undefined && { cookie }) };
          const sent = request({ host: "127.0.0.1", port: httpPort, path: "/a?b", method: "POST", headers });
          sent.end();
          const [response] = (await once(sent, "response")) as [IncomingMessage];
          let text = "";
          for await (const chunk of response) text += String(chunk);
          return Object.assign(response, { text });
        };
        const refused = await ask();
        expect(refused.statusCode).to.equal(302);
        expect(refused.headers.location).to.equal(
          "http://reports.example/oauth2/start?rd=http://reports.example%2Fa%3Fb",
        );
        const admitted = await ask("session=ok");
        expect(admitted.statusCode).to.equal(200);
        expect(admitted.text).to.contain("anna");
        expect(questions).to.deep.equal(Array(2).fill("GET /oauth2/auth about http://reports.example/a?b"));
      });
    } finally {
      await web.close();
      gate.close();
    }
  });
});
