import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { expect } from "chai";
import { eventually } from "../../../proxy/test/worker/support.ts";
import { ingressManifest, listOf, withGateway, type Gateway } from "./gateway.ts";

const scrape = async ({ adminPort }: Gateway): Promise<string> =>
  (await fetch(`http://127.0.0.1:${adminPort}/metrics`)).text();

describe("the metrics of the controller that standalone mode has", () => {
  it("a fetch of a key set is counted by its result, with its duration, and a key set that fails is shown", async () => {
    // A server that ends every connection: no handshake of TLS succeeds.
    const issuer = createServer((socket) => socket.destroy()).listen(0, "127.0.0.1");
    await once(issuer, "listening");
    const { port } = issuer.address() as AddressInfo;
    const jwtAuth = {
      apiVersion: "gateway.svc-labs.dev/v1alpha1",
      kind: "JwtAuth",
      metadata: { name: "id" },
      spec: { issuer: "https://id.example.com", jwks: { remote: { uri: `https://127.0.0.1:${port}/keys` } } },
    };
    const annotations = { "ingress.svc-labs.dev/auth-jwt": "default/id" };
    const ingress = ingressManifest("web", "a.example.com", [{ path: "/", service: "web" }], { annotations });
    const flags = ["--jwks-allow-cidrs", "127.0.0.0/8"];
    await withGateway({ manifests: { "objects.json": listOf(jwtAuth, ingress) }, flags }, async (gateway) => {
      await eventually(async () => (await scrape(gateway)).includes("\nsvc_controller_key_sets_failing 1\n"));
      const metrics = await scrape(gateway);
      expect(metrics).to.match(/^svc_controller_key_set_fetches_total\{result="error"\} [1-9]/m);
      expect(metrics).to.match(/^svc_controller_key_set_fetch_duration_seconds_count [1-9]/m);
      await gateway.write("objects.json", listOf());
      await eventually(async () => (await scrape(gateway)).includes("\nsvc_controller_key_sets_failing 0\n"));
    }).finally(() => issuer.close());
  });

  it("paths are counted that their class serves without a protection", async () => {
    const parameters = {
      apiVersion: "ingress.svc-labs.dev/v1alpha1",
      kind: "SvcIngressClassParameters",
      metadata: { name: "open" },
      spec: { whenUnprotected: "serve" },
    };
    const ingressClass = {
      apiVersion: "networking.k8s.io/v1",
      kind: "IngressClass",
      metadata: { name: "nginx" },
      spec: {
        controller: "k8s.io/ingress-nginx",
        parameters: {
          apiGroup: "ingress.svc-labs.dev",
          kind: parameters.kind,
          name: "open",
          namespace: "default",
          scope: "Namespace",
        },
      },
    };
    const backend = { service: { name: "web", port: { number: 80 } } };
    const ingress = {
      apiVersion: "networking.k8s.io/v1",
      kind: "Ingress",
      metadata: {
        name: "web",
        annotations: { "nginx.ingress.kubernetes.io/enable-owasp-core-rules": "true" },
      },
      spec: {
        ingressClassName: "nginx",
        rules: [
          {
            host: "a.example.com",
            http: { paths: ["/a", "/b"].map((path) => ({ path, pathType: "Prefix", backend })) },
          },
        ],
      },
    };
    const flags = ["--ingress-nginx-classes", "nginx"];
    await withGateway(
      { manifests: { "objects.json": listOf(parameters, ingressClass, ingress) }, flags },
      async (gateway) => {
        expect(await scrape(gateway)).to.include("\nsvc_controller_unprotected_paths 2\n");
        await gateway.write("objects.json", listOf(ingressClass));
        await gateway.published(2);
        expect(await scrape(gateway)).to.include("\nsvc_controller_unprotected_paths 0\n");
      },
    );
  });
});
