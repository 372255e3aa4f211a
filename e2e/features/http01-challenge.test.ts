import { expect } from "chai";
import { echoed, send } from "../support/client.ts";
import { deployEcho } from "../support/echo.ts";
import { ingress } from "../support/ingress.ts";
import { useSandbox } from "../support/sandbox.ts";
import { until } from "../support/until.ts";

// The objects match those of cert-manager 1.21, pkg/issuer/acme/http.
describe("an HTTP-01 challenge", () => {
  const sandbox = useSandbox("http01-challenge");
  const host = "http01-challenge.e2e.example";
  const token = "LoqXcYV8q5ONbJQxbmR7SCTNo3tiAXDfowyjxAjEuX0";
  const path = `/.well-known/acme-challenge/${token}`;
  const name = "cm-acme-http-solver-x7k2p";
  const labels = {
    "acme.cert-manager.io/http-domain": "1684410225",
    "acme.cert-manager.io/http-token": "1172635871",
    "acme.cert-manager.io/http01-solver": "true",
  };

  const solver = (pathType: string): readonly object[] => [
    {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name, labels, annotations: { "auth.istio.io/8089": "NONE" } },
      spec: {
        type: "NodePort",
        // The pods of the solver would have these labels; here another backend replaces them.
        selector: { app: "solver" },
        ports: [{ name: "http", port: 8089, targetPort: 8080 }],
      },
    },
    {
      apiVersion: "networking.k8s.io/v1",
      kind: "Ingress",
      metadata: {
        name,
        labels,
        annotations: { "nginx.ingress.kubernetes.io/whitelist-source-range": "0.0.0.0/0,::/0" },
      },
      spec: {
        ingressClassName: "svc",
        rules: [
          {
            host,
            http: { paths: [{ path, pathType, backend: { service: { name, port: { number: 8089 } } } }] },
          },
        ],
      },
    },
  ];
  const solvedBy = async (): Promise<string | undefined> => {
    const backend = echoed(await send({ host, path }))?.backend;
    return backend?.split("-")[0];
  };

  before(async () => {
    await Promise.all([
      deployEcho(sandbox, { name: "web", replicas: 1 }),
      deployEcho(sandbox, { name: "solver", replicas: 1 }),
    ]);
    await sandbox.apply(
      ingress({
        name: "parent",
        host,
        annotations: { "ssl-redirect": "true", "auth-basic-secret": `${sandbox.namespace}/users` },
        paths: [{ service: "web" }],
      }),
    );
    await until("the parent to be served", async () => (await send({ host })).status === 308);
  });

  for (const pathType of ["Exact", "ImplementationSpecific"]) {
    it(`an HTTP-01 challenge is answered before the redirect and authentication of its host (${pathType})`, async () => {
      expect((await send({ host, path })).status).to.equal(308);
      await sandbox.apply(...solver(pathType));
      await until("the solver", async () => (await solvedBy()) === "solver");
      expect((await send({ host, path: "/.well-known/acme-challenge/other" })).status).to.equal(308);
      expect((await send({ host })).status).to.equal(308);
      await sandbox.delete("ingress", name);
      await sandbox.delete("service", name);
      await until("the challenge to be removed", async () => (await send({ host, path })).status === 308);
    });
  }
});
