import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import { expect } from "chai";
import { startEchoBackend, type EchoAnswer, type EchoBackend } from "../../../scripts/echo/backend.ts";
import { ingressManifest, listOf, serviceManifests, withGateway } from "./gateway.ts";

const token = "LoqXcYV8q5ONbJQxbmR7SCTNo3tiAXDfowyjxAjEuX0";
const path = `/.well-known/acme-challenge/${token}`;

/** The objects that cert-manager 1.21 creates for a challenge (pkg/issuer/acme/http), with an endpoint of this test. */
function challenge(host: string, port: number, pathType: string): readonly object[] {
  const name = `cm-acme-http-solver-${host.split(".")[0]}`;
  const backend = { service: { name, port: { number: 8089 } } };
  return [
    {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name, annotations: { "auth.istio.io/8089": "NONE" } },
      spec: { type: "NodePort", ports: [{ name: "http", port: 8089, targetPort: 8089 }] },
    },
    {
      apiVersion: "discovery.k8s.io/v1",
      kind: "EndpointSlice",
      metadata: { name: `${name}-1`, labels: { "kubernetes.io/service-name": name } },
      addressType: "IPv4",
      ports: [{ name: "http", port }],
      endpoints: [{ addresses: ["127.0.0.1"] }],
    },
    {
      apiVersion: "networking.k8s.io/v1",
      kind: "Ingress",
      metadata: {
        name,
        generateName: "cm-acme-http-solver-",
        labels: { "acme.cert-manager.io/http01-solver": "true" },
        annotations: { "nginx.ingress.kubernetes.io/whitelist-source-range": "0.0.0.0/0,::/0" },
      },
      spec: {
        ingressClassName: "svc",
        rules: [{ host, http: { paths: [{ path, pathType, backend }] } }],
      },
    },
  ];
}

/** The host and annotations of the parent, the status that it answers, and the path type of the solver. */
const parents = [
  ["secure.example.com", { "ssl-redirect": "true" }, 308, "Exact"],
  ["moved.example.com", { "redirect-hostname": "www.example.com" }, 302, "ImplementationSpecific"],
  ["guarded.example.com", { "auth-basic-secret": "default/none" }, 503, "Exact"],
] as const;

describe("HTTP-01 challenges, standalone", () => {
  let web: EchoBackend;
  let solver: EchoBackend;
  before(async () => {
    web = await startEchoBackend({ name: "web" });
    solver = await startEchoBackend({ name: "solver" });
  });
  after(() => Promise.all([web.close(), solver.close()]));

  it("an HTTP-01 challenge reaches its solver although the parent Ingress redirects or authenticates", async () => {
    const served = parents.map(([host, own]) => {
      const annotations = Object.fromEntries(
        Object.entries(own).map(([name, value]) => [`ingress.svc-labs.dev/${name}`, value]),
      );
      return ingressManifest(host, host, [{ path: "/", service: "web" }], { annotations });
    });
    const manifests = {
      "parents.json": listOf(...serviceManifests("web", [web.port]), ...served),
      "challenges.json": listOf(),
    };
    await withGateway({ manifests }, async ({ httpPort, write, published }) => {
      const ask = async (host: string, at: string): Promise<readonly [number, string | undefined]> => {
        const sent = get({ host: "127.0.0.1", port: httpPort, path: at, headers: { host } });
        const [response] = (await once(sent, "response")) as [IncomingMessage];
        let body = "";
        for await (const chunk of response) body += String(chunk);
        const status = response.statusCode ?? 0;
        return [status, status === 200 ? (JSON.parse(body) as EchoAnswer).backend : undefined];
      };
      const expectParents = async (...paths: readonly string[]): Promise<void> => {
        for (const [host, , status] of parents) {
          for (const at of paths) {
            expect(await ask(host, at), `${host} ${at}`).to.deep.equal([status, undefined]);
          }
        }
      };
      await expectParents("/", path);
      const challenges = parents.flatMap(([host, , , pathType]) => challenge(host, solver.port, pathType));
      await write("challenges.json", listOf(...challenges));
      await published(2);
      for (const [host] of parents) expect(await ask(host, path), host).to.deep.equal([200, "solver"]);
      await expectParents("/", `${path}x`, "/.well-known/acme-challenge/");
      await write("challenges.json", listOf());
      await published(3);
      await expectParents("/", path);
    });
  });
});
